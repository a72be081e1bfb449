package dev.bfstore;

import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The library's messages name options as C does, and commands of bf. This names Java's, by the pairs of WordPairs. */
final class Words {
  /** What is between two spaces, so that a path is none. */
  private static final Pattern WORD = Pattern.compile("(?<![^\\s(])[\\w.]+?(?=[,.;)]*(?:\\s|$))");
  private static final Map<String, String> NAMES = map(WordPairs.NAMES);
  private static final Map<String, String> QUALIFIED = map(WordPairs.QUALIFIED);

  private Words() {}

  private static Map<String, String> map(String[][] pairs) {
    Map<String, String> made = new HashMap<>();
    for (String[] pair : pairs) {
      made.put(pair[0], pair[1]);
    }
    return made;
  }

  /** Returns the library's words with what options and calls are called here. A path stays as it is. */
  static String inJava(String message) {
    String words = message;
    boolean isQualified = message.startsWith("bfs_options.");
    for (String[] pair : WordPairs.FUNCTIONS) {
      if (message.startsWith(pair[0] + ": ") || message.startsWith(pair[0] + " ")) {
        words = pair[1] + message.substring(pair[0].length());
        isQualified = true;
        break;
      }
    }
    for (String[] pair : WordPairs.PHRASES) {
      words = words.replace(pair[0], pair[1]);
    }
    boolean all = isQualified;
    return WORD.matcher(words).replaceAll(found -> Matcher.quoteReplacement(own(found.group(), all)));
  }

  private static String own(String word, boolean isQualified) {
    String name = NAMES.getOrDefault(word, word);
    return isQualified ? QUALIFIED.getOrDefault(word, name) : name;
  }
}

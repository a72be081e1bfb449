package dev.bfstore;

import java.lang.reflect.Method;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The library's messages about options: it names those of C, and this names Java's. */
final class Words {
  private static final Pattern ABOUT_OPTIONS = Pattern.compile("(bfs_\\w+)( with [\\w ]+)?(:.*)", Pattern.DOTALL);
  private static final Set<String> FUNCTIONS = Stream.of(Calls.class.getMethods()).map(Method::getName)
      .collect(Collectors.toUnmodifiableSet());
  private static final Pattern OPTION = Pattern.compile("bfs_options\\.(\\w+)|BFS_([A-Z_]+)");
  private static final Map<String, String> METHODS = Map.of("bfs_open with BFS_CREATE", "openOrCreate",
      "bfs_open with a range", "open with a range", "bfs_open_memory", "wrap and load", "bfs_copy", "copyTo",
      "bfs_foreign_open", "openForeign", "bfs_foreign_import", "importForeign", "bfs_foreign_inspect", "inspect");
  private static final Map<String, String> OPTIONS = Map.of("nofollow", "noFollow", "private", "privateCopy",
      "mode", "permissions", "lock_timeout_ms", "lockTimeout", "writeback_check_ms", "writebackCheck",
      "window_ms", "window");

  private Words() {}

  /** Returns a message that begins with a function of C in the words of Java. Others begin with a path, and stay. */
  static String inJava(String message) {
    Matcher found = ABOUT_OPTIONS.matcher(message);
    if (!found.matches() || !FUNCTIONS.contains(found.group(1))) {
      return message;
    }
    String function = found.group(1) + (found.group(2) == null ? "" : found.group(2));
    String rest = OPTION.matcher(found.group(3)).replaceAll(
        name -> option(name.group(1) == null ? name.group(2) : name.group(1)));
    return METHODS.getOrDefault(function, camel(found.group(1).substring("bfs_".length())))
        + rest.replace("; remove it from the flags", "; leave it out").replace("; leave it 0", "; leave it out");
  }

  /** Returns the method that sets an option of C: "LOCK_TIMEOUT_MS" is lockTimeout(). */
  static String option(String name) {
    String lower = name.toLowerCase(Locale.ROOT);
    return OPTIONS.getOrDefault(lower, camel(lower)) + "()";
  }

  private static String camel(String name) {
    return Pattern.compile("_(\\w)").matcher(name).replaceAll(letter -> letter.group(1).toUpperCase(Locale.ROOT));
  }
}

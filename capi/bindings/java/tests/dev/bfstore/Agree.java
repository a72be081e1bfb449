package dev.bfstore;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The program that tests/bindings/ runs for this language: languages.py there has its interface. */
public final class Agree {
  private Agree() {}

  private static List<String> keys(String prefix, int count, int first, int step) {
    List<String> keys = new ArrayList<>();
    for (int i = first; i < count; i += step) {
      keys.add(prefix + "-" + i);
    }
    return keys;
  }

  private static void add(Path path, String prefix, int count) {
    try (Filter filter = Filter.open(path, new OpenOptions().write())) {
      keys(prefix, count, 0, 2).forEach(filter::add);
      filter.addMany(keys(prefix, count, 1, 2));
    }
  }

  private static void ask(Path path, String prefix, int count) {
    List<String> keys = keys(prefix, count, 0, 1);
    StringBuilder answers = new StringBuilder();
    try (Filter filter = Filter.open(path)) {
      boolean[] batch = filter.containsMany(keys);
      for (int i = 0; i < count; i++) {
        boolean single = filter.contains(keys.get(i));
        if (single != batch[i]) {
          throw new AssertionError("one by one and as a batch are not the same");
        }
        answers.append(single ? '1' : '0');
      }
    }
    System.out.println(answers);
  }

  private static void fail(Path path) {
    try (Filter filter = Filter.open(path)) {
      throw new AssertionError("opened " + filter);
    } catch (BfstoreException error) {
      System.out.println(error.code() + " " + error.errno() + " " + error.getClass().getSimpleName());
    }
  }

  /**
   * The program.
   *
   * @param arguments as languages.py says
   */
  public static void main(String[] arguments) {
    Path path = Path.of(arguments[1]);
    switch (arguments[0]) {
      case "create":
        Filter.create(path, new CreateOptions().capacity(Long.parseLong(arguments[2])).fpr(0.01)).close();
        break;
      case "add":
        add(path, arguments[2], Integer.parseInt(arguments[3]));
        break;
      case "ask":
        ask(path, arguments[2], Integer.parseInt(arguments[3]));
        break;
      case "fail":
        fail(path);
        break;
      default:
        throw new IllegalArgumentException(arguments[0]);
    }
  }
}

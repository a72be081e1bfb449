package dev.bfstore;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.function.LongSupplier;

/** The times of Java, for bench/bindings.py: Times FOLDER. It prints the lines of bench/bindings/c.c. */
public final class Times {
  private static final int KEY_BYTES = 16;
  private static final int PASSES = 15; // the JVM compiles during the first one
  private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();

  private Times() {}

  private static void tell(String layout, String way, int count, LongSupplier ask) {
    long best = Long.MAX_VALUE;
    long maybes = 0;
    for (int pass = 0; pass < PASSES; pass++) {
      long begin = CLOCK.getCurrentThreadCpuTime();
      maybes = ask.getAsLong();
      best = Math.min(best, CLOCK.getCurrentThreadCpuTime() - begin);
    }
    System.out.printf(Locale.ROOT, "%s %s %.3f %d%n", layout, way, (double) best / count, maybes);
  }

  private static long askEach(Filter filter, byte[][] keys) {
    long maybes = 0;
    for (byte[] key : keys) {
      if (filter.contains(key)) {
        maybes++;
      }
    }
    return maybes;
  }

  /**
   * The program.
   *
   * @param arguments the folder
   * @throws IOException if it cannot be read
   */
  public static void main(String[] arguments) throws IOException {
    Path folder = Path.of(arguments[0]);
    byte[] bytes = Files.readAllBytes(folder.resolve("keys"));
    ByteBuffer column = ByteBuffer.allocateDirect(bytes.length).put(0, bytes);
    byte[][] keys = new byte[bytes.length / KEY_BYTES][];
    Arrays.setAll(keys, i -> Arrays.copyOfRange(bytes, i * KEY_BYTES, (i + 1) * KEY_BYTES));
    ByteBuffer answers = ByteBuffer.allocateDirect(keys.length);
    for (String layout : new String[] {"blocked", "classic"}) {
      try (Filter filter = Filter.open(folder.resolve(layout + ".bf"))) {
        tell(layout, "one", keys.length, () -> askEach(filter, keys));
        tell(layout, "objects", keys.length, () -> filter.containsMany(Keys.of(keys), answers));
        tell(layout, "column", keys.length, () -> filter.containsMany(Keys.fixed(column, KEY_BYTES), answers));
      }
    }
  }
}

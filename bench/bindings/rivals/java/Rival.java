import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnels;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;

/** The rival of the binding for Java, for bench/bindings.py: Guava, which has every second key. Rival FOLDER prints a line of the form of c.c. */
final class Rival {
  private static final int KEY_BYTES = 16;
  private static final int PASSES = 15; // the first of which the compiler of the JVM uses
  private static final double RATE_OF_10_BITS = Math.exp(-10 * Math.log(2) * Math.log(2));
  private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();

  private static long askEach(BloomFilter<byte[]> filter, byte[][] keys) {
    long maybes = 0;
    for (byte[] key : keys) {
      if (filter.mightContain(key)) {
        maybes++;
      }
    }
    return maybes;
  }

  public static void main(String[] arguments) throws IOException {
    byte[] bytes = Files.readAllBytes(Path.of(arguments[0]).resolve("keys"));
    byte[][] keys = new byte[bytes.length / KEY_BYTES][];
    Arrays.setAll(keys, i -> Arrays.copyOfRange(bytes, i * KEY_BYTES, (i + 1) * KEY_BYTES));
    BloomFilter<byte[]> filter = BloomFilter.create(Funnels.byteArrayFunnel(), keys.length / 2, RATE_OF_10_BITS);
    for (int i = 0; i < keys.length; i += 2) {
      filter.put(keys[i]);
    }
    long best = Long.MAX_VALUE;
    long maybes = 0;
    for (int pass = 0; pass < PASSES; pass++) {
      long begin = CLOCK.getCurrentThreadCpuTime();
      maybes = askEach(filter, keys);
      best = Math.min(best, CLOCK.getCurrentThreadCpuTime() - begin);
    }
    System.out.printf(Locale.ROOT, "rival Guava %.3f %d%n", (double) best / keys.length, maybes);
  }
}

// ByteBufferBloomFilter of tutorials in Java: a class by its description. Eight polynomials, one for each bit of a byte,
// choose the byte by the UTF-16 units of the key. Its file is the bytes. The files of this program are one whose size
// is a power of two, and one of another size.
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;

class ByteBufferBloomFilter {
  private static final int[] SEEDS = {33, 53, 79, 97, 113, 137, 163, 181};
  private final ByteBuffer bytes;

  ByteBufferBloomFilter(int size) {
    bytes = ByteBuffer.allocate(size);
  }

  private int slot(String key, int seed) {
    int hash = 5381;
    for (int i = 0; i < key.length(); ++i) hash = seed * hash + key.charAt(i);
    return ((hash ^ hash >>> 16) & 0x7fffffff) % bytes.capacity();
  }

  void add(String key) {
    for (int i = 0; i < SEEDS.length; ++i) {
      int slot = slot(key, SEEDS[i]);
      bytes.put(slot, (byte) (bytes.get(slot) | 1 << i));
    }
  }

  boolean has(String key) {
    for (int i = 0; i < SEEDS.length; ++i) {
      if ((bytes.get(slot(key, SEEDS[i])) & 1 << i) == 0) return false;
    }
    return true;
  }

  byte[] array() {
    return bytes.array();
  }
}

class Originals {
  private static long folded(long fold, int number) {
    for (int i = 0; i < 4; ++i) fold = (fold ^ (number >>> 8 * i & 255)) * 0x100000001b3L;
    return fold;
  }

  private static void make(String folder, String name, String prefix, int count, int size) throws Exception {
    ByteBufferBloomFilter filter = new ByteBufferBloomFilter(size);
    for (int i = 0; i < count; ++i) filter.add(prefix + i);
    Files.write(Path.of(folder, name), filter.array());
    long fold = 0xcbf29ce484222325L, fewFold = 0;
    int found = 0, few = 0;
    for (int i = 0; i < 1000000; ++i) {
      if (filter.has("absent-" + i)) {
        fold = folded(fold, i);
        ++found;
      }
      if (i == 9999) {
        few = found;
        fewFold = fold;
      }
    }
    System.out.println(String.join("\t", name, "java-bytes", "-", "-", prefix, "" + count, "" + found,
        String.format("%016x", fold), "" + few, String.format("%016x", fewFold),
        "a class by its description, Java " + System.getProperty("java.version"), "utf8"));
    time(name, filter);
  }

  // The nanoseconds of a lookup of an absent key.
  private static void time(String name, ByteBufferBloomFilter filter) {
    String[] keys = new String[10000];
    for (int i = 0; i < keys.length; ++i) keys[i] = "absent-" + i;
    long best = Long.MAX_VALUE;
    for (int round = 0; round < 200; ++round) {
      long begin = System.nanoTime(); // clock: for the report
      int found = 0;
      for (String key : keys) found += filter.has(key) ? 1 : 0;
      best = Math.min(best, System.nanoTime() - begin + found / keys.length); // clock: for the report
    }
    System.err.printf("time\t%s\t%.1f%n", name, best / (double) keys.length);
  }

  public static void main(String[] args) throws Exception {
    make(args[0], "java_bytes.power-of-two.bytes", "key-", 1000, 2048);
    make(args[0], "java_bytes.odd.bytes", "schl\u00fcssel-\ud83d\ude00-", 999, 1237);
  }
}

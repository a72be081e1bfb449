// The Bloom filter of tutorials in Java: a BitSet, and seven polynomials with these seeds. As a program: its arguments
// are cap, the file of keys to add, the file of keys to ask, and the file for the bits (BitSet.toByteArray, with the
// zeros at its end that toByteArray leaves out). Prints "maybe" or "absent" and a tab before each key that is asked.
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.BitSet;

class BloomFilter {
  private static final int[] seeds = new int[] {5, 7, 11, 13, 31, 37, 61};
  private final SimpleHash[] func = new SimpleHash[seeds.length];
  final BitSet bits;

  BloomFilter(int cap) {
    bits = new BitSet(cap);
    for (int i = 0; i < seeds.length; i++) {
      func[i] = new SimpleHash(cap, seeds[i]);
    }
  }

  void add(String value) {
    for (SimpleHash f : func) {
      bits.set(f.hash(value), true);
    }
  }

  boolean contains(String value) {
    boolean ret = true;
    for (SimpleHash f : func) {
      ret = ret && bits.get(f.hash(value));
    }
    return ret;
  }

  static class SimpleHash {
    private final int cap;
    private final int seed;

    SimpleHash(int cap, int seed) {
      this.cap = cap;
      this.seed = seed;
    }

    int hash(String value) {
      int result = 0;
      int len = value.length();
      for (int i = 0; i < len; i++) {
        result = seed * result + value.charAt(i);
      }
      return (cap - 1) & result;
    }
  }

  static String[] lines(String path) throws IOException {
    return new String(Files.readAllBytes(Path.of(path)), StandardCharsets.UTF_8).split("\n");
  }

  public static void main(String[] arguments) throws IOException {
    int cap = Integer.parseInt(arguments[0]);
    BloomFilter filter = new BloomFilter(cap);
    for (String key : lines(arguments[1])) {
      filter.add(key);
    }
    PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    for (String key : lines(arguments[2])) {
      out.print((filter.contains(key) ? "maybe\t" : "absent\t") + key + "\n");
    }
    out.flush();
    Files.write(Path.of(arguments[3]), Arrays.copyOf(filter.bits.toByteArray(), (cap + 7) / 8));
  }
}

// Files of Guava's BloomFilter.writeTo(): its strategy of today with five funnels, and the older strategy, which Guava
// reads but no longer makes. Reflection makes its filters here, by the method create() that has a strategy.
import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnel;
import com.google.common.hash.Funnels;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.IntFunction;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

class Originals {
  private static final int ABSENT = 1000000, FEW = 10000;
  private static String folder;

  private static long folded(long fold, int number) {
    for (int i = 0; i < 4; ++i) fold = (fold ^ (number >>> 8 * i & 255)) * 0x100000001b3L;
    return fold;
  }

  private static <T> void printRow(String name, String format, String prefix, int count, String form,
      Predicate<T> has, IntFunction<T> absent) {
    long fold = 0xcbf29ce484222325L, fewFold = 0;
    int found = 0, few = 0;
    for (int i = 0; i < ABSENT; ++i) {
      if (has.test(absent.apply(i))) {
        fold = folded(fold, i);
        ++found;
      }
      if (i == FEW - 1) {
        few = found;
        fewFold = fold;
      }
    }
    System.out.println(String.join("\t", name, format, "-", "-", prefix, "" + count, "" + found,
        String.format("%016x", fold), "" + few, String.format("%016x", fewFold),
        "guava " + System.getProperty("guava"), form));
    time(name, has, absent);
  }

  // The nanoseconds of a lookup of an absent key.
  private static <T> void time(String name, Predicate<T> has, IntFunction<T> absent) {
    List<T> keys = IntStream.range(0, FEW).mapToObj(absent).collect(Collectors.toList());
    long best = Long.MAX_VALUE;
    for (int round = 0; round < 200; ++round) {
      long begin = System.nanoTime(); // clock: for the report
      int found = 0;
      for (T key : keys) found += has.test(key) ? 1 : 0;
      best = Math.min(best, System.nanoTime() - begin + found / FEW); // clock: for the report
    }
    System.err.printf("time\t%s\t%.1f%n", name, best / (double) FEW);
  }

  private static <T> BloomFilter<T> of(Funnel<? super T> funnel, int capacity, double rate, String strategy)
      throws Exception {
    for (Method method : BloomFilter.class.getDeclaredMethods()) {
      Class<?>[] types = method.getParameterTypes();
      if (!method.getName().equals("create") || types.length != 4) continue;
      method.setAccessible(true);
      for (Object one : Class.forName("com.google.common.hash.BloomFilterStrategies").getEnumConstants()) {
        @SuppressWarnings("unchecked")
        BloomFilter<T> made = one.toString().equals(strategy)
            ? (BloomFilter<T>) method.invoke(null, funnel, (long) capacity, rate, one) : null;
        if (made != null) return made;
      }
    }
    throw new IllegalStateException("Guava has no strategy " + strategy);
  }

  private static <T> void make(String name, String strategy, Funnel<? super T> funnel, int capacity, double rate,
      String prefix, int count, String form, IntFunction<T> key, IntFunction<T> absent) throws Exception {
    BloomFilter<T> made = of(funnel, capacity, rate, strategy);
    for (int i = 0; i < count; ++i) made.put(key.apply(i));
    Path path = Path.of(folder, name);
    try (OutputStream out = Files.newOutputStream(path)) {
      made.writeTo(out);
    }
    try (InputStream in = Files.newInputStream(path)) {
      BloomFilter<T> opened = BloomFilter.readFrom(in, funnel);
      printRow(name, "guava", prefix, count, form, opened::mightContain, absent);
    }
  }

  public static void main(String[] args) throws Exception {
    folder = args[0];
    Funnel<CharSequence> utf8 = Funnels.stringFunnel(StandardCharsets.UTF_8);
    Funnel<CharSequence> utf16 = Funnels.unencodedCharsFunnel();
    String today = "MURMUR128_MITZ_64", older = "MURMUR128_MITZ_32";
    IntFunction<CharSequence> text = i -> "key-" + i, french = i -> "cl\u00e9-\ud83d\ude00-" + i;
    IntFunction<CharSequence> absent = i -> "absent-" + i;
    make("guava.utf8.bloom", today, utf8, 1000, 0.01, "key-", 1000, "utf8", text, absent);
    make("guava.chars.bloom", today, utf16, 321, 0.0001, "cl\u00e9-\ud83d\ude00-", 321, "utf16le", french, absent);
    make("guava.integer.bloom", today, Funnels.integerFunnel(), 500, 0.03, "", 500, "int32le", i -> i,
        i -> ABSENT + i);
    make("guava.long.bloom", today, Funnels.longFunnel(), 500, 0.02, "", 500, "int64le", i -> (long) i,
        i -> (long) ABSENT + i);
    make("guava32.utf8.bloom", older, utf8, 1000, 0.01, "key-", 1000, "utf8", text, absent);
    make("guava32.chars.bloom", older, utf16, 321, 0.0001, "cl\u00e9-\ud83d\ude00-", 321, "utf16le", french, absent);
  }
}

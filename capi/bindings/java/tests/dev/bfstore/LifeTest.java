package dev.bfstore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;

/** Handles: closed in use, used after close, closed twice, leaked to the collector, shared by threads. */
class LifeTest extends Case {
  private static final int THREADS = 4;
  /** The number of tries after which an event counts as never. */
  private static final int TRIES = 1000;
  private static final Set<String> SAFE = Set.of("close", "abandon", "isClosed", "name", "health", "toString", "wasCreated");

  private static Object argument(Class<?> type, Filter other, Path path) {
    Map<Class<?>, Object> known = new HashMap<>();
    known.put(byte[].class, new byte[1]);
    known.put(String.class, "a");
    known.put(long.class, 1L);
    known.put(int.class, 1);
    known.put(ByteBuffer.class, ByteBuffer.allocateDirect(8));
    known.put(Keys.class, Keys.of("a"));
    known.put(Iterable.class, List.of("a"));
    known.put(Filter.class, other);
    known.put(Path.class, path.resolveSibling("x"));
    known.put(CopyOptions.class, new CopyOptions());
    known.put(BitOrder.class, BitOrder.BIG);
    known.put(ForeignForm.class, new ForeignForm("raw").order(BitOrder.BIG));
    return known.get(type);
  }

  @Test
  void everyMethodOfAClosedFilterThrows() {
    Filter made = create();
    Filter other = create("other", options());
    made.close();
    made.close();
    made.abandon();
    assertTrue(made.isClosed());
    int called = 0;
    for (Method method : Filter.class.getDeclaredMethods()) {
      if (!Modifier.isPublic(method.getModifiers()) || Modifier.isStatic(method.getModifiers())
          || SAFE.contains(method.getName()) || List.of(method.getParameterTypes()).contains(char.class)) {
        continue;
      }
      Object[] arguments = Arrays.stream(method.getParameterTypes()).map(type -> argument(type, other, path)).toArray();
      Throwable error = assertThrows(InvocationTargetException.class, () -> method.invoke(made, arguments), method.toString());
      assertEquals(BfstoreException.ClosedException.class, error.getCause().getClass(), method.toString());
      assertTrue(error.getCause().getMessage().startsWith(path.toString()), error.getCause().getMessage());
      called++;
    }
    assertTrue(called > 40, "" + called);
    assertThrows(BfstoreException.ClosedException.class, () -> other.merge(made));
    assertEquals(Health.SHUT, made.health());
    assertTrue(made.toString().contains("closed"));
    other.add("is still open");
  }

  /**
   * The collector does not see an address. So the objects at the addresses of a call must be kept until it ends;
   * otherwise this test ends the JVM, or finds a wrong no.
   */
  @Test
  void memoryOfACallLastsUntilItEnds() throws InterruptedException {
    CreateOptions small = options().capacity(0).layout(Layout.CLASSIC).numBits(4096).numProbes(2);
    Filter first = create("small", small);
    byte[] few = ones(512);
    byte[] dumped = first.dump();
    for (int i = 0; i < 12_000; i++) { // enough for the JVM to compile it
      first.importBits(few, BitOrder.LITTLE);
      Filter.load(dumped, new OpenOptions()).abandon();
    }
    AtomicBoolean ended = new AtomicBoolean();
    Thread collector = new Thread(() -> {
      while (!ended.get()) {
        System.gc();
      }
    });
    collector.start();
    byte[] many = ones(48 << 20);
    Filter large = create("large", small.numBits(48L << 23).exclusive());
    for (int round = 0; round < 6; round++) {
      large.importBits(many, BitOrder.LITTLE);
      try (Filter loaded = Filter.load(large.dump(), new OpenOptions())) {
        for (long key = 0; key < 1000; key++) {
          assertTrue(loaded.contains(key));
        }
      }
    }
    ended.set(true);
    collector.join();
  }

  private static byte[] ones(int bytes) {
    byte[] made = new byte[bytes];
    Arrays.fill(made, (byte) -1);
    return made;
  }

  @Test
  void aLoadedFilterIsClosedWhileAnotherThreadAsks() throws InterruptedException {
    byte[] dumped = create().dump();
    for (int round = 0; round < 200; round++) {
      Filter loaded = Filter.load(dumped, new OpenOptions());
      Semaphore begun = new Semaphore(0);
      Thread asking = new Thread(() -> {
        try {
          while (true) {
            loaded.contains(1L);
            begun.release();
          }
        } catch (BfstoreException.ClosedException expected) {
          // the thread ends here
        }
      });
      asking.start();
      begun.acquire();
      loaded.close();
      asking.join();
    }
  }

  @Test
  void tryWithResourcesClosesAfterAnError() {
    Filter[] kept = new Filter[1];
    assertThrows(ArithmeticException.class, () -> {
      try (Filter made = create()) {
        kept[0] = made;
        throw new ArithmeticException();
      }
    });
    assertTrue(kept[0].isClosed());
  }

  /** close() reports a failed sync. */
  @Test
  void closeTellsWhatItCouldNotDo() throws IOException {
    Filter made = create(options().guard());
    made.add("a");
    try (var file = Files.newByteChannel(path, java.nio.file.StandardOpenOption.WRITE)) {
      file.truncate(100);
    }
    assertThrows(BfstoreException.class, made::close);
    assertTrue(made.isClosed());
  }

  private static int descriptors() throws IOException {
    try (var all = Files.list(Path.of("/proc/self/fd"))) {
      return (int) all.count();
    }
  }

  /** The kernel shows a file that was created without a name under another name: so this opens it again. */
  private static Filter openedAgain(Path file, CreateOptions options) {
    Filter.create(file, options).close();
    return Filter.open(file, new OpenOptions().write());
  }

  private static boolean isMapped(Path path) throws IOException {
    return Files.readString(Path.of("/proc/self/maps")).contains(path.toString());
  }

  private static void leak(Path path) {
    Filter.open(path, new OpenOptions().exclusive()).add("a");
  }

  @Test
  void aFilterThatIsNotClosedWarnsAndLosesNothing() throws Exception {
    ConcurrentLinkedQueue<String> warnings = new ConcurrentLinkedQueue<>();
    Handler handler = new Handler() {
      @Override
      public void publish(LogRecord record) {
        warnings.add(record.getMessage() + Arrays.toString(record.getParameters()));
      }

      @Override
      public void flush() {}

      @Override
      public void close() {}
    };
    Logger logger = Logger.getLogger("dev.bfstore");
    logger.addHandler(handler);
    logger.setUseParentHandlers(false);
    try {
      create().close();
      leak(path);
      assertTrue(isMapped(path));
      for (int tries = 0; tries < 60_000 && isMapped(path); tries++) {
        System.gc();
        Thread.sleep(10);
      }
      assertFalse(isMapped(path));
      assertTrue(warnings.stream().anyMatch(text -> text.contains("not closed") && text.contains(path.toString())),
          warnings.toString());
    } finally {
      logger.setUseParentHandlers(true);
      logger.removeHandler(handler);
    }
    Filter again = open(new OpenOptions().exclusive().lockTimeout(Duration.ZERO)); // the first handle's locks are gone
    assertTrue(again.contains("a"));
  }

  @Test
  void closedFiltersKeepNoDescriptorAndNoMapping() throws IOException {
    create().close();
    int before = descriptors();
    for (int i = 0; i < 200; i++) {
      try (Filter opened = Filter.open(path)) {
        opened.containsMany(List.of("a", 5));
      }
    }
    assertTrue(descriptors() < before + 20, "other tests of this JVM may open some");
    assertFalse(isMapped(path));
  }

  /**
   * Threads look up keys without end; another thread closes. Each thread gets right answers, "maybe" or
   * ClosedException.
   */
  private static void checkCloseInUse(Filter made, Consumer<Filter> ask) throws InterruptedException {
    Semaphore begun = new Semaphore(0);
    ConcurrentLinkedQueue<Throwable> failed = new ConcurrentLinkedQueue<>();
    Thread[] threads = new Thread[THREADS];
    for (int i = 0; i < THREADS; i++) {
      threads[i] = new Thread(() -> {
        try {
          while (true) {
            begun.release();
            ask.accept(made);
          }
        } catch (BfstoreException.ClosedException closed) {
          return;
        } catch (Throwable error) {
          failed.add(error);
        }
      });
      threads[i].start();
    }
    begun.acquire(3 * THREADS);
    made.close();
    for (Thread thread : threads) {
      thread.join(600_000);
      assertFalse(thread.isAlive());
    }
    assertTrue(failed.isEmpty(), failed.toString());
  }

  private static long[] numbers(int count) {
    long[] numbers = new long[count];
    Arrays.setAll(numbers, i -> i);
    return numbers;
  }

  @Test
  void closeWhileOthersAreInBatches() throws Exception {
    long[] numbers = numbers(20_000);
    ByteBuffer direct = ByteBuffer.allocateDirect(8 * numbers.length).order(java.nio.ByteOrder.LITTLE_ENDIAN);
    direct.asLongBuffer().put(numbers);
    for (int round = 0; round < 6; round++) {
      Path file = folder.resolve("round" + round);
      Filter made = openedAgain(file, new CreateOptions().capacity(50_000));
      Keys keys = round % 2 == 0 ? Keys.of(numbers) : Keys.fixed(direct, 8);
      made.addMany(keys);
      checkCloseInUse(made, one -> {
        assertEquals(numbers.length, one.select(keys).length, "a wrong no while the filter was closed");
        one.addMany(keys);
      });
      assertFalse(isMapped(file)); // the last call that left has freed it
      try (Filter again = Filter.open(file, new OpenOptions().noWrite())) { // clean
        assertEquals(numbers.length, again.select(keys).length);
      }
    }
  }

  /** Starts a thread that is in a batch: its first answer exists, and nearly all others do not. */
  private static Thread inABatch(Filter filter, Keys keys, ByteBuffer answers) throws InterruptedException {
    answers.put(0, (byte) 7); // not an answer
    Thread thread = new Thread(() -> filter.containsMany(keys, answers));
    thread.start();
    while (answers.get(0) == 7) {
      Thread.sleep(0, 1000);
    }
    return thread;
  }

  /** A batch may be long, and close() does not wait for it: the file must still be free for others. */
  @Test
  void closeLetsGoOfTheFileWhileOthersAreInCalls() throws Exception {
    Keys keys = Keys.fixed(ByteBuffer.allocateDirect(8 * 4_000_000), 8);
    ByteBuffer answers = ByteBuffer.allocateDirect(4_000_000);
    boolean inUse = false; // until the end of close(): this thread may not run before the batch is over
    for (int tries = 0; tries < TRIES && !inUse; tries++) {
      Filter made = Filter.create(folder.resolve("try" + tries), options().exclusive());
      Thread thread = inABatch(made, keys, answers);
      made.close();
      Filter.open(folder.resolve("try" + tries), new OpenOptions().exclusive().lockTimeout(Duration.ZERO)).close();
      inUse = thread.isAlive();
      thread.join();
    }
    assertTrue(inUse);
  }

  @Test
  void closeWhileOthersAskForSingleKeys() throws Exception {
    for (int round = 0; round < 20; round++) {
      Path file = folder.resolve("round" + round);
      Filter made = openedAgain(file, options());
      made.add("present");
      assertTrue(isMapped(file));
      checkCloseInUse(made, one -> {
        for (int i = 0; i < 100; i++) {
          assertTrue(one.contains("present") && Filter.containsAny(List.of(one, one), "present"));
          one.add(i);
        }
      });
      assertFalse(isMapped(file));
    }
  }

  @Test
  void closeOfABufferInUse() throws Exception {
    CreateOptions options = new CreateOptions().capacity(50_000);
    ByteBuffer memory = ByteBuffer.allocateDirect((int) Filter.requiredBytes(options) + 128).alignedSlice(64);
    Keys keys = Keys.of(numbers(5_000));
    checkCloseInUse(Filter.format(memory, options), one -> one.addMany(keys));
    try (Filter again = Filter.wrap(memory, new OpenOptions())) {
      assertEquals(5_000, again.select(keys).length);
    }
  }

  @Test
  void publishRefusesAFilterInUse() throws Exception {
    Keys keys = Keys.fixed(ByteBuffer.allocateDirect(8 * 4_000_000), 8);
    ByteBuffer answers = ByteBuffer.allocateDirect(4_000_000);
    boolean refused = false;
    for (int tries = 0; tries < TRIES && !refused; tries++) {
      Filter made = create("try" + tries, new CreateOptions().capacity(1000).unpublished());
      Thread thread = inABatch(made, keys, answers);
      try {
        made.publish();
      } catch (IllegalStateException inUse) {
        refused = inUse.getMessage().contains("another thread uses it");
      }
      thread.join();
    }
    assertTrue(refused);
  }

  @Test
  void manyThreadsAddAndAsk() throws Exception {
    Filter made = create(new CreateOptions().capacity(40_000).fpr(1e-6));
    AtomicLong added = new AtomicLong();
    ConcurrentLinkedQueue<Throwable> failed = new ConcurrentLinkedQueue<>();
    Thread[] threads = new Thread[THREADS];
    for (int t = 0; t < THREADS; t++) {
      int mine = t;
      threads[t] = new Thread(() -> {
        try {
          for (int i = 0; i < 5_000; i++) {
            long key = i * THREADS + mine;
            added.addAndGet(made.add(key) ? 1 : 0);
            assertTrue(made.contains(key));
            added.addAndGet(made.addMany(Keys.of(key + 1_000_000)));
            assertTrue(made.containsMany(Keys.of(key, key + 1_000_000))[1]);
          }
        } catch (Throwable error) {
          failed.add(error);
        }
      });
      threads[t].start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertTrue(failed.isEmpty(), failed.toString());
    assertTrue(added.get() > 39_900 && added.get() <= 40_000, added.toString());
    assertEquals(THREADS * 5_000, made.select(Keys.of(numbers(THREADS * 5_000))).length);
  }
}

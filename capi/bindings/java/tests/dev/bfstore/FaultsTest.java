package dev.bfstore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;

/** A file that another process truncates is doubt, not a crash, and the JVM's own faults still work. */
class FaultsTest extends Case {
  private static final Set<Health> DOUBT = Set.of(Health.FAULT, Health.LOST);
  private static final int PATIENCE = 600_000; // milliseconds

  private static void truncate(Path path, long bytes) throws Exception {
    assertEquals(0, new ProcessBuilder("/usr/bin/truncate", "-s", "" + bytes, path.toString()).start().waitFor());
  }

  /** Runs hot, so that the compiled code relies on the signal for null: the JVM does that if null was never seen. */
  private static int length(String text) {
    return text.length();
  }

  private static void checkTheJvmsOwnFaults(Path folder) throws Exception {
    for (int i = 0; i < 200_000; i++) {
      assertEquals(1, length("x"));
    }
    assertThrows(NullPointerException.class, () -> length(null));
    assertThrows(StackOverflowError.class, FaultsTest::endless);
    Path mapped = folder.resolve("mapped");
    try (RandomAccessFile file = new RandomAccessFile(mapped.toFile(), "rw")) {
      file.setLength(1 << 20);
      MappedByteBuffer buffer = file.getChannel().map(FileChannel.MapMode.READ_ONLY, 0, 1 << 20);
      assertEquals(0, buffer.get(1 << 19));
      truncate(mapped, 0);
      assertThrows(InternalError.class, () -> { // the JVM's SIGBUS, which Java 17 throws a little later
        for (int i = 0; i < 10_000; i++) {
          sum(buffer);
          Thread.sleep(0, 1);
        }
      });
    }
  }

  private static int endless() {
    return endless() + 1;
  }

  private static int sum(ByteBuffer buffer) {
    int sum = 0;
    for (int i = 0; i < buffer.capacity(); i += 4096) {
      sum += buffer.get(i);
    }
    return sum;
  }

  private Filter large(OpenOptions options) {
    create(new CreateOptions().capacity(5_000_000)).close();
    return open(options);
  }

  @Test
  void aTruncatedFileIsDoubtForSingleKeys() throws Exception {
    Filter filter = large(new OpenOptions().guard());
    assertFalse(filter.contains(0));
    truncate(path, 20_000);
    for (int i = 1; i < 1000; i++) {
      assertTrue(filter.contains(i));
    }
    assertTrue(DOUBT.contains(filter.health()), filter.health().toString());
    checkTheJvmsOwnFaults(folder);
  }

  @Test
  void aTruncatedFileIsDoubtForBatches() throws Exception {
    Filter filter = large(new OpenOptions().guard());
    truncate(path, 20_000);
    long[] keys = new long[10_000];
    assertEquals(keys.length, filter.select(Keys.of(keys)).length);
    assertTrue(DOUBT.contains(filter.health()));
  }

  @Test
  void aTruncatedFileRefusesAdds() throws Exception {
    Filter filter = large(new OpenOptions().guard().write());
    truncate(path, 20_000);
    assertThrows(BfstoreException.DoubtException.class, () -> {
      for (int i = 0; i < 1000; i++) {
        filter.add(i);
      }
    });
    assertThrows(BfstoreException.class, () -> filter.addMany(List.of("a")));
    assertThrows(BfstoreException.class, filter::sync);
  }

  /** Other threads are in lookups when the file is truncated: the fault comes in the middle of their calls. */
  @Test
  void aFileIsCutWhileItIsAsked() throws Exception {
    Filter filter = large(new OpenOptions().guard());
    Thread[] threads = new Thread[4];
    AtomicIntegerArray asked = new AtomicIntegerArray(threads.length);
    boolean[] wrong = new boolean[1];
    for (int t = 0; t < threads.length; t++) {
      int mine = t;
      threads[t] = new Thread(() -> {
        long key = mine;
        while (!DOUBT.contains(filter.health())) {
          filter.contains(key += 4);
          asked.incrementAndGet(mine);
        }
        for (int i = 0; i < 1000; i++) {
          wrong[0] |= !filter.contains(key += 4);
        }
      });
      threads[t].start();
    }
    for (int t = 0; t < threads.length; t++) {
      while (asked.get(t) < 100) {
        Thread.sleep(1);
      }
    }
    truncate(path, 20_000);
    for (Thread thread : threads) {
      thread.join(PATIENCE);
      assertFalse(thread.isAlive());
    }
    assertFalse(wrong[0]);
    checkTheJvmsOwnFaults(folder);
  }
}

package dev.bfstore;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

/** Keys in memory segments have the same answers as the same keys in arrays. */
class SegmentsTest extends Case {
  @Test
  void everyFormIsThatOfArrays() {
    Filter filter = create();
    byte[] data = bytes("aaaabbbbccccdddd");
    filter.add("bbbb");
    filter.add("ccccdd");
    boolean[] second = {false, true, false, false};
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment segment = arena.allocateFrom(ValueLayout.JAVA_BYTE, data);
      assertArrayEquals(second, filter.containsMany(Segments.fixed(segment, 4)));
      assertArrayEquals(new boolean[] {false, false}, filter.containsMany(Segments.fixed(segment, 4, 8)));
      MemorySegment narrow = arena.allocateFrom(ValueLayout.JAVA_INT, 0, 4, 8, 14);
      MemorySegment wide = arena.allocateFrom(ValueLayout.JAVA_LONG, 0, 4, 8, 14);
      assertArrayEquals(new int[] {1, 2}, filter.select(Segments.column32(segment, narrow)));
      assertArrayEquals(new int[] {1, 2}, filter.select(Segments.column64(segment, wide)));
      MemorySegment digests = arena.allocateFrom(ValueLayout.JAVA_LONG, 5, filter.digest("bbbb"));
      assertArrayEquals(new int[] {1}, filter.select(Segments.digests(digests)));
      assertEquals(3, filter.addMany(Segments.fixed(segment, 4)));
    }
    assertThrows(BfstoreException.InvalidException.class, () -> Segments.fixed(MemorySegment.ofArray(data), 4));
    assertThrows(BfstoreException.InvalidException.class, () -> Segments.fixed(null, 4));
  }

  @Test
  void anArenaThatWasClosedOrIsAnotherThreadsIsRefused() throws Exception {
    Filter filter = create();
    Keys keys;
    Keys column;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment segment = arena.allocateFrom(ValueLayout.JAVA_INT, 7, 7);
      keys = Segments.fixed(segment, 4);
      column = Segments.column32(segment, arena.allocateFrom(ValueLayout.JAVA_INT, 0, 4, 8));
      assertEquals(1, filter.addMany(keys));
      for (Keys each : new Keys[] {keys, column}) {
        Throwable[] thrown = new Throwable[1];
        Thread other = new Thread(() -> thrown[0] = assertThrows(WrongThreadException.class, () -> filter.containsMany(each)));
        other.start();
        other.join();
        assertEquals(WrongThreadException.class, thrown[0].getClass());
      }
    }
    for (Keys each : new Keys[] {keys, column}) {
      assertThrows(IllegalStateException.class, () -> filter.containsMany(each));
      assertThrows(IllegalStateException.class, () -> filter.addMany(each));
    }
  }
}

package dev.bfstore;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Every form of many keys gives the answers of the single calls. */
class BatchesTest extends Case {
  /** More keys than one part of a call has, so that every form is looked up in parts. */
  private static final int COUNT = 10_000;

  private static byte[][] words() {
    byte[][] keys = new byte[COUNT][];
    for (int i = 0; i < COUNT; i++) {
      keys[i] = bytes("k".repeat(i % 40) + i);
    }
    keys[3] = new byte[0];
    return keys;
  }

  private static byte[][] rows() {
    byte[][] keys = new byte[COUNT][];
    for (int i = 0; i < COUNT; i++) {
      keys[i] = bytes(String.format("%08d", i));
    }
    return keys;
  }

  private static byte[] joined(byte[][] keys) {
    ByteArrayOutputStream made = new ByteArrayOutputStream();
    for (byte[] key : keys) {
      made.writeBytes(key);
    }
    return made.toByteArray();
  }

  private static int[] offsets(byte[][] keys) {
    int[] offsets = new int[keys.length + 1];
    for (int i = 0; i < keys.length; i++) {
      offsets[i + 1] = offsets[i] + keys[i].length;
    }
    return offsets;
  }

  /** The bytes do not begin at the beginning of the buffer. */
  private static ByteBuffer direct(byte[] bytes) {
    return ByteBuffer.allocateDirect(bytes.length + 24).order(ByteOrder.nativeOrder()).position(16).put(bytes)
        .flip().position(16);
  }

  private static byte[] nativeOffsets(int[] offsets, int bytes) {
    ByteBuffer made = ByteBuffer.allocate(offsets.length * bytes).order(ByteOrder.nativeOrder());
    for (int offset : offsets) {
      if (bytes == 4) {
        made.putInt(offset);
      } else {
        made.putLong(offset);
      }
    }
    return made.array();
  }

  /** Adds half of the keys one by one; looks up and adds all in the form `keys`. null is a null. */
  private void check(Keys keys, byte[][] expected) {
    // clock: a name
    Filter filter = kept(Filter.create(folder.resolve("f" + System.nanoTime()), options().capacity(2 * COUNT).fpr(1e-4)));
    boolean[] answers = new boolean[expected.length];
    for (int i = 0; i < expected.length; i += 2) {
      if (expected[i] != null) {
        filter.add(expected[i]);
      }
    }
    BitSet bits = new BitSet();
    for (int i = 0; i < expected.length; i++) {
      answers[i] = expected[i] != null && filter.contains(expected[i]);
      bits.set(i, answers[i]);
    }
    assertTrue(bits.cardinality() >= expected.length / 3 && bits.cardinality() < expected.length);
    checkAnswers(filter, keys, answers, bits);
    checkDigests(filter, keys, expected);
    filter.addMany(keys);
    for (byte[] key : expected) {
      assertTrue(key == null || filter.contains(key));
    }
  }

  private static void checkAnswers(Filter filter, Keys keys, boolean[] answers, BitSet bits) {
    assertEquals(answers.length, keys.count());
    assertArrayEquals(answers, filter.containsMany(keys));
    assertEquals(bits, filter.containsBits(keys));
    assertArrayEquals(bits.stream().toArray(), filter.select(keys));
    for (ByteBuffer room : List.of(ByteBuffer.allocateDirect(COUNT + 1), ByteBuffer.allocate(COUNT + 1))) {
      assertEquals(bits.cardinality(), filter.containsMany(keys, room.position(1)));
      for (int i = 0; i < answers.length; i++) {
        assertEquals(answers[i] ? 1 : 0, room.get(i + 1));
      }
    }
  }

  private static void checkDigests(Filter filter, Keys keys, byte[][] expected) {
    long[] digests = filter.digestMany(keys);
    for (int i = 0; i < expected.length; i++) {
      assertEquals(expected[i] == null ? 0 : filter.digest(expected[i]), digests[i]);
    }
    if (!Arrays.asList(expected).contains(null)) {
      byte[] bytes = new byte[8 * digests.length];
      ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder()).asLongBuffer().put(digests);
      for (Keys same : List.of(Keys.digests(digests), Keys.digests(direct(bytes).order(ByteOrder.nativeOrder())),
          Keys.digests(ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder())))) {
        assertArrayEquals(filter.containsMany(keys), filter.containsMany(same));
      }
    }
  }

  @Test
  void arraysAndLists() {
    byte[][] keys = words();
    check(Keys.of(keys), keys);
    check(Keys.of(List.of(keys)), keys);
    check(Keys.of(new LinkedHashSet<>(List.of(keys))), keys);
    Iterable<byte[]> lazy = List.of(keys)::iterator;
    check(Keys.of(lazy), keys);
    String[] texts = new String[COUNT];
    for (int i = 0; i < COUNT; i++) {
      texts[i] = new String(keys[i]);
    }
    check(Keys.of(texts), keys);
  }

  @Test
  void keysOfOneWidth() {
    byte[][] keys = rows();
    check(Keys.fixed(joined(keys), 8), keys);
    check(Keys.fixed(direct(joined(keys)), 8), keys);
    check(Keys.fixed(ByteBuffer.wrap(joined(keys)), 8), keys);
    check(Keys.fixed(direct(joined(keys)).asReadOnlyBuffer(), 8), keys);
  }

  @Test
  void fieldsOfRecords() {
    byte[][] keys = rows();
    byte[] records = new byte[12 * COUNT - 4];
    for (int i = 0; i < COUNT; i++) {
      System.arraycopy(keys[i], 0, records, 12 * i, 8);
    }
    check(Keys.fixed(direct(records), 8, 12), keys);
  }

  @Test
  void integers() {
    long[] numbers = new long[COUNT];
    byte[][] keys = new byte[COUNT][];
    for (int i = 0; i < COUNT; i++) {
      numbers[i] = i % 3 == 0 ? -i - 1 : i;
      keys[i] = Key.of(numbers[i]);
    }
    check(Keys.of(numbers), keys);
  }

  @Test
  void columns() {
    byte[][] keys = words();
    int[] offsets = offsets(keys);
    check(Keys.column(joined(keys), offsets), keys);
    check(Keys.column32(direct(joined(keys)), direct(nativeOffsets(offsets, 4))), keys);
    check(Keys.column64(direct(joined(keys)), direct(nativeOffsets(offsets, 8))), keys);
    check(Keys.column32(ByteBuffer.wrap(joined(keys)), ByteBuffer.wrap(nativeOffsets(offsets, 4))), keys);
  }

  @Test
  void nullsOfAColumn() {
    byte[][] keys = words();
    ByteBuffer data = direct(joined(keys));
    ByteBuffer places = direct(nativeOffsets(offsets(keys), 4));
    int firstBit = 13;
    byte[] bitmap = new byte[COUNT / 8 + 3];
    for (int i = 0; i < COUNT; i++) {
      if (i % 5 == 4) {
        keys[i] = null;
      } else {
        bitmap[(firstBit + i) / 8] |= 1 << (firstBit + i) % 8;
      }
    }
    check(Keys.column32(data, places).withValidity(direct(bitmap), firstBit), keys);
    Keys onHeap = Keys.column(joined(words()), offsets(words()));
    check(onHeap.withValidity(ByteBuffer.wrap(bitmap), firstBit), keys);
  }

  @Test
  void millionsOfKeysThatAreSortedHaveTheAnswersOfFewer() {
    int count = (3 << 20) + 3;
    Filter filter = create(options().capacity(40_000_000));
    ByteBuffer bytes = ByteBuffer.allocateDirect(8 * count).order(ByteOrder.nativeOrder());
    for (int i = 0; i < count; i++) {
      bytes.putLong(8 * i, (i + 1) * 0x9e3779b97f4a7c15L);
    }
    filter.addMany(Keys.digests(bytes.slice(0, 8 * (count / 2)).order(ByteOrder.nativeOrder())));
    boolean[] expected = filter.containsMany(Keys.digests(bytes)); // asks in parts
    ByteBuffer answers = ByteBuffer.allocateDirect(count);
    long maybes = filter.containsMany(Keys.digests(bytes), answers);
    assertTrue(count / 2 <= maybes && maybes < count);
    for (int i = 0; i < count; i++) {
      assertEquals(expected[i], answers.get(i) != 0, i + "");
    }
  }

  @Test
  void noKeys() {
    Filter filter = create();
    ByteBuffer none = ByteBuffer.allocateDirect(0);
    for (Keys keys : List.of(Keys.of(List.of()), Keys.of(new byte[0][]), Keys.of(new long[0]), Keys.digests(),
        Keys.fixed(new byte[0], 5), Keys.fixed(none, 5), Keys.column(new byte[0], new int[1]),
        Keys.column32(none, ByteBuffer.allocateDirect(4)))) {
      assertEquals(0, filter.addMany(keys));
      assertEquals(0, filter.containsMany(keys).length);
      assertEquals(0, filter.containsMany(keys, none));
      assertEquals(0, filter.select(keys).length);
      assertEquals(0, filter.digestMany(keys).length);
    }
  }

  @Test
  void howManyWereNew() {
    Filter filter = create();
    assertEquals(2, filter.addMany(List.of("a", "b")));
    assertEquals(1, filter.addMany(List.of("a", "c")));
    assertArrayEquals(new int[] {0, 2}, filter.select(List.of("a", "x", "c")));
  }

  @Test
  void aKeyThatIsNoneAfterManyOthersChangesNothing() {
    Filter filter = create(options().layout(Layout.COUNTING).capacity(100));
    List<Object> keys = new ArrayList<>();
    byte[] large = new byte[Keys.PART_BYTES / 2 + 1];
    keys.add(large);
    keys.add(large); // in another part than the first
    keys.add("\ud800");
    assertThrows(BfstoreException.InvalidException.class, () -> filter.addMany(keys));
    assertEquals(0, filter.statsWithFill().fill().get().setBits());
    keys.set(2, "good");
    filter.addMany(keys);
    assertEquals(2, filter.count(large));
    assertTrue(filter.contains("good"));
  }

  @Test
  void columnsThatAreNoneAreRefused() {
    Filter filter = create();
    byte[] data = new byte[8];
    Class<BfstoreException.InvalidException> wrong = BfstoreException.InvalidException.class;
    assertThrows(wrong, () -> Keys.fixed(data, 3));
    assertThrows(wrong, () -> Keys.fixed(data, 0));
    assertThrows(wrong, () -> Keys.fixed(direct(data), 3));
    assertThrows(wrong, () -> Keys.fixed(direct(data), 4, 3));
    assertThrows(wrong, () -> Keys.digests(direct(new byte[12]).order(ByteOrder.nativeOrder())));
    ByteOrder other = ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN;
    assertThrows(wrong, () -> Keys.digests(direct(new byte[16]).order(other)));
    assertThrows(wrong, () -> Keys.column(data, new int[0]));
    assertThrows(wrong, () -> Keys.column(data, new int[] {0, 9}));
    assertThrows(wrong, () -> Keys.column(data, new int[] {-1, 3}));
    assertThrows(wrong, () -> Keys.column(data, new int[] {0, 5, 4, 6}));
    assertThrows(wrong, () -> Keys.column32(direct(data), direct(new byte[6])));
    assertThrows(wrong, () -> Keys.fixed(direct(data), 1).withValidity(direct(new byte[1]), 1));
    assertThrows(wrong, () -> Keys.fixed(direct(data), 1).withValidity(direct(new byte[1]), -1));
    ByteBuffer room = ByteBuffer.allocate(9);
    assertThrows(wrong, () -> filter.containsMany(Keys.fixed(direct(new byte[10]), 1), room));
    assertArrayEquals(new byte[] {1, 1, 1, 1, 1, 1, 1, 1, 1}, room.array()); // the answers were no before
    Arrays.fill(room.array(), (byte) 0);
    for (int[] offsets : new int[][] {{0, 9}, {-1, 3}, {0, 5, 4, 6}}) {
      Keys keys = Keys.column32(direct(data), direct(nativeOffsets(offsets, 4)));
      assertThrows(BfstoreException.InvalidException.class, () -> filter.addMany(keys));
      assertThrows(BfstoreException.InvalidException.class, () -> filter.containsMany(keys, room));
      assertEquals(1, room.get(0)); // "maybe" for a caller that drops the exception
    }
    assertFalse(filter.contains(new byte[1]));
  }

  /** The words were only "an argument is out of range or contradicts another". */
  @Test
  void aWrongOffsetIsNamed() {
    Filter filter = create();
    byte[] data = new byte[6];
    Map<String, int[]> wrong = Map.of("offset 2 is 100, and the column has 6 bytes of data", new int[] {0, 2, 100},
        "offset 0 is -5, which is negative", new int[] {-5, 2},
        "offset 1 is 1, less than the one before it, 4", new int[] {4, 1, 2});
    wrong.forEach((words, offsets) -> {
      ByteBuffer longs = ByteBuffer.allocate(8 * offsets.length).order(ByteOrder.nativeOrder());
      Arrays.stream(offsets).forEach(longs::putLong);
      Keys wide = Keys.column64(direct(data), direct(longs.array()));
      Keys keys = Keys.column32(direct(data), direct(nativeOffsets(offsets, 4)));
      List<Executable> calls = List.of(() -> filter.addMany(keys), () -> filter.containsMany(keys), () -> filter.addMany(wide),
          () -> filter.containsMany(keys, ByteBuffer.allocateDirect(9)), () -> Filter.build(folder.resolve("x"), keys, options()),
          () -> Keys.column(data, offsets), () -> filter.addMany(keys.withValidity(direct(new byte[1]), 0)));
      for (Executable call : calls) {
        String told = assertThrows(BfstoreException.InvalidException.class, call).getMessage();
        assertTrue(told.endsWith(words), told);
      }
    });
  }
}

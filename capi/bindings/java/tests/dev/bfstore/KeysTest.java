package dev.bfstore;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** The bytes of each key: programs in other languages have to agree with this table. */
class KeysTest extends Case {
  private static byte[] repeated(byte[] once, JsonObject row) {
    int times = row.has("times") ? row.get("times").getAsInt() : 1;
    byte[] made = new byte[once.length * times];
    for (int i = 0; i < made.length; i++) {
      made[i] = once[i % once.length];
    }
    return made;
  }

  private static Object said(JsonObject row) {
    if (row.has("utf16")) {
      byte[] units = unhex(row.get("utf16").getAsString());
      return ByteBuffer.wrap(units).asCharBuffer().toString();
    }
    if (row.has("integer")) {
      return new BigInteger(row.get("integer").getAsString());
    }
    if (row.has("text")) {
      return row.get("text").getAsString().repeat(row.has("times") ? row.get("times").getAsInt() : 1);
    }
    return repeated(unhex(row.get("binary").getAsString()), row);
  }

  private static long digest(Filter filter, Object key) {
    if (key instanceof String) {
      return filter.digest((String) key);
    }
    return filter.digest(key instanceof BigInteger ? Key.of((BigInteger) key) : (byte[]) key);
  }

  @Test
  void everyRowOfTheTableHasItsDigestOrIsRefused() throws Exception {
    Filter filter = create(options().seed(0));
    int rows = 0;
    for (JsonElement element : json(ROOT.resolve("capi/bindings/keys.json")).getAsJsonArray("keys")) {
      JsonObject row = element.getAsJsonObject();
      Object key = said(row);
      if (row.has("error")) {
        String words = row.get("error").getAsString();
        for (Exception error : List.of(assertThrows(BfstoreException.InvalidException.class, () -> digest(filter, key)),
            assertThrows(BfstoreException.InvalidException.class, () -> filter.digestMany(Keys.of(List.of(key)))))) {
          assertTrue(error.getMessage().contains(words), error.getMessage());
        }
      } else {
        long expected = Long.parseUnsignedLong(row.get("xxh3").getAsString(), 16);
        assertEquals(expected, digest(filter, key));
        assertArrayEquals(new long[] {expected}, filter.digestMany(Keys.of(List.of(key))));
        assertEquals(expected, filter.digest(repeated(unhex(row.get("bytes").getAsString()), row)));
      }
      rows++;
    }
    assertTrue(rows > 25);
  }

  private static Keys many(JsonObject row) {
    if (row.has("fixed")) {
      return Keys.fixed(unhex(row.get("fixed").getAsString()), row.get("width").getAsInt());
    }
    JsonArray said = row.getAsJsonArray("offsets");
    ByteBuffer offsets = ByteBuffer.allocateDirect(4 * said.size()).order(ByteOrder.nativeOrder());
    said.forEach(one -> offsets.putInt(one.getAsInt()));
    Keys keys = Keys.column32(ByteBuffer.wrap(unhex(row.get("column").getAsString())), offsets.flip());
    return row.has("validity")
        ? keys.withValidity(ByteBuffer.wrap(unhex(row.get("validity").getAsString())), row.get("first").getAsLong())
        : keys;
  }

  @Test
  void everyListOfTheTableHasItsDigestsAndItsNullsOrIsRefused() throws Exception {
    int rows = 0;
    for (JsonElement element : json(ROOT.resolve("capi/bindings/keys.json")).getAsJsonArray("lists")) {
      JsonObject row = element.getAsJsonObject();
      Filter filter = create("list-" + rows++, options().seed(0));
      Keys keys = many(row);
      if (row.has("error")) {
        assertThrows(BfstoreException.InvalidException.class, () -> filter.addMany(keys), row.toString());
        assertEquals(0, filter.statsWithFill().fill().get().setBits());
        continue;
      }
      JsonArray said = row.getAsJsonArray("xxh3");
      long[] digests = new long[said.size()];
      boolean[] there = new boolean[said.size()];
      for (int i = 0; i < said.size(); i++) {
        digests[i] = Long.parseUnsignedLong(said.get(i).getAsString(), 16);
        there[i] = digests[i] != 0;
      }
      assertArrayEquals(digests, filter.digestMany(keys), row.toString());
      filter.addMany(keys);
      assertArrayEquals(there, filter.containsMany(keys), row.toString());
      assertFalse(filter.containsDigest(0));
    }
    assertTrue(rows > 14);
  }

  @Test
  void everyFormOfAKeyIsItsBytes() {
    Filter filter = create();
    UUID uuid = UUID.fromString("00112233-4455-6677-8899-aabbccddeeff");
    Object[][] same = {
      {"Zürich", bytes("Zürich")}, {5L, unhex("0500000000000000")}, {5, unhex("0500000000000000")},
      {(short) -1, unhex("ffffffffffffffff")}, {(byte) 5, unhex("0500000000000000")},
      {BigInteger.ONE.shiftLeft(63), unhex("0000000000000080")}, {uuid, unhex("00112233445566778899aabbccddeeff")},
      {ByteBuffer.wrap(bytes("--key--"), 2, 3), bytes("key")}, {"what?", bytes("what?")}, {"", new byte[0]},
      {"?\ud83d\ude00", unhex("3ff09f9880")}};
    for (Object[] pair : same) {
      assertArrayEquals(new long[] {filter.digest((byte[]) pair[1])}, filter.digestMany(Keys.of(List.of(pair[0]))));
    }
    assertArrayEquals(unhex("00112233445566778899aabbccddeeff"), Key.of(uuid));
    assertArrayEquals(unhex("0500000000000000"), Key.of(5));
    assertArrayEquals(bytes("Zürich"), Key.of("Zürich"));
    assertEquals(filter.digest(5), filter.digest(unhex("0500000000000000")));
  }

  @Test
  void whatIsAddedInOneFormIsThereInTheOthers() {
    Filter filter = create();
    assertFalse(filter.contains("alice"));
    assertTrue(filter.add("alice"));
    assertFalse(filter.add(bytes("alice")));
    assertFalse(filter.add(ByteBuffer.wrap(bytes("alice"))));
    assertTrue(filter.contains(bytes("alice")));
    ByteBuffer part = ByteBuffer.allocateDirect(9).put(2, bytes("alice")).position(2).limit(7);
    assertTrue(filter.contains(part));
    assertEquals(2, part.position());
    assertTrue(filter.add(7L));
    assertTrue(filter.contains(unhex("0700000000000000")));
    assertTrue(filter.containsDigest(filter.digest("alice")));
    assertFalse(filter.containsDigest(5));
    assertTrue(filter.addDigest(-1));
    assertTrue(filter.containsDigest(-1));
    assertFalse(filter.contains(new byte[0]));
    assertTrue(filter.add(""));
    assertTrue(filter.contains(new byte[0]));
  }

  @Test
  void aFileLargerThanMemoryHasTheSameAnswers() {
    Filter filter = create(options().capacity(1000).mayBlock().layout(Layout.COUNTING));
    byte[] large = new byte[1 << 20];
    large[5] = 1;
    assertTrue(filter.add("alice"));
    assertTrue(filter.add(large));
    assertTrue(filter.contains("alice"));
    assertTrue(filter.contains(large));
    assertFalse(filter.contains(new byte[1 << 20]));
    assertEquals(1, filter.count("alice"));
    assertTrue(filter.remove("alice"));
    assertFalse(filter.contains("alice"));
  }

  @Test
  void keysAreCountedAndRemoved() {
    Filter filter = create(options().layout(Layout.COUNTING));
    filter.add("alice");
    filter.add("alice");
    filter.add(5);
    assertEquals(List.of(2, 1, 0), List.of(filter.count("alice"), filter.count(5), filter.count("bob")));
    assertEquals(2, filter.countDigest(filter.digest("alice")));
    assertArrayEquals(new int[] {2, 1, 0, 0}, filter.countMany(List.of("alice", 5, "bob", "")));
    ByteBuffer rows = ByteBuffer.wrap(bytes("alicealicealice"));
    ByteBuffer second = ByteBuffer.wrap(new byte[] {0b101});
    assertArrayEquals(new int[] {2, 0, 2}, filter.countMany(Keys.fixed(rows, 5).withValidity(second, 0)));
    assertTrue(filter.remove("alice"));
    assertTrue(filter.contains("alice"));
    assertTrue(filter.removeDigest(filter.digest("alice")));
    assertFalse(filter.contains("alice"));
    assertFalse(filter.remove("alice"));
    assertEquals(3, filter.addMany(List.of("a", "b", "c")));
    assertEquals(2, filter.removeMany(List.of("a", "b", "never")));
    assertEquals(1, filter.removeMany(Keys.digests(filter.digest("c"))));
    assertEquals("[false, false, false, true]", Arrays.toString(filter.containsMany(List.of("a", "b", "c", 5))));
  }

  @Test
  void otherLayoutsCannot() {
    Filter filter = create();
    assertThrows(BfstoreException.UnsupportedException.class, () -> filter.remove("a"));
    assertThrows(BfstoreException.UnsupportedException.class, () -> filter.count("a"));
    assertThrows(BfstoreException.UnsupportedException.class, () -> filter.count(""));
    assertThrows(BfstoreException.UnsupportedException.class, () -> filter.removeMany(List.of("a")));
  }

  @Test
  void digestsAreRefusedWhereKeysAreWantedAndTheOtherWayRound() {
    Filter digestsAlone = create("external", unseeded().hash(Hash.EXTERNAL));
    Filter keysAlone = create("murmur", unseeded().hash(Hash.MURMUR3));
    Class<BfstoreException.KindOfKeyException> kind = BfstoreException.KindOfKeyException.class;
    assertThrows(kind, () -> digestsAlone.add("a"));
    assertThrows(kind, () -> digestsAlone.contains("a"));
    assertThrows(kind, () -> digestsAlone.containsMany(List.of("a")));
    assertThrows(kind, () -> keysAlone.addDigest(1));
    assertThrows(kind, () -> keysAlone.containsMany(Keys.digests(1)));
    assertThrows(kind, () -> keysAlone.digest("a"));
  }

  @Test
  void whatIsNoKeyIsRefusedAndNothingIsAdded() {
    Filter filter = create();
    for (Object wrong : new Object[] {1.5, 'c', true, new int[1], new Object()}) {
      assertThrows(BfstoreException.InvalidException.class, () -> filter.addMany(Arrays.asList("before", wrong)));
    }
    for (Executable wrong : List.<Executable>of(() -> filter.add('c'), () -> filter.contains('c'), () -> filter.remove('c'),
        () -> filter.count('c'), () -> filter.digest('c'), () -> Keys.of('c', 'd'))) {
      assertThrows(BfstoreException.InvalidException.class, wrong);
    }
    assertThrows(NullPointerException.class, () -> filter.addMany(Arrays.asList("before", null)));
    assertThrows(NullPointerException.class, () -> filter.contains((String) null));
    assertThrows(NullPointerException.class, () -> filter.add((byte[]) null));
    assertThrows(BfstoreException.InvalidException.class, () -> filter.add("a\udfff?"));
    assertEquals(0, filter.statsWithFill().fill().get().setBits());
  }
}

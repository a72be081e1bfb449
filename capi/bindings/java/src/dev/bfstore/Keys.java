package dev.bfstore;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.function.LongUnaryOperator;
import java.util.function.Supplier;

/**
 * Many keys at once, in the form in which the caller has them. They are a view: no thread may change the memory during
 * a call.
 *
 * <p>Direct buffers and memory segments (see {@code Segments}) are read in place. Keys on Java's heap are copied part
 * by part into memory of the binding. An Iterable is taken into a list first: of more keys than the heap has room for,
 * add one list after the other, or build from a Stream.
 */
public abstract class Keys {
  /** The most bytes of keys that are copied at once, except a single longer key. */
  static final int PART_BYTES = 64 << 20;

  Keys() {}

  /** Returns the number of keys, including nulls. */
  public abstract long count();

  /**
   * Describes in the scratch keys from `from` on, at most `most`. Returns their number: at least 1, if a key is left.
   */
  abstract long view(long from, long most, Scratch scratch);

  /** Returns whether one view can have all of the keys. */
  abstract boolean isInPlace();

  /** Throws if an item from `from` on is not a key. */
  void check(long from) {}

  /** Says which offset of a column is wrong; "" if none is. */
  String misfit() {
    return "";
  }

  /** Returns an exception of the library with the wrong offset of a column, which the library does not name. */
  final BfstoreException named(Object filter, BfstoreException.InvalidException refused) {
    String words = misfit();
    return words.isEmpty() ? refused : BfstoreException.invalid(filter + ": " + words);
  }

  private static String misfit(long offsets, LongUnaryOperator offsetAt, long dataBytes) {
    long before = 0;
    for (long i = 0; i < offsets; i++) {
      long offset = offsetAt.applyAsLong(i);
      if (offset < before) {
        return "offset " + i + " is " + offset + (i == 0 ? ", which is negative" : ", less than the one before it, " + before);
      }
      if (offset > dataBytes) {
        return "offset " + i + " is " + offset + ", and the column has " + dataBytes + " bytes of data";
      }
      before = offset;
    }
    return "";
  }

  /**
   * Keys of any kind: byte[], String, Long, Integer, Short, Byte, BigInteger, UUID, ByteBuffer (its remaining bytes).
   *
   * @param keys none of them null
   */
  public static Keys of(Iterable<?> keys) {
    if (Objects.requireNonNull(keys, "keys") instanceof Collection) {
      return new Listed(((Collection<?>) keys).toArray());
    }
    List<Object> listed = new ArrayList<>();
    keys.forEach(listed::add);
    return new Listed(listed.toArray());
  }

  /**
   * Makes keys of bytes.
   *
   * @param keys none of them null
   */
  public static Keys of(byte[]... keys) {
    return new Listed(keys);
  }

  /**
   * Makes keys of text, each its UTF-8.
   *
   * @param keys none of them null
   */
  public static Keys of(String... keys) {
    return new Listed(keys);
  }

  /** Makes keys of a list that follows others, so that messages count from the first one of all. */
  static Keys from(long first, List<?> keys) {
    return new Listed(keys.toArray(), first);
  }

  /** Makes a key of each integer: 8 bytes, little-endian. */
  public static Keys of(long... keys) {
    return new Longs(Abi.KEYS_FIXED, keys, ByteOrder.LITTLE_ENDIAN);
  }

  /**
   * Refuses a char: it may mean its text or its number.
   *
   * @param keys cast them to long, or make Strings of them
   * @throws BfstoreException.InvalidException always
   */
  public static Keys of(char... keys) {
    throw noChars();
  }

  static BfstoreException noChars() {
    return BfstoreException.invalid("a char is no key: cast it to long, or make a String of it");
  }

  /**
   * Takes digests of the filter's hash: see {@link Filter#digestMany}.
   *
   * @param digests all 64 bits of each are used
   */
  public static Keys digests(long... digests) {
    return new Longs(Abi.KEYS_DIGESTS, digests, ByteOrder.nativeOrder());
  }

  /**
   * Takes digests in a buffer, 8 bytes each in the machine's byte order.
   *
   * @param digests the remaining bytes; a heap buffer is copied now. Its order() is the machine's: a new or sliced
   *     buffer has another one, so putLong would have written other digests
   */
  public static Keys digests(ByteBuffer digests) {
    if (digests.order() != ByteOrder.nativeOrder()) {
      throw BfstoreException.invalid("digests are in the machine's byte order: call order(ByteOrder.nativeOrder()) first");
    }
    return InPlace.fixed(Abi.KEYS_DIGESTS, direct(digests), 8, 8);
  }

  /** Takes keys of one width, one after the other. */
  public static Keys fixed(byte[] data, int keyBytes) {
    return new Rows(data, keyBytes);
  }

  /**
   * Takes keys of one width, one after the other.
   *
   * @param data the remaining bytes; a heap buffer is copied now
   */
  public static Keys fixed(ByteBuffer data, int keyBytes) {
    return fixed(data, keyBytes, keyBytes);
  }

  /**
   * Takes keys of one width, which are fields of records.
   *
   * @param data its remaining bytes begin with the first key and may end with the last one; a heap buffer is copied now
   * @param stride the bytes from one key to the next
   */
  public static Keys fixed(ByteBuffer data, int keyBytes, int stride) {
    return InPlace.fixed(Abi.KEYS_FIXED, direct(data), keyBytes, stride);
  }

  /**
   * Takes a column: key i is data[offsets[i]] to data[offsets[i + 1]].
   *
   * @param offsets one more than keys
   */
  public static Keys column(byte[] data, int[] offsets) {
    return new Column(data, offsets);
  }

  /**
   * Takes a string or binary column of Apache Arrow: offsets of 32 bits in the machine's byte order.
   *
   * @param data the remaining bytes; a heap buffer is copied now
   * @param offsets one more than keys; likewise
   */
  public static Keys column32(ByteBuffer data, ByteBuffer offsets) {
    return InPlace.column(Abi.KEYS_COLUMN32, direct(data), direct(offsets), 4);
  }

  /**
   * Takes a large_string or large_binary column of Apache Arrow: offsets of 64 bits in the machine's byte order.
   *
   * @param data the remaining bytes; a heap buffer is copied now
   * @param offsets one more than keys; likewise
   */
  public static Keys column64(ByteBuffer data, ByteBuffer offsets) {
    return InPlace.column(Abi.KEYS_COLUMN64, direct(data), direct(offsets), 8);
  }

  /**
   * Returns these keys with some as nulls: not added, and answered no. A null is not the empty key.
   *
   * @param bitmap Arrow's: key i exists if bit {@code firstBit + i} is 1, the lowest bit of a byte first
   * @param firstBit the bit of the first key
   */
  public Keys withValidity(ByteBuffer bitmap, long firstBit) {
    return new Valid(this, direct(bitmap), firstBit);
  }

  private static Memory direct(ByteBuffer buffer) {
    ByteBuffer memory = buffer.isDirect() ? buffer : Struct.copyOf(Text.bytes(buffer));
    int start = buffer.isDirect() ? buffer.position() : 0;
    ByteBuffer read = memory.duplicate().position(start).limit(start + buffer.remaining());
    return new Memory(Filter.LIBRARY.address(memory) + start, buffer.remaining(), memory, read::slice);
  }

  /** Memory that does not move. */
  static final class Memory {
    final long address;
    final long bytes;
    final Object owner;
    private final Supplier<ByteBuffer> reading;

    Memory(long address, long bytes, Object owner, Supplier<ByteBuffer> reading) {
      this.address = address;
      this.bytes = bytes;
      this.owner = owner;
      this.reading = reading;
    }

    /** Returns the bytes, which are at most 2 GiB. */
    ByteBuffer read() {
      return reading.get().order(ByteOrder.nativeOrder());
    }

    /** Throws if the memory is of an arena that was closed, or of another thread. */
    void use() {
      if (owner instanceof ByteBuffer buffer && buffer.capacity() > 0) {
        buffer.get(0);
      }
    }
  }

  /** Keys, digests or a column in memory that does not move. */
  static final class InPlace extends Keys {
    private final int kind;
    private final long count;
    private final Memory data;
    private final Memory offsets; // for a column
    private final long offsetBytes;
    private final long keyBytes;
    private final long stride;

    private InPlace(int kind, long count, Memory data, Memory offsets, long offsetBytes, long keyBytes, long stride) {
      this.kind = kind;
      this.count = count;
      this.data = data;
      this.offsets = offsets;
      this.offsetBytes = offsetBytes;
      this.keyBytes = keyBytes;
      this.stride = stride;
    }

    static Keys fixed(int kind, Memory data, long keyBytes, long stride) {
      if (keyBytes <= 0 || stride < keyBytes) {
        throw BfstoreException.invalid("keys of " + keyBytes + " bytes, one every " + stride + " bytes");
      }
      long whole = data.bytes / stride;
      long rest = data.bytes - whole * stride;
      if (rest != 0 && rest < keyBytes || kind == Abi.KEYS_DIGESTS && data.address % 8 != 0) {
        throw BfstoreException.invalid("data of " + data.bytes + " bytes" + at(data, kind == Abi.KEYS_DIGESTS ? 8 : 1)
            + " are no " + (kind == Abi.KEYS_DIGESTS ? "digests" : "keys") + " of " + keyBytes + " bytes");
      }
      return new InPlace(kind, rest == 0 ? whole : whole + 1, data, null, 0, keyBytes, stride);
    }

    /** Returns what is wrong with the place of numbers in memory, if it is. */
    private static String at(Memory memory, long aligned) {
      return memory.address % aligned == 0 ? "" : ", not at a multiple of " + aligned + " in memory,";
    }

    static Keys column(int kind, Memory data, Memory offsets, long offsetBytes) {
      long count = offsets.bytes / offsetBytes - 1;
      if (count < 0 || offsets.bytes % offsetBytes != 0 || offsets.address % offsetBytes != 0) {
        throw BfstoreException.invalid("offsets of " + offsets.bytes + " bytes" + at(offsets, offsetBytes)
            + " are no numbers of " + offsetBytes + " bytes, one more than there are keys");
      }
      return new InPlace(kind, count, data, offsets, offsetBytes, 0, 0);
    }

    @Override
    public long count() {
      return count;
    }

    @Override
    boolean isInPlace() {
      return true;
    }

    @Override
    String misfit() {
      if (offsets == null || offsets.bytes > Integer.MAX_VALUE) {
        return "";
      }
      ByteBuffer numbers = offsets.read();
      return Keys.misfit(count + 1, i -> offsetBytes == 4 ? numbers.getInt(4 * (int) i) : numbers.getLong(8 * (int) i), data.bytes);
    }

    @Override
    long view(long from, long most, Scratch scratch) {
      long keys = Math.min(most, count - from);
      data.use();
      if (offsets == null) {
        long bytes = keys == 0 ? 0 : (keys - 1) * stride + keyBytes;
        scratch.describe(kind, keys, data.address + from * stride, bytes, 0, keyBytes, stride);
      } else {
        offsets.use();
        scratch.describe(kind, keys, data.address, data.bytes, offsets.address + from * offsetBytes, 0, 0);
      }
      return keys;
    }
  }

  /** Objects, each copied into a column. */
  private static final class Listed extends Keys {
    private final Object[] keys;
    private final long first; // the number of the first key, for messages

    Listed(Object[] keys) {
      this(keys, 0);
    }

    Listed(Object[] keys, long first) {
      this.keys = keys;
      this.first = first;
    }

    private byte[] key(int i) {
      try {
        return Text.key(keys[i]);
      } catch (BfstoreException.InvalidException refused) {
        throw BfstoreException.invalid("key " + (first + i) + ": " + refused.getMessage());
      } catch (NullPointerException refused) {
        throw new NullPointerException("key " + (first + i) + ": " + refused.getMessage());
      }
    }

    @Override
    public long count() {
      return keys.length;
    }

    @Override
    boolean isInPlace() {
      return false;
    }

    @Override
    void check(long from) {
      for (int i = (int) from; i < keys.length; i++) {
        if (!(keys[i] instanceof byte[])) {
          key(i);
        }
      }
    }

    @Override
    long view(long from, long most, Scratch scratch) {
      int count = (int) Math.min(most, keys.length - from);
      ByteBuffer offsets = scratch.offsets.grow(4L * count + 4);
      ByteBuffer data = scratch.data.memory();
      offsets.putInt(0, 0);
      int used = 0;
      for (int i = 0; i < count; i++) {
        byte[] key = key((int) from + i);
        if (i > 0 && (long) used + key.length > PART_BYTES) {
          count = i;
          break;
        }
        if (key.length > data.capacity() - used) {
          data = scratch.data.grow((long) used + key.length);
        }
        data.put(used, key);
        used += key.length;
        offsets.putInt(4 * i + 4, used);
      }
      scratch.describe(Abi.KEYS_COLUMN32, count, scratch.data.address(), used, scratch.offsets.address(), 0, 0);
      return count;
    }
  }

  /** Integers or digests in an array. */
  private static final class Longs extends Keys {
    private final int kind;
    private final long[] numbers;
    private final ByteOrder order;

    Longs(int kind, long[] numbers, ByteOrder order) {
      this.kind = kind;
      this.numbers = numbers;
      this.order = order;
    }

    @Override
    public long count() {
      return numbers.length;
    }

    @Override
    boolean isInPlace() {
      return false;
    }

    @Override
    long view(long from, long most, Scratch scratch) {
      int count = (int) Math.min(Math.min(most, PART_BYTES / 8), numbers.length - from);
      ByteBuffer data = scratch.data.grow(8L * count);
      data.duplicate().order(order).asLongBuffer().put(numbers, (int) from, count);
      scratch.describe(kind, count, scratch.data.address(), 8L * count, 0, 8, 8);
      return count;
    }
  }

  /** Keys of one width in an array. */
  private static final class Rows extends Keys {
    private final byte[] data;
    private final int keyBytes;

    Rows(byte[] data, int keyBytes) {
      if (keyBytes <= 0 || data.length % keyBytes != 0) {
        throw BfstoreException.invalid(data.length + " bytes are no keys of " + keyBytes + " bytes");
      }
      this.data = data;
      this.keyBytes = keyBytes;
    }

    @Override
    public long count() {
      return data.length / keyBytes;
    }

    @Override
    boolean isInPlace() {
      return false;
    }

    @Override
    long view(long from, long most, Scratch scratch) {
      long fitting = Math.max(1, PART_BYTES / keyBytes);
      int count = (int) Math.min(Math.min(most, fitting), count() - from);
      int bytes = count * keyBytes;
      scratch.data.grow(bytes).put(0, data, (int) from * keyBytes, bytes);
      scratch.describe(Abi.KEYS_FIXED, count, scratch.data.address(), bytes, 0, keyBytes, keyBytes);
      return count;
    }
  }

  /** A column in arrays. */
  private static final class Column extends Keys {
    private final byte[] data;
    private final int[] offsets;

    Column(byte[] data, int[] offsets) {
      if (offsets.length == 0) {
        throw BfstoreException.invalid("there are no offsets, which are one more than the keys");
      }
      String misfit = Keys.misfit(offsets.length, i -> offsets[(int) i], data.length);
      if (!misfit.isEmpty()) {
        throw BfstoreException.invalid(misfit);
      }
      this.data = data;
      this.offsets = offsets;
    }

    @Override
    public long count() {
      return offsets.length - 1;
    }

    @Override
    boolean isInPlace() {
      return false;
    }

    @Override
    long view(long from, long most, Scratch scratch) {
      int first = (int) from;
      int start = offsets[first];
      int count = fitting(first, (int) Math.min(most, count() - from));
      int bytes = offsets[first + count] - start;
      scratch.data.grow(bytes).put(0, data, start, bytes);
      ByteBuffer copied = scratch.offsets.grow(4L * count + 4);
      for (int i = 0; i <= count; i++) {
        copied.putInt(4 * i, offsets[first + i] - start);
      }
      scratch.describe(Abi.KEYS_COLUMN32, count, scratch.data.address(), bytes, scratch.offsets.address(), 0, 0);
      return count;
    }

    private int fitting(int first, int most) {
      int count = most;
      while (count > 1 && offsets[first + count] - offsets[first] > PART_BYTES) {
        count = (count + 1) / 2;
      }
      return count;
    }
  }

  /** Keys with some nulls. */
  private static final class Valid extends Keys {
    private final Keys keys;
    private final Memory bitmap;
    private final long firstBit;

    Valid(Keys keys, Memory bitmap, long firstBit) {
      if (firstBit < 0 || firstBit > bitmap.bytes * 8 || bitmap.bytes * 8 - firstBit < keys.count()) {
        throw BfstoreException.invalid("the bitmap has too few bits for " + keys.count() + " keys");
      }
      this.keys = keys;
      this.bitmap = bitmap;
      this.firstBit = firstBit;
    }

    @Override
    public long count() {
      return keys.count();
    }

    @Override
    boolean isInPlace() {
      return keys.isInPlace();
    }

    @Override
    void check(long from) {
      keys.check(from);
    }

    @Override
    String misfit() {
      return keys.misfit();
    }

    @Override
    long view(long from, long most, Scratch scratch) {
      long count = keys.view(from, most, scratch);
      bitmap.use();
      scratch.describeValidity(bitmap.address, firstBit + from);
      return count;
    }
  }
}

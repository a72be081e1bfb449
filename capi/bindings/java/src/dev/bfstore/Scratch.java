package dev.bfstore;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.ConcurrentLinkedDeque;

/**
 * Direct memory for one call, taken from a pool: a column of keys, its offsets, the answers, the struct of the keys,
 * and the error. A pool instead of memory per thread, since virtual threads are many.
 */
final class Scratch implements AutoCloseable {
  private static final ConcurrentLinkedDeque<Scratch> POOL = new ConcurrentLinkedDeque<>();
  /** The size beyond which a scratch is left to the collector. */
  private static final int LARGEST_KEPT = 4 << 20;

  private static final int KIND = Structs.KEYS.offset("kind");
  private static final int COUNT = Structs.KEYS.offset("count");
  private static final int DATA = Structs.KEYS.offset("data");
  private static final int DATA_BYTES = Structs.KEYS.offset("data_bytes");
  private static final int OFFSETS = Structs.KEYS.offset("offsets");
  private static final int KEY_BYTES = Structs.KEYS.offset("key_bytes");
  private static final int STRIDE = Structs.KEYS.offset("stride");
  private static final int VALIDITY = Structs.KEYS.offset("validity");
  private static final int VALIDITY_OFFSET = Structs.KEYS.offset("validity_offset");

  private static final int MEMORY = Structs.KEYS.offset("scratch");
  private static final int MEMORY_BYTES = Structs.KEYS.offset("scratch_bytes");

  private final Library library;
  final ByteBuffer keys;
  final long keysAddress;
  final Struct.Value error;
  final Room data;
  final Room offsets;
  final Room answers;

  private Scratch(Library library) {
    this.library = library;
    keys = direct(Structs.KEYS.bytes());
    keys.putInt(0, Structs.KEYS.bytes());
    keysAddress = library.address(keys);
    error = Structs.ERROR.make(library);
    data = new Room();
    offsets = new Room();
    answers = new Room();
  }

  static Scratch take(Library library) {
    Scratch pooled = POOL.pollFirst();
    return pooled == null ? new Scratch(library) : pooled;
  }

  /** Returns the scratch to the pool. */
  @Override
  public void close() {
    if ((long) data.bytes() + offsets.bytes() + answers.bytes() <= LARGEST_KEPT) {
      POOL.addFirst(this);
    }
  }

  /**
   * Lends the call memory in which it sorts millions of keys. Without it the answers are the same, and take longer.
   *
   * @return what has to stay reachable until {@link #takeMemoryBack}
   */
  ByteBuffer lendMemory() {
    long count = keys.getLong(COUNT);
    long bytes = count * Abi.SCRATCH_KEY_BYTES + Abi.SCRATCH_MORE_BYTES;
    if (count < Abi.SCRATCH_LEAST_KEYS || bytes > Integer.MAX_VALUE - 8) {
      return null;
    }
    try {
      ByteBuffer memory = direct((int) bytes);
      keys.putLong(MEMORY, library.address(memory));
      keys.putLong(MEMORY_BYTES, bytes);
      return memory;
    } catch (OutOfMemoryError none) {
      return null;
    }
  }

  void takeMemoryBack() {
    keys.putLong(MEMORY, 0);
    keys.putLong(MEMORY_BYTES, 0);
  }

  static ByteBuffer direct(int bytes) {
    return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
  }

  /** Fills in the struct of keys without validity. */
  void describe(int kind, long count, long address, long bytes, long offsetsAddress, long keyBytes, long stride) {
    keys.putInt(KIND, kind);
    keys.putLong(COUNT, count);
    keys.putLong(DATA, address);
    keys.putLong(DATA_BYTES, bytes);
    keys.putLong(OFFSETS, offsetsAddress);
    keys.putLong(KEY_BYTES, keyBytes);
    keys.putLong(STRIDE, stride);
    describeValidity(0, 0);
  }

  void describeValidity(long address, long bit) {
    keys.putLong(VALIDITY, address);
    keys.putLong(VALIDITY_OFFSET, bit);
  }

  /** Direct memory that grows. */
  final class Room {
    private ByteBuffer memory = direct(256);
    private long address = library.address(memory);

    int bytes() {
      return memory.capacity();
    }

    ByteBuffer memory() {
      return memory;
    }

    long address() {
      return address;
    }

    /** Makes room for at least this number of bytes, and keeps the present ones. */
    ByteBuffer grow(long wanted) {
      if (wanted > Integer.MAX_VALUE - 8) {
        throw BfstoreException.invalid("more than 2 GiB of keys in one part of a batch");
      }
      if (wanted > memory.capacity()) {
        ByteBuffer larger = direct((int) Math.min(Integer.MAX_VALUE - 8, Math.max(wanted, memory.capacity() * 2L)));
        larger.put(0, memory, 0, memory.capacity());
        memory = larger;
        address = library.address(larger);
      }
      return memory;
    }
  }
}

package dev.bfstore;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * Keys in memory segments, for Java 22 and later. They are read in place: so they must be native (off the heap), and
 * their arena stays open during every call with them. A call throws IllegalStateException if the arena was closed before
 * it, and WrongThreadException if a confined arena is another thread's. But a shared arena that another thread closes
 * <em>during</em> a call ends the JVM, which does not know that the library still reads.
 */
public final class Segments {
  private Segments() {}

  /** Takes keys of one width, one after the other. */
  public static Keys fixed(MemorySegment data, long keyBytes) {
    return fixed(data, keyBytes, keyBytes);
  }

  /**
   * Takes keys of one width, which are fields of records.
   *
   * @param data begins with the first key, and may end with the last one
   * @param stride the bytes from one key to the next
   */
  public static Keys fixed(MemorySegment data, long keyBytes, long stride) {
    return Keys.InPlace.fixed(Abi.KEYS_FIXED, memory(data), keyBytes, stride);
  }

  /**
   * Takes digests, 8 bytes each in the machine's byte order.
   *
   * @param digests at a multiple of 8
   */
  public static Keys digests(MemorySegment digests) {
    return Keys.InPlace.fixed(Abi.KEYS_DIGESTS, memory(digests), 8, 8);
  }

  /**
   * Takes a string or binary column of Apache Arrow: offsets of 32 bits.
   *
   * @param offsets one more than keys
   */
  public static Keys column32(MemorySegment data, MemorySegment offsets) {
    return Keys.InPlace.column(Abi.KEYS_COLUMN32, memory(data), memory(offsets), 4);
  }

  /**
   * Takes a large_string or large_binary column of Apache Arrow: offsets of 64 bits.
   *
   * @param offsets one more than keys
   */
  public static Keys column64(MemorySegment data, MemorySegment offsets) {
    return Keys.InPlace.column(Abi.KEYS_COLUMN64, memory(data), memory(offsets), 8);
  }

  private static Keys.Memory memory(MemorySegment segment) {
    if (segment == null) {
      throw BfstoreException.invalid("the segment is null");
    }
    if (!segment.isNative()) {
      throw BfstoreException.invalid("the segment is on the heap: Keys.fixed and Keys.column take arrays");
    }
    ByteBuffer start = segment.asSlice(0, Math.min(segment.byteSize(), 1)).asByteBuffer(); // looks at the arena when it is read
    return new Keys.Memory(segment.address(), segment.byteSize(), start, segment::asByteBuffer);
  }
}

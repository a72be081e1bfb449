package dev.bfstore;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * The back end for Java 22 and later: java.lang.foreign. Java 17 cannot read this class, so it is loaded by name.
 *
 * A byte[] is passed in place on the heap (Linker.Option.critical), so the collector waits until the call returns.
 * Therefore calls with many keys, and calls that may wait for a lock, take no byte[].
 */
final class FfmLibrary extends FfmCalls {
  @Override
  public long address(ByteBuffer direct) {
    return MemorySegment.ofBuffer(direct.duplicate().clear()).address();
  }

  @Override
  public String text(long address) {
    return MemorySegment.ofAddress(address).reinterpret(Integer.MAX_VALUE).getString(0);
  }

  @Override
  public String backEnd() {
    return "ffm";
  }
}

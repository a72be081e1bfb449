package dev.bfstore;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * The back end for Java 22 and later: java.lang.foreign. It is loaded by its name, since Java 17 cannot read its class.
 *
 * A byte[] is handed over where it is on the heap (Linker.Option.critical), and the collector waits until the call
 * returns. So calls with many keys, and calls that may wait for a lock, take none.
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

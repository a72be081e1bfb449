package dev.bfstore;

import java.nio.ByteBuffer;

/**
 * A back end: the functions of the C headers under their names, and memory. Each back end documents the cost of a
 * byte[].
 */
interface Library extends Calls {
  /**
   * Returns the address of a direct buffer's index 0. The caller keeps the buffer reachable as long as the address is
   * used.
   */
  long address(ByteBuffer direct);

  /** Returns the text at an address that the library returned, up to its NUL. */
  String text(long address);

  /** Returns "ffm" or "jna". */
  String backEnd();
}

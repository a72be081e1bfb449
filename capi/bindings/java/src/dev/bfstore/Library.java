package dev.bfstore;

import java.nio.ByteBuffer;

/** What a back end is: the functions of capi/bfstore.h under their names, and memory. The back end says what a byte[] costs. */
interface Library extends Calls {
  /** The address of a direct buffer's index 0. The caller keeps the buffer reachable as long as the address is used. */
  long address(ByteBuffer direct);

  /** The text at an address that the library returned, up to its NUL. */
  String text(long address);

  /** "ffm" or "jna". */
  String backEnd();
}

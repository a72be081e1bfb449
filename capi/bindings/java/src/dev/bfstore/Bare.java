package dev.bfstore;

import java.lang.ref.Reference;
import java.nio.ByteBuffer;

/**
 * Bare filters without a handle, for an engine whose tables have a small filter in each block: a body and a trailer of 8
 * bytes. Any number of threads may call these; no thread may change the bytes during a call.
 */
public final class Bare {
  private Bare() {}

  /**
   * Looks up a key in a bare filter.
   *
   * @param filter the bytes of exactly the filter
   * @return false if the filter was certainly built without the key, true for every doubt
   */
  public static boolean contains(byte[] filter, byte[] key) {
    return Filter.LIBRARY.bfs_bare_contains(filter, filter.length, key, key.length) != 0;
  }

  /**
   * Looks up a key's digest in a bare filter.
   *
   * @param filter the bytes of exactly the filter
   * @return false if the filter was certainly built without it, true for every doubt
   */
  public static boolean containsDigest(byte[] filter, long digest) {
    return Filter.LIBRARY.bfs_bare_contains_digest(filter, filter.length, digest) != 0;
  }

  /**
   * Returns the length of a bare filter.
   *
   * @return the bytes; 0 if no such filter exists
   */
  public static long bytes(long numKeys, double bitsPerKey, Layout layout) {
    return Filter.LIBRARY.bfs_bare_bytes(numKeys, bitsPerKey, layout.number);
  }

  /**
   * Builds a bare filter.
   *
   * @param bytes the filter's length: see {@link #bytes}
   * @param hash XXH3 (with seed 0), or EXTERNAL, which takes digests alone
   * @param keys all keys, without nulls, and together at most 64 MiB if they are on the heap
   */
  public static byte[] build(int bytes, Layout layout, Hash hash, Keys keys) {
    ByteBuffer made = Scratch.direct(Math.max(bytes, 1));
    try (Scratch scratch = Scratch.take(Filter.LIBRARY)) {
      long count = keys.view(0, Long.MAX_VALUE, scratch);
      if (count < keys.count()) {
        throw BfstoreException.invalid("more than 64 MiB of keys on the heap: use direct memory");
      }
      int code = Filter.LIBRARY.bfs_bare_build(
          Filter.LIBRARY.address(made), bytes, layout.number, hash.number, scratch.keysAddress);
      if (code < 0) {
        throw BfstoreException.of(code, 0, "the bare filter: " + Filter.strerror(code));
      }
    } finally {
      Reference.reachabilityFence(keys);
    }
    byte[] copy = new byte[bytes];
    made.get(0, copy);
    return copy;
  }
}

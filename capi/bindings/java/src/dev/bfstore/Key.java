package dev.bfstore;

import java.math.BigInteger;
import java.util.UUID;

/**
 * Makes keys of values other than byte[], String and long. Programs in other languages make the same bytes of them.
 */
public final class Key {
  private Key() {}

  /**
   * Returns the UTF-8 of a text, without normalization.
   *
   * @param text without a lone surrogate
   * @throws BfstoreException.InvalidException if the text is not valid Unicode
   */
  public static byte[] of(String text) {
    return Text.utf8(text);
  }

  /** Returns an integer's 8 bytes, little-endian; a negative one is its two's complement. */
  public static byte[] of(long number) {
    return Text.integer(number);
  }

  /**
   * Returns the key of an integer that a long cannot have, such as one above 2^63.
   *
   * @param number from -2^63 to 2^64 - 1
   * @return the key: 8 bytes, little-endian
   * @throws BfstoreException.InvalidException if it has more than 64 bits
   */
  public static byte[] of(BigInteger number) {
    return Text.integer(number);
  }

  /** Returns the 16 bytes of a UUID, in the order of its text. */
  public static byte[] of(UUID uuid) {
    return Text.uuid(uuid);
  }
}

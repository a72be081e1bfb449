package dev.bfstore;

import java.math.BigInteger;
import java.util.UUID;

/**
 * The bytes of keys that are neither byte[], String nor long. Programs in other languages make the same bytes of them.
 */
public final class Key {
  private Key() {}

  /**
   * Text: its UTF-8, without normalization.
   *
   * @param text without a lone surrogate
   * @throws IllegalArgumentException if the text is not valid Unicode
   */
  public static byte[] of(String text) {
    return Text.utf8(text);
  }

  /** An integer: 8 bytes, little-endian; a negative one is its two's complement. */
  public static byte[] of(long number) {
    return Text.integer(number);
  }

  /**
   * An integer that a long may not have: one above 2^63.
   *
   * @param number from -2^63 to 2^64 - 1
   * @return the key: 8 bytes, little-endian
   * @throws IllegalArgumentException if it has more than 64 bits
   */
  public static byte[] of(BigInteger number) {
    return Text.integer(number);
  }

  /** A UUID: its 16 bytes, in the order of its text. */
  public static byte[] of(UUID uuid) {
    return Text.uuid(uuid);
  }
}

package dev.bfstore;

/** The bit of a byte that comes first in a bit array. */
public enum BitOrder {
  /** The lowest, as in java.util.BitSet. */
  LITTLE(Abi.BITS_LITTLE),
  /** The highest. */
  BIG(Abi.BITS_BIG);

  final int number;

  BitOrder(int number) {
    this.number = number;
  }
}

package dev.bfstore;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;

/** A value in which two filters differ. */
public enum Difference {
  /** The layout. */
  LAYOUT(Abi.DIFFERS_LAYOUT),
  /** The hash. */
  HASH(Abi.DIFFERS_HASH),
  /** The seed, or the list of seeds. */
  SEED(Abi.DIFFERS_SEED),
  /** The secret. */
  SECRET(Abi.DIFFERS_SECRET),
  /** k. */
  NUM_PROBES(Abi.DIFFERS_NUM_PROBES),
  /** m. */
  NUM_BITS(Abi.DIFFERS_NUM_BITS),
  /** The part of a whole filter, or the number of its parts. */
  PART(Abi.DIFFERS_PART);

  final int number;

  Difference(int number) {
    this.number = number;
  }

  static Set<Difference> in(int bits) {
    EnumSet<Difference> found = EnumSet.allOf(Difference.class);
    found.removeIf(one -> (one.number & bits) == 0);
    return Collections.unmodifiableSet(found);
  }
}

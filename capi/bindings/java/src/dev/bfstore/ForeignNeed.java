package dev.bfstore;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;

/**
 * A fact that the bytes of another program's filter lack, so that {@link Filter#importForeign} and {@link
 * Filter#openForeign} need it from their caller.
 */
public enum ForeignNeed {
  /** m and k: {@link CreateOptions#numBits} and {@link CreateOptions#numProbes}, or another way to give them. */
  SIZE(Abi.FOREIGN_NEEDS_SIZE),
  /** {@link ForeignForm#order}. */
  ORDER(Abi.FOREIGN_NEEDS_ORDER),
  /** {@link CreateOptions#hash}, and its seed or seeds. */
  HASH(Abi.FOREIGN_NEEDS_HASH),
  /** {@link ForeignForm#column}. */
  COLUMN(Abi.FOREIGN_NEEDS_COLUMN),
  /** All of the bytes, to inspect them: the first ones do not tell what they are. */
  ALL(Abi.FOREIGN_NEEDS_ALL);

  final int number;

  ForeignNeed(int number) {
    this.number = number;
  }

  static Set<ForeignNeed> in(int bits) {
    EnumSet<ForeignNeed> found = EnumSet.allOf(ForeignNeed.class);
    found.removeIf(one -> (one.number & bits) == 0);
    return Collections.unmodifiableSet(found);
  }
}

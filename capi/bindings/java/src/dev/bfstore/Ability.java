package dev.bfstore;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;

/** What a filter of a layout can do. */
public enum Ability {
  /** Keys, with any number of processes at once. */
  ADD(Abi.CAN_ADD),
  /** Keys. */
  REMOVE(Abi.CAN_REMOVE),
  /** The keys of another filter. */
  MERGE(Abi.CAN_MERGE),
  /** Into a smaller filter. */
  FOLD(Abi.CAN_FOLD),
  /** Beyond the size that it was made with. */
  GROW(Abi.CAN_GROW),
  /** Keys, by their age. */
  EXPIRE(Abi.CAN_EXPIRE),
  /** With another filter, into a new one. */
  INTERSECT(Abi.CAN_INTERSECT);

  final int number;

  Ability(int number) {
    this.number = number;
  }

  static Set<Ability> in(int bits) {
    EnumSet<Ability> found = EnumSet.allOf(Ability.class);
    found.removeIf(one -> (one.number & bits) == 0);
    return Collections.unmodifiableSet(found);
  }
}

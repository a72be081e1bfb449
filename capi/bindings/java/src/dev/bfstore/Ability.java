package dev.bfstore;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;

/** The abilities of a layout's filters. */
public enum Ability {
  /** Takes adds, by any number of processes at once. */
  ADD(Abi.CAN_ADD),
  /** Takes removes. */
  REMOVE(Abi.CAN_REMOVE),
  /** Can take the keys of another filter. */
  MERGE(Abi.CAN_MERGE),
  /** Can be folded into a smaller filter. */
  FOLD(Abi.CAN_FOLD),
  /** Can grow beyond its first size. */
  GROW(Abi.CAN_GROW),
  /** Keys expire by their age. */
  EXPIRE(Abi.CAN_EXPIRE),
  /** Can be intersected with another filter, into a new one. */
  INTERSECT(Abi.CAN_INTERSECT),
  /** Is built once, from all keys, and takes no key later. */
  BUILD(Abi.CAN_BUILD);

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

package dev.bfstore;

/** The arrangement of a key's bits in a filter. */
public enum Layout {
  /** The default: one line of 64 bytes a key, so a lookup costs one cache miss. */
  BLOCKED(Abi.LAYOUT_BLOCKED),
  /** k bits anywhere: the lowest false-positive rate, and k cache misses. */
  CLASSIC(Abi.LAYOUT_CLASSIC),
  /** Counters, so that keys can be removed, at about four times the size. */
  COUNTING(Abi.LAYOUT_COUNTING),
  /** A layout that this release does not know. It is never an argument. */
  OTHER(-1);

  final int number;

  Layout(int number) {
    this.number = number;
  }

  static Layout of(int number) {
    for (Layout one : values()) {
      if (one.number == number) {
        return one;
      }
    }
    return OTHER;
  }
}

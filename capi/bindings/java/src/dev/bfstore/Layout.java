package dev.bfstore;

/** The arrangement of a key's bits in a filter. */
public enum Layout {
  /** The default: one line of 64 bytes a key, so a lookup costs one cache miss. */
  BLOCKED(Abi.LAYOUT_BLOCKED),
  /** k bits anywhere: the lowest false-positive rate, and k cache misses. */
  CLASSIC(Abi.LAYOUT_CLASSIC),
  /** Counters, so that keys can be removed, at about four times the size. */
  COUNTING(Abi.LAYOUT_COUNTING),
  /** Built once, from all keys, and sealed: the smallest files. No key is added later. */
  STATIC(Abi.LAYOUT_STATIC),
  /**
   * Keys expire, in 8 epochs: kept for a seventh of the {@link CreateOptions#window} longer at most, plus the lateness of
   * 8 turns.
   */
  WINDOW(Abi.LAYOUT_WINDOW),
  /** Keys expire, in 4 epochs: for a third longer. The smallest one for a rate of 1 %. */
  WINDOW_4(Abi.LAYOUT_WINDOW_4),
  /** Keys expire, in 2 epochs: for the window once more. */
  WINDOW_2(Abi.LAYOUT_WINDOW_2),
  /** Grows from {@link CreateOptions#capacity} to {@link CreateOptions#capacityAtMost} keys, in up to 5 slices of one file. */
  GROWING(Abi.LAYOUT_GROWING),
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

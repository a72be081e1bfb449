package dev.bfstore;

/** The state of a filter: OK, or why every answer is "maybe" now. */
public enum Health {
  /** The filter's answers count. */
  OK(Abi.OK),
  /** A sync did not end, for a process was killed in it or the disk refused a write: memory and disk may differ. */
  POISONED(Abi.EPOISONED),
  /** Truncated, overwritten or zero-filled while it was mapped. */
  LOST(Abi.ELOST),
  /** Another file replaced this one: open the path again. */
  SUPERSEDED(Abi.ESUPERSEDED),
  /** A recovery was begun and has not ended. */
  RECOVERING(Abi.ERECOVERING),
  /** Not every key was added yet. */
  FILLING(Abi.EFILLING),
  /** A later bfstore set a state that this one does not know. */
  LATER(Abi.ELATER),
  /** A page could not be read, or the file was truncated. */
  FAULT(Abi.EFAULT),
  /** The filter was closed. */
  SHUT(Abi.ESHUT),
  /** A state that this release does not know. It is never an argument. */
  OTHER(1);

  final int number;

  Health(int number) {
    this.number = number;
  }

  static Health of(int number) {
    for (Health one : values()) {
      if (one.number == number) {
        return one;
      }
    }
    return OTHER;
  }
}

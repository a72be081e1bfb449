package dev.bfstore;

import java.time.Duration;

/** How to open a file or a buffer: {@code new OpenOptions().write().guard()}. capi/bfstore.h says what each costs. */
public final class OpenOptions {
  private static final long MODES = Abi.OPEN_READ | Abi.OPEN_WRITE | Abi.OPEN_EXCLUSIVE;

  private long flags = Abi.OPEN_READ;
  private byte[] secret;
  private long offset;
  private long maxBytes;
  private int lockTimeout;
  private int writebackCheck;
  boolean mayBlock;

  /** No option is given. */
  public OpenOptions() {}

  /** To ask: the default. */
  public OpenOptions read() {
    flags = flags & ~MODES | Abi.OPEN_READ;
    return this;
  }

  /** To ask and to add, concurrently with any number of other writers. */
  public OpenOptions write() {
    flags = flags & ~MODES | Abi.OPEN_WRITE;
    return this;
  }

  /** To ask and to add as the only writer, several times as fast. */
  public OpenOptions exclusive() {
    flags = flags & ~MODES | Abi.OPEN_EXCLUSIVE;
    return this;
  }

  /** Reads the whole file into memory now. */
  public OpenOptions populate() {
    flags |= Abi.OPEN_POPULATE;
    return this;
  }

  /** Small pages, no read-ahead: for a file that is larger than memory, or synced often. */
  public OpenOptions random() {
    flags |= Abi.OPEN_RANDOM;
    return this;
  }

  /** Reads the file into private memory and does not map it. */
  public OpenOptions copy() {
    flags |= Abi.OPEN_COPY;
    return this;
  }

  /** A page that cannot be read is doubt, not SIGBUS. It is for files that other programs may truncate. */
  public OpenOptions guard() {
    flags |= Abi.OPEN_GUARD;
    return this;
  }

  /** Opens an unclean, poisoned or recovering file, to recover it. */
  public OpenOptions recover() {
    flags |= Abi.OPEN_RECOVER;
    return this;
  }

  /** Opens such a file as it is: it may lack keys after the marks. */
  public OpenOptions acceptLoss() {
    flags |= Abi.OPEN_ACCEPT_LOSS;
    return this;
  }

  /** A file whose writer was killed is unclean, too: for devices that vanish. */
  public OpenOptions strict() {
    flags |= Abi.OPEN_STRICT;
    return this;
  }

  /** Also on a network or overlay filesystem, which may show an older file. */
  public OpenOptions anyFilesystem() {
    flags |= Abi.OPEN_ANY_FILESYSTEM;
    return this;
  }

  /** Adds fail with FullException at the capacity. */
  public OpenOptions limit() {
    flags |= Abi.OPEN_LIMIT;
    return this;
  }

  /** Refuses a symbolic link as the last part of the path. */
  public OpenOptions noFollow() {
    flags |= Abi.OPEN_NOFOLLOW;
    return this;
  }

  /** A reader that writes nothing at all, for audits and sandboxes. */
  public OpenOptions noWrite() {
    flags |= Abi.OPEN_NO_WRITE;
    return this;
  }

  /** The reader follows its path to a file that takes the place of this one. */
  public OpenOptions follow() {
    flags |= Abi.OPEN_FOLLOW;
    return this;
  }

  /** A sealed file is compared with its checksums first. */
  public OpenOptions verify() {
    flags |= Abi.OPEN_VERIFY;
    return this;
  }

  /** The same, and where it is damaged every key is "maybe". */
  public OpenOptions tolerateDamage() {
    flags |= Abi.OPEN_TOLERATE_DAMAGE;
    return this;
  }

  /** The bytes are in the bare form: of wrap and load. */
  public OpenOptions bare() {
    flags |= Abi.OPEN_BARE;
    return this;
  }

  /**
   * The secret of a filter with {@link Hash#SIPHASH}.
   *
   * @param secret 16 bytes
   */
  public OpenOptions secret(byte[] secret) {
    this.secret = secret.clone();
    return this;
  }

  /**
   * Reads an embedded filter in a file of any other format.
   *
   * @param offset where it begins, a multiple of 64
   * @param maxBytes the most that it is long; 0: up to the end of the file
   */
  public OpenOptions range(long offset, long maxBytes) {
    flags |= Abi.OPEN_RANGE;
    this.offset = CreateOptions.notNegative(offset);
    this.maxBytes = CreateOptions.notNegative(maxBytes);
    return this;
  }

  /**
   * How long to wait for each lock that another process holds. Not given: 5 seconds.
   *
   * @param time zero: do not wait
   */
  public OpenOptions lockTimeout(Duration time) {
    lockTimeout = OpenOptions.milliseconds(time, Abi.LOCK_NO_WAIT);
    return this;
  }

  /** To wait for locks as long as it takes. */
  public OpenOptions lockForever() {
    lockTimeout = Abi.LOCK_FOREVER;
    return this;
  }

  /**
   * How often a writer asks whether the kernel failed to write. Not given: 100 milliseconds.
   *
   * @param time zero: at each add that changes a bit
   */
  public OpenOptions writebackCheck(Duration time) {
    writebackCheck = OpenOptions.milliseconds(time, Abi.WRITEBACK_CHECK_EACH_ADD);
    return this;
  }

  /**
   * For a file that is larger than memory, and for threads that add one key at a time to an exclusive filter that others
   * sync. A call with one key then copies it, and lets the garbage collector run while the call waits for the disk.
   * Otherwise, in Java 22 and later, the collector waits until the call has returned.
   */
  public OpenOptions mayBlock() {
    mayBlock = true;
    return this;
  }

  boolean reads() {
    return (flags & Abi.OPEN_READ) != 0;
  }

  Struct.Value struct(Library library) {
    Struct.Value made = Structs.OPEN_OPTIONS.make(library).put64("flags", flags).put64("offset", offset)
        .put64("max_bytes", maxBytes).put32("lock_timeout_ms", lockTimeout).put32("writeback_check_ms", writebackCheck);
    return secret == null ? made : made.point("key", secret).put64("key_bytes", secret.length);
  }

  Struct.Value structOfDescriptor(Library library, int descriptor) {
    return struct(library).put64("flags", flags | Abi.OPEN_FD).put32("fd", descriptor);
  }

  private static final long MOST_MILLISECONDS = 4_000_000_000L;

  /** A time of the options: 0 would be the default. Below a millisecond it is one. */
  static int milliseconds(Duration time, int zero) {
    if (time.isNegative() || time.compareTo(Duration.ofMillis(MOST_MILLISECONDS)) > 0) {
      throw new IllegalArgumentException("a time is 0 to 4,000,000 seconds, not " + time);
    }
    return time.isZero() ? zero : (int) Math.max(1, time.toMillis());
  }
}

package dev.bfstore;

import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * Options to open a file or a buffer: {@code new OpenOptions().write().guard()}. capi/bfstore_engine.h says what each
 * costs.
 */
public final class OpenOptions {
  private static final long MODES = Abi.READ | Abi.WRITE | Abi.EXCLUSIVE;

  private static final Map<Long, String> NAMES = new TreeMap<>(Map.ofEntries(Map.entry(Abi.READ, "read"),
      Map.entry(Abi.WRITE, "write"), Map.entry(Abi.EXCLUSIVE, "exclusive"), Map.entry(Abi.POPULATE, "populate"),
      Map.entry(Abi.RANDOM, "random"), Map.entry(Abi.PRIVATE, "privateCopy"), Map.entry(Abi.GUARD, "guard"),
      Map.entry(Abi.RECOVER, "recover"), Map.entry(Abi.ACCEPT_LOSS, "acceptLoss"), Map.entry(Abi.STRICT, "strict"),
      Map.entry(Abi.ANY_FILESYSTEM, "anyFilesystem"), Map.entry(Abi.LIMIT, "limit"), Map.entry(Abi.NOFOLLOW, "noFollow"),
      Map.entry(Abi.NO_WRITE, "noWrite"), Map.entry(Abi.FOLLOW, "follow"), Map.entry(Abi.VERIFY, "verify"),
      Map.entry(Abi.TOLERATE_DAMAGE, "tolerateDamage"), Map.entry(Abi.BARE, "bare")));

  private long flags = Abi.READ;
  private byte[] secret;
  private long[] range;
  private int lockTimeout;
  private int writebackCheck;
  private int threads;
  boolean mayBlock;

  /** Makes options without values. */
  public OpenOptions() {}

  /** Opens for lookups: the default. */
  public OpenOptions read() {
    flags = flags & ~MODES | Abi.READ;
    return this;
  }

  /** Opens for lookups and adds, concurrently with any number of other writers. */
  public OpenOptions write() {
    flags = flags & ~MODES | Abi.WRITE;
    return this;
  }

  /** Opens for lookups and adds as the only writer, several times as fast. */
  public OpenOptions exclusive() {
    flags = flags & ~MODES | Abi.EXCLUSIVE;
    return this;
  }

  /** Reads the whole file into memory now. */
  public OpenOptions populate() {
    flags |= Abi.POPULATE;
    return this;
  }

  /** Uses small pages without read-ahead: for a file that is larger than memory, or synced often. */
  public OpenOptions random() {
    flags |= Abi.RANDOM;
    return this;
  }

  /** Reads the file into memory of this process, and maps nothing: for hostile files. */
  public OpenOptions privateCopy() {
    flags |= Abi.PRIVATE;
    return this;
  }

  /** Turns a page that cannot be read into doubt, instead of SIGBUS. For files that other programs may truncate. */
  public OpenOptions guard() {
    flags |= Abi.GUARD;
    return this;
  }

  /** Opens an unclean, poisoned or recovering file, to recover it. */
  public OpenOptions recover() {
    flags |= Abi.RECOVER;
    return this;
  }

  /** Opens such a file as it is: it may lack keys after the marks. */
  public OpenOptions acceptLoss() {
    flags |= Abi.ACCEPT_LOSS;
    return this;
  }

  /** Treats a file whose writer was killed as unclean, too: for devices that vanish. */
  public OpenOptions strict() {
    flags |= Abi.STRICT;
    return this;
  }

  /** Allows a network filesystem or a read-only overlay, which may show an older file. */
  public OpenOptions anyFilesystem() {
    flags |= Abi.ANY_FILESYSTEM;
    return this;
  }

  /** Makes adds fail with FullException at the capacity, which is asked at every 64th key. */
  public OpenOptions limit() {
    flags |= Abi.LIMIT;
    return this;
  }

  /** Refuses a symbolic link as the last part of the path. */
  public OpenOptions noFollow() {
    flags |= Abi.NOFOLLOW;
    return this;
  }

  /** Makes the reader write nothing at all, for audits and sandboxes. */
  public OpenOptions noWrite() {
    flags |= Abi.NO_WRITE;
    return this;
  }

  /**
   * Makes the reader continue with a file that replaces this one, if that has the same hash and seed: make it with
   * {@link CreateOptions#like}. Otherwise every answer stays "maybe", and the health is {@link Health#SUPERSEDED}.
   */
  public OpenOptions follow() {
    flags |= Abi.FOLLOW;
    return this;
  }

  /** Compares a sealed file with its checksums first. */
  public OpenOptions verify() {
    flags |= Abi.VERIFY;
    return this;
  }

  /** Also compares, and answers "maybe" for the keys in damaged places. */
  public OpenOptions tolerateDamage() {
    flags |= Abi.TOLERATE_DAMAGE;
    return this;
  }

  /** Opens the bare form. Only for wrap and load. */
  public OpenOptions bare() {
    flags |= Abi.BARE;
    return this;
  }

  /**
   * Sets the secret of a filter with {@link Hash#SIPHASH}. Without it, or with another one, an open throws {@link
   * BfstoreException.SecretException}.
   *
   * @param secret 16 bytes
   */
  public OpenOptions secret(byte[] secret) {
    this.secret = Objects.requireNonNull(secret, "secret").clone();
    return this;
  }

  /**
   * Reads an embedded filter in a file of any other format.
   *
   * @param offset its begin, a multiple of 64
   * @param maxBytes its greatest length; 0: up to the end of the file
   */
  public OpenOptions range(long offset, long maxBytes) {
    range = new long[] {CreateOptions.notNegative("offset", offset), CreateOptions.notNegative("maxBytes", maxBytes)};
    return this;
  }

  /**
   * Sets the time to wait for each lock of another process. Default: 5 seconds. An exclusive writer is a BusyException
   * at once.
   *
   * @param time zero: do not wait
   */
  public OpenOptions lockTimeout(Duration time) {
    lockTimeout = OpenOptions.milliseconds("lockTimeout", time, Abi.LOCK_NO_WAIT);
    return this;
  }

  /** Waits for locks as long as needed. */
  public OpenOptions lockForever() {
    lockTimeout = Abi.LOCK_FOREVER;
    return this;
  }

  /**
   * Sets the time between a writer's checks whether the kernel failed to write. Default: 100 milliseconds.
   *
   * @param time zero: at each add that changes a bit
   */
  public OpenOptions writebackCheck(Duration time) {
    writebackCheck = OpenOptions.milliseconds("writebackCheck", time, Abi.WRITEBACK_CHECK_EACH_ADD);
    return this;
  }

  /**
   * Sets the number of threads of {@link Filter#addMany(Keys)}. Only with exclusive.
   *
   * @param threads 1 to 64
   */
  public OpenOptions threads(int threads) {
    this.threads = CreateOptions.checkedThreads(threads);
    return this;
  }

  /**
   * Use this for a file that is larger than memory, and for threads that add one key at a time to an exclusive filter
   * that other threads sync. A call with one key then copies it, and lets the garbage collector run while the call
   * waits for the disk. Otherwise, in Java 22 and later, the collector waits until the call has returned.
   */
  public OpenOptions mayBlock() {
    mayBlock = true;
    return this;
  }

  /**
   * Returns the methods that were called, for logs: "OpenOptions.write().guard()". It has no secret.
   *
   * @return text that a later release may change
   */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder("OpenOptions");
    NAMES.forEach((flag, name) -> text.append((flags & flag) == 0 ? "" : "." + name + "()"));
    append(text, "secret", secret == null ? null : "...");
    append(text, "range", range == null ? null : range[0] + ", " + range[1]);
    append(text, "lockTimeout", lockTimeout == 0 ? null : shown(lockTimeout));
    append(text, "writebackCheck", writebackCheck == 0 ? null : shown(writebackCheck));
    append(text, "threads", threads == 0 ? null : threads);
    append(text, "mayBlock", mayBlock ? "" : null);
    return text.toString();
  }

  private static void append(StringBuilder text, String name, Object value) {
    if (value != null) {
      text.append('.').append(name).append('(').append(value).append(')');
    }
  }

  private static String shown(int milliseconds) {
    boolean special = milliseconds == Abi.LOCK_NO_WAIT || milliseconds == Abi.WRITEBACK_CHECK_EACH_ADD;
    return milliseconds == Abi.LOCK_FOREVER ? "forever" : special ? "0 ms" : Integer.toUnsignedLong(milliseconds) + " ms";
  }

  boolean reads() {
    return (flags & Abi.READ) != 0;
  }

  long flags() {
    return flags;
  }

  Struct.Value struct(Library library) {
    Struct.Value made = Structs.OPTIONS.make(library).put32("lock_timeout_ms", lockTimeout)
        .put32("writeback_check_ms", writebackCheck).put32("threads", threads);
    if (range != null) {
      made.point("range", Text.nativeBytes(range)); // its offset, its bytes
    }
    return secret == null ? made : made.point("secret", secret).put64("secret_bytes", secret.length);
  }

  Struct.Value structOfDescriptor(Library library, int descriptor) {
    return struct(library).point("fd", Text.nativeBytes(new int[] {descriptor}));
  }

  private static final long MOST_MILLISECONDS = 4_000_000_000L;

  /**
   * Converts a time of the options. 0 becomes `zero`, since the library's 0 is the default; less than a millisecond
   * becomes one.
   */
  static int milliseconds(String option, Duration time, int zero) {
    if (Objects.requireNonNull(time, option).isNegative() || time.compareTo(Duration.ofMillis(MOST_MILLISECONDS)) > 0) {
      throw BfstoreException.invalid(option + " is 0 to 4,000,000 seconds, not " + time);
    }
    return time.isZero() ? zero : (int) Math.max(1, time.toMillis());
  }
}

package dev.bfstore;

import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;

/**
 * Options to make a filter: {@code new CreateOptions().capacity(1_000_000).fpr(0.01)}. Give the size by capacity and
 * fpr (default: 0.01), capacity and bitsPerKey, capacity and maxBytes, numBits and numProbes, or like.
 * capi/bfstore_engine.h says what each option costs.
 */
public final class CreateOptions {
  private static final int MOST_THREADS = 64;

  private long flags;
  private int mode;
  private long capacity;
  private long capacityAtMost;
  private double fpr;
  private double bitsPerKey;
  private long maxBytes;
  private long numBits;
  private int numProbes;
  private Layout layout;
  private Hash hash;
  private long[] seed;
  private Path like;
  private byte[] note;
  private byte[] secret;
  private byte[] fileId;
  private int[] seeds;
  private int lockTimeout;
  private int writebackCheck;
  private int threads;
  private int part;
  private int numParts;
  private long window; // in milliseconds
  boolean mayBlock;

  /** Makes options without values. */
  public CreateOptions() {}

  /**
   * Sets the number of distinct keys.
   *
   * @param capacity n
   */
  public CreateOptions capacity(long capacity) {
    this.capacity = notNegative("capacity", capacity);
    return this;
  }

  /**
   * Sets a number of distinct keys that is surely enough, if nobody knows how many will come, instead of a capacity.
   * {@link CopyOptions#fpr} brings the filter to the size for its keys later.
   *
   * @param capacityAtMost n
   */
  public CreateOptions capacityAtMost(long capacityAtMost) {
    this.capacityAtMost = notNegative("capacityAtMost", capacityAtMost);
    return this;
  }

  /**
   * Sets the wanted false-positive rate at {@code capacity} keys.
   *
   * @param fpr between 0 and 1
   */
  public CreateOptions fpr(double fpr) {
    this.fpr = rate(fpr);
    return this;
  }

  /**
   * Sets the bits for each of the {@code capacity} keys.
   *
   * @param bitsPerKey m / n
   */
  public CreateOptions bitsPerKey(double bitsPerKey) {
    this.bitsPerKey = given(bitsPerKey);
    return this;
  }

  /**
   * Takes the largest filter whose file or buffer is not longer than this.
   *
   * @param maxBytes bytes of the whole file
   */
  public CreateOptions maxBytes(long maxBytes) {
    this.maxBytes = notNegative("maxBytes", maxBytes);
    return this;
  }

  /**
   * Sets the number of bits.
   *
   * @param numBits m
   */
  public CreateOptions numBits(long numBits) {
    this.numBits = notNegative("numBits", numBits);
    return this;
  }

  /**
   * Sets the number of bits that a key sets.
   *
   * @param numProbes k
   */
  public CreateOptions numProbes(int numProbes) {
    this.numProbes = (int) notNegative("numProbes", numProbes);
    return this;
  }

  /**
   * Sets the layout.
   *
   * @param layout default: blocked, or with {@link #window} the layout window
   */
  public CreateOptions layout(Layout layout) {
    this.layout = Objects.requireNonNull(layout, "layout");
    return this;
  }

  /**
   * Sets the hash.
   *
   * @param hash default: XXH3
   */
  public CreateOptions hash(Hash hash) {
    this.hash = Objects.requireNonNull(hash, "hash");
    return this;
  }

  /** Takes the shape, hash and seed of this filter file. */
  public CreateOptions like(Path like) {
    this.like = Objects.requireNonNull(like, "like");
    return this;
  }

  /**
   * Sets the seed of the hash. Default: random.
   *
   * @param seed all 64 bits count
   */
  public CreateOptions seed(long seed) {
    this.seed = new long[] {seed};
    return this;
  }

  /**
   * Sets the seeds of {@link Hash#MURMUR3}, {@link Hash#MURMUR3_UNSIGNED} and {@link Hash#JAVA_POLYNOMIAL}.
   *
   * @param seeds one for each of the k bits; all 32 bits count
   */
  public CreateOptions seeds(int... seeds) {
    this.seeds = Objects.requireNonNull(seeds, "seeds").clone();
    return this;
  }

  /**
   * Sets the owner's note, which {@link Statistics#note()} returns.
   *
   * @param note at most 1,024 bytes
   */
  public CreateOptions note(byte[] note) {
    this.note = Objects.requireNonNull(note, "note").clone();
    return this;
  }

  /**
   * Sets the secret of a filter with {@link Hash#SIPHASH}.
   *
   * @param secret 16 bytes
   */
  public CreateOptions secret(byte[] secret) {
    this.secret = Objects.requireNonNull(secret, "secret").clone();
    return this;
  }

  /**
   * Sets the identity of the filter. Default: random.
   *
   * @param fileId 16 bytes
   */
  public CreateOptions fileId(byte[] fileId) {
    if (Objects.requireNonNull(fileId, "fileId").length != 16) {
      throw BfstoreException.invalid("a file id has 16 bytes, not " + fileId.length);
    }
    this.fileId = fileId.clone();
    return this;
  }

  /**
   * Makes one part of the filter that the other options describe: it takes only the keys of this part. All parts need
   * one seed.
   *
   * @param part its number, from 0
   */
  public CreateOptions part(int part, int numParts) {
    this.part = (int) notNegative("part", part);
    this.numParts = (int) notNegative("numParts", numParts);
    return this;
  }

  /**
   * Makes keys expire: each is kept for this time after its last add, at least. The capacity is the number of keys of
   * one window. {@link Filter#turn()} ends its epochs.
   *
   * @param window more than zero; a fraction of a millisecond counts as a whole one
   */
  public CreateOptions window(Duration window) {
    this.window = milliseconds(window);
    return this;
  }

  /** Makes this the only writer of the filter, several times as fast. */
  public CreateOptions exclusive() {
    flags |= Abi.EXCLUSIVE;
    return this;
  }

  /**
   * Sets the number of threads of {@link Filter#addMany(Keys)}. Only with exclusive, and for {@link Filter#build}.
   *
   * @param threads 1 to 64
   */
  public CreateOptions threads(int threads) {
    this.threads = checkedThreads(threads);
    return this;
  }

  /** Reads the whole file into memory. */
  public CreateOptions populate() {
    flags |= Abi.POPULATE;
    return this;
  }

  /** Uses small pages without read-ahead. */
  public CreateOptions random() {
    flags |= Abi.RANDOM;
    return this;
  }

  /** Turns a page that cannot be read into doubt, instead of SIGBUS. */
  public CreateOptions guard() {
    flags |= Abi.GUARD;
    return this;
  }

  /** Makes adds fail with FullException at the capacity, which is asked at every 64th key. */
  public CreateOptions limit() {
    flags |= Abi.LIMIT;
    return this;
  }

  /** Allows a network filesystem or a read-only overlay. */
  public CreateOptions anyFilesystem() {
    flags |= Abi.ANY_FILESYSTEM;
    return this;
  }

  /**
   * Treats a file whose writer was killed as unclean: for devices that vanish. Only for {@link Filter#openOrCreate}.
   */
  public CreateOptions strict() {
    flags |= Abi.STRICT;
    return this;
  }

  /** Makes the bare form. Only for format and requiredBytes. */
  public CreateOptions bare() {
    flags |= Abi.BARE;
    return this;
  }

  /** Replaces an existing file, whose users learn of it. */
  public CreateOptions replace() {
    flags |= Abi.REPLACE;
    return this;
  }

  /** Gives the file no name until {@link Filter#publish()}. */
  public CreateOptions unpublished() {
    flags |= Abi.UNPUBLISHED;
    return this;
  }

  /** Makes the filter answer "maybe" until {@link Filter#finishFilling()}. */
  public CreateOptions filling() {
    flags |= Abi.FILLING;
    return this;
  }

  /** Asks a copy of the file in memory of this process. Only for {@link Filter#openForeign}. */
  public CreateOptions privateCopy() {
    flags |= Abi.PRIVATE;
    return this;
  }

  /**
   * Refuses a symbolic link as the last part of the path. Only for {@link Filter#openForeign} and {@link
   * Filter#openOrCreate}.
   */
  public CreateOptions noFollow() {
    flags |= Abi.NOFOLLOW;
    return this;
  }

  /** Takes the m and k of most tutorials, from capacity and fpr. */
  public CreateOptions tutorialSizing() {
    flags |= Abi.TUTORIAL_SIZING;
    return this;
  }

  /**
   * Sets the permissions of the new file, less the umask. Default: those of the file that is replaced; without one, its
   * owner reads and writes.
   *
   * @param permissions at least one
   */
  public CreateOptions permissions(Set<PosixFilePermission> permissions) {
    mode = mode(permissions);
    return this;
  }

  /**
   * Sets the time to wait for each lock of another process. Default: 5 seconds.
   *
   * @param time zero: do not wait
   */
  public CreateOptions lockTimeout(Duration time) {
    lockTimeout = OpenOptions.milliseconds("lockTimeout", time, Abi.LOCK_NO_WAIT);
    return this;
  }

  /** Waits for locks as long as needed. */
  public CreateOptions lockForever() {
    lockTimeout = Abi.LOCK_FOREVER;
    return this;
  }

  /**
   * Sets the time between a writer's checks whether the kernel failed to write. Default: 100 milliseconds.
   *
   * @param time zero: at each add that changes a bit
   */
  public CreateOptions writebackCheck(Duration time) {
    writebackCheck = OpenOptions.milliseconds("writebackCheck", time, Abi.WRITEBACK_CHECK_EACH_ADD);
    return this;
  }

  /**
   * Use this for a file that is larger than memory, and for threads that add one key at a time to an exclusive filter
   * that other threads sync. A call with one key then copies it, and lets the garbage collector run while the call
   * waits for the disk. Otherwise, in Java 22 and later, the collector waits until the call has returned.
   */
  public CreateOptions mayBlock() {
    mayBlock = true;
    return this;
  }

  /** Returns whether an option gives the size without the number of keys. */
  boolean isSized() {
    return capacity != 0 || capacityAtMost != 0 || numBits != 0 || like != null;
  }

  boolean hasLimit() {
    return (flags & Abi.LIMIT) != 0;
  }

  CreateOptions withoutLimit() {
    CreateOptions made = copy();
    made.flags &= ~Abi.LIMIT;
    return made;
  }

  /** Returns whether a filter that is built has room for a number of keys that the caller relies on. */
  boolean promisesCapacity() {
    return capacity != 0 || numBits == 0;
  }

  /** Returns these options for build(), which is the only writer anyway. */
  CreateOptions forBuilding() {
    if ((flags & Abi.UNPUBLISHED) != 0) {
      throw BfstoreException.invalid("build() publishes the filter: create() makes an unpublished one");
    }
    CreateOptions made = copy();
    made.flags &= ~Abi.EXCLUSIVE;
    return made;
  }

  /**
   * Returns these options of a build for a filter that gets its keys part by part. `keys` is their number, if known. The
   * library counts the different keys of a static one.
   */
  CreateOptions forBuildingInParts(long keys) {
    CreateOptions made = copy();
    made.flags |= Abi.EXCLUSIVE | Abi.UNPUBLISHED;
    made.capacity = isSized() || layout == Layout.STATIC ? capacity : keys;
    return made;
  }

  private CreateOptions copy() {
    CreateOptions made = new CreateOptions();
    made.flags = flags;
    made.mode = mode;
    made.capacity = capacity;
    made.capacityAtMost = capacityAtMost;
    made.fpr = fpr;
    made.bitsPerKey = bitsPerKey;
    made.maxBytes = maxBytes;
    made.numBits = numBits;
    made.numProbes = numProbes;
    made.layout = layout;
    made.hash = hash;
    made.seed = seed;
    made.like = like;
    made.note = note;
    made.secret = secret;
    made.fileId = fileId;
    made.seeds = seeds;
    made.lockTimeout = lockTimeout;
    made.writebackCheck = writebackCheck;
    made.threads = threads;
    made.part = part;
    made.numParts = numParts;
    made.window = window;
    made.mayBlock = mayBlock;
    return made;
  }

  long flags() {
    return flags;
  }

  /** Returns the flags to open the file, or to make it. */
  long flagsToOpenOrCreate() {
    return flags | Abi.CREATE | ((flags & Abi.EXCLUSIVE) == 0 ? Abi.WRITE : 0);
  }

  Struct.Value struct(Library library) {
    Struct.Value made = Structs.OPTIONS.make(library).put32("mode", mode)
        .put64("capacity", capacity).put64("capacity_at_most", capacityAtMost).put("fpr", fpr)
        .put("bits_per_key", bitsPerKey).put64("max_bytes", maxBytes).put64("num_bits", numBits).put32("num_probes", numProbes)
        .put32("layout", layout == null ? 0 : layout.number).put32("hash", hash == null ? 0 : hash.number)
        .put32("lock_timeout_ms", lockTimeout).put32("writeback_check_ms", writebackCheck)
        .put32("threads", threads).put32("part", part).put32("num_parts", numParts)
        .put64("window_ms", window);
    return pointers(made);
  }

  Struct.Value structOfDescriptor(Library library, int descriptor) {
    return struct(library).point("fd", Text.nativeBytes(new int[] {descriptor}));
  }

  private Struct.Value pointers(Struct.Value made) {
    if (like != null) {
      made.point("like", Text.path(like));
    }
    if (note != null) {
      made.point("note", note).put64("note_bytes", note.length);
    }
    if (secret != null) {
      made.point("secret", secret).put64("secret_bytes", secret.length);
    }
    if (fileId != null) {
      made.point("file_id", fileId);
    }
    if (seed != null) {
      made.point("seed", Text.nativeBytes(seed));
    }
    if (seeds != null) {
      made.point("seeds", Text.nativeBytes(seeds)).put64("num_seeds", seeds.length);
    }
    return made;
  }

  /** Makes a given zero differ from a missing number: the library recognizes it by its sign. */
  static double given(double number) {
    return number == 0 ? -0.0 : number;
  }

  /** Refuses a rate that the library would refuse. NaN is none, too. */
  static double rate(double fpr) {
    if (!(fpr > 0 && fpr < 1)) {
      throw BfstoreException.invalid("false-positive rate " + fpr + " is not between 0 and 1. Give one such as 0.01 (fpr()).");
    }
    return fpr;
  }

  /** Refuses a negative number, which the library would read as one above 2^63. */
  static long notNegative(String option, long number) {
    if (number < 0) {
      throw BfstoreException.invalid(option + " is negative: " + number);
    }
    return number;
  }

  /** Converts a window, which never becomes shorter. The library's 0 is "not given". */
  private static long milliseconds(Duration window) {
    if (Objects.requireNonNull(window, "window").compareTo(Duration.ofMillis(1)) < 0) {
      throw BfstoreException.invalid("a window is a millisecond or longer, not " + window);
    }
    try {
      return window.plusNanos(999_999).toMillis();
    } catch (ArithmeticException tooLong) {
      throw BfstoreException.invalid("a window is too long: " + window);
    }
  }

  /** Refuses a number of threads that the library would refuse, since its 0 is "not given". */
  static int checkedThreads(int threads) {
    if (threads < 1 || threads > MOST_THREADS) {
      throw BfstoreException.invalid("a filter uses 1 to 64 threads, not " + threads);
    }
    return threads;
  }

  /** Returns the permission bits of the options. */
  static int mode(Set<PosixFilePermission> permissions) {
    int bits = 0;
    for (PosixFilePermission one : Objects.requireNonNull(permissions, "permissions")) {
      bits |= 0400 >> one.ordinal(); // the enum has the order of the bits
    }
    if (bits == 0) {
      throw BfstoreException.invalid("a file needs a permission");
    }
    return bits;
  }
}

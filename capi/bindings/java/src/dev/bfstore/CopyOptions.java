package dev.bfstore;

import java.nio.file.attribute.PosixFilePermission;
import java.time.Duration;
import java.util.Set;

/**
 * Options to make a new file of existing filters: {@link Filter#copyTo}, {@link Filter#intersect}, {@link Filter#join}.
 */
public final class CopyOptions {
  private long flags;
  private int mode;
  private int lockTimeout;
  private double fpr;

  /** Makes options without values. */
  public CopyOptions() {}

  /** Replaces an existing file, whose users learn of it. */
  public CopyOptions replace() {
    flags |= Abi.REPLACE;
    return this;
  }

  /** Allows a network filesystem or a read-only overlay. */
  public CopyOptions anyFilesystem() {
    flags |= Abi.ANY_FILESYSTEM;
    return this;
  }

  /** Makes the new file answer "maybe" until {@link Filter#finishFilling()}. Not with sealed. */
  public CopyOptions filling() {
    flags |= Abi.FILLING;
    return this;
  }

  /**
   * Seals the new file: it has checksums, and no process writes to it again. Only for copyTo. With {@link #replace()} it
   * may replace the filter's own file, while no process writes to that.
   */
  public CopyOptions sealed() {
    flags |= Abi.SEALED;
    return this;
  }

  /** Gives the new file the file id of the filter. Only for copyTo, and for a copy that takes no more keys. */
  public CopyOptions sameFileId() {
    flags |= Abi.SAME_FILE_ID;
    return this;
  }

  /**
   * Folds the copy as small as possible while its rate is at most this. Only for copyTo.
   *
   * @param fpr between 0 and 1
   */
  public CopyOptions fpr(double fpr) {
    this.fpr = CreateOptions.rate(fpr);
    return this;
  }

  /**
   * Sets the permissions of the new file, less the umask. Default: those of the file that is replaced; without one, its
   * owner reads and writes.
   *
   * @param permissions at least one
   */
  public CopyOptions permissions(Set<PosixFilePermission> permissions) {
    mode = CreateOptions.mode(permissions);
    return this;
  }

  /**
   * Sets the time to wait for each lock of another process. Default: 5 seconds.
   *
   * @param time zero: do not wait
   */
  public CopyOptions lockTimeout(Duration time) {
    lockTimeout = OpenOptions.milliseconds("lockTimeout", time, Abi.LOCK_NO_WAIT);
    return this;
  }

  /** Waits for locks as long as needed. */
  public CopyOptions lockForever() {
    lockTimeout = Abi.LOCK_FOREVER;
    return this;
  }

  long flags() {
    return flags;
  }

  Struct.Value struct(Library library) {
    return Structs.OPTIONS.make(library).put32("mode", mode).put32("lock_timeout_ms", lockTimeout).put("fpr", fpr);
  }
}

package dev.bfstore;

import java.nio.file.attribute.PosixFilePermission;
import java.time.Duration;
import java.util.Set;

/**
 * How to make a new file of existing filters: {@link Filter#save}, {@link Filter#seal}, {@link Filter#intersect}, {@link
 * Filter#join}.
 */
public final class CopyOptions {
  private long flags;
  private int mode;
  private int lockTimeout;
  private double fpr;

  /** No option is given. */
  public CopyOptions() {}

  /** Takes the place of another file, whose users learn of it. */
  public CopyOptions replace() {
    flags |= Abi.OPTION_REPLACE;
    return this;
  }

  /** Also on a network or overlay filesystem. */
  public CopyOptions anyFilesystem() {
    flags |= Abi.OPEN_ANY_FILESYSTEM;
    return this;
  }

  /** The new file answers "maybe" until {@link Filter#finishFilling()}: not of seal. */
  public CopyOptions filling() {
    flags |= Abi.OPTION_FILLING;
    return this;
  }

  /** The new file has the file id of the filter: of save. It is for a copy that takes no more keys. */
  public CopyOptions sameFileId() {
    flags |= Abi.OPTION_FILE_ID;
    return this;
  }

  /**
   * As small as folding makes it while its rate is at most this: of save.
   *
   * @param fpr between 0 and 1
   */
  public CopyOptions fpr(double fpr) {
    this.fpr = CreateOptions.given(fpr);
    return this;
  }

  /**
   * The permissions of the new file, less the umask. Not given: those of the file that is replaced; of others, its owner reads and writes.
   *
   * @param permissions at least one
   */
  public CopyOptions permissions(Set<PosixFilePermission> permissions) {
    mode = CreateOptions.mode(permissions);
    return this;
  }

  /**
   * How long to wait for each lock that another process holds. Not given: 5 seconds.
   *
   * @param time zero: do not wait
   */
  public CopyOptions lockTimeout(Duration time) {
    lockTimeout = OpenOptions.milliseconds(time, Abi.LOCK_NO_WAIT);
    return this;
  }

  /** To wait for locks as long as it takes. */
  public CopyOptions lockForever() {
    lockTimeout = Abi.LOCK_FOREVER;
    return this;
  }

  Struct.Value struct(Library library) {
    return Structs.COPY_OPTIONS.make(library).put64("flags", flags).put32("mode", mode)
        .put32("lock_timeout_ms", lockTimeout).put("fpr", fpr);
  }
}

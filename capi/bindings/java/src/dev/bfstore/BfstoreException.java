package dev.bfstore;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;

/**
 * Any error of bfstore. Its message says what failed, on what, and what to do.
 *
 * <p>It is unchecked, since a lookup in a stream or a callback can fail like an open. {@link #toIOException()} returns
 * the corresponding exception of java.nio.file, for methods that throw IOException.
 *
 * <p>What an argument says is refused by {@link InvalidException}: an option out of range, options that contradict each other,
 * text that is not valid Unicode, an object that is no key. It makes no difference whether this package or the library finds
 * it. Only these are other exceptions, those of Java itself: null is a NullPointerException, a path of Java that cannot be made
 * an InvalidPathException, and a call that publish() excludes an IllegalStateException.
 *
 * <p>The nested classes are coarser than codes. A program that handles one code in particular compares {@link #codeName()} with
 * a name of capi/bfstore_codes.h, such as "BFS_EUNCLEAN" or "BFS_EPOISONED".
 */
public class BfstoreException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private static final int EINVAL_OF_LINUX = 22;

  /** The BFS_E number. */
  private final int code;

  /** The errno: see {@link #errno()}. */
  private final int errno;

  BfstoreException(int code, int errno, String message) {
    super(message);
    this.code = code;
    this.errno = errno;
  }

  /**
   * Returns the number of capi/bfstore_codes.h, below 0.
   *
   * @return the BFS_E number
   */
  public final int code() {
    return code;
  }

  /**
   * Returns the name of the code, as in capi/bfstore_codes.h.
   *
   * @return "BFS_EUNCLEAN"
   */
  public final String codeName() {
    return Filter.codeName(code);
  }

  /**
   * Returns the errno of the failed system call, or the one that means the same as the code.
   *
   * @return the number, or 0
   */
  public final int errno() {
    return errno;
  }

  /**
   * Returns this error as a checked exception of java.nio.file.
   *
   * @return NoSuchFileException, FileAlreadyExistsException, AccessDeniedException, or another FileSystemException; its
   *     message is this one's, and its cause is this
   */
  public final IOException toIOException() {
    IOException made = natural();
    made.initCause(this);
    return made;
  }

  private IOException natural() {
    switch (code) {
      case Abi.ENOENT:
        return new NoSuchFileException(getMessage());
      case Abi.EEXIST:
        return new FileAlreadyExistsException(getMessage());
      case Abi.EACCES:
        return new AccessDeniedException(getMessage());
      default:
        return new FileSystemException(getMessage());
    }
  }

  /** Returns the code if it is not an error. */
  static int check(int code, Struct.Value error) {
    if (code < 0) {
      throw told(code, error);
    }
    return code;
  }

  static long check(long code, Struct.Value error) {
    if (code < 0) {
      throw told((int) code, error);
    }
    return code;
  }

  private static BfstoreException told(int code, Struct.Value error) {
    byte[] message = error.getBytes("message");
    int end = 0;
    while (end < message.length && message[end] != 0) {
      end++;
    }
    String words = new String(message, 0, end, StandardCharsets.UTF_8);
    error.put("message", new byte[1]); // another call uses the record again
    words = Words.inJava(words.isEmpty() ? Filter.strerror(code) : words);
    return of(code, error.get32("os_errno"), error.get32("rule"), words);
  }

  /** Makes the exception of an argument that this package itself refuses. */
  static InvalidException invalid(String message) {
    return new InvalidException(Abi.EINVAL, EINVAL_OF_LINUX, message);
  }

  static BfstoreException of(int code, int errno, String message) {
    return of(code, errno, 0, message);
  }

  /** Makes the exception of a code. A code of a later release is treated as its range: see BFS_IS_CALL_ERROR. */
  private static BfstoreException of(int code, int errno, int rule, String message) {
    switch (code) {
      case Abi.EINVAL:
      case Abi.ESIZING:
        return new InvalidException(code, errno, message);
      case Abi.ENOMEM:
        return new OutOfMemoryException(code, errno, message);
      case Abi.ESYSTEM:
        return new SystemException(code, errno, message);
      case Abi.EBUSY:
        return new BusyException(code, errno, message);
      case Abi.EEXIST:
        return new ExistsException(code, errno, message);
      case Abi.ENOENT:
        return new NotFoundException(code, errno, message);
      case Abi.EACCES:
        return new NoPermissionException(code, errno, message);
      case Abi.EREADONLY:
        return new ReadOnlyException(code, errno, message);
      case Abi.ENOSPC:
        return new NoSpaceException(code, errno, message);
      case Abi.EDIGESTONLY:
      case Abi.EKEYONLY:
        return new KindOfKeyException(code, errno, message);
      case Abi.EUNSUPPORTED:
        return new UnsupportedException(code, errno, message);
      case Abi.EFORKED:
        return new ForkedException(code, errno, message);
      case Abi.EFILESYSTEM:
        return new FilesystemException(code, errno, message);
      case Abi.ESECRET:
        return new SecretException(code, errno, message);
      case Abi.ESHUT:
        return new ClosedException(code, errno, message);
      case Abi.EPART:
        return new PartException(code, errno, message);
      case Abi.EMISMATCH:
        return new MismatchException(code, errno, message);
      case Abi.EUNCLEAN:
      case Abi.EPOISONED:
      case Abi.ERECOVERING:
        return new RecoveryException(code, errno, message);
      case Abi.ELOST:
      case Abi.ESUPERSEDED:
      case Abi.EFAULT:
      case Abi.ELATER:
        return new DoubtException(code, errno, message);
      case Abi.EFULL:
        return new FullException(code, errno, message);
      case Abi.ESEALED:
      case Abi.ENOTSEALED:
        return new SealedException(code, errno, message);
      case Abi.EDAMAGED:
        return new DamagedException(code, errno, message);
      case Abi.EFILLING:
        return new FillingException(code, errno, message);
      default:
        return ofRange(code, errno, rule, message);
    }
  }

  private static BfstoreException ofRange(int code, int errno, int rule, String message) {
    if (code > -100) {
      return new CallException(code, errno, message);
    }
    if (code > -200) {
      return new StateException(code, errno, message);
    }
    return code > -300
        ? new MalformedException(code, errno, rule, message)
        : new BfstoreException(code, errno, message);
  }

  /** The call or the system is at fault: change the call, or try again. */
  public static class CallException extends BfstoreException {
    private static final long serialVersionUID = 1;

    CallException(int code, int errno, String message) {
      super(code, errno, message);
    }
  }

  /** The file is good, but its state forbids this. */
  public static class StateException extends BfstoreException {
    private static final long serialVersionUID = 1;

    StateException(int code, int errno, String message) {
      super(code, errno, message);
    }
  }

  /** The file at the path is not a good filter file, or not one that this release understands. */
  public static final class MalformedException extends BfstoreException {
    private static final long serialVersionUID = 1;

    /** The number of the rule: see {@link #rule()}. */
    private final int rule;

    MalformedException(int code, int errno, int rule, String message) {
      super(code, errno, message);
      this.rule = rule;
    }

    /**
     * Returns the rule of the file format that the bytes break.
     *
     * @return its number in src/format/FORMAT.md, "A reader's checklist"; 0 if the code is another one than BFS_EMALFORMED
     */
    public int rule() {
      return rule;
    }
  }

  /**
   * An argument is out of range, contradicts another, or is no key. This package or the library found it: see {@link
   * BfstoreException}.
   */
  public static final class InvalidException extends CallException {
    private static final long serialVersionUID = 1;

    InvalidException(int code, int errno, String message) {
      super(code, errno, message);
    }
  }

  /** Out of memory. */
  public static final class OutOfMemoryException extends CallException {
    private static final long serialVersionUID = 1;

    OutOfMemoryException(int code, int errno, String message) {
      super(code, errno, message);
    }
  }

  /** A system call failed: see {@link #errno()}. */
  public static final class SystemException extends CallException {
    private static final long serialVersionUID = 1;

    SystemException(int code, int errno, String message) {
      super(code, errno, message);
    }
  }

  /** Another user of the file excludes this for now: try again later. */
  public static final class BusyException extends CallException {
    private static final long serialVersionUID = 1;

    BusyException(int code, int errno, String message) {
      super(code, errno, message);
    }
  }

  /** The file exists. */
  public static final class ExistsException extends CallException {
    private static final long serialVersionUID = 1;

    ExistsException(int code, int errno, String message) {
      super(code, errno, message);
    }
  }

  /** The file does not exist. */
  public static final class NotFoundException extends CallException {
    private static final long serialVersionUID = 1;

    NotFoundException(int code, int errno, String message) {
      super(code, errno, message);
    }
  }

  /** Permission denied. */
  public static final class NoPermissionException extends CallException {
    private static final long serialVersionUID = 1;

    NoPermissionException(int code, int errno, String message) {
      super(code, errno, message);
    }
  }

  /** The filter was opened for reading. */
  public static final class ReadOnlyException extends CallException {
    private static final long serialVersionUID = 1;

    ReadOnlyException(int code, int errno, String message) {
      super(code, errno, message);
    }
  }

  /** The disk, the quota or the file size limit is full. */
  public static final class NoSpaceException extends CallException {
    private static final long serialVersionUID = 1;

    NoSpaceException(int code, int errno, String message) {
      super(code, errno, message);
    }
  }

  /** The file takes only digests, or only keys. */
  public static final class KindOfKeyException extends CallException {
    private static final long serialVersionUID = 1;

    KindOfKeyException(int code, int errno, String message) {
      super(code, errno, message);
    }
  }

  /** The filter's layout cannot do this. */
  public static final class UnsupportedException extends CallException {
    private static final long serialVersionUID = 1;

    UnsupportedException(int code, int errno, String message) {
      super(code, errno, message);
    }
  }

  /** The filter was opened before a fork, and this is the child. */
  public static final class ForkedException extends CallException {
    private static final long serialVersionUID = 1;

    ForkedException(int code, int errno, String message) {
      super(code, errno, message);
    }
  }

  /** The file is on a network filesystem or a read-only overlay: see {@link OpenOptions#anyFilesystem()}. */
  public static final class FilesystemException extends CallException {
    private static final long serialVersionUID = 1;

    FilesystemException(int code, int errno, String message) {
      super(code, errno, message);
    }
  }

  /** The secret is missing, is another one, or the filter has none. */
  public static final class SecretException extends CallException {
    private static final long serialVersionUID = 1;

    SecretException(int code, int errno, String message) {
      super(code, errno, message);
    }
  }

  /** The filter was closed. */
  public static final class ClosedException extends CallException {
    private static final long serialVersionUID = 1;

    ClosedException(int code, int errno, String message) {
      super(code, errno, message);
    }
  }

  /** The key belongs to another part of the whole filter than this one. */
  public static final class PartException extends CallException {
    private static final long serialVersionUID = 1;

    PartException(int code, int errno, String message) {
      super(code, errno, message);
    }
  }

  /** Two filters differ in what must be equal. */
  public static final class MismatchException extends CallException {
    private static final long serialVersionUID = 1;

    MismatchException(int code, int errno, String message) {
      super(code, errno, message);
    }
  }

  /** Lost, superseded or unreadable: every answer is "maybe". Open the path again. */
  public static final class DoubtException extends StateException {
    private static final long serialVersionUID = 1;

    DoubtException(int code, int errno, String message) {
      super(code, errno, message);
    }
  }

  /** Not closed cleanly before a crash, poisoned, or being recovered: see {@link OpenOptions#recover()}. */
  public static final class RecoveryException extends StateException {
    private static final long serialVersionUID = 1;

    RecoveryException(int code, int errno, String message) {
      super(code, errno, message);
    }
  }

  /** The filter has a limit, and is at its capacity. */
  public static final class FullException extends StateException {
    private static final long serialVersionUID = 1;

    FullException(int code, int errno, String message) {
      super(code, errno, message);
    }
  }

  /** The file is sealed, and takes no key; or it is not, and has no checksums. */
  public static final class SealedException extends StateException {
    private static final long serialVersionUID = 1;

    SealedException(int code, int errno, String message) {
      super(code, errno, message);
    }
  }

  /** A sealed file has other bytes than when it was sealed. */
  public static final class DamagedException extends StateException {
    private static final long serialVersionUID = 1;

    DamagedException(int code, int errno, String message) {
      super(code, errno, message);
    }
  }

  /** Not every key was added yet: every answer is "maybe". */
  public static final class FillingException extends StateException {
    private static final long serialVersionUID = 1;

    FillingException(int code, int errno, String message) {
      super(code, errno, message);
    }
  }
}

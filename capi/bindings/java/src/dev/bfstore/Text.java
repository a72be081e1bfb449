package dev.bfstore;

import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Objects;
import java.util.UUID;

/** Bytes of keys and of paths. */
final class Text {
  private static final BigInteger LEAST = BigInteger.ONE.shiftLeft(63).negate();

  private Text() {}

  /**
   * Returns the UTF-8. String.getBytes would turn each lone surrogate into a question mark, and so make one key of many
   * texts.
   */
  static byte[] utf8(String text) {
    byte[] bytes = Objects.requireNonNull(text, "key").getBytes(StandardCharsets.UTF_8);
    for (byte one : bytes) {
      if (one == '?') {
        refuseLoneSurrogates(text);
        break;
      }
    }
    return bytes;
  }

  private static void refuseLoneSurrogates(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (!Character.isSurrogate(text.charAt(i))) {
        continue;
      }
      if (i + 1 == text.length() || !Character.isSurrogatePair(text.charAt(i), text.charAt(i + 1))) {
        throw BfstoreException.invalid("the key is not valid Unicode: a lone surrogate at " + i);
      }
      i++;
    }
  }

  static byte[] integer(long number) {
    return ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(number).array();
  }

  static byte[] integer(BigInteger number) {
    if (Objects.requireNonNull(number, "key").bitLength() > 64 || number.compareTo(LEAST) < 0) {
      throw BfstoreException.invalid("the key is an integer of more than 64 bits");
    }
    return integer(number.longValue());
  }

  static byte[] uuid(UUID uuid) {
    Objects.requireNonNull(uuid, "key");
    return ByteBuffer.allocate(16).putLong(uuid.getMostSignificantBits()).putLong(uuid.getLeastSignificantBits()).array();
  }

  /** Returns the remaining bytes of a buffer, whose position stays. */
  static byte[] bytes(ByteBuffer buffer) {
    byte[] copy = new byte[Objects.requireNonNull(buffer, "key").remaining()];
    buffer.get(buffer.position(), copy);
    return copy;
  }

  static byte[] key(Object key) {
    if (key instanceof byte[]) {
      return (byte[]) key;
    }
    if (key instanceof String) {
      return utf8((String) key);
    }
    if (key instanceof Long || key instanceof Integer || key instanceof Short || key instanceof Byte) {
      return integer(((Number) key).longValue());
    }
    if (key instanceof ByteBuffer) {
      return bytes((ByteBuffer) key);
    }
    if (key instanceof UUID) {
      return uuid((UUID) key);
    }
    if (key instanceof BigInteger) {
      return integer((BigInteger) key);
    }
    throw noKey(key);
  }

  static RuntimeException noKey(Object key) {
    return key == null
        ? new NullPointerException("a key is null")
        : BfstoreException.invalid("a key is a byte[], String, integer, UUID or ByteBuffer, not a "
            + key.getClass().getName());
  }

  /** Returns the numbers in the machine's byte order. */
  static byte[] nativeBytes(int[] numbers) {
    ByteBuffer made = ByteBuffer.allocate(numbers.length * 4).order(ByteOrder.nativeOrder());
    made.asIntBuffer().put(numbers);
    return made.array();
  }

  /** Returns the numbers in the machine's byte order. */
  static byte[] nativeBytes(long[] numbers) {
    ByteBuffer made = ByteBuffer.allocate(numbers.length * 8).order(ByteOrder.nativeOrder());
    made.asLongBuffer().put(numbers);
    return made.array();
  }

  /**
   * Returns the bytes of a path with a NUL. A Path keeps the bytes of the file system, but toString() decodes them by
   * the locale, and only toUri() shows them: so a name that is not text in this locale is also found.
   */
  static byte[] path(Path path) {
    if (Objects.requireNonNull(path, "path").getFileSystem() != FileSystems.getDefault()) {
      throw BfstoreException.invalid("a filter is a file of the default file system, not " + path.toUri());
    }
    String text = path.toString();
    byte[] bytes = isAscii(text) ? text.getBytes(StandardCharsets.US_ASCII) : decoded(path.toUri().getRawPath());
    return ended(bytes);
  }

  /** Returns the text with a NUL. A part that is not valid Unicode becomes a question mark. */
  static byte[] ended(String what, String text) {
    if (text.indexOf(0) >= 0) {
      throw BfstoreException.invalid("a " + what + " with a NUL");
    }
    return ended(text.getBytes(StandardCharsets.UTF_8));
  }

  private static byte[] ended(byte[] bytes) {
    return Arrays.copyOf(bytes, bytes.length + 1);
  }

  private static boolean isAscii(String text) {
    return text.chars().allMatch(unit -> unit < 0x80);
  }

  /** Returns the bytes of a URI's path, without the slash at the end of a folder's. */
  private static byte[] decoded(String escaped) {
    int end = escaped.length() > 1 && escaped.endsWith("/") ? escaped.length() - 1 : escaped.length();
    ByteBuffer bytes = ByteBuffer.allocate(end);
    for (int i = 0; i < end; i++) {
      char unit = escaped.charAt(i);
      if (unit == '%') {
        bytes.put((byte) Integer.parseInt(escaped.substring(i + 1, i + 3), 16));
        i += 2;
      } else {
        bytes.put((byte) unit);
      }
    }
    return bytes(bytes.flip());
  }
}

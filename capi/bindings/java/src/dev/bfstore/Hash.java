package dev.bfstore;

/** The hash of a filter's keys. */
public enum Hash {
  /** The default. */
  XXH3(Abi.HASH_XXH3),
  /** The caller passes its own digests, which must be well mixed. */
  EXTERNAL(Abi.HASH_EXTERNAL),
  /** SipHash-2-4 with a secret, for keys that strangers choose. */
  SIPHASH(Abi.HASH_SIPHASH),
  /** For other programs' bits: signed 32-bit MurmurHash3 with a list of seeds. */
  MURMUR3(Abi.HASH_MURMUR3),
  /** For other programs' bits: unsigned 32-bit MurmurHash3 with a list of seeds. */
  MURMUR3_UNSIGNED(Abi.HASH_MURMUR3_UNSIGNED),
  /** The hash of tutorials in Java, with a list of seeds. */
  JAVA_POLYNOMIAL(Abi.HASH_JAVA_POLYNOMIAL),
  /** The hash of Jay Baird's python-bloomfilter. */
  JAYBIRD(Abi.HASH_JAYBIRD),
  /** The hash of pybloom-live, version 4 or later. */
  PYBLOOM_LIVE(Abi.HASH_PYBLOOM_LIVE),
  /** A hash that this release does not know. It is never an argument. */
  OTHER(-1);

  final int number;

  Hash(int number) {
    this.number = number;
  }

  static Hash of(int number) {
    for (Hash one : values()) {
      if (one.number == number) {
        return one;
      }
    }
    return OTHER;
  }
}

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
  /** That of DCSO's bloom, flor, fleur and poppy: FNV-1 and a generator. */
  DCSO(Abi.HASH_DCSO),
  /** That of Guava's BloomFilter (MURMUR128_MITZ_64). */
  GUAVA(Abi.HASH_GUAVA),
  /** That of Guava's older strategy (MURMUR128_MITZ_32). */
  GUAVA_32(Abi.HASH_GUAVA_32),
  /** That of RedisBloom's BF commands (MurmurHash64A twice). */
  REDISBLOOM(Abi.HASH_REDISBLOOM),
  /** That of pybloomfiltermmap3 (MurmurHash3_x64_128 with listed seeds). */
  PYBLOOMFILTER(Abi.HASH_PYBLOOMFILTER),
  /** That of LevelDB's built-in filter. */
  LEVELDB(Abi.HASH_LEVELDB),
  /** That of RocksDB's filter of format_version 5: XXPH3 and one cache line. */
  ROCKSDB(Abi.HASH_ROCKSDB),
  /** That of Parquet's split-block filter: XXH64 and one block of 32 bytes. */
  PARQUET(Abi.HASH_PARQUET),
  /** That of the Go module bits-and-blooms/bloom. */
  BITS_AND_BLOOMS(Abi.HASH_BITS_AND_BLOOMS),
  /** That of the C library libbloom (murmurhash2). */
  LIBBLOOM(Abi.HASH_LIBBLOOM),
  /** That of rbloom with the hash function of its documentation (SHA-256). */
  RBLOOM(Abi.HASH_RBLOOM),
  /** That of ByteBufferBloomFilter of tutorials in Java. */
  JAVA_BYTES(Abi.HASH_JAVA_BYTES),
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

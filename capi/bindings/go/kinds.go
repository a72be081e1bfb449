// The names of the numbers that files store.

package bfstore

/*
#include "bridge.h"
*/
import "C"

import "strconv"

// Layout is the arrangement of a key's bits. Zero is the default.
type Layout uint32

// The layouts.
const (
	Blocked  Layout = C.BFS_LAYOUT_BLOCKED  // one line of 64 bytes a key, so a lookup costs one cache miss; the default
	Classic  Layout = C.BFS_LAYOUT_CLASSIC  // k bits anywhere: the lowest false-positive rate, and k cache misses
	Counting Layout = C.BFS_LAYOUT_COUNTING // counters: Remove and Count, at about four times the size
	Static   Layout = C.BFS_LAYOUT_STATIC   // built once, from all keys (Build, or Create with Unpublished), and sealed: the smallest files
	Window   Layout = C.BFS_LAYOUT_WINDOW   // keys expire, in 8 epochs: kept a seventh of Options.Window longer at most, plus late turns
	Window4  Layout = C.BFS_LAYOUT_WINDOW_4 // 4 epochs: for a third longer; the smallest one for a rate of 1 %
	Window2  Layout = C.BFS_LAYOUT_WINDOW_2 // 2 epochs: for Options.Window once more
	Growing  Layout = C.BFS_LAYOUT_GROWING  // grows from Capacity to CapacityAtMost keys, in up to 5 slices of one file
)

// String returns the layout's name, "blocked", or the number if the library does not know it.
func (l Layout) String() string { return nameOr(C.bfs_layout_name(C.uint32_t(l)), uint32(l)) }

// Hash is the function that makes a key's digest, or the positions of its bits. Zero is the default.
type Hash uint32

// The hashes. bfstore_interop.h describes those of other programs.
const (
	XXH3            Hash = C.BFS_HASH_XXH3             // XXH3-64 with the file's seed; the default
	External        Hash = C.BFS_HASH_EXTERNAL         // the caller passes its own digests, which must be well mixed
	SipHash         Hash = C.BFS_HASH_SIPHASH          // SipHash-2-4 with a secret, for keys that strangers choose
	Murmur3         Hash = C.BFS_HASH_MURMUR3          // for other programs' bits, like the next ones: mmh3.hash(key, seed) % m
	Murmur3Unsigned Hash = C.BFS_HASH_MURMUR3_UNSIGNED // mmh3.hash(key, seed, signed=False) % m
	JavaPolynomial  Hash = C.BFS_HASH_JAVA_POLYNOMIAL  // the hash of tutorials in Java: its seeds must be given
	Jaybird         Hash = C.BFS_HASH_JAYBIRD          // the hash of Jay Baird's python-bloomfilter
	PybloomLive     Hash = C.BFS_HASH_PYBLOOM_LIVE     // the hash of pybloom-live 4 or later
	Dcso            Hash = C.BFS_HASH_DCSO             // DCSO's bloom, flor, fleur and poppy: FNV-1 and a generator
	Guava           Hash = C.BFS_HASH_GUAVA            // Guava's BloomFilter (MURMUR128_MITZ_64)
	Guava32         Hash = C.BFS_HASH_GUAVA_32         // Guava's older strategy (MURMUR128_MITZ_32)
	RedisBloom      Hash = C.BFS_HASH_REDISBLOOM       // RedisBloom's BF commands (MurmurHash64A twice)
	Pybloomfilter   Hash = C.BFS_HASH_PYBLOOMFILTER    // pybloomfiltermmap3 (MurmurHash3_x64_128 with listed seeds)
	LevelDb         Hash = C.BFS_HASH_LEVELDB          // LevelDB's built-in filter
	RocksDb         Hash = C.BFS_HASH_ROCKSDB          // RocksDB's filter of format_version 5: XXPH3 and one cache line
	Parquet         Hash = C.BFS_HASH_PARQUET          // Parquet's split-block filter: XXH64 and one block of 32 bytes
	BitsAndBlooms   Hash = C.BFS_HASH_BITS_AND_BLOOMS  // the Go module bits-and-blooms/bloom
	Libbloom        Hash = C.BFS_HASH_LIBBLOOM         // the C library libbloom (murmurhash2)
	Rbloom          Hash = C.BFS_HASH_RBLOOM           // rbloom with the hash function of its documentation (SHA-256)
	JavaBytes       Hash = C.BFS_HASH_JAVA_BYTES       // ByteBufferBloomFilter of tutorials in Java
)

// String returns the hash's name, "xxh3", or the number if the library does not know it.
func (h Hash) String() string { return nameOr(C.bfs_hash_name(C.uint32_t(h)), uint32(h)) }

// Order is the bit of a byte that comes first in a bit array of another program.
type Order uint32

// The orders.
const (
	LittleBits Order = C.BFS_BITS_LITTLE // the lowest bit of a byte first
	BigBits    Order = C.BFS_BITS_BIG    // the highest bit first
)

// Abilities are the operations of a layout's filters.
type Abilities uint32

// Differences are the values in which two filters differ, of those that decide the places of a key's bits.
type Differences uint32

// nameOr returns the name, or the number as text if the library does not know it.
func nameOr(name *C.char, number uint32) string {
	if name == nil {
		return strconv.FormatUint(uint64(number), 10)
	}
	return C.GoString(name)
}

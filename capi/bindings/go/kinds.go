// The numbers that files store, under their names.

package bfstore

/*
#include "bridge.h"
*/
import "C"

import "strconv"

// Layout says where the bits of a key are. Zero is the default.
type Layout uint32

// The layouts.
const (
	Blocked  Layout = C.BFS_LAYOUT_BLOCKED  // one line of 64 bytes a key, so a lookup costs one cache miss; the default
	Classic  Layout = C.BFS_LAYOUT_CLASSIC  // k bits anywhere: the lowest false-positive rate, and k cache misses
	Counting Layout = C.BFS_LAYOUT_COUNTING // counters: Remove and Count, at about four times the size
)

// String is the layout's name, "blocked", or the number that the library does not know.
func (l Layout) String() string { return nameOr(C.bfs_layout_name(C.uint32_t(l)), uint32(l)) }

// Hash says how a key becomes its digest, or the positions of its bits. Zero is the default.
type Hash uint32

// The hashes. bfstore.h says what each is for.
const (
	XXH3            Hash = C.BFS_HASH_XXH3             // XXH3-64 with the file's seed; the default
	External        Hash = C.BFS_HASH_EXTERNAL         // the caller passes digests of its own, well mixed hash
	SipHash         Hash = C.BFS_HASH_SIPHASH          // SipHash-2-4 with a secret, for keys that strangers choose
	Murmur3         Hash = C.BFS_HASH_MURMUR3          // for bits of other programs, as the next ones: mmh3.hash(key, seed) % m
	Murmur3Unsigned Hash = C.BFS_HASH_MURMUR3_UNSIGNED // mmh3.hash(key, seed, signed=False) % m
	JavaPolynomial  Hash = C.BFS_HASH_JAVA_POLYNOMIAL  // that of tutorials in Java: its seeds have to be given
	Jaybird         Hash = C.BFS_HASH_JAYBIRD          // that of Jay Baird's python-bloomfilter
	PybloomLive     Hash = C.BFS_HASH_PYBLOOM_LIVE     // that of pybloom-live 4 or later
)

// String is the hash's name, "xxh3", or the number that the library does not know.
func (h Hash) String() string { return nameOr(C.bfs_hash_name(C.uint32_t(h)), uint32(h)) }

// Order says which bit of a byte comes first in a bit array of another program.
type Order uint32

// The orders.
const (
	LittleBits Order = C.BFS_BITS_LITTLE // the lowest bit of a byte first
	BigBits    Order = C.BFS_BITS_BIG    // the highest bit first
)

// Abilities is what filters of a layout can do.
type Abilities uint32

// Differences is in what two filters differ of that which decides where the bits of a key are.
type Differences uint32

// nameOr is the number as text where the library does not know it.
func nameOr(name *C.char, number uint32) string {
	if name == nil {
		return strconv.FormatUint(uint64(number), 10)
	}
	return C.GoString(name)
}

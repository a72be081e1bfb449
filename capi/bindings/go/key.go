// One key at a time.

package bfstore

/*
#include "bridge.h"
*/
import "C"

import "encoding/binary"

// Integer returns the key of an integer: 8 bytes, little-endian. A negative one is its two's complement:
// Integer(uint64(n)).
func Integer(number uint64) []byte {
	key := make([]byte, 8)
	binary.LittleEndian.PutUint64(key, number)
	return key
}

// Contains reports whether the key may be in the filter. False is certain. After every error the answer is true.
func (f *Filter) Contains(key []byte) (bool, error) { return f.ContainsString(text(key)) }

// ContainsString is Contains for the string's bytes.
func (f *Filter) ContainsString(key string) (bool, error) {
	lane := f.lane()
	if lane == nil {
		return true, f.closed()
	}
	answer := C.bridge_contains(f.handle, key)
	lane.Leave()
	return f.maybe(answer)
}

// ContainsInteger is Contains for Integer(number).
func (f *Filter) ContainsInteger(number uint64) (bool, error) {
	lane := f.lane()
	if lane == nil {
		return true, f.closed()
	}
	answer := C.bridge_contains_integer(f.handle, C.uint64_t(number))
	lane.Leave()
	return f.maybe(answer)
}

// ContainsDigest is Contains for a key's digest in this filter.
func (f *Filter) ContainsDigest(digest uint64) (bool, error) {
	lane := f.lane()
	if lane == nil {
		return true, f.closed()
	}
	answer := C.bfs_contains_digest(f.handle, C.uint64_t(digest))
	lane.Leave()
	return f.maybe(answer)
}

// Add adds a key, and reports whether it was certainly new. After an error it does not count as added. It survives a
// killed process at once, and a power cut after the next Sync.
func (f *Filter) Add(key []byte) (bool, error) { return f.AddString(text(key)) }

// AddString is Add for the string's bytes.
func (f *Filter) AddString(key string) (bool, error) {
	lane := f.lane()
	if lane == nil {
		return false, f.closed()
	}
	answer := C.bridge_add(f.handle, key)
	lane.Leave()
	return f.done(answer)
}

// AddInteger is Add for Integer(number).
func (f *Filter) AddInteger(number uint64) (bool, error) {
	lane := f.lane()
	if lane == nil {
		return false, f.closed()
	}
	answer := C.bridge_add_integer(f.handle, C.uint64_t(number))
	lane.Leave()
	return f.done(answer)
}

// AddDigest is Add for a key's digest in this filter.
func (f *Filter) AddDigest(digest uint64) (bool, error) {
	lane := f.lane()
	if lane == nil {
		return false, f.closed()
	}
	answer := C.bfs_add_digest(f.handle, C.uint64_t(digest))
	lane.Leave()
	return f.done(answer)
}

// Remove removes a key from a filter with the Counting layout, and reports whether it may have been present. Remove
// only keys that were added, and each at most as often: any other remove can make the filter answer no for other keys.
// Never repeat a remove that failed.
func (f *Filter) Remove(key []byte) (bool, error) { return f.RemoveString(text(key)) }

// RemoveString is Remove for the string's bytes.
func (f *Filter) RemoveString(key string) (bool, error) {
	lane := f.lane()
	if lane == nil {
		return false, f.closed()
	}
	answer := C.bridge_remove(f.handle, key)
	lane.Leave()
	return f.done(answer)
}

// RemoveDigest is Remove for a key's digest in this filter.
func (f *Filter) RemoveDigest(digest uint64) (bool, error) {
	lane := f.lane()
	if lane == nil {
		return false, f.closed()
	}
	answer := C.bridge_remove_digest(f.handle, C.uint64_t(digest))
	lane.Leave()
	return f.done(answer)
}

// Count returns an upper bound of the key's adds less its removes, 0 (a certain no) to 15, in a filter with the
// Counting layout. 15 means 15 or more, or doubt, or an error.
func (f *Filter) Count(key []byte) (int, error) { return f.CountString(text(key)) }

// CountString is Count for the string's bytes.
func (f *Filter) CountString(key string) (int, error) {
	lane := f.lane()
	if lane == nil {
		return 15, f.closed()
	}
	answer := C.bridge_count(f.handle, key)
	lane.Leave()
	return f.counted(answer)
}

// CountDigest is Count for a key's digest in this filter.
func (f *Filter) CountDigest(digest uint64) (int, error) {
	lane := f.lane()
	if lane == nil {
		return 15, f.closed()
	}
	answer := C.bridge_count_digest(f.handle, C.uint64_t(digest))
	lane.Leave()
	return f.counted(answer)
}

// Digest returns the key's digest in this filter. Filters with equal hash and seed (or secret) have equal digests.
func (f *Filter) Digest(key []byte) (uint64, error) { return f.DigestString(text(key)) }

// DigestString is Digest for the string's bytes.
func (f *Filter) DigestString(key string) (uint64, error) {
	lane, err := f.enter()
	if err != nil {
		return 0, err
	}
	var digest C.uint64_t
	code := C.bridge_digest(f.handle, key, &digest)
	lane.Leave()
	if code != C.BFS_OK {
		return 0, f.failed(C.int64_t(code))
	}
	return uint64(digest), nil
}

func (f *Filter) maybe(answer C.int32_t) (bool, error) {
	if answer < 0 {
		return true, f.failed(C.int64_t(answer))
	}
	return answer != 0, nil
}

func (f *Filter) done(answer C.int32_t) (bool, error) {
	if answer < 0 {
		return false, f.failed(C.int64_t(answer))
	}
	return answer != 0, nil
}

func (f *Filter) counted(answer C.int32_t) (int, error) {
	if answer < 0 {
		return 15, f.failed(C.int64_t(answer))
	}
	return int(answer), nil
}

// Copies, sets, several filters at once, sealed files, and bit arrays of other programs.

package bfstore

/*
#include "bridge.h"
*/
import "C"

import "runtime"

// Copy makes a new file of the filter: the same bits, shape, seed, secret, note and marks. With FPR it folds the filter
// as small as the rate allows. With Sealed the new file detects damage, and no process writes to it again; with Sealed
// and Replace, path may be the filter's own.
func (f *Filter) Copy(path string, options CopyOptions) error {
	where, err := pathOf(path)
	if err != nil {
		return err
	}
	defer free(where)
	given, flags, err := options.given()
	if err != nil {
		return err
	}
	return f.call(func(handle *C.bfs_filter, words *C.bfs_error) C.int32_t {
		return C.bfs_copy(handle, where, flags, &given, words)
	})
}

// DumpOptions say which form Dump writes.
type DumpOptions struct {
	Bare       bool // only a body and 8 bytes
	SameFileID bool // the file_id of the source, for a copy that takes no more keys
}

// Dump returns the filter as an embedded one, or as a bare one. An embedded filter has no marks.
func (f *Filter) Dump(options DumpOptions) ([]byte, error) {
	flags := bit(options.Bare, C.BFS_BARE) | bit(options.SameFileID, C.BFS_SAME_FILE_ID)
	return f.written(func(handle *C.bfs_filter, buffer *C.uint8_t, room C.uint64_t, words *C.bfs_error) C.int64_t {
		return C.bridge_dump(handle, buffer, room, flags, words)
	})
}

// written returns all bytes that a call writes. The call returns the number of bytes that it needs, and without a
// buffer writes none.
func (f *Filter) written(write func(*C.bfs_filter, *C.uint8_t, C.uint64_t, *C.bfs_error) C.int64_t) ([]byte, error) {
	var data []byte
	bytes, err := f.ask(func(handle *C.bfs_filter, words *C.bfs_error) C.int64_t {
		needed := write(handle, nil, 0, words)
		for needed >= 0 {
			data = make([]byte, needed)
			bytes := write(handle, bytesOf(data), C.uint64_t(needed), words)
			if bytes != C.BFS_EINVAL {
				return bytes
			}
			// A filter that follows its path may have become larger. Any other refusal stays.
			if needed = write(handle, nil, 0, words); needed >= 0 && needed <= C.int64_t(len(data)) {
				return bytes
			}
		}
		return needed
	})
	if err != nil {
		return nil, err
	}
	return data[:bytes], nil
}

// Merge adds every key of `from` to the filter. After an error some keys of `from` may have been added, which is
// harmless.
func (f *Filter) Merge(from *Filter) error {
	leave, err := enterAll(f, from)
	if err != nil {
		return err
	}
	defer leave()
	words := wordsFor()
	if code := C.bfs_merge(f.handle, from.handle, words); code != C.BFS_OK {
		return failure(code, words)
	}
	return nil
}

// Intersect makes a new file of the keys that all filters have, and of those that they have by chance.
func Intersect(filters []*Filter, path string, options CopyOptions) error {
	return ofFilters(filters, path, options, func(first **C.bfs_filter, count C.size_t, where *C.char, flags C.uint64_t,
		given *C.bfs_options, words *C.bfs_error) C.int32_t {
		return C.bfs_intersect(first, count, where, flags, given, words)
	})
}

// ContainsAny reports whether any of the filters may have the key: lists from several sources, of this library or of
// other programs (OpenForeign). False is certain, of each of them. After every error the answer is true. The key is
// hashed once for neighbors with the same hash and the same seed or secret.
func ContainsAny(filters []*Filter, key []byte) (bool, error) {
	return ContainsAnyString(filters, text(key))
}

// ContainsAnyString is ContainsAny for the string's bytes.
func ContainsAnyString(filters []*Filter, key string) (bool, error) {
	maybes, err := askAll(filters, key, nil)
	return err != nil || maybes > 0, err
}

// Which returns the numbers, from 0 on and ascending, of the filters that may have the key. It asks as ContainsAny.
// After an error each filter may have it, and the numbers are those of all.
func Which(filters []*Filter, key []byte) ([]int, error) { return WhichString(filters, text(key)) }

// WhichString is Which for the string's bytes.
func WhichString(filters []*Filter, key string) ([]int, error) {
	answers := make([]byte, len(filters))
	maybes, err := askAll(filters, key, answers)
	numbers := make([]int, 0, maybes)
	for i, maybe := range answers {
		if maybe != 0 || err != nil {
			numbers = append(numbers, i)
		}
	}
	return numbers, err
}

// askAll returns how many filters may have the key; without answers at most 1.
func askAll(filters []*Filter, key string, answers []byte) (int, error) {
	leave, err := enterAll(filters...)
	if err != nil {
		return 0, err
	}
	defer leave()
	maybes := C.bridge_contains_any(handlesOf(filters), C.size_t(len(filters)), key, bytesOf(answers))
	if maybes < 0 {
		return 0, refusal(Code(maybes), "the filters: "+inGo(Code(maybes).Error()))
	}
	return int(maybes), nil
}

// Join makes a new file of the whole filter. Each of its parts must occur once.
func Join(parts []*Filter, path string, options CopyOptions) error {
	return ofFilters(parts, path, options, func(first **C.bfs_filter, count C.size_t, where *C.char, flags C.uint64_t,
		given *C.bfs_options, words *C.bfs_error) C.int32_t {
		return C.bfs_join(first, count, where, flags, given, words)
	})
}

// MakeDelta makes a small file of the bits that the file after has and the file before lacks. after is before with more
// keys, and both are copies or sealed files of the layout Blocked or Classic.
func MakeDelta(before, after, delta string, options CopyOptions) error {
	return ofPaths(before, after, delta, options, func(first, second, third *C.char, flags C.uint64_t,
		given *C.bfs_options, words *C.bfs_error) C.int32_t {
		return C.bfs_make_delta(first, second, third, flags, given, words)
	})
}

// ApplyDelta makes the file after that the delta's maker had, of the file before from which the delta was made. With
// Replace it may be before itself.
func ApplyDelta(before, delta, after string, options CopyOptions) error {
	return ofPaths(before, delta, after, options, func(first, second, third *C.char, flags C.uint64_t,
		given *C.bfs_options, words *C.bfs_error) C.int32_t {
		return C.bfs_apply_delta(first, second, third, flags, given, words)
	})
}

func ofPaths(first, second, third string, options CopyOptions, call func(first, second, third *C.char, flags C.uint64_t,
	given *C.bfs_options, words *C.bfs_error) C.int32_t) error {
	var paths [3]*C.char
	for i, path := range []string{first, second, third} {
		where, err := pathOf(path)
		if err != nil {
			return err
		}
		defer free(where)
		paths[i] = where
	}
	given, flags, err := options.given()
	if err != nil {
		return err
	}
	words := wordsFor()
	if code := call(paths[0], paths[1], paths[2], flags, &given, words); code != C.BFS_OK {
		return failure(code, words)
	}
	return nil
}

func ofFilters(filters []*Filter, path string, options CopyOptions, call func(**C.bfs_filter, C.size_t, *C.char,
	C.uint64_t, *C.bfs_options, *C.bfs_error) C.int32_t) error {
	leave, err := enterAll(filters...)
	if err != nil {
		return err
	}
	defer leave()
	where, err := pathOf(path)
	if err != nil {
		return err
	}
	defer free(where)
	given, flags, err := options.given()
	if err != nil {
		return err
	}
	words := wordsFor()
	code := call(handlesOf(filters), C.size_t(len(filters)), where, flags, &given, words)
	runtime.KeepAlive(filters)
	if code != C.BFS_OK {
		return failure(code, words)
	}
	return nil
}

// handlesOf returns an array of the filters' handles; nil for none.
func handlesOf(filters []*Filter) **C.bfs_filter {
	if len(filters) == 0 {
		return nil
	}
	handles := make([]*C.bfs_filter, len(filters))
	for i, filter := range filters {
		handles[i] = filter.handle
	}
	return &handles[0]
}

// Range is a range of bytes in a file.
type Range struct{ Offset, Bytes uint64 }

// VerifyOptions say how Verify opens the file.
type VerifyOptions struct {
	NoFollow bool // ESYMLINK if the last part of the path is a symbolic link
}

// Verify reads a sealed file from end to end, and returns the ranges whose bytes have changed since the sealing.
func Verify(path string, options VerifyOptions) ([]Range, error) {
	where, err := pathOf(path)
	if err != nil {
		return nil, err
	}
	defer free(where)
	flags := bit(options.NoFollow, C.BFS_NOFOLLOW)
	rows := make([]C.bfs_range, 64)
	for {
		words := wordsFor()
		count := C.bfs_verify(where, flags, &rows[0], C.size_t(len(rows)), words)
		if count < 0 {
			return nil, failure(C.int32_t(count), words)
		}
		if int(count) <= len(rows) {
			return ranges(rows[:count]), nil
		}
		rows = make([]C.bfs_range, count)
	}
}

func ranges(rows []C.bfs_range) []Range {
	made := make([]Range, len(rows))
	for i, row := range rows {
		made[i] = Range{uint64(row.offset), uint64(row.bytes)}
	}
	return made
}

// ImportBits takes in the bit array of another program. The filter has the layout Classic and the m, k, hash and seeds
// of that program. An array does not tell these: look up keys that are known to be in it before you use the filter.
func (f *Filter) ImportBits(bits []byte, order Order) error {
	memory := bits
	if len(bits) == 0 {
		memory = []byte{0} // C refuses a null pointer before it looks at the length
	}
	return f.call(func(handle *C.bfs_filter, words *C.bfs_error) C.int32_t {
		return C.bridge_import_bits(handle, bytesOf(memory), C.uint64_t(len(bits)), C.uint32_t(order), words)
	})
}

// ExportBits returns the filter's m bits as an array for another program.
func (f *Filter) ExportBits(order Order) ([]byte, error) {
	facts, err := f.Stats(StatsOptions{})
	if err != nil {
		return nil, err
	}
	bits := make([]byte, (facts.NumBits+7)/8)
	err = f.call(func(handle *C.bfs_filter, words *C.bfs_error) C.int32_t {
		return C.bridge_export_bits(handle, bytesOf(bits), C.uint64_t(len(bits)), C.uint32_t(order), words)
	})
	if err != nil {
		return nil, err
	}
	return bits, nil
}

// BareContains looks up a key in a bare filter without opening it. False is certain; true is also the answer if the
// bytes are not a bare filter.
func BareContains(data []byte, key []byte) bool { return BareContainsString(data, text(key)) }

// BareContainsString is BareContains for the string's bytes.
func BareContainsString(data []byte, key string) bool {
	return C.bridge_bare_contains(bytesOf(data), C.uint64_t(len(data)), key) != 0
}

// BareContainsDigest is BareContains for a key's digest.
func BareContainsDigest(data []byte, digest uint64) bool {
	return C.bridge_bare_contains_digest(bytesOf(data), C.uint64_t(len(data)), C.uint64_t(digest)) != 0
}

// BareBytes returns the length of a bare filter; 0 if no such filter exists.
func BareBytes(numKeys uint64, bitsPerKey float64, layout Layout) uint64 {
	return uint64(C.bfs_bare_bytes(C.uint64_t(numKeys), C.double(bitsPerKey), C.uint32_t(layout)))
}

// BareBuild makes a bare filter of these keys that is exactly `bytes` long: see BareBytes. No key may be a null. The
// hash is XXH3, or External, which takes only Digests; 0 is XXH3.
func BareBuild(bytes uint64, keys Keys, layout Layout, hash Hash) ([]byte, error) {
	if keys.wrong != "" {
		return nil, invalid(keys.wrong)
	}
	if bytes > 1<<46 {
		return nil, invalid("no bare filter is so long")
	}
	data, part := make([]byte, bytes), keys.whole().view()
	code := C.bridge_bare_build(bytesOf(data), C.uint64_t(bytes), C.uint32_t(layout), C.uint32_t(hash), part.given,
		part.data, part.offsets, part.validity)
	if code != C.BFS_OK {
		return nil, refusal(Code(code), "bare filter: "+inGo(Code(code).Error()))
	}
	return data, nil
}

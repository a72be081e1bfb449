// Many keys at a time, in the form in which the caller has them.

package bfstore

/*
#include "bridge.h"
*/
import "C"

import (
	"encoding/binary"
	"fmt"
	"sync"
	"unsafe"
)

// Keys are many keys in one of the forms below: Bytes, Strings, Fixed, Records, Column32, Column64, Integers, Digests.
// They are a view of the caller's memory, which no goroutine may change during a call.
type Keys struct {
	count     uint64
	kind      C.uint32_t // 0: a list
	data      []byte
	keyBytes  int
	stride    int
	offsets32 []int32
	offsets64 []int64
	bytes     [][]byte
	strings   []string
	validity  []byte
	first     uint64 // the first bit in validity
	wrong     string
}

// Bytes returns the byte strings of a list as keys.
func Bytes(list [][]byte) Keys { return Keys{count: uint64(len(list)), bytes: list} }

// Strings returns the bytes of a list's strings as keys.
func Strings(list []string) Keys { return Keys{count: uint64(len(list)), strings: list} }

// Fixed returns keys of `width` bytes each, one after the other, without a copy.
func Fixed(data []byte, width int) Keys { return Records(data, width, width) }

// Records returns keys of `width` bytes each, at the beginning of each record of `stride` bytes, without a copy.
func Records(data []byte, width, stride int) Keys {
	if width <= 0 || stride < width {
		return Keys{wrong: fmt.Sprintf("keys of %d bytes in records of %d", width, stride)}
	}
	if len(data)%stride != 0 {
		wrong := fmt.Sprintf("%d bytes are no multiple of %d", len(data), stride)
		return Keys{count: uint64(len(data)/stride + 1), wrong: wrong}
	}
	return Keys{count: uint64(len(data) / stride), kind: C.BFS_KEYS_FIXED, data: data, keyBytes: width, stride: stride}
}

// Column32 returns a column of Apache Arrow, without a copy: key i is data[offsets[i]:offsets[i+1]].
func Column32(data []byte, offsets []int32) Keys {
	if len(offsets) == 0 {
		return Keys{wrong: "a column of n keys has n + 1 offsets, and here is none"}
	}
	return Keys{count: uint64(len(offsets) - 1), kind: C.BFS_KEYS_COLUMN32, data: data, offsets32: offsets}
}

// Column64 is Column32 with longer offsets.
func Column64(data []byte, offsets []int64) Keys {
	if len(offsets) == 0 {
		return Keys{wrong: "a column of n keys has n + 1 offsets, and here is none"}
	}
	return Keys{count: uint64(len(offsets) - 1), kind: C.BFS_KEYS_COLUMN64, data: data, offsets64: offsets}
}

// Integers returns the keys of integers: 8 bytes each, little-endian. On little-endian machines it copies nothing.
func Integers(numbers []uint64) Keys {
	if !littleEndian {
		data := make([]byte, 8*len(numbers))
		for i, number := range numbers {
			binary.LittleEndian.PutUint64(data[8*i:], number)
		}
		return Fixed(data, 8)
	}
	return Fixed(bytesOfNumbers(numbers), 8)
}

// Digests returns keys by their digests in the filter that the call uses.
func Digests(digests []uint64) Keys {
	return Keys{count: uint64(len(digests)), kind: C.BFS_KEYS_DIGESTS, data: bytesOfNumbers(digests)}
}

// WithValidity marks keys as absent (null), as Apache Arrow does: key i exists if bit first + i of the bitmap is 1, the
// lowest bit of a byte first. A null is not added, and its answer is false; its digest is 0.
func (k Keys) WithValidity(bitmap []byte, first int) Keys {
	if first < 0 || uint64(first)+k.count > 8*uint64(len(bitmap)) {
		k.wrong = fmt.Sprintf("a bitmap of %d bytes is too short for bits %d to %d", len(bitmap), first, first+int(k.count))
	}
	k.validity, k.first = bitmap, uint64(first)
	if k.validity == nil && k.count > 0 {
		k.wrong = "there is no bitmap"
	}
	return k
}

// Len returns the number of keys, including nulls.
func (k Keys) Len() int { return int(k.count) }

var littleEndian = func() bool {
	one := uint16(1)
	return *(*byte)(unsafe.Pointer(&one)) == 1
}()

func bytesOfNumbers(numbers []uint64) []byte {
	if len(numbers) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&numbers[0])), 8*len(numbers))
}

// misfit says which offset of a column the library has refused, if one is wrong.
func (k *Keys) misfit() string {
	before := int64(0)
	for i, count := 0, len(k.offsets32)+len(k.offsets64); i < count; i++ {
		var offset int64
		if k.offsets32 != nil {
			offset = int64(k.offsets32[i])
		} else {
			offset = k.offsets64[i]
		}
		switch {
		case offset < before && i == 0:
			return fmt.Sprintf("offset 0 is %d, which is negative", offset)
		case offset < before:
			return fmt.Sprintf("offset %d is %d, less than the one before it, %d", i, offset, before)
		case offset > int64(len(k.data)):
			return fmt.Sprintf("offset %d is %d, and the column has %d bytes of data", i, offset, len(k.data))
		}
		before = offset
	}
	return ""
}

// view is Keys in C's form, with separate pointers to their memory.
type view struct {
	given                   C.bfs_keys
	data, offsets, validity *C.uint8_t
}

func (k *Keys) view() view {
	made := view{data: bytesOf(k.data), validity: bytesOf(k.validity)}
	made.given.kind, made.given.count = k.kind, C.uint64_t(k.count)
	made.given.data_bytes = C.uint64_t(len(k.data))
	made.given.key_bytes, made.given.stride = C.uint64_t(k.keyBytes), C.uint64_t(k.stride)
	made.given.validity_offset = C.uint64_t(k.first)
	if k.offsets32 != nil {
		made.offsets = (*C.uint8_t)(unsafe.Pointer(&k.offsets32[0]))
	} else if k.offsets64 != nil {
		made.offsets = (*C.uint8_t)(unsafe.Pointer(&k.offsets64[0]))
	}
	return made
}

// A list goes to the library as columns of at most this number of keys, or bytes: the copy stays in the processor's
// cache, and costs a tenth of pinning each key.
const (
	keysAtOnce  = 16384
	bytesAtOnce = 1 << 20
)

type column struct {
	data    []byte
	offsets []int64
}

var columns = sync.Pool{New: func() any { return &column{offsets: make([]int64, 0, keysAtOnce+1)} }}

func (c *column) add(key string) bool {
	c.data = append(c.data, key...)
	c.offsets = append(c.offsets, int64(len(c.data)))
	return len(c.offsets) <= keysAtOnce && len(c.data) < bytesAtOnce
}

// fill takes in the list's keys from number `from` on, and returns the number of the first key that it leaves.
func (c *column) fill(k *Keys, from int) int {
	c.data, c.offsets = c.data[:0], append(c.offsets[:0], 0)
	for more := true; more && from < len(k.bytes); from++ {
		more = c.add(text(k.bytes[from]))
	}
	for more := true; more && from < len(k.strings); from++ {
		more = c.add(k.strings[from])
	}
	return from
}

// giveBack returns a column for later calls, without the memory of a very long key.
func (c *column) giveBack() {
	if cap(c.data) <= 2*bytesAtOnce {
		columns.Put(c)
	}
}

// whole returns the keys in a form that goes into one call: it copies a list into a column.
func (k Keys) whole() *Keys {
	if k.kind == 0 {
		made := column{offsets: []int64{0}}
		for _, key := range k.bytes {
			made.add(text(key))
		}
		for _, key := range k.strings {
			made.add(key)
		}
		k.kind, k.data, k.offsets64 = C.BFS_KEYS_COLUMN64, made.data, made.offsets
	}
	return &k
}

// each calls work for all keys, or for a list in parts, each with the number of its first key. It ends after the first
// result below 0. Returns the sum of the results.
func (k *Keys) each(work func(part view, from int) C.int64_t) C.int64_t {
	if k.kind != 0 || k.count == 0 {
		part := *k
		if k.kind == 0 { // the library checks filter and handle also for no keys
			part.kind, part.offsets64 = C.BFS_KEYS_COLUMN64, []int64{0}
		}
		return work(part.view(), 0)
	}
	buffer := columns.Get().(*column)
	defer buffer.giveBack()
	sum := C.int64_t(0)
	for from := 0; from < int(k.count); {
		next := buffer.fill(k, from)
		part := Keys{count: uint64(next - from), kind: C.BFS_KEYS_COLUMN64, data: buffer.data, offsets64: buffer.offsets,
			validity: k.validity, first: k.first + uint64(from)}
		result := work(part.view(), from)
		if result < 0 {
			return result
		}
		sum, from = sum+result, next
	}
	return sum
}

// batch runs a call with keys.
func (f *Filter) batch(keys *Keys, work func(part view, from int) C.int64_t) (int, error) {
	lane, err := f.enter()
	if err != nil {
		return 0, err
	}
	defer lane.Leave()
	if keys.wrong != "" {
		return 0, invalid(f.name + ": " + keys.wrong)
	}
	result := keys.each(work)
	if result < 0 {
		if wrong := keys.misfit(); Code(result) == EINVAL && wrong != "" {
			return 0, invalid(f.name + ": " + wrong)
		}
		return 0, f.failed(result)
	}
	return int(result), nil
}

// AddKeys adds keys, and returns the number of certainly new ones. After an error some may have been added, and none
// counts as added.
func (f *Filter) AddKeys(keys Keys) (int, error) {
	return f.batch(&keys, func(part view, _ int) C.int64_t {
		return C.bridge_add_keys(f.handle, part.given, part.data, part.offsets, part.validity)
	})
}

// RemoveKeys removes keys (see Remove), and returns the number of keys that were not certainly absent. After an error
// it is not known which keys were removed: do not repeat the call.
func (f *Filter) RemoveKeys(keys Keys) (int, error) {
	return f.batch(&keys, func(part view, _ int) C.int64_t {
		return C.bridge_remove_keys(f.handle, part.given, part.data, part.offsets, part.validity)
	})
}

// ContainsKeys answers for each key as Contains does, into `answers` if it is long enough, otherwise into a new slice.
// After an error every answer is true, also in `answers`.
func (f *Filter) ContainsKeys(keys Keys, answers []bool) ([]bool, error) {
	given := answers
	if uint64(cap(answers)) < keys.count {
		answers = make([]bool, keys.count)
	}
	answers = answers[:keys.count]
	_, err := f.batch(&keys, func(part view, from int) C.int64_t {
		return C.bridge_contains_keys(f.handle, part.given, part.data, part.offsets, part.validity, answersAt(answers, from))
	})
	if err != nil {
		for _, doubt := range [][]bool{given, answers} {
			for i := range doubt {
				doubt[i] = true
			}
		}
	}
	return answers, err
}

// answersAt returns the address of answer `from`: a bool of Go is a byte, 0 or 1, as is an answer of the library.
func answersAt(answers []bool, from int) *C.uint8_t {
	if from >= len(answers) {
		return nil
	}
	return (*C.uint8_t)(unsafe.Pointer(&answers[from]))
}

// SelectKeys returns the indexes of the keys that may be present, ascending, in `numbers` if it has room for all keys,
// otherwise in a new slice. After an error it returns the indexes of all keys. At most 2^32 keys.
func (f *Filter) SelectKeys(keys Keys, numbers []uint32) ([]uint32, error) {
	if uint64(cap(numbers)) < keys.count {
		numbers = make([]uint32, keys.count)
	}
	numbers = numbers[:keys.count]
	found := 0
	_, err := f.batch(&keys, func(part view, from int) C.int64_t {
		if len(numbers) == 0 {
			return C.bridge_select_keys(f.handle, part.given, part.data, part.offsets, part.validity, nil)
		}
		room := (*C.uint32_t)(unsafe.Pointer(&numbers[found]))
		many := C.bridge_select_keys(f.handle, part.given, part.data, part.offsets, part.validity, room)
		for end := found + int(many); many > 0 && found < end; found++ {
			numbers[found] += uint32(from)
		}
		return many
	})
	if err == nil {
		return numbers[:found], nil
	}
	for i := range numbers {
		numbers[i] = uint32(i)
	}
	return numbers, err
}

// DigestKeys returns the digest of each key in this filter, in `digests` if it is long enough, otherwise in a new slice.
func (f *Filter) DigestKeys(keys Keys, digests []uint64) ([]uint64, error) {
	if uint64(cap(digests)) < keys.count {
		digests = make([]uint64, keys.count)
	}
	digests = digests[:keys.count]
	_, err := f.batch(&keys, func(part view, from int) C.int64_t {
		var room *C.uint64_t
		if from < len(digests) {
			room = (*C.uint64_t)(unsafe.Pointer(&digests[from]))
		}
		return C.bridge_digest_keys(f.handle, part.given, part.data, part.offsets, part.validity, room)
	})
	if err != nil {
		return nil, err
	}
	return digests, nil
}

// CountKeys counts each key as Count does, into `counts` if it is long enough, otherwise into a new slice; a null is 0.
// After an error every count is 15, also in `counts`.
func (f *Filter) CountKeys(keys Keys, counts []uint8) ([]uint8, error) {
	given := counts
	if uint64(cap(counts)) < keys.count {
		counts = make([]uint8, keys.count)
	}
	counts = counts[:keys.count]
	_, err := f.batch(&keys, func(part view, from int) C.int64_t {
		return C.bridge_count_keys(f.handle, part.given, part.data, part.offsets, part.validity, bytesOf(counts[from:]))
	})
	if err != nil {
		for _, doubt := range [][]uint8{given, counts} {
			for i := range doubt {
				doubt[i] = 15
			}
		}
	}
	return counts, err
}

// Filters of other programs: facts in their bytes, importing them, and exporting a filter.

package bfstore

/*
#include "bridge.h"
*/
import "C"

import "strings"

// ForeignFormats returns the names of the formats that the library knows: "raw", "jaybird". A later library may have
// more.
//
// raw: only the bits, as C's fwrite, Java's BitSet and Python's bitarray write them. The caller describes them by
// NumBits and NumProbes (or Like), Hash and its Seed or Seeds, and the Order.
//
// jaybird: the file that BloomFilter.tofile() of python-bloomfilter writes (pybloom, pybloom-live). A small filter needs
// the Hash Jaybird, or PybloomLive if version 4 of pybloom-live or a later one made it.
func ForeignFormats() []string {
	var names []string
	for {
		name := C.bfs_foreign_name(C.uint32_t(len(names)))
		if name == nil {
			return names
		}
		names = append(names, C.GoString(name))
	}
}

// ForeignForm names the format of the bytes of another program's filter.
type ForeignForm struct {
	Format string // one of ForeignFormats
	Order  Order  // the bit of a byte that comes first: only for "raw", which needs it
	Name   string // the name of the bytes in errors, a path for instance
}

// given returns the ForeignForm in C's form. Its pointers are to C's memory, which the caller frees with release.
func (f *ForeignForm) given() (made C.bfs_foreign_form, release func(), err error) {
	if strings.IndexByte(f.Format+f.Name, 0) >= 0 {
		return made, nil, invalid("the format or the name of a foreign filter has a NUL byte")
	}
	made.struct_bytes, made.order = C.sizeof_bfs_foreign_form, C.uint32_t(f.Order)
	made.format = C.CString(f.Format)
	if f.Name != "" {
		made.name = C.CString(f.Name)
	}
	return made, func() { free(made.format); free(made.name) }, nil
}

// ForeignNeeds are the facts that the bytes of another program's filter lack, so that ImportForeign needs them.
type ForeignNeeds uint32

// The needs.
const (
	NeedsSize  ForeignNeeds = C.BFS_FOREIGN_NEEDS_SIZE  // NumBits and NumProbes, or another way to give them
	NeedsOrder ForeignNeeds = C.BFS_FOREIGN_NEEDS_ORDER // ForeignForm.Order
	NeedsHash  ForeignNeeds = C.BFS_FOREIGN_NEEDS_HASH  // Hash, and its Seed or Seeds
)

// Foreign is the facts in the bytes of another program's filter. Zero: the bytes do not tell it.
type Foreign struct {
	Needs     ForeignNeeds // whatever the options are
	Layout    Layout       // the layout of every filter in the format
	Hash      Hash
	NumProbes int     // k
	NumBits   uint64  // m
	Capacity  uint64  // n
	FPR       float64 // p at n keys
	Keys      *uint64 // the number that the other program counted
	Bytes     uint64  // the length that all of the bytes must have
}

func foreignOf(from *C.bfs_foreign) Foreign {
	made := Foreign{
		Needs: ForeignNeeds(from.needs), Layout: Layout(from.layout), Hash: Hash(from.hash), NumProbes: int(from.num_probes),
		NumBits: uint64(from.num_bits), Capacity: uint64(from.capacity), FPR: float64(from.fpr), Bytes: uint64(from.bytes),
	}
	if from.has_keys != 0 {
		keys := uint64(from.keys)
		made.Keys = &keys
	}
	return made
}

// InspectForeign returns the facts in the bytes of another program's filter, without making one. The first 64 KiB
// suffice. With options it describes the filter that ImportForeign would make of the bytes, or returns its error.
func InspectForeign(first []byte, form ForeignForm, options ...Options) (Foreign, error) {
	switch len(options) {
	case 0:
		return inspect(form, func(format *C.bfs_foreign_form, out *C.bfs_foreign, words *C.bfs_error) C.int32_t {
			return C.bridge_foreign_inspect(format, bytesOf(first), C.uint64_t(len(first)), out, words)
		})
	case 1:
		o, err := options[0].making()
		if err != nil {
			return Foreign{}, err
		}
		defer free(o.like)
		return inspect(form, func(format *C.bfs_foreign_form, out *C.bfs_foreign, words *C.bfs_error) C.int32_t {
			return C.bridge_foreign_inspect_for(format, bytesOf(first), C.uint64_t(len(first)), o.given, o.like, o.note,
				o.secret, o.seeds, out, words)
		})
	}
	return Foreign{}, invalid("more than one set of options")
}

func inspect(form ForeignForm, call func(*C.bfs_foreign_form, *C.bfs_foreign, *C.bfs_error) C.int32_t) (Foreign, error) {
	format, release, err := form.given()
	if err != nil {
		return Foreign{}, err
	}
	defer release()
	from, words := C.bfs_foreign{struct_bytes: C.sizeof_bfs_foreign}, wordsFor()
	if code := call(&format, &from, words); code != C.BFS_OK {
		return Foreign{}, failure(code, words)
	}
	return foreignOf(&from), nil
}

// ImportForeign makes a filter file of the bytes of another program's filter, open for reading. The complete, durable
// file appears under its name, or no file does. The options give the facts that the bytes lack: see Foreign.Needs.
//
// If the caller's options are wrong, the filter answers false for keys that are in it, and no program can check that.
// So import Unpublished, look up keys that are known to be in the filter, and Publish it if none of them is absent.
func ImportForeign(path string, data []byte, form ForeignForm, options Options) (*Filter, error) {
	format, release, err := form.given()
	if err != nil {
		return nil, err
	}
	defer release()
	filter, _, err := create(path, options, func(where *C.char, o making, out **C.bfs_filter, words *C.bfs_error) C.int32_t {
		return C.bridge_foreign_import(where, &format, bytesOf(data), C.uint64_t(len(data)), o.given, o.like, o.note,
			o.secret, o.seeds, out, words)
	})
	return filter, err
}

// ExportForeign returns the filter in another program's format. The bytes have every key whose add returned before this
// call.
func (f *Filter) ExportForeign(form ForeignForm) ([]byte, error) {
	format, release, err := form.given()
	if err != nil {
		return nil, err
	}
	defer release()
	return f.written(func(handle *C.bfs_filter, buffer *C.uint8_t, room C.uint64_t, words *C.bfs_error) C.int64_t {
		return C.bridge_foreign_export(handle, &format, buffer, room, words)
	})
}

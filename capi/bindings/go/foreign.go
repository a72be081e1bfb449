// Filters of other programs: what their bytes say, a file of them, and their bytes of a filter.

package bfstore

/*
#include "bridge.h"
*/
import "C"

import "strings"

// ForeignFormats are the names of the formats that the library knows: "raw", "jaybird". A later library may have more.
//
// raw: the bits and nothing else, as C's fwrite, Java's BitSet and Python's bitarray leave them. The caller says what
// they are: NumBits and NumProbes (or Like), Hash and its Seed or Seeds, and the Order.
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

// ForeignForm says which format the bytes of another program's filter have, or are to have.
type ForeignForm struct {
	Format string // one of ForeignFormats
	Order  Order  // which bit of a byte comes first: for "raw" alone, which needs it
	Name   string // of the bytes in errors, a path for instance
}

// given is ForeignForm as C has it. What it points to is C's, and to be freed.
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

// ForeignNeeds is what the bytes of another program's filter do not say, so that ImportForeign needs it.
type ForeignNeeds uint32

// The needs.
const (
	NeedsSize  ForeignNeeds = C.BFS_FOREIGN_NEEDS_SIZE  // NumBits and NumProbes, or another way to give them
	NeedsOrder ForeignNeeds = C.BFS_FOREIGN_NEEDS_ORDER // ForeignForm.Order
	NeedsHash  ForeignNeeds = C.BFS_FOREIGN_NEEDS_HASH  // Hash, and its Seed or Seeds
)

// Foreign is what the bytes of another program's filter say. Zero: they do not say it.
type Foreign struct {
	Needs     ForeignNeeds // whatever the options are
	Layout    Layout       // of every filter of the format
	Hash      Hash
	NumProbes int     // k
	NumBits   uint64  // m
	Capacity  uint64  // n
	FPR       float64 // p at n keys
	Keys      *uint64 // that the other program counted
	Bytes     uint64  // how long all of the bytes have to be
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

// InspectForeign tells what the bytes of another program's filter say, and makes nothing. The first 64 KiB are enough.
func InspectForeign(first []byte, form ForeignForm) (Foreign, error) {
	return inspect(form, func(format *C.bfs_foreign_form, out *C.bfs_foreign, words *C.bfs_error) C.int32_t {
		return C.bridge_foreign_inspect(format, bytesOf(first), C.uint64_t(len(first)), out, words)
	})
}

// InspectForeignFor tells what ImportForeign would make of the bytes with these options, or why it would make nothing.
func InspectForeignFor(first []byte, form ForeignForm, options Options) (Foreign, error) {
	given, err := options.given()
	if err != nil {
		return Foreign{}, err
	}
	like, err := options.like()
	if err != nil {
		return Foreign{}, err
	}
	defer free(like)
	return inspect(form, func(format *C.bfs_foreign_form, out *C.bfs_foreign, words *C.bfs_error) C.int32_t {
		return C.bridge_foreign_inspect_for(format, bytesOf(first), C.uint64_t(len(first)), given, like,
			bytesOf(options.Note), bytesOf(options.Secret), seedsOf(options.Seeds), out, words)
	})
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

// ImportForeign makes a filter file of the bytes of another program's filter; open for reading. The complete, durable
// file appears under its name, or nothing does. The options say what the bytes do not: see Foreign.Needs.
//
// Where the caller's word is wrong, the filter answers false for keys that are in it, and no program can check that. So
// import Unpublished, ask for keys that are known to be in the filter, and Publish it if none of them is absent.
func ImportForeign(path string, data []byte, form ForeignForm, options Options) (*Filter, error) {
	format, release, err := form.given()
	if err != nil {
		return nil, err
	}
	defer release()
	return create(path, options, func(where *C.char, given C.bfs_options, like *C.char, out **C.bfs_filter,
		words *C.bfs_error) C.int32_t {
		return C.bridge_foreign_import(where, &format, bytesOf(data), C.uint64_t(len(data)), given, like,
			bytesOf(options.Note), bytesOf(options.Secret), seedsOf(options.Seeds), out, words)
	})
}

// ExportForeign returns the filter as the bytes of another program. They have every key whose add returned before this
// call.
func (f *Filter) ExportForeign(form ForeignForm) ([]byte, error) {
	format, release, err := form.given()
	if err != nil {
		return nil, err
	}
	defer release()
	return f.written(func(handle *C.bfs_filter, buffer *C.uint8_t, room C.uint64_t, bytes *C.uint64_t,
		words *C.bfs_error) C.int32_t {
		return C.bridge_foreign_export(handle, &format, buffer, room, bytes, words)
	})
}

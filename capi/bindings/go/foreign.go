// Filters of other programs: facts in their bytes, asking them in place, importing them, and exporting a filter.

package bfstore

/*
#include "bridge.h"
*/
import "C"

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
)

// ForeignFormats returns the names of all formats of other programs' filters that the library knows. bfstore_interop.h
// describes each.
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

// RecognizeOptions say how RecognizeForeign opens the file.
type RecognizeOptions struct {
	AnyFilesystem bool // also a network filesystem or a read-only overlay
	NoFollow      bool // ESYMLINK if the last part of the path is a symbolic link
}

// RecognizeForeign returns the names of the foreign formats that all bytes of the file have: none, or several if the
// bytes do not tell which. A format that needs m and k from its caller is never among them.
func RecognizeForeign(path string, options ...RecognizeOptions) ([]string, error) {
	chosen, err := only(options)
	if err != nil {
		return nil, err
	}
	where, err := pathOf(path)
	if err != nil {
		return nil, err
	}
	defer free(where)
	flags := bit(chosen.AnyFilesystem, C.BFS_ANY_FILESYSTEM) | bit(chosen.NoFollow, C.BFS_NOFOLLOW)
	var names []string
	for {
		var name *C.char
		words := wordsFor()
		if code := C.bfs_foreign_recognize(where, flags, C.uint32_t(len(names)), &name, words); code != C.BFS_OK {
			return nil, failure(code, words)
		}
		if name == nil {
			return names, nil
		}
		names = append(names, C.GoString(name))
	}
}

// ForeignForm names the format of the bytes of another program's filter.
type ForeignForm struct {
	Format string // one of ForeignFormats
	Order  Order  // the bit of a byte that comes first, where the format needs it (NeedsOrder)
	Name   string // the name of the bytes in errors, a path for instance
	Column string // the column, where the format needs it (NeedsColumn)
	Member int    // the number, from 1, of the only one of several filters that is meant; 0: all of them
}

// given returns the ForeignForm in C's form. Its pointers are to C's memory, which the caller frees with release.
func (f *ForeignForm) given() (made C.bfs_foreign_form, release func(), err error) {
	if strings.IndexByte(f.Format+f.Name+f.Column, 0) >= 0 {
		return made, nil, invalid("the format, the name or the column of a foreign filter has a NUL byte")
	}
	if f.Member < 0 || uint64(f.Member) > math.MaxUint32 {
		return made, nil, invalid(fmt.Sprintf("no file has a filter of the number %d: Member is from 1 on, or 0 for all", f.Member))
	}
	made.struct_bytes, made.order, made.member = C.sizeof_bfs_foreign_form, C.uint32_t(f.Order), C.uint32_t(f.Member)
	made.format, made.name, made.column = C.CString(f.Format), textOf(f.Name), textOf(f.Column)
	return made, func() { free(made.format); free(made.name); free(made.column) }, nil
}

// textOf returns the text in C's memory, which the caller frees; NULL for "".
func textOf(text string) *C.char {
	if text == "" {
		return nil
	}
	return C.CString(text)
}

// ForeignNeeds are the facts that the bytes of another program's filter lack, so that ImportForeign and
// OpenForeign need them.
type ForeignNeeds uint32

// The needs.
const (
	NeedsSize   ForeignNeeds = C.BFS_FOREIGN_NEEDS_SIZE   // NumBits and NumProbes, or another way to give them
	NeedsOrder  ForeignNeeds = C.BFS_FOREIGN_NEEDS_ORDER  // ForeignForm.Order
	NeedsHash   ForeignNeeds = C.BFS_FOREIGN_NEEDS_HASH   // Hash, and its Seed or Seeds
	NeedsColumn ForeignNeeds = C.BFS_FOREIGN_NEEDS_COLUMN // ForeignForm.Column
	NeedsAll    ForeignNeeds = C.BFS_FOREIGN_NEEDS_ALL    // all of the bytes, to inspect them
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
	Bytes     uint64  // the length that all of the bytes must have; 0 also in a format of several filters
	Filters   int     // the number of filters in the bytes; the other fields are those of the first one
}

func foreignOf(from *C.bfs_foreign) Foreign {
	made := Foreign{
		Needs: ForeignNeeds(from.needs), Layout: Layout(from.layout), Hash: Hash(from.hash), NumProbes: int(from.num_probes),
		NumBits: uint64(from.num_bits), Capacity: uint64(from.capacity), FPR: float64(from.fpr), Bytes: uint64(from.bytes),
		Filters: int(from.filters),
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

// OpenForeign asks a file of another program in place: it maps it, shared with every process that has it open, and makes
// no file. The Filter only reads. The form and the options give the facts that the bytes lack, as for ImportForeign: the
// size, Layout, Hash, Seed, Seeds, Secret or Like. Other options: Populate, Random, Guard, Private, AnyFilesystem,
// NoFollow, TutorialSizing. If the file has several filters, a key is in it if one of them has it.
//
// After a change of the file every answer is true, and Health is ELOST. A process that writes through a mapping of its
// own shows that late or never: with Private the Filter asks a copy of its own.
func OpenForeign(path string, form ForeignForm, options Options) (*Filter, error) {
	format, release, err := form.given()
	if err != nil {
		return nil, err
	}
	defer release()
	filter, _, err := create(path, options, func(where *C.char, o making, out **C.bfs_filter, words *C.bfs_error) C.int32_t {
		return C.bridge_foreign_open(where, &format, o.given, o.like, o.note, o.secret, o.seeds, out, words)
	})
	return filter, err
}

// OpenForeignFile is OpenForeign for a file that the program has open. The Filter has its own descriptor, and the caller
// closes file.
func OpenForeignFile(file *os.File, form ForeignForm, options Options) (*Filter, error) {
	format, release, err := form.given()
	if err != nil {
		return nil, err
	}
	defer release()
	descriptor, err := descriptorOf(file)
	if err != nil {
		return nil, err
	}
	defer runtime.KeepAlive(file)
	filter, _, err := made(file.Name(), options, func(o making, out **C.bfs_filter, words *C.bfs_error) C.int32_t {
		o.given.has_fd, o.given.fd = 1, descriptor
		return C.bridge_foreign_open(nil, &format, o.given, o.like, o.note, o.secret, o.seeds, out, words)
	})
	return filter, err
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

// Options of calls: structs whose zero means "not given".

package bfstore

/*
#include "bridge.h"
#include <stdlib.h>
*/
import "C"

import (
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"
	"time"
	"unsafe"
)

// The time that a call waits for a lock of another process. Zero is 5 seconds.
const (
	NoWait  time.Duration = -1            // EBUSY at once
	Forever time.Duration = math.MaxInt64 // as long as it takes
)

// EachAdd is for WritebackCheck: each add that changes a bit checks whether the kernel failed to write pages.
const EachAdd time.Duration = -1

// Options describe a new filter. One of these pairs gives the size: Capacity and FPR, Capacity and BitsPerKey, Capacity
// and MaxBytes, NumBits and NumProbes, or Like. With only Capacity, FPR is 0.01. An option that a call does not take is
// EINVAL if it is given.
type Options struct {
	Capacity       uint64   // n: distinct keys
	CapacityAtMost uint64   // instead, if nobody knows: a number that is surely enough. Copy with FPR folds it later
	FPR            float64  // p: false-positive rate wanted at Capacity keys; 0 means 0.01
	BitsPerKey     float64  // m / n
	MaxBytes       uint64   // the size of the whole file or buffer
	NumBits        uint64   // m
	NumProbes      int      // k: 1 to 64
	Like           string   // the path of a filter file whose shape, hash and seed are copied
	Layout         Layout   // 0: Blocked, or with Window the layout Window
	Hash           Hash     // 0: XXH3
	Seed           *uint64  // see SeedOf; nil: random
	Seeds          []uint32 // for the Murmur3 hashes and JavaPolynomial
	Secret         []byte   // 16 bytes, for SipHash; copied, never stored
	Note           []byte   // the owner's note, at most 1024 bytes
	FileID         [16]byte // instead of a random one, if not zero
	Part           uint32   // with NumParts: only the keys of this part, from 0, of the filter that the options describe
	NumParts       uint32   // 0: the whole filter

	// Keys expire: each is kept for this time after its last add, at least. A fraction of a millisecond counts as a whole
	// one. Capacity is the number of keys of one window. Filter.Turn ends its epochs. 0: keys stay.
	Window time.Duration

	Mode           fs.FileMode   // permission bits, less the umask; 0: those of the file it replaces, or 0600
	LockTimeout    time.Duration // for each lock, as long as the filter is open; 0 is 5 seconds. An exclusive writer is EBUSY at once
	WritebackCheck time.Duration // time between a writer's checks for failed writes; 0 is 100 ms
	Threads        int           // of one AddKeys, for columns, if this filter is the only writer: 1 to 64

	Exclusive      bool // the only writer, as long as it is open; several times as fast
	Populate       bool // read the whole file into memory now
	Random         bool // small pages, no read-ahead: larger than memory, or synced often
	Guard          bool // a page that cannot be read is doubt, not SIGBUS
	AnyFilesystem  bool // also a network filesystem or a read-only overlay, which may show an older file
	Limit          bool // EFULL at the capacity, asked at every 64th key
	Replace        bool // replace an existing file, whose users learn of it
	Unpublished    bool // no name in the file system until Publish
	Private        bool // OpenForeign: a copy in memory of this process, which no change of the file reaches
	NoFollow       bool // OpenForeign and OpenOrCreate: ESYMLINK if the last part of the path is a symbolic link
	Filling        bool // every lookup answers maybe until FinishFilling
	TutorialSizing bool // m and k as in most tutorials
	Strict         bool // OpenOrCreate: a file whose writer was killed is unclean
	Bare           bool // Format and RequiredBytes: only a body and 8 bytes
}

// SeedOf returns a seed for Options: Options{Seed: bfstore.SeedOf(7)}.
func SeedOf(seed uint64) *uint64 { return &seed }

// OpenOptions say how to open a file or a buffer. The zero value reads.
type OpenOptions struct {
	Write     bool // look up and add, concurrently with any number of other writers
	Exclusive bool // look up and add as the only writer, several times as fast: implies Write

	Secret         []byte        // for a filter with SipHash: the secret that it was made with, or the error is ESECRET
	LockTimeout    time.Duration // for each lock, as long as the filter is open; 0 is 5 seconds. An exclusive writer is EBUSY at once
	WritebackCheck time.Duration // for writing: time between checks for failed writes; 0 is 100 ms
	Threads        int           // Exclusive: the threads of one AddKeys, for columns: 1 to 64

	Populate       bool // read the whole file into memory now
	Random         bool // small pages, no read-ahead
	Private        bool // into memory of this process: later changes of the file do not reach the filter
	Guard          bool // a page that cannot be read (a file that is truncated, an I/O error) is doubt, not SIGBUS
	Recover        bool // an unclean, poisoned or recovering file, to recover it
	AcceptLoss     bool // such a file as it is: it may lack keys after the marks
	Strict         bool // a file whose writer was killed is unclean, too
	AnyFilesystem  bool // also a network filesystem or a read-only overlay, which may show an older file
	Limit          bool // EFULL at the capacity, asked at every 64th key
	NoFollow       bool // ESYMLINK if the last part of the path is a symbolic link
	NoWrite        bool // write nothing at all, for audits and sandboxes
	Follow         bool // follow the path to a file that replaces this one: see below
	Verify         bool // compare a sealed file with its checksums first
	TolerateDamage bool // also compare, and answer maybe for the damaged places
	Bare           bool // Wrap and Load: the bare form

	// Follow: the filter continues with a file that replaces its own, if that has the same hash and seed: make it with
	// Options.Like. Otherwise every answer stays true, and Health is ESUPERSEDED.

	// The bytes of an embedded filter in a file of any form. Offset is a multiple of 64; Bytes may be more than the
	// filter has, and 0 is up to the end of the file.
	Range *Range
}

// CopyOptions say how Copy, Intersect and Join make their file.
type CopyOptions struct {
	Mode          fs.FileMode   // permission bits, less the umask; 0: those of the file it replaces, or 0600
	LockTimeout   time.Duration // for each lock; 0 is 5 seconds
	FPR           float64       // Copy: fold the copy as small as possible while its rate is at most this
	Replace       bool          // replace an existing file, whose users learn of it
	AnyFilesystem bool          // also a network filesystem or a read-only overlay
	Filling       bool          // the new file answers maybe until FinishFilling
	Sealed        bool          // Copy: with a checksum for every 64 KiB, and never written to again
	SameFileID    bool          // Copy: the file_id of the source, for a copy that takes no more keys
}

// bit returns the flag if it is given.
func bit(given bool, flag C.uint64_t) C.uint64_t {
	if given {
		return flag
	}
	return 0
}

func (o *Options) flags() C.uint64_t {
	return bit(o.Exclusive, C.BFS_EXCLUSIVE) | bit(o.Populate, C.BFS_POPULATE) | bit(o.Random, C.BFS_RANDOM) |
		bit(o.Guard, C.BFS_GUARD) | bit(o.AnyFilesystem, C.BFS_ANY_FILESYSTEM) | bit(o.Limit, C.BFS_LIMIT) |
		bit(o.Replace, C.BFS_REPLACE) | bit(o.Unpublished, C.BFS_UNPUBLISHED) |
		bit(o.Private, C.BFS_PRIVATE) | bit(o.NoFollow, C.BFS_NOFOLLOW) | bit(o.Filling, C.BFS_FILLING) |
		bit(o.TutorialSizing, C.BFS_TUTORIAL_SIZING) | bit(o.Strict, C.BFS_STRICT) | bit(o.Bare, C.BFS_BARE)
}

func (o *OpenOptions) flags() C.uint64_t {
	mode := C.uint64_t(C.BFS_READ)
	if o.Exclusive {
		mode = C.BFS_EXCLUSIVE
	} else if o.Write {
		mode = C.BFS_WRITE
	}
	return mode | bit(o.Populate, C.BFS_POPULATE) | bit(o.Random, C.BFS_RANDOM) | bit(o.Private, C.BFS_PRIVATE) |
		bit(o.Guard, C.BFS_GUARD) | bit(o.Recover, C.BFS_RECOVER) | bit(o.AcceptLoss, C.BFS_ACCEPT_LOSS) |
		bit(o.Strict, C.BFS_STRICT) | bit(o.AnyFilesystem, C.BFS_ANY_FILESYSTEM) | bit(o.Limit, C.BFS_LIMIT) |
		bit(o.NoFollow, C.BFS_NOFOLLOW) | bit(o.NoWrite, C.BFS_NO_WRITE) | bit(o.Follow, C.BFS_FOLLOW) |
		bit(o.Verify, C.BFS_VERIFY) | bit(o.TolerateDamage, C.BFS_TOLERATE_DAMAGE) | bit(o.Bare, C.BFS_BARE)
}

// milliseconds converts a time for the library. Zero stays zero, the library's default; less than a millisecond becomes
// one.
func milliseconds(option string, time_ time.Duration, immediately C.uint32_t) (C.uint32_t, error) {
	const longest = C.BFS_LOCK_NO_WAIT - 1
	switch {
	case time_ == NoWait:
		return immediately, nil
	case time_ == Forever:
		return C.BFS_LOCK_FOREVER, nil
	case time_ < 0:
		return 0, invalid(option + " is negative: " + time_.String())
	case time_ > longest*time.Millisecond:
		return 0, invalid(option + " is longer than 49 days: " + time_.String())
	}
	return C.uint32_t((time_ + time.Millisecond - 1) / time.Millisecond), nil
}

// windowOf converts the time for which keys are kept. It never becomes shorter. Window: 24 is a mistake of the unit.
func windowOf(window time.Duration) (C.uint64_t, error) {
	if window < 0 {
		return 0, invalid("Window is negative: " + window.String())
	}
	if window != 0 && window < time.Millisecond {
		return 0, invalid("Window is a millisecond or more, such as 24 * time.Hour, and not " + window.String())
	}
	whole := window / time.Millisecond
	if window%time.Millisecond != 0 {
		whole++
	}
	return C.uint64_t(whole), nil
}

func permissions(mode fs.FileMode) (C.uint32_t, error) {
	if mode&^fs.ModePerm != 0 {
		return 0, invalid("Mode has more than permission bits: " + mode.String())
	}
	return C.uint32_t(mode), nil
}

// threadsOf converts a number of threads. The library checks that it is not too high.
func threadsOf(threads int) (C.uint32_t, error) {
	if threads < 0 || threads > math.MaxInt32 {
		return 0, invalid("Threads is 1 to 64, and not " + strconv.Itoa(threads))
	}
	return C.uint32_t(threads), nil
}

// making is Options in C's form. Its pointers are arguments of their own: see bridge.h. The caller frees `like`.
type making struct {
	given  C.bridge_given
	like   *C.char
	note   *C.uint8_t
	secret *C.uint8_t
	seeds  *C.uint32_t
}

func (o *Options) making() (made making, err error) {
	if made.given, err = o.given(); err != nil {
		return made, err
	}
	if o.Like != "" {
		if made.like, err = pathOf(o.Like); err != nil {
			return made, err
		}
	}
	made.note, made.secret, made.seeds = bytesOf(o.Note), bytesOf(o.Secret), seedsOf(o.Seeds)
	return made, nil
}

func (o *Options) given() (made C.bridge_given, err error) {
	if o.NumProbes < 0 || o.NumProbes > math.MaxInt32 {
		return made, invalid("NumProbes is 1 to 64, and not " + strconv.Itoa(o.NumProbes))
	}
	options := &made.options
	if options.mode, err = permissions(o.Mode); err != nil {
		return made, err
	}
	if options.lock_timeout_ms, err = milliseconds("LockTimeout", o.LockTimeout, C.BFS_LOCK_NO_WAIT); err != nil {
		return made, err
	}
	if options.writeback_check_ms, err = milliseconds("WritebackCheck", o.WritebackCheck, C.BFS_WRITEBACK_CHECK_EACH_ADD); err != nil {
		return made, err
	}
	if options.threads, err = threadsOf(o.Threads); err != nil {
		return made, err
	}
	if options.window_ms, err = windowOf(o.Window); err != nil {
		return made, err
	}
	made.flags = o.flags()
	options.capacity, options.fpr, options.bits_per_key = C.uint64_t(o.Capacity), C.double(o.FPR), C.double(o.BitsPerKey)
	options.capacity_at_most = C.uint64_t(o.CapacityAtMost)
	options.max_bytes, options.num_bits = C.uint64_t(o.MaxBytes), C.uint64_t(o.NumBits)
	options.num_probes = C.uint32_t(o.NumProbes)
	options.layout, options.hash = C.uint32_t(o.Layout), C.uint32_t(o.Hash)
	options.part, options.num_parts = C.uint32_t(o.Part), C.uint32_t(o.NumParts)
	options.note_bytes, options.secret_bytes = C.uint64_t(len(o.Note)), C.uint64_t(len(o.Secret))
	options.num_seeds = C.uint64_t(len(o.Seeds))
	if o.Seed != nil {
		made.has_seed, made.seed = 1, C.uint64_t(*o.Seed)
	}
	if o.FileID != [16]byte{} {
		made.has_file_id = 1
		for i, one := range o.FileID {
			made.file_id[i] = C.uint8_t(one)
		}
	}
	return made, nil
}

func (o *OpenOptions) given() (made C.bridge_given, err error) {
	options := &made.options
	if options.lock_timeout_ms, err = milliseconds("LockTimeout", o.LockTimeout, C.BFS_LOCK_NO_WAIT); err != nil {
		return made, err
	}
	if options.writeback_check_ms, err = milliseconds("WritebackCheck", o.WritebackCheck, C.BFS_WRITEBACK_CHECK_EACH_ADD); err != nil {
		return made, err
	}
	if options.threads, err = threadsOf(o.Threads); err != nil {
		return made, err
	}
	made.flags, options.secret_bytes = o.flags(), C.uint64_t(len(o.Secret))
	if o.Range != nil {
		made.has_range = 1
		made._range = C.bfs_range{offset: C.uint64_t(o.Range.Offset), bytes: C.uint64_t(o.Range.Bytes)}
	}
	return made, nil
}

func (o *CopyOptions) given() (made C.bfs_options, flags C.uint64_t, err error) {
	made.struct_bytes = C.sizeof_bfs_options
	if made.mode, err = permissions(o.Mode); err != nil {
		return made, 0, err
	}
	if made.lock_timeout_ms, err = milliseconds("LockTimeout", o.LockTimeout, C.BFS_LOCK_NO_WAIT); err != nil {
		return made, 0, err
	}
	made.fpr = C.double(o.FPR)
	flags = bit(o.Replace, C.BFS_REPLACE) | bit(o.AnyFilesystem, C.BFS_ANY_FILESYSTEM) | bit(o.Filling, C.BFS_FILLING) |
		bit(o.Sealed, C.BFS_SEALED) | bit(o.SameFileID, C.BFS_SAME_FILE_ID)
	return made, flags, nil
}

// pathOf returns a path in C's memory, which the caller frees.
func pathOf(path string) (*C.char, error) {
	if strings.IndexByte(path, 0) >= 0 {
		return nil, invalid("a path has a NUL byte: " + path)
	}
	return C.CString(path), nil
}

func free(text *C.char) { C.free(unsafe.Pointer(text)) }

// bytesOf returns the address of the first byte; NULL for none. Because of its type cgo does not check at each call for
// pointers in the object around the bytes.
func bytesOf(data []byte) *C.uint8_t {
	if len(data) == 0 {
		return nil
	}
	return (*C.uint8_t)(unsafe.Pointer(&data[0]))
}

func seedsOf(seeds []uint32) *C.uint32_t {
	if len(seeds) == 0 {
		return nil
	}
	return (*C.uint32_t)(unsafe.Pointer(&seeds[0]))
}

func descriptorOf(file *os.File) (C.int32_t, error) {
	number := file.Fd() // all ones if the file is closed or nil
	if number > math.MaxInt32 {
		return 0, invalid("the file is closed")
	}
	return C.int32_t(number), nil
}

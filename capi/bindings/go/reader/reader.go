//go:build linux

// An open filter: its lookups in the mapped file.

package reader

import (
	"errors"
	"io"
	"io/fs"
	"math"
	"math/bits"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"syscall"
	"unsafe"

	"github.com/zeebo/xxh3"
)

// Options say how to open a file.
type Options struct {
	Verify bool // compare a sealed file with its checksums first: BFS_EDAMAGED, BFS_ENOTSEALED
}

// Filter is an open filter file. Any number of goroutines may use one. A nil *Filter, as Open returns with an error, answers
// true, with an error in each call that has one.
type Filter struct {
	path   string // as given, for messages
	from   string // the absolute path, independent of the working directory
	facts  syscall.Stat_t
	is     identity
	mapped []byte
	body   []uint64
	live   *uint64
	end    *uint64
	right  uint64 // live xor end while the file is whole and in no doubt
	faulty uint32 // 1 after a fault
	closed uint32 // 1 after Close
}

var _ io.Closer = (*Filter)(nil)

// Open opens a clean filter file.
func Open(path string, options Options) (*Filter, error) {
	file, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() // the mapping stays
	is, err := file.admit()
	if err != nil {
		return nil, err
	}
	if options.Verify {
		if err := file.verify(is); err != nil {
			return nil, err
		}
	}
	if is.endAt+8 > math.MaxInt {
		return nil, system.of(path + ": too long for a map on this machine")
	}
	from, err := filepath.Abs(path)
	if err != nil {
		return nil, failed(path, "asking for the working directory", err)
	}
	mapped, err := syscall.Mmap(int(file.Fd()), 0, int(is.endAt+8), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, failed(path, "mapping", err)
	}
	made := &Filter{path: path, from: from, facts: file.facts, is: *is, mapped: mapped}
	made.body = unsafe.Slice((*uint64)(unsafe.Pointer(&mapped[is.bodyAt])), is.bodyBytes/8)
	made.live = (*uint64)(unsafe.Pointer(&mapped[3*page]))
	made.end = (*uint64)(unsafe.Pointer(&mapped[is.endAt]))
	made.right = is.liveWord() ^ is.endWord()
	runtime.SetFinalizer(made, (*Filter).finish)
	return made, nil
}

// Close unmaps the file. Concurrent lookups answer true if they no longer find it. A second Close is an error:
// errors.Is(err, fs.ErrClosed).
func (f *Filter) Close() error {
	if f == nil {
		return missing()
	}
	if !atomic.CompareAndSwapUint32(&f.closed, 0, 1) {
		return shut.of(f.path)
	}
	if err := f.withdraw(); err != nil {
		return failed(f.path, "unmapping", err)
	}
	return nil
}

// withdraw removes the file from its addresses, and keeps these: no other mapping gets them while a lookup may still
// read there, so the lookup faults instead of reading something else. This costs lookups nothing; a lock would.
func (f *Filter) withdraw() error {
	switch runtime.GOARCH {
	case "amd64", "arm64", "riscv64", "ppc64le", "loong64":
		const flags = syscall.MAP_FIXED | syscall.MAP_PRIVATE | syscall.MAP_ANON | syscall.MAP_NORESERVE
		_, _, errno := syscall.Syscall6(syscall.SYS_MMAP, uintptr(unsafe.Pointer(&f.mapped[0])), uintptr(len(f.mapped)),
			syscall.PROT_NONE, flags, ^uintptr(0), 0)
		if errno != 0 {
			return errno
		}
		return nil
	}
	return syscall.Mprotect(f.mapped, syscall.PROT_NONE) // other mmap calls: the finalizer unmaps the file
}

// finish runs when nothing refers to the filter any more, not even a running lookup.
func (f *Filter) finish() { _ = syscall.Munmap(f.mapped) }

// Contains reports whether the key may be in the filter. False is certain. After an error the answer is true.
func (f *Filter) Contains(key []byte) (bool, error) {
	if f == nil {
		return true, missing()
	}
	return f.ContainsDigest(xxh3.HashSeed(key, f.is.seed))
}

// ContainsString is Contains for the string's bytes.
func (f *Filter) ContainsString(key string) (bool, error) {
	if f == nil {
		return true, missing()
	}
	return f.ContainsDigest(xxh3.HashStringSeed(key, f.is.seed))
}

// ContainsInteger is Contains for the integer's 8 bytes, little-endian.
func (f *Filter) ContainsInteger(number uint64) (bool, error) {
	if f == nil {
		return true, missing()
	}
	key := [8]byte{byte(number), byte(number >> 8), byte(number >> 16), byte(number >> 24), byte(number >> 32), byte(number >> 40),
		byte(number >> 48), byte(number >> 56)}
	return f.ContainsDigest(xxh3.HashSeed(key[:], f.is.seed))
}

// ContainsDigest is Contains for a key's digest in this filter.
func (f *Filter) ContainsDigest(digest uint64) (maybe bool, err error) {
	if f == nil {
		return true, missing()
	}
	if atomic.LoadUint32(&f.closed) != 0 {
		return true, shut.of(f.path)
	}
	maybe = true // the answer after a fault
	defer f.leave(debug.SetPanicOnFault(true))
	maybe = f.ask(digest)
	return maybe, nil
}

// ContainsKeys answers for each key as Contains does, into `answers` if it is long enough, otherwise into a new slice.
func (f *Filter) ContainsKeys(keys [][]byte, answers []bool) ([]bool, error) {
	if cap(answers) < len(keys) {
		answers = make([]bool, len(keys))
	}
	answers = answers[:len(keys)]
	for i := range answers {
		answers[i] = true // the answer after an error or a fault
	}
	if f == nil {
		return answers, missing()
	}
	if atomic.LoadUint32(&f.closed) != 0 {
		return answers, shut.of(f.path)
	}
	f.askAll(keys, answers)
	return answers, nil
}

func (f *Filter) askAll(keys [][]byte, answers []bool) {
	defer f.leave(debug.SetPanicOnFault(true))
	for i, key := range keys {
		answers[i] = f.ask(xxh3.HashSeed(key, f.is.seed))
	}
}

// leave ends a call, and recovers the panic of a fault in the file. It also keeps the filter alive until then.
func (f *Filter) leave(panicked bool) {
	debug.SetPanicOnFault(panicked)
	if what := recover(); what != nil {
		if !f.isOwn(what) {
			panic(what)
		}
		atomic.StoreUint32(&f.faulty, 1)
	}
}

// isOwn reports whether a panic is a fault in the mapping.
func (f *Filter) isOwn(what any) bool {
	faulted, is := what.(interface{ Addr() uintptr })
	if !is {
		return false
	}
	begin := uintptr(unsafe.Pointer(&f.mapped[0]))
	return faulted.Addr() >= begin && faulted.Addr()-begin < uintptr(len(f.mapped))
}

// ask looks up the key's bits, and answers no only if the file is whole and in no doubt both before and after it reads
// them. Before, since a file that was poisoned and recovered while this goroutine stood still looks right after. The
// loads are Go's atomic ones, which stay in this order.
func (f *Filter) ask(digest uint64) bool {
	if !f.sound() || f.hasBits(digest) {
		return true
	}
	return !f.sound()
}

func (f *Filter) sound() bool {
	return word(f.live)^word(f.end) == f.right && atomic.LoadUint32(&f.faulty) == 0
}

// littleEndian is true if this machine has the byte order of the file's words.
var littleEndian = func() bool {
	one := uint16(1)
	return *(*byte)(unsafe.Pointer(&one)) == 1
}()

func word(at *uint64) uint64 {
	value := load(at)
	if !littleEndian {
		value = bits.ReverseBytes64(value)
	}
	return value
}

func (f *Filter) hasBits(digest uint64) bool {
	if f.is.layout == classic {
		return f.hasClassic(digest | 1)
	}
	line, _ := bits.Mul64(digest, f.is.numBits/512)
	words := f.body[8*line : 8*line+8]
	h := uint32(digest)
	for i := uint32(0); i < f.is.numProbes; i++ {
		h *= 0x9e3779b9
		if word(&words[h>>29])>>(h>>23&63)&1 == 0 {
			return false
		}
	}
	return true
}

func (f *Filter) hasClassic(x uint64) bool {
	for i := uint32(0); i < f.is.numProbes; i++ {
		bit, _ := bits.Mul64(x, f.is.numBits)
		if word(&f.body[bit>>6])>>(bit&63)&1 == 0 {
			return false
		}
		x *= 0xf1357aea2e62a9c5
	}
	return true
}

// Digest returns the key's digest in this filter; 0 of a nil filter, which has none.
func (f *Filter) Digest(key []byte) uint64 {
	if f == nil {
		return 0
	}
	return xxh3.HashSeed(key, f.is.seed)
}

// Note returns the owner's note that the filter was made with.
func (f *Filter) Note() []byte {
	if f == nil {
		return nil
	}
	return append([]byte(nil), f.is.note...)
}

// Facts are the numbers of the filter in the file.
type Facts struct {
	Layout    string // "blocked" or "classic"
	NumProbes int    // k
	NumBits   uint64 // m
	Capacity  uint64 // n: keys sized for
	FPR       float64
	Seed      uint64
	FileID    [16]byte
	Sealed    bool
}

// Facts returns them.
func (f *Filter) Facts() Facts {
	if f == nil {
		return Facts{}
	}
	layout := "blocked"
	if f.is.layout == classic {
		layout = "classic"
	}
	return Facts{layout, int(f.is.numProbes), f.is.numBits, f.is.capacity, f.is.fpr, f.is.seed, f.is.fileID, f.is.sealed}
}

// IsCurrent reports whether the path still names this file, the file has its full length, and no answer is in doubt.
// False: open the path again. It asks the file system, so do not call it for every lookup.
func (f *Filter) IsCurrent() (bool, error) {
	if err := f.Health(); err != nil {
		if errors.Is(err, fs.ErrClosed) || f == nil {
			return false, err
		}
		return false, nil
	}
	var now syscall.Stat_t
	err := syscall.Lstat(f.from, &now)
	if err == syscall.ENOENT || err == syscall.ENOTDIR {
		return false, nil
	}
	if err != nil {
		return false, failed(f.path, "asking what has the name", err)
	}
	return now.Dev == f.facts.Dev && now.Ino == f.facts.Ino && uint64(now.Size) >= f.is.endAt+8, nil
}

// Health returns nil, or why every answer is true now. It reads only memory, so a long-running program may call it
// often.
func (f *Filter) Health() (err error) {
	if f == nil {
		return missing()
	}
	if atomic.LoadUint32(&f.closed) != 0 {
		return shut.of(f.path)
	}
	err = fault.of(f.path) // the result after a fault
	defer f.leave(debug.SetPanicOnFault(true))
	err = f.health()
	return err
}

func (f *Filter) health() error {
	if atomic.LoadUint32(&f.faulty) != 0 {
		return fault.of(f.path)
	}
	live, end := word(f.live), word(f.end)
	switch {
	case (live^end)&^states != f.right&^states:
		return lost.of(f.path)
	case live&poisonedBit != 0:
		return poisoned.of(f.path)
	case live&(supersededBit|replacedBit) != 0:
		return superseded.of(f.path)
	case live&recoveringBit != 0:
		return recovering.of(f.path)
	case live&laterBits != 0:
		return laterState.of(f.path)
	case live&fillingBit != 0:
		return filling.of(f.path)
	case live^end != f.right: // the end word has a state's bit
		return lost.of(f.path)
	}
	return nil
}

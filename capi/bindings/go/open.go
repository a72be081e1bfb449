// Making, opening, publishing and closing filters.

package bfstore

/*
#include "bridge.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"unsafe"

	"bfstore.example/bfstore/internal/gate"
)

// Filter is an open Bloom filter. Any number of goroutines may use one. The collector abandons a Filter that is not
// closed: nothing is lost, but nothing was synced either.
type Filter struct {
	gate   gate.Gate
	handle *C.bfs_filter
	name   string
	memory []byte // for Wrap and Format: must not be collected before the handle
}

var _ io.Closer = (*Filter)(nil)

func opened(handle *C.bfs_filter, name string, memory []byte) *Filter {
	filter := &Filter{handle: handle, name: name, memory: memory}
	runtime.SetFinalizer(filter, (*Filter).Abandon)
	return filter
}

// Create makes a new, empty filter file, open for writing. The complete, durable file appears under its name, or no
// file does. With Part and NumParts it is one part of a filter, which takes only the keys of that part.
func Create(path string, options Options) (*Filter, error) {
	filter, _, err := create(path, options, func(where *C.char, o making, out **C.bfs_filter, words *C.bfs_error) C.int32_t {
		return C.bridge_create(where, o.given, o.like, o.note, o.secret, o.seeds, out, words)
	})
	return filter, err
}

// OpenOrCreate opens a filter file for writing, and makes it first if it does not exist. It reports whether it made the
// file. Any number of processes may call it at once: one makes the file, and no file is ever replaced. If the file is
// there, its layout, hash, seed, secret, part and window must be those of the options (EMISMATCH, ESECRET); its size may
// be another one. A file that needs a recovery is an error (EUNCLEAN, EPOISONED, ERECOVERING): see OpenOptions.Recover.
func OpenOrCreate(path string, options Options) (filter *Filter, created bool, err error) {
	return create(path, options, func(where *C.char, o making, out **C.bfs_filter, words *C.bfs_error) C.int32_t {
		o.given.flags |= C.BFS_CREATE | bit(!options.Exclusive, C.BFS_WRITE)
		return C.bridge_open(where, o.given, o.like, o.note, o.secret, o.seeds, out, words)
	})
}

// Build makes a filter file of these keys, which appears when it is complete, and is open for reading. Without a size
// in options, Capacity is the number of keys, or of different keys for the layout Static. It copies the keys of a list
// once; columns it reads in place.
func Build(path string, keys Keys, options Options) (*Filter, error) {
	if keys.wrong != "" {
		return nil, invalid(path + ": " + keys.wrong)
	}
	part := keys.whole().view()
	filter, _, err := create(path, options, func(where *C.char, o making, out **C.bfs_filter, words *C.bfs_error) C.int32_t {
		return C.bridge_build(where, o.given, o.like, o.note, o.secret, o.seeds, part.given, part.data, part.offsets,
			part.validity, out, words)
	})
	if wrong := keys.misfit(); errors.Is(err, EINVAL) && wrong != "" {
		return nil, invalid(path + ": " + wrong)
	}
	return filter, err
}

// create runs a call with a path and options that makes or opens a filter. The call may return 1.
func create(path string, options Options, call func(*C.char, making, **C.bfs_filter, *C.bfs_error) C.int32_t) (*Filter, bool, error) {
	where, err := pathOf(path)
	if err != nil {
		return nil, false, err
	}
	defer free(where)
	return made(path, options, func(o making, out **C.bfs_filter, words *C.bfs_error) C.int32_t {
		return call(where, o, out, words)
	})
}

// made runs a call with options that makes a filter. The call may return 1.
func made(name string, options Options, call func(making, **C.bfs_filter, *C.bfs_error) C.int32_t) (*Filter, bool, error) {
	given, err := options.making()
	if err != nil {
		return nil, false, err
	}
	defer free(given.like)
	var handle *C.bfs_filter
	words := wordsFor()
	code := call(given, &handle, words)
	if code < 0 {
		return nil, false, failure(code, words)
	}
	return opened(handle, name, nil), code == 1, nil
}

// Open opens a filter file; without options for reading.
//
// For reading it also opens a text file that lists the parts of one filter, as one filter that answers for every key.
// That file begins with the line "bfstore-set 1"; then each line is the path of a part, relative to the file's folder. A
// key of a part that is not listed, or that is in doubt, is maybe.
func Open(path string, options ...OpenOptions) (*Filter, error) {
	chosen, err := only(options)
	if err != nil {
		return nil, err
	}
	given, err := chosen.given()
	if err != nil {
		return nil, err
	}
	return open(path, given, chosen.Secret)
}

func open(path string, given C.bridge_given, secret []byte) (*Filter, error) {
	where, err := pathOf(path)
	if err != nil {
		return nil, err
	}
	defer free(where)
	var handle *C.bfs_filter
	words := wordsFor()
	if code := C.bridge_open(where, given, nil, nil, bytesOf(secret), nil, &handle, words); code != C.BFS_OK {
		return nil, failure(code, words)
	}
	return opened(handle, path, nil), nil
}

// OpenFile opens for reading the filter file that the program has open. The Filter has its own descriptor, and the
// caller closes file. It writes nothing, as with OpenOptions.NoWrite.
func OpenFile(file *os.File, options ...OpenOptions) (*Filter, error) {
	chosen, err := only(options)
	if err != nil {
		return nil, err
	}
	given, err := chosen.given()
	if err != nil {
		return nil, err
	}
	given.has_fd = 1
	if given.fd, err = descriptorOf(file); err != nil {
		return nil, err
	}
	defer runtime.KeepAlive(file)
	return open(file.Name(), given, chosen.Secret)
}

func only[T any](options []T) (chosen T, err error) {
	switch len(options) {
	case 0:
		return chosen, nil
	case 1:
		return options[0], nil
	}
	return chosen, invalid("more than one set of options")
}

// RequiredBytes returns the length of the buffer that Format needs for these options.
func RequiredBytes(options Options) (uint64, error) {
	bytes, _, err := format(nil, options)
	return bytes, err
}

// Format makes a new, empty filter in a buffer, which begins at a multiple of 64 bytes. The library keeps the buffer's
// address, so the buffer must be outside of Go's heap, such as from syscall.Mmap, until the Filter is closed.
func Format(buffer []byte, options Options) (*Filter, error) {
	if len(buffer) == 0 {
		return nil, invalid("the buffer is empty: RequiredBytes returns its length")
	}
	_, handle, err := format(buffer, options)
	if err != nil {
		return nil, err
	}
	return opened(handle, "buffer", buffer), nil
}

func format(buffer []byte, options Options) (uint64, *C.bfs_filter, error) {
	made, err := options.making()
	if err != nil {
		return 0, nil, err
	}
	defer free(made.like)
	var handle *C.bfs_filter
	words := wordsFor()
	bytes := C.bridge_format(bytesOf(buffer), C.uint64_t(len(buffer)), made.given, made.like, made.note, made.secret,
		made.seeds, &handle, words)
	if bytes < 0 {
		return 0, nil, failure(C.int32_t(bytes), words)
	}
	return uint64(bytes), handle, nil
}

// Wrap opens a filter in a buffer, in place. The buffer is as for Format. It takes the options Write, Bare and Secret.
func Wrap(buffer []byte, options ...OpenOptions) (*Filter, error) {
	return inMemory("buffer", buffer, buffer, 0, options)
}

// Load opens the filter in bytes from anywhere, which it copies: an embedded or a bare one, or a whole file that is
// clean. It takes the options Write, Bare and Secret.
func Load(data []byte, options ...OpenOptions) (*Filter, error) {
	return inMemory("bytes", data, nil, C.BFS_PRIVATE, options)
}

// inMemory opens a filter that is not in a file. It keeps `memory`.
func inMemory(name string, data, memory []byte, more C.uint64_t, options []OpenOptions) (*Filter, error) {
	if len(data) == 0 { // C has no address of no bytes
		return nil, refusal(EMALFORMED, name+": this is no bfstore filter: the bytes are empty")
	}
	chosen, err := only(options)
	if err != nil {
		return nil, err
	}
	given, err := chosen.given()
	if err != nil {
		return nil, err
	}
	given.flags |= more
	var handle *C.bfs_filter
	words := wordsFor()
	code := C.bridge_open_memory(bytesOf(data), C.uint64_t(len(data)), given, bytesOf(chosen.Secret), &handle, words)
	if code != C.BFS_OK {
		return nil, failure(code, words)
	}
	return opened(handle, name, memory), nil
}

// Close waits for running calls, and ends the filter. The last writer of a file syncs it and marks it clean; if that
// fails, Close returns the reason, and so does the next Open. A second Close is an error: errors.Is(err, fs.ErrClosed).
func (f *Filter) Close() error {
	if f == nil || f.isZero() || !f.gate.Close() {
		return f.closed()
	}
	runtime.SetFinalizer(f, nil)
	words := wordsFor()
	code := C.bfs_close(f.take(), words)
	if code != C.BFS_OK {
		return failure(code, words)
	}
	return nil
}

// Abandon ends the filter as if the process had been killed: it waits for no lock and no disk. No key that was added is
// lost, and nothing is synced. An unpublished file vanishes.
func (f *Filter) Abandon() {
	if f != nil && f.gate.Close() {
		runtime.SetFinalizer(f, nil)
		C.bfs_abandon(f.take())
	}
}

// take returns the handle, after the gate gave it to one goroutine alone.
func (f *Filter) take() *C.bfs_filter {
	handle := f.handle
	f.handle, f.memory = nil, nil
	return handle
}

// Shut ends the work of the filter and keeps its memory: from now on lookups answer maybe, and other calls get ESHUT. A
// writer syncs and releases its locks. Shut does not wait for running lookups; Close does, and frees the memory.
func (f *Filter) Shut() error {
	return f.call(func(handle *C.bfs_filter, words *C.bfs_error) C.int32_t { return C.bfs_shut(handle, words) })
}

// Publish gives a filter that was created Unpublished its name, as the complete, durable, clean file. From then on it
// only reads. Publish waits for running calls.
func (f *Filter) Publish() error {
	words, code := wordsFor(), C.int32_t(0)
	if f == nil || f.isZero() || !f.gate.Alone(func() { code = C.bfs_publish(f.handle, words) }) {
		return f.closed()
	}
	if code != C.BFS_OK {
		return failure(code, words)
	}
	return nil
}

// Supersede is for a filter that was created Unpublished with Replace: the file that has the name now takes no more
// keys. So add the end of its writers' logs here, then call Publish.
func (f *Filter) Supersede() error {
	return f.call(func(handle *C.bfs_filter, words *C.bfs_error) C.int32_t { return C.bfs_supersede(handle, words) })
}

// Name returns the path that the filter was opened with.
func (f *Filter) Name() string {
	if f == nil {
		return ""
	}
	return f.name
}

// String returns a description for messages.
func (f *Filter) String() string {
	if f == nil {
		return "bfstore.Filter(nil)"
	}
	if f.gate.Closed() {
		return fmt.Sprintf("bfstore.Filter(%q, closed)", f.name)
	}
	return fmt.Sprintf("bfstore.Filter(%q)", f.name)
}

// closed returns the error of a filter that has no lane.
func (f *Filter) closed() error {
	if f == nil {
		return invalid("a filter is nil: the call that should have made it returned an error")
	}
	if f.isZero() {
		return invalid("a Filter was not opened: Open, OpenOrCreate, Create and others return a *Filter, and a variable of type Filter is none")
	}
	return refusal(ESHUT, f.name+": the filter was closed; open the path again")
}

// isZero reports a Filter that no function of this package has made. Its name says so, which no call changes.
func (f *Filter) isZero() bool { return f.name == "" }

// lane begins a call; nil: the filter is closed, or nil itself. A program may ask a filter whose Open failed: as after
// every failure the answer is true.
func (f *Filter) lane() *gate.Lane {
	if f == nil {
		return nil
	}
	return f.gate.Enter()
}

// enter begins a call. Its lane is in the filter, so the filter is alive until Leave.
func (f *Filter) enter() (*gate.Lane, error) {
	if f != nil && f.isZero() {
		return nil, f.closed()
	}
	lane := f.lane()
	if lane == nil {
		return nil, f.closed()
	}
	return lane, nil
}

// enterAll begins a call of several filters, or of one several times. It waits for none while it holds another: a
// Publish waits for the held ones, so both would wait forever.
func enterAll(filters ...*Filter) (leave func(), err error) {
	for _, filter := range filters {
		if filter == nil || filter.isZero() {
			return nil, filter.closed()
		}
	}
	for {
		lanes := make([]*gate.Lane, 0, len(filters))
		leave = func() {
			for _, lane := range lanes {
				lane.Leave()
			}
			runtime.KeepAlive(filters)
		}
		for _, filter := range filters {
			if lane := filter.gate.TryEnter(); lane != nil {
				lanes = append(lanes, lane)
			}
		}
		if len(lanes) == len(filters) {
			return leave, nil
		}
		leave()
		for _, filter := range filters { // waits for the end of a Publish
			lane, err := filter.enter()
			if err != nil {
				return nil, err
			}
			lane.Leave()
		}
	}
}

// call runs a call that returns BFS_OK or fails with words.
func (f *Filter) call(work func(*C.bfs_filter, *C.bfs_error) C.int32_t) error {
	_, err := f.ask(func(handle *C.bfs_filter, words *C.bfs_error) C.int64_t {
		return C.int64_t(work(handle, words))
	})
	return err
}

// ask runs a call that returns a number or fails with words.
func (f *Filter) ask(work func(*C.bfs_filter, *C.bfs_error) C.int64_t) (int64, error) {
	lane, err := f.enter()
	if err != nil {
		return 0, err
	}
	defer lane.Leave()
	words := wordsFor()
	result := work(f.handle, words)
	if result < 0 {
		return 0, failure(C.int32_t(result), words)
	}
	return int64(result), nil
}

// failed returns the error of a call without words.
func (f *Filter) failed(code C.int64_t) error {
	if f.isZero() {
		return f.closed()
	}
	made := &Error{Code: Code(code)}
	made.Message = f.name + ": " + inGo(made.Code.Error())
	return made
}

// text returns the bytes of a key in the form that cgo passes without a check, and without a copy. C does not change
// them.
func text(key []byte) string { return *(*string)(unsafe.Pointer(&key)) }

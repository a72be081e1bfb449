// Errors: a code of the library is an error of Go, which errors.Is and errors.As understand.

package bfstore

/*
#include "bridge.h"
*/
import "C"

import (
	"io/fs"
	"syscall"
)

// Code says what went wrong. It is an error itself, so that errors.Is(err, bfstore.EUNCLEAN) asks for one.
// A program that gets a code which it does not know treats it as its class: IsCall, IsState, IsMalformed.
type Code int32

// The codes: bfstore.h tells what each means, and Code.Error too.
const (
	EINVAL       Code = C.BFS_EINVAL       // an argument is out of range, or contradicts another
	ENOMEM       Code = C.BFS_ENOMEM       // out of memory
	ESYSTEM      Code = C.BFS_ESYSTEM      // a system call failed: bfs_error has its errno
	EBUSY        Code = C.BFS_EBUSY        // another user of the file excludes this for now: try again later
	EEXIST       Code = C.BFS_EEXIST       // the file exists
	ENOENT       Code = C.BFS_ENOENT       // the file does not exist
	EACCES       Code = C.BFS_EACCES       // permission denied
	EREADONLY    Code = C.BFS_EREADONLY    // the handle was opened for reading
	ENOSPC       Code = C.BFS_ENOSPC       // the disk, the quota or the file size limit is full
	EOWNERS      Code = C.BFS_EOWNERS      // all 64 lanes for owners of marks are taken: drop an owner
	EDIGESTONLY  Code = C.BFS_EDIGESTONLY  // the file's hash is "external": it takes digests, not keys
	ESIZING      Code = C.BFS_ESIZING      // no m and k can reach what was asked
	EINTERNAL    Code = C.BFS_EINTERNAL    // a bug in bfstore
	EUNSUPPORTED Code = C.BFS_EUNSUPPORTED // the filter's layout cannot do this
	EFORKED      Code = C.BFS_EFORKED      // the handle was made before a fork, and this is the child
	EFILESYSTEM  Code = C.BFS_EFILESYSTEM  // on a network or overlay filesystem, which may show readers an older file
	EKEY         Code = C.BFS_EKEY         // the secret key is missing, is another one, or the filter has none
	ESHUT        Code = C.BFS_ESHUT        // the handle was shut: it answers "maybe", and adds nothing
	EMISMATCH    Code = C.BFS_EMISMATCH    // two filters differ in what must be equal: the message says in what
	EKEYONLY     Code = C.BFS_EKEYONLY     // the file's hash gives no digests: it takes keys alone
	EPART        Code = C.BFS_EPART        // the key belongs to another part of the whole filter than this one
	EUNCLEAN     Code = C.BFS_EUNCLEAN     // dirty when the machine went down, or copied while in use
	EPOISONED    Code = C.BFS_EPOISONED    // a sync failed: memory and disk may differ
	ELOST        Code = C.BFS_ELOST        // truncated, overwritten or zero-filled while it was mapped
	ERECOVERING  Code = C.BFS_ERECOVERING  // a recovery was begun and has not ended
	ESUPERSEDED  Code = C.BFS_ESUPERSEDED  // another file takes, or took, the place of this one: open the path again
	EFULL        Code = C.BFS_EFULL        // the handle has a hard limit, and the filter is at its capacity
	EFAULT       Code = C.BFS_EFAULT       // a page could not be read, or the file was truncated: every answer is "maybe" now
	ESEALED      Code = C.BFS_ESEALED      // sealed: no process writes to it again
	ENOTSEALED   Code = C.BFS_ENOTSEALED   // not sealed, so that it has no checksums
	EDAMAGED     Code = C.BFS_EDAMAGED     // a sealed file with other bytes than those that were sealed
	EFILLING     Code = C.BFS_EFILLING     // not every key was added yet: every answer is "maybe"; adds are not refused
	ENOTREGULAR  Code = C.BFS_ENOTREGULAR  // not a regular file
	ESYMLINK     Code = C.BFS_ESYMLINK     // a symbolic link, where none is followed
	ETOOSHORT    Code = C.BFS_ETOOSHORT    // shorter than its header
	EMAGIC       Code = C.BFS_EMAGIC       // does not begin with the magic bytes
	EVERSION     Code = C.BFS_EVERSION     // a later major version of the format
	EFORM        Code = C.BFS_EFORM        // an embedded record where a file is wanted, or the other way round
	EHEADERSIZE  Code = C.BFS_EHEADERSIZE  // the header's length is impossible
	ECHECKSUM    Code = C.BFS_ECHECKSUM    // the identity's checksum does not match
	ERESERVED    Code = C.BFS_ERESERVED    // reserved bytes are not zero
	EFEATURE     Code = C.BFS_EFEATURE     // needs a feature that this library does not know
	ELAYOUT      Code = C.BFS_ELAYOUT      // a layout that this library does not know; as an argument it is BFS_EINVAL
	EHASH        Code = C.BFS_EHASH        // a hash that this library does not know; as an argument it is BFS_EINVAL
	EPROBES      Code = C.BFS_EPROBES      // k is not in 1..64
	EBITS        Code = C.BFS_EBITS        // m is impossible
	ECAPACITY    Code = C.BFS_ECAPACITY    // n or p is impossible
	EBODY        Code = C.BFS_EBODY        // the body is not where, or not as long as, it must be
	ERECORD      Code = C.BFS_ERECORD      // a parameter record is malformed, or critical and unknown
	ECANARY      Code = C.BFS_ECANARY      // this library hashes otherwise than the one that made the file
	ESLOTS       Code = C.BFS_ESLOTS       // no state slot is valid
	ELIVEWORD    Code = C.BFS_ELIVEWORD    // the live word or the end word is not the file's own
)

// Error is one sentence for the code.
func (c Code) Error() string { return C.GoString(C.bfs_strerror(C.int32_t(c))) }

// Name is the code's name in bfstore.h: "BFS_EUNCLEAN".
func (c Code) Name() string { return C.GoString(C.bfs_code_name(C.int32_t(c))) }

// IsCall tells an error of the call or the system: change it, or try again.
func (c Code) IsCall() bool { return c < 0 && c > -100 }

// IsState tells that the file is good, and that its state forbids this.
func (c Code) IsState() bool { return c <= -100 && c > -200 }

// IsMalformed tells that what the path names is not a good filter file.
func (c Code) IsMalformed() bool { return c <= -200 && c > -300 }

// Error is every error of this package. errors.Is finds in it the Code, the Errno, and what Go's own packages have for
// them: fs.ErrNotExist, fs.ErrExist, fs.ErrPermission, fs.ErrInvalid (EINVAL), fs.ErrClosed (ESHUT).
type Error struct {
	Code    Code
	Errno   syscall.Errno // of the system call that failed, or the one that says the same as the code; 0: none
	Message string        // what failed, on what, and what to do
}

func (e *Error) Error() string { return e.Message }

// Is is for errors.Is.
func (e *Error) Is(target error) bool {
	switch target {
	case fs.ErrInvalid:
		return e.Code == EINVAL
	case fs.ErrClosed:
		return e.Code == ESHUT
	}
	if code, ok := target.(Code); ok {
		return e.Code == code
	}
	if errno, ok := target.(syscall.Errno); ok {
		return e.Errno != 0 && e.Errno == errno
	}
	return e.Errno != 0 && e.Errno.Is(target)
}

// wordsFor is a bfs_error that the library fills in.
func wordsFor() *C.bfs_error {
	return &C.bfs_error{struct_bytes: C.sizeof_bfs_error}
}

// failure is the error of a call that had `words`.
func failure(code C.int32_t, words *C.bfs_error) error {
	made := &Error{Code: Code(code), Errno: syscall.Errno(words.os_errno), Message: C.GoString(&words.message[0])}
	if made.Message == "" {
		made.Message = made.Code.Error()
	}
	return made
}

// refusal is an error of this package's own.
func refusal(code Code, message string) error { return &Error{Code: code, Message: message} }

func invalid(message string) error { return refusal(EINVAL, message) }

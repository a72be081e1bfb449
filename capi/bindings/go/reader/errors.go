//go:build linux

// Why a file is refused.

package reader

import (
	"errors"
	"io/fs"
	"syscall"
)

// Error is every error of this package. errors.Is finds the system's error in it, if there is one: fs.ErrNotExist.
type Error struct {
	Code    int32  // as in bfstore.h
	Name    string // "BFS_EUNCLEAN"
	Message string
	Err     error // of the system call that failed, or nil
}

func (e *Error) Error() string { return e.Message }

// Unwrap is for errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.Err }

// Is is for errors.Is.
func (e *Error) Is(target error) bool { return target == fs.ErrClosed && e.Code == shut.code }

type kind struct {
	code  int32
	name  string
	words string
}

// The kinds of errors, with the numbers of bfstore.h.
var (
	system        = kind{-3, "BFS_ESYSTEM", "a system call failed"}
	busy          = kind{-4, "BFS_EBUSY", "a writer has the file open, or was killed: this reader opens clean files alone"}
	absent        = kind{-6, "BFS_ENOENT", "the file does not exist"}
	denied        = kind{-7, "BFS_EACCES", "permission denied"}
	filesystem    = kind{-16, "BFS_EFILESYSTEM", "not on a filesystem of which it is known that it shows every process the same file"}
	shut          = kind{-18, "BFS_ESHUT", "the filter was closed"}
	unclean       = kind{-100, "BFS_EUNCLEAN", "not closed before a crash, or copied while in use: recover it, or make it again"}
	poisoned      = kind{-101, "BFS_EPOISONED", "a sync failed: recover the file"}
	lost          = kind{-102, "BFS_ELOST", "truncated or overwritten while it was open: open the path again"}
	recovering    = kind{-103, "BFS_ERECOVERING", "a recovery was begun and has not ended"}
	superseded    = kind{-104, "BFS_ESUPERSEDED", "another file takes, or took, its place: open the path again"}
	fault         = kind{-106, "BFS_EFAULT", "a page could not be read, or the file was truncated: open the path again"}
	notSealed     = kind{-108, "BFS_ENOTSEALED", "not sealed, so that it has no checksums"}
	damaged       = kind{-109, "BFS_EDAMAGED", "a sealed file with other bytes than those that were sealed"}
	filling       = kind{-110, "BFS_EFILLING", "not every key was added yet"}
	notRegular    = kind{-200, "BFS_ENOTREGULAR", "not a regular file"}
	symlink       = kind{-201, "BFS_ESYMLINK", "a symbolic link"}
	tooShort      = kind{-202, "BFS_ETOOSHORT", "too short for a filter file"}
	badMagic      = kind{-203, "BFS_EMAGIC", "not a filter file"}
	badVersion    = kind{-204, "BFS_EVERSION", "another version of the format"}
	badForm       = kind{-205, "BFS_EFORM", "an embedded filter, or none: a file is wanted"}
	badHeader     = kind{-206, "BFS_EHEADERSIZE", "the header's length is impossible"}
	badChecksum   = kind{-207, "BFS_ECHECKSUM", "the header is damaged: its checksum does not match"}
	badReserved   = kind{-208, "BFS_ERESERVED", "reserved bytes are not zero"}
	badFeature    = kind{-209, "BFS_EFEATURE", "needs a feature that this reader does not know"}
	badLayout     = kind{-210, "BFS_ELAYOUT", "a layout that this reader does not read"}
	badHash       = kind{-211, "BFS_EHASH", "a hash that this reader does not have"}
	badProbes     = kind{-212, "BFS_EPROBES", "the number of probes is not in 1..64"}
	badBits       = kind{-213, "BFS_EBITS", "the number of bits is impossible"}
	badCapacity   = kind{-214, "BFS_ECAPACITY", "capacity or rate is impossible"}
	badBody       = kind{-215, "BFS_EBODY", "the bits are not where, or not as many as, they must be"}
	badRecord     = kind{-216, "BFS_ERECORD", "a parameter record is malformed, or critical and unknown"}
	badCanary     = kind{-217, "BFS_ECANARY", "this reader's hash is another one than that of the file's maker"}
	badSlots      = kind{-218, "BFS_ESLOTS", "no state slot is valid"}
	badLiveWord   = kind{-219, "BFS_ELIVEWORD", "the live word or the end word is not the file's own"}
	kindsOfErrors = []kind{system, busy, absent, denied, filesystem, shut, unclean, poisoned, lost, recovering, superseded, fault,
		notSealed, damaged, filling, notRegular, symlink, tooShort, badMagic, badVersion, badForm, badHeader, badChecksum,
		badReserved, badFeature, badLayout, badHash, badProbes, badBits, badCapacity, badBody, badRecord, badCanary, badSlots,
		badLiveWord}
)

// of is the error of this kind, about a path.
func (k kind) of(path string) error {
	return &Error{Code: k.code, Name: k.name, Message: path + ": " + k.words}
}

// failed is the error of a system call.
func failed(path, doing string, err error) error {
	is := system
	switch {
	case errors.Is(err, fs.ErrNotExist):
		is = absent
	case errors.Is(err, fs.ErrPermission):
		is = denied
	case errors.Is(err, syscall.ELOOP):
		is = symlink
	}
	return &Error{Code: is.code, Name: is.name, Message: path + ": " + doing + ": " + err.Error(), Err: err}
}

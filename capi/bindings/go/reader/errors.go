//go:build linux

// The reasons to refuse a file.

package reader

import (
	"errors"
	"io/fs"
	"syscall"
)

// Error is the type of all errors of this package. errors.Is finds the system's error in it, if any: fs.ErrNotExist.
type Error struct {
	Code    int32  // as in bfstore.h
	Name    string // "BFS_EUNCLEAN"
	Message string
	Err     error // from the failed system call, or nil
}

func (e *Error) Error() string { return e.Message }

// Unwrap supports errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.Err }

// Is supports errors.Is.
func (e *Error) Is(target error) bool { return target == fs.ErrClosed && e.Code == shut.code }

type kind struct {
	code  int32
	words string
}

// The kinds of errors.
var (
	system      = kind{cESYSTEM, "a system call failed"}
	busy        = kind{cEBUSY, "a writer has the file open, or was killed: this reader opens clean files alone"}
	absent      = kind{cENOENT, "the file does not exist"}
	denied      = kind{cEACCES, "permission denied"}
	filesystem  = kind{cEFILESYSTEM, "not on a filesystem of which it is known that it shows every process the same file"}
	shut        = kind{cESHUT, "the filter was closed"}
	unclean     = kind{cEUNCLEAN, "not closed before a crash, or copied while in use: recover it, or make it again"}
	poisoned    = kind{cEPOISONED, "a sync failed: recover the file"}
	lost        = kind{cELOST, "truncated or overwritten while it was open: open the path again"}
	recovering  = kind{cERECOVERING, "a recovery was begun and has not ended"}
	superseded  = kind{cESUPERSEDED, "another file takes, or took, its place: open the path again"}
	fault       = kind{cEFAULT, "a page could not be read, or the file was truncated: open the path again"}
	notSealed   = kind{cENOTSEALED, "not sealed, so that it has no checksums"}
	damaged     = kind{cEDAMAGED, "a sealed file with other bytes than those that were sealed"}
	filling     = kind{cEFILLING, "not every key was added yet"}
	notRegular  = kind{cENOTREGULAR, "not a regular file"}
	symlink     = kind{cESYMLINK, "a symbolic link"}
	tooShort    = kind{cETOOSHORT, "too short for a filter file"}
	badMagic    = kind{cEMAGIC, "not a filter file"}
	badVersion  = kind{cEVERSION, "another version of the format"}
	badForm     = kind{cEFORM, "an embedded filter, or none: a file is wanted"}
	badHeader   = kind{cEHEADERSIZE, "the header's length is impossible"}
	badChecksum = kind{cECHECKSUM, "the header is damaged: its checksum does not match"}
	badReserved = kind{cERESERVED, "reserved bytes are not zero"}
	badFeature  = kind{cEFEATURE, "needs a feature that this reader does not know"}
	badLayout   = kind{cELAYOUT, "a layout that this reader does not read"}
	badHash     = kind{cEHASH, "a hash that this reader does not have"}
	badProbes   = kind{cEPROBES, "the number of probes is not in 1..64"}
	badBits     = kind{cEBITS, "the number of bits is impossible"}
	badCapacity = kind{cECAPACITY, "capacity or rate is impossible"}
	badBody     = kind{cEBODY, "the bits are not where, or not as many as, they must be"}
	badRecord   = kind{cERECORD, "a parameter record is malformed, or critical and unknown"}
	badCanary   = kind{cECANARY, "this reader's hash is another one than that of the file's maker"}
	badSlots    = kind{cESLOTS, "no state slot is valid"}
	badLiveWord = kind{cELIVEWORD, "the live word or the end word is not the file's own"}
)

// of returns the error of this kind for a path.
func (k kind) of(path string) error {
	return &Error{Code: k.code, Name: names[k.code], Message: path + ": " + k.words}
}

// failed returns the error of a system call.
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
	return &Error{Code: is.code, Name: names[is.code], Message: path + ": " + doing + ": " + err.Error(), Err: err}
}

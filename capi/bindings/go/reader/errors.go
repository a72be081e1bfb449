//go:build linux

// The reasons to refuse a file.

package reader

import (
	"errors"
	"io/fs"
	"reflect"
	"syscall"
)

// Error is the type of all errors of this package. errors.Is finds the system's error in it, if any: fs.ErrNotExist. In
// a program that also has the package bfstore, errors.Is and errors.As find its codes, as in that package's errors.
// Without cgo a program compares Name.
type Error struct {
	Code    int32  // as in bfstore_codes.h
	Name    string // "BFS_EUNCLEAN"
	Rule    uint32 // of BFS_EMALFORMED, the number of the broken rule in FORMAT.md, "A reader's checklist"; otherwise 0
	Message string // says in words what is wrong
	Err     error  // from the failed system call, or nil
}

func (e *Error) Error() string { return e.Message }

// Unwrap supports errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.Err }

// IsMalformed reports that the file at the path is not a good filter file.
func (e *Error) IsMalformed() bool { return e.Code <= -200 && e.Code > -300 }

// IsState reports that the file is good, but its state forbids this.
func (e *Error) IsState() bool { return e.Code <= -100 && e.Code > -200 }

// named is bfstore.Code, which this package cannot import: it needs cgo.
type named interface {
	error
	Name() string
}

// Is supports errors.Is.
func (e *Error) Is(target error) bool {
	switch target {
	case fs.ErrClosed:
		return e.Code == shut.code
	case fs.ErrInvalid:
		return e.Code == cEINVAL
	}
	code, is := target.(named)
	return is && code.Name() == e.Name
}

// As supports errors.As: a *bfstore.Code gets the code.
func (e *Error) As(target any) bool {
	code := reflect.ValueOf(target).Elem()
	if _, is := code.Interface().(named); !is || code.Kind() != reflect.Int32 {
		return false
	}
	code.SetInt(int64(e.Code))
	return true
}

type kind struct {
	code  int32
	words string
	rule  uint32
}

// malformed is the kind of a file that breaks a rule of the format.
func malformed(rule uint32, words string) kind { return kind{cEMALFORMED, words, rule} }

// The kinds of errors. Of the rules the numbers are those of the library, which the tests compare.
var (
	system = kind{code: cESYSTEM, words: "a system call failed"}
	busy   = kind{code: cEBUSY, words: "a writer has the file open, or was killed: this reader opens clean files alone. Open a copy of it " +
		"(bf copy FROM TO), or use the package bfstore, which shares files with writers"}
	absent      = kind{code: cENOENT, words: "the file does not exist: correct the path, or make the file first (bfstore.Create or bfstore.Build, or bf build)"}
	denied      = kind{code: cEACCES, words: "permission denied"}
	filesystem  = kind{code: cEFILESYSTEM, words: "not on a filesystem of which it is known that it shows every process the same file: copy the file to a local disk"}
	shut        = kind{code: cESHUT, words: "the filter was closed"}
	unclean     = kind{code: cEUNCLEAN, words: "not closed before a crash, or copied while in use: recover it (bf recover), or make it again"}
	poisoned    = kind{code: cEPOISONED, words: "a sync of it did not end (a process was killed in it, or the disk refused a write): recover the file (bf recover)"}
	lost        = kind{code: cELOST, words: "truncated or overwritten while it was open: open the path again"}
	recovering  = kind{code: cERECOVERING, words: "a recovery was begun and has not ended: end it (bf recover)"}
	superseded  = kind{code: cESUPERSEDED, words: "another file takes, or took, its place: open the path again"}
	fault       = kind{code: cEFAULT, words: "a page could not be read, or the file was truncated: open the path again"}
	notSealed   = kind{code: cENOTSEALED, words: "not sealed, so that it has no checksums: make a sealed copy (bf seal)"}
	damaged     = kind{code: cEDAMAGED, words: "a sealed file with other bytes than those that were sealed: get the file again"}
	filling     = kind{code: cEFILLING, words: "not every key was added yet: add the rest, and end the filling (bf finish-filling)"}
	notRegular  = kind{code: cENOTREGULAR, words: "not a regular file: give the path of a filter file"}
	symlink     = kind{code: cESYMLINK, words: "a symbolic link: give the path of the file itself"}
	tooShort    = malformed(2, "too short for a filter file: give the path of one")
	badMagic    = malformed(3, "not a filter file: give the path of one")
	badVersion  = kind{code: cEVERSION, words: "not version 2 of the format: make the file again, or read it with a bfstore of its version"}
	badForm     = malformed(5, "an embedded filter, or none: a file is wanted")
	badHeader   = malformed(6, "the header's length is impossible")
	badChecksum = malformed(7, "the header is damaged: its checksum does not match")
	badReserved = malformed(8, "reserved bytes are not zero")
	badFeature  = kind{code: cEFEATURE, words: "needs a feature that this reader does not know: use the package bfstore"}
	badLayout   = kind{code: cEFEATURE, words: "a layout that this reader does not read: use the package bfstore"}
	badHash     = kind{code: cEFEATURE, words: "a hash that this reader does not have: use the package bfstore"}
	badCritical = kind{code: cEFEATURE, words: "needs a parameter that this reader does not know: use the package bfstore"}
	laterState  = kind{code: cELATER, words: "a later version of bfstore set a state that this reader does not know: use that version"}
	aPart       = kind{code: cEFEATURE, words: "one part of a filter, which this reader does not read: use the package bfstore"}
	badProbes   = malformed(12, "the number of probes is not in 1..64")
	badBits     = malformed(13, "the number of bits is impossible")
	badCapacity = malformed(14, "capacity or rate is impossible")
	badBody     = malformed(15, "the bits are not where, or not as many as, they must be")
	badRecord   = malformed(16, "a parameter record is malformed")
	badCanary   = malformed(17, "this reader's hash is another one than that of the file's maker")
	badSlots    = malformed(18, "no state slot is valid")
	badLiveWord = malformed(19, "the live word or the end word is not the file's own")
)

// of returns the error of this kind for a path.
func (k kind) of(path string) error {
	return &Error{Code: k.code, Name: names[k.code], Rule: k.rule, Message: path + ": " + k.words}
}

// missing returns the error of a call with a nil filter.
func missing() error {
	return &Error{Code: cEINVAL, Name: names[cEINVAL], Message: "a filter is nil: the Open that should have made it returned an error"}
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
	message := path + ": " + doing + ": " + err.Error()
	if is == absent || is == symlink { // whose words name a way out
		message = path + ": " + is.words
	}
	return &Error{Code: is.code, Name: names[is.code], Message: message, Err: err}
}

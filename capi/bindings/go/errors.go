// Errors: a code of the library is an error of Go, which errors.Is and errors.As understand.

package bfstore

/*
#include "bridge.h"
*/
import "C"

import (
	"io/fs"
	"strings"
	"syscall"
)

// Code is an error code of the library. It is itself an error, so errors.Is(err, bfstore.EUNCLEAN) tests for one. A
// program that gets an unknown code treats it as its class: IsCall, IsState, IsMalformed.
type Code int32

// Error returns one sentence for the code.
func (c Code) Error() string { return C.GoString(C.bfs_strerror(C.int32_t(c))) }

// Name returns the code's name in C: "BFS_EUNCLEAN".
func (c Code) Name() string { return C.GoString(C.bfs_code_name(C.int32_t(c))) }

// IsCall reports an error of the call or the system: change the call, or try again.
func (c Code) IsCall() bool { return c < 0 && c > -100 }

// IsState reports that the file is good, but its state forbids this.
func (c Code) IsState() bool { return c <= -100 && c > -200 }

// IsMalformed reports that the file at the path is not a good filter file.
func (c Code) IsMalformed() bool { return c <= -200 && c > -300 }

// Error is the type of all errors of this package. errors.Is finds in it the Code, the Errno, and the errors of Go's
// own packages: fs.ErrNotExist, fs.ErrExist, fs.ErrPermission, fs.ErrInvalid (EINVAL), fs.ErrClosed (ESHUT). errors.As
// finds an *Error, a Code (to ask for its class), and a syscall.Errno.
type Error struct {
	Code    Code
	Errno   syscall.Errno // from the failed system call, or the one that means the same as the code; 0: none
	Rule    uint32        // of EMALFORMED, the number of the broken rule in FORMAT.md, "A reader's checklist"; otherwise 0
	Message string        // what failed, on what, and what to do
}

func (e *Error) Error() string { return e.Message }

// Is supports errors.Is.
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

// As supports errors.As: a *Code gets the code, and a *syscall.Errno the errno, if there is one.
func (e *Error) As(target any) bool {
	switch to := target.(type) {
	case *Code:
		*to = e.Code
		return true
	case *syscall.Errno:
		if e.Errno != 0 {
			*to = e.Errno
			return true
		}
	}
	return false
}

// wordsFor returns a bfs_error that the library fills in.
func wordsFor() *C.bfs_error {
	return &C.bfs_error{struct_bytes: C.sizeof_bfs_error}
}

// failure returns the error of a call that had `words`.
func failure(code C.int32_t, words *C.bfs_error) error {
	made := &Error{Code: Code(code), Errno: syscall.Errno(words.os_errno), Rule: uint32(words.rule),
		Message: inGo(C.GoString(&words.message[0]))}
	if made.Message == "" {
		made.Message = inGo(made.Code.Error())
	}
	return made
}

// refusal returns an error that this package itself finds.
func refusal(code Code, message string) error { return &Error{Code: code, Message: message} }

func invalid(message string) error { return refusal(EINVAL, message) }

// layoutNames are the library's names of layouts in a message, and then the constants.
var layoutNames = [2]string{"Give blocked or classic or counting or static or window or window-4 or window-2 or growing.",
	"Give Blocked or Classic or Counting or Static or Window or Window4 or Window2 or Growing."}

// takers are the functions that take an option which others refuse.
var takers = map[string]string{"NoFollow": "Open, OpenOrCreate, OpenForeign and Verify", "Strict": "Open and OpenOrCreate",
	"Private": "Open and OpenForeign", "Bare": "Format, RequiredBytes, Wrap and Load", "Unpublished": "Create and ImportForeign",
	"Replace": "Create, Build and copies"}

// withTakers returns a refusal of an option with the functions that take it.
func withTakers(message string) string {
	for option, functions := range takers {
		if strings.HasSuffix(message, "does not take "+option+"; leave it out") {
			return message + " (" + functions + " take it)"
		}
	}
	return message
}

// inGo returns the library's words with what options and calls are called here. A path stays as it is.
func inGo(message string) string {
	names := wordsOfNames
	for _, pair := range wordsOfFunctions {
		if rest := strings.TrimPrefix(message, pair[0]); rest != message && (rest[:1] == ":" || rest[:1] == " ") {
			message = pair[1] + rest
			names = append(names[:len(names):len(names)], wordsOfQualified...)
			break
		}
	}
	if strings.HasPrefix(message, "bfs_options.") {
		names = append(names[:len(names):len(names)], wordsOfQualified...)
	}
	for _, pair := range wordsOfPhrases {
		message = strings.ReplaceAll(message, pair[0], pair[1])
	}
	words := strings.Split(message, " ")
	for i, word := range words {
		word = strings.TrimPrefix(strings.TrimRight(word, ",.;)"), "(")
		for _, pair := range names {
			if word == pair[0] {
				words[i] = strings.Replace(words[i], word, pair[1], 1)
			}
		}
	}
	return withTakers(strings.Replace(strings.Join(words, " "), layoutNames[0], layoutNames[1], 1))
}

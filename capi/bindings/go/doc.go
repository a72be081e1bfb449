// Package bfstore keeps Bloom filters in files, which any number of processes in any language share through a memory
// map.
//
//	users, _, err := bfstore.OpenOrCreate("users.bf", bfstore.Options{Capacity: 1_000_000, FPR: 0.01})
//	...
//	defer users.Close()
//	_, err = users.AddString("alice")
//	maybe, err := users.ContainsString("alice") // true: maybe. false would be certain
//
// A lookup answers false only if the key is certainly absent. After any failure its answer is true: so a program that
// ignores the error does too much work, but loses nothing.
//
// # Where to begin
//
//   - [OpenOrCreate] is for a program that adds and asks, in any number of processes. [Open] asks, or adds to a file that
//     is there. [Create] makes a new file, and [Build] one of all keys, which appears when it is complete.
//   - [Filter] has the lookups and adds: of one key ([Filter.ContainsString]), and of many ([Filter.ContainsKeys]), which
//     are several times as fast. [MakePlan] tells the size of a filter before it is made.
//   - [Error] is every error: [errors.Is] finds a [Code] or an error of [io/fs] in it.
//   - [OpenForeign] asks a filter file of another program.
//
// # Keys
//
// A key is bytes. A Go string is its bytes (text is UTF-8 then, without normalization; the package does not check it),
// and an integer is 8 bytes, little-endian: [Integer], [Filter.ContainsInteger], [Integers]. There are no floats. Keys that
// programs in other languages add as the same bytes are found here.
//
// # Keys that expire
//
// A filter with [Options.Window] forgets: a key is found for that time after its last add, and for a little more. The
// program calls [Filter.Turn] again and again, which ends an epoch that is over.
//
// # Threads
//
// Any number of goroutines may use a [Filter] at once, and [Filter.Close] waits for the calls that run. Go programs do not
// fork, except to execute another program, which has no handle.
//
// # Linking
//
// By default the package links libbfstore.a: that of the clone which has the package, if tools/demo or tools/test has
// built it, or else an installed one. CGO_CFLAGS=-I... and CGO_LDFLAGS=-L... name the folders of others. With the build tag
// bfstore_shared it links the libbfstore.so that pkg-config finds as "bfstore". The program needs libstdc++.so.6, unless
// go build -ldflags '-linkmode external -extldflags -static' links it fully static.
//
// A program that only reads, and has no C compiler, uses the package bfstore.example/bfstore/reader.
package bfstore

/*
#cgo bfstore_shared pkg-config: bfstore
#cgo !bfstore_shared CFLAGS: -I${SRCDIR}/../..
#cgo !bfstore_shared LDFLAGS: -L${SRCDIR}/../../../build-release/capi -l:libbfstore.a -lstdc++ -lm -pthread
#include "bridge.h"
*/
import "C"

// Version returns the version of the running library: "1.2.3".
func Version() string { return C.GoString(C.bfs_version()) }

// Package reader looks up keys in bfstore's filter files only in Go, without cgo and without the library. It only
// reads.
//
//	users, err := reader.Open("users.bf", reader.Options{})
//	...
//	defer users.Close()
//	maybe, err := users.ContainsString("alice") // false is certain
//
// It was written from the format's specification (src/format/FORMAT.md), and refuses everything that it does not surely
// understand, with the library's code; an Error also says in words what is wrong, and of a malformed file which rule of
// the format it breaks. It reads files of the layouts blocked and classic whose hash is XXH3-64, on local filesystems,
// and opens them only while they are clean (closed by their last writer, or sealed). It refuses a file that a writer has open, or that was not closed before a crash: the package bfstore.example/bfstore
// opens these, after it has asked the kernel what happened to their pages.
//
// A writer may open the file later, and add: each key is found once its add has returned. If the writer, or the file,
// comes into doubt (a sync did not end; the file is recovered, replaced by bfstore, truncated, overwritten or cannot be
// read; a later version of bfstore says so), every answer is true, and Health returns the reason: open the path again. The package does not notice by
// itself that another program moves a file to the path, and answers no for the keys of only that file: so call
// IsCurrent now and then. Like a library handle opened with NO_WRITE this package does not ask the kernel whether it
// failed to write pages of a file in use. Between such a failure and the next check by the writer, which then marks the
// file, a key in a dropped page is answered no.
//
// Any number of goroutines may use a Filter at once, also while it is closed: a lookup that no longer finds the file
// answers true. A fault in a page of the file is doubt. Other faults remain what they are.
package reader

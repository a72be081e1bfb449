// The times of Go, for bench/bindings.py: `times FOLDER`. It prints the lines of bench/bindings/c.c, and one for the
// package reader.
package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"unsafe"

	"bfstore.example/bfstore"
	"bfstore.example/bfstore/reader"
)

const (
	keyBytes = 16
	passes   = 5
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// cpu returns the time of this thread, in nanoseconds: getrusage counts it in ticks.
func cpu() int64 {
	const ofThisThread = 3 // CLOCK_THREAD_CPUTIME_ID
	var used syscall.Timespec
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, ofThisThread, uintptr(unsafe.Pointer(&used)), 0); errno != 0 {
		check(errno)
	}
	return used.Nano()
}

func told(layout, way string, count int, work func() int) {
	least, maybes := int64(math.MaxInt64), 0
	for pass := 0; pass < passes; pass++ {
		begin := cpu()
		maybes = work()
		if took := cpu() - begin; took < least {
			least = took
		}
	}
	fmt.Printf("%s %s %.3f %d\n", layout, way, float64(least)/float64(count), maybes)
}

func each(keys [][]byte, contains func([]byte) (bool, error)) (maybes int) {
	for _, key := range keys {
		maybe, err := contains(key)
		check(err)
		if maybe {
			maybes++
		}
	}
	return maybes
}

func many(filter *bfstore.Filter, keys bfstore.Keys, answers []bool) (maybes int) {
	answers, err := filter.ContainsKeys(keys, answers)
	check(err)
	for _, maybe := range answers {
		if maybe {
			maybes++
		}
	}
	return maybes
}

func main() {
	runtime.LockOSThread()
	folder := os.Args[1]
	column, err := os.ReadFile(filepath.Join(folder, "keys"))
	check(err)
	var keys [][]byte
	for at := 0; at < len(column); at += keyBytes {
		keys = append(keys, column[at:at+keyBytes])
	}
	answers := make([]bool, len(keys))
	for _, layout := range []string{"blocked", "classic"} {
		path := filepath.Join(folder, layout+".bf")
		filter, err := bfstore.Open(path)
		check(err)
		told(layout, "one", len(keys), func() int { return each(keys, filter.Contains) })
		told(layout, "objects", len(keys), func() int { return many(filter, bfstore.Bytes(keys), answers) })
		told(layout, "column", len(keys), func() int { return many(filter, bfstore.Fixed(column, keyBytes), answers) })
		check(filter.Close())
		plain, err := reader.Open(path, reader.Options{})
		check(err)
		told(layout, "one-reader", len(keys), func() int { return each(keys, plain.Contains) })
		check(plain.Close())
	}
}

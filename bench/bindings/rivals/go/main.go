// The rival of the binding for Go, for bench/bindings.py: bits-and-blooms, which has every second key. `rival FOLDER`
// prints a line of the form of bench/bindings/c.c.
package main

import (
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"unsafe"

	"github.com/bits-and-blooms/bloom/v3"
)

const (
	keyBytes   = 16
	passes     = 5
	bitsPerKey = 10
	numProbes  = 7
)

// cpu is the time of this thread, in nanoseconds: getrusage counts it in ticks.
func cpu() int64 {
	const ofThisThread = 3 // CLOCK_THREAD_CPUTIME_ID
	var used syscall.Timespec
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, ofThisThread, uintptr(unsafe.Pointer(&used)), 0); errno != 0 {
		log.Fatal(errno)
	}
	return used.Nano()
}

func main() {
	runtime.LockOSThread()
	column, err := os.ReadFile(filepath.Join(os.Args[1], "keys"))
	if err != nil {
		log.Fatal(err)
	}
	keys := make([][]byte, len(column)/keyBytes)
	for i := range keys {
		keys[i] = column[i*keyBytes : (i+1)*keyBytes]
	}
	filter := bloom.New(uint(len(keys)/2*bitsPerKey), numProbes)
	for i := 0; i < len(keys); i += 2 {
		filter.Add(keys[i])
	}
	least, maybes := int64(math.MaxInt64), 0
	for pass := 0; pass < passes; pass++ {
		begin := cpu()
		maybes = 0
		for _, key := range keys {
			if filter.Test(key) {
				maybes++
			}
		}
		if took := cpu() - begin; took < least {
			least = took
		}
	}
	fmt.Printf("rival bits-and-blooms %.3f %d\n", float64(least)/float64(len(keys)), maybes)
}

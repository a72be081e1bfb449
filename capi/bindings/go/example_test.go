// Examples of the documentation, which the tests run.

package bfstore_test

import (
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"time"

	"bfstore.example/bfstore"
)

// examplePath returns the path of an example's file, in a folder to be removed.
func examplePath() (path string, remove func()) {
	folder, err := os.MkdirTemp("", "bfstore-go-")
	if err != nil {
		log.Fatal(err)
	}
	return filepath.Join(folder, "users.bf"), func() { os.RemoveAll(folder) }
}

func Example() {
	path, remove := examplePath()
	defer remove()
	users, created, err := bfstore.OpenOrCreate(path, bfstore.Options{Capacity: 1_000_000, FPR: 0.01})
	if err != nil {
		log.Fatal(err)
	}
	defer users.Close()
	if _, err := users.AddString("alice"); err != nil {
		log.Fatal(err)
	}
	alice, _ := users.ContainsString("alice")
	zoe, _ := users.ContainsString("zoe")
	fmt.Println(created, alice, zoe)
	// Output: true true false
}

func ExampleFilter_ContainsKeys() {
	path, remove := examplePath()
	defer remove()
	names := bfstore.Strings([]string{"alice", "bob"})
	users, err := bfstore.Build(path, names, bfstore.Options{BitsPerKey: 20})
	if err != nil {
		log.Fatal(err)
	}
	defer users.Close()
	column := bfstore.Column32([]byte("alicezoebob"), []int32{0, 5, 8, 11}) // as in Apache Arrow
	answers, err := users.ContainsKeys(column, nil)
	fmt.Println(answers, err)
	numbers, err := users.SelectKeys(column, nil)
	fmt.Println(numbers, err)
	// Output:
	// [true false true] <nil>
	// [0 2] <nil>
}

func ExampleFilter_Turn() {
	path, remove := examplePath()
	defer remove()
	seen, _, err := bfstore.OpenOrCreate(path, bfstore.Options{Capacity: 1_000_000, Window: 24 * time.Hour})
	if err != nil {
		log.Fatal(err)
	}
	defer seen.Close()
	for _, request := range []string{"pay 17", "pay 18", "pay 17"} {
		isNew, err := seen.AddString(request)
		fmt.Println(request, isNew, err)
	}
	ended, err := seen.Turn() // every few minutes, in any number of processes
	fmt.Println(ended, err)
	// Output:
	// pay 17 true <nil>
	// pay 18 true <nil>
	// pay 17 false <nil>
	// false <nil>
}

func ExampleError() {
	_, err := bfstore.Open("/nowhere/users.bf")
	fmt.Println(errors.Is(err, fs.ErrNotExist), errors.Is(err, bfstore.ENOENT))
	var failure *bfstore.Error
	if errors.As(err, &failure) {
		fmt.Println(failure.Code.Name(), int(failure.Errno))
	}
	var code bfstore.Code
	if errors.As(err, &code) {
		fmt.Println(code.IsCall(), code.IsState(), code.IsMalformed())
	}
	// Output:
	// true true
	// BFS_ENOENT 2
	// true false false
}

func ExampleMakePlan() {
	plan, err := bfstore.MakePlan(bfstore.PlanRequest{Capacity: 1_000_000, FPR: 0.01})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(plan.Layout, plan.FPR <= 0.01, plan.BitsPerKey < 11)
	// Output: blocked true true
}

func ExampleFilter_Digest() {
	path, remove := examplePath()
	defer remove()
	filter, err := bfstore.Create(path, bfstore.Options{Capacity: 10, Seed: bfstore.SeedOf(1)})
	if err != nil {
		log.Fatal(err)
	}
	defer filter.Close()
	digest, err := filter.DigestString("alice")
	fmt.Printf("%#x %v\n", digest, err)
	// Output: 0x699b7243ff43b565 <nil>
}

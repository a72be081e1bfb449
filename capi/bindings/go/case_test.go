// The common part of the tests: filters that are closed at the end, and the path of the library's sources.

package bfstore_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bfstore.example/bfstore"
)

// root is the repository's root.
const root = "../../.."

// TestMain is also the program that tests start in a process of its own: see children in life_test.go.
func TestMain(m *testing.M) {
	if child := children[os.Getenv("BFSTORE_TEST_CHILD")]; child != nil {
		child(os.Args[1:])
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func must[T any](t testing.TB) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal[T comparable](t testing.TB, got, want T, what ...any) {
	t.Helper()
	if got != want {
		t.Fatalf("%v, not %v %v", got, want, what)
	}
}

// refused checks that an error has the code, a message, and the name of the thing that failed.
func refused(t testing.TB, err error, code bfstore.Code, words ...string) {
	t.Helper()
	var failure *bfstore.Error
	if !errors.As(err, &failure) || failure.Code != code || !errors.Is(err, code) {
		t.Fatalf("%v, not %s", err, code.Name())
	}
	if len(err.Error()) < 10 {
		t.Fatalf("%q are no words", err)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Fatalf("%q has no %q", err, word)
		}
	}
}

func somewhere(t testing.TB) string { return filepath.Join(t.TempDir(), "filter.bf") }

// create makes a filter with a fixed seed: no absent key is there by chance.
func create(t testing.TB, options bfstore.Options) *bfstore.Filter {
	t.Helper()
	if options.Capacity == 0 && options.CapacityAtMost == 0 && options.NumBits == 0 && options.Like == "" {
		options.Capacity = 10_000
	}
	if options.Seed == nil && options.Hash == 0 && options.Like == "" {
		options.Seed = bfstore.SeedOf(1)
	}
	return createAt(t, somewhere(t), options)
}

func createAt(t testing.TB, path string, options bfstore.Options) *bfstore.Filter {
	t.Helper()
	return closing(t, must[*bfstore.Filter](t)(bfstore.Create(path, options)))
}

func open(t testing.TB, path string, options ...bfstore.OpenOptions) *bfstore.Filter {
	t.Helper()
	return closing(t, must[*bfstore.Filter](t)(bfstore.Open(path, options...)))
}

// closing closes a filter at the end of the test, if the test did not.
func closing(t testing.TB, filter *bfstore.Filter) *bfstore.Filter {
	t.Cleanup(func() {
		if err := filter.Close(); err != nil && !errors.Is(err, fs.ErrClosed) {
			t.Error(err)
		}
	})
	return filter
}

func has(t testing.TB, filter *bfstore.Filter, key string) bool {
	t.Helper()
	return must[bool](t)(filter.ContainsString(key))
}

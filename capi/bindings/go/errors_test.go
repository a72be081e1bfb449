// Every code is an error with words, and the matching error of Go's own packages.

package bfstore_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"bfstore.example/bfstore"
)

type abi struct {
	Constants map[string]json.Number
	Functions []string
}

// readABI reads the declarations of the C ABI's headers.
func readABI(t *testing.T) abi {
	var made abi
	ok(t, json.Unmarshal(must[[]byte](t)(os.ReadFile(os.Getenv("BFSTORE_ABI"))), &made))
	if len(made.Constants) < 100 || len(made.Functions) < 45 {
		t.Fatal("BFSTORE_ABI is short")
	}
	return made
}

// These have another form here: the names of all numbers, lists of keys, which go to the library as columns, and what
// bfs_scratch_for is made of.
var notUsed = map[string]bool{"bfs_layout_named": true, "bfs_hash_named": true, "BFS_KEYS_POINTERS": true,
	"BFS_KEYS_PAIRS": true, "BFS_LOCK_TIMEOUT_DEFAULT": true, "BFS_WRITEBACK_CHECK_DEFAULT": true,
	"BFS_SCRATCH_LEAST_KEYS": true, "BFS_SCRATCH_KEY_BYTES": true, "BFS_SCRATCH_MORE_BYTES": true}

func TestEveryFunctionAndConstantOfTheHeaderIsUsed(t *testing.T) {
	var sources strings.Builder
	for _, pattern := range []string{"*.go", "bridge.h"} {
		for _, path := range must[[]string](t)(filepath.Glob(pattern)) {
			if !strings.HasSuffix(path, "_test.go") && path != "words.go" {
				sources.Write(must[[]byte](t)(os.ReadFile(path)))
			}
		}
	}
	used := map[string]bool{}
	for _, match := range regexp.MustCompile(`\b(BFS|bfs)_\w+`).FindAllString(sources.String(), -1) {
		used[match] = true
	}
	header := readABI(t)
	for name := range header.Constants {
		if !strings.HasPrefix(name, "BFS_VERSION_") && used[name] == notUsed[name] {
			t.Errorf("%s: used %v, and in the list %v", name, used[name], notUsed[name])
		}
	}
	for _, name := range header.Functions {
		inline := strings.HasPrefix(name, "bfs_keys_")
		if !inline && used[name] == notUsed[name] {
			t.Errorf("%s: used %v, and in the list %v", name, used[name], notUsed[name])
		}
	}
}

func TestEveryCodeHasWordsAndAClass(t *testing.T) {
	codes := 0
	for name, text := range readABI(t).Constants {
		if !strings.HasPrefix(name, "BFS_E") {
			continue
		}
		number := must[int64](t)(strconv.ParseInt(text.String(), 0, 64))
		if number >= 0 { // a flag
			continue
		}
		code := bfstore.Code(number)
		codes++
		equal(t, code.Name(), name)
		if len(code.Error()) < 10 {
			t.Error(name, "has no words")
		}
		classes := []bool{code.IsCall(), code.IsState(), code.IsMalformed()}
		equal(t, [3]bool{classes[0], classes[1], classes[2]}, [3]bool{number > -100, number <= -100 && number > -200, number <= -200})
	}
	if codes < 35 {
		t.Fatal(codes)
	}
	equal(t, bfstore.Code(-4711).Name(), "BFS_E?")
}

func TestGoHasErrorsForThese(t *testing.T) {
	path := somewhere(t)
	_, err := bfstore.Open(path)
	refused(t, err, bfstore.ENOENT, path)
	natural := []struct {
		code   bfstore.Code
		errno  syscall.Errno
		target error
	}{{bfstore.ENOENT, syscall.ENOENT, fs.ErrNotExist}, {bfstore.EEXIST, syscall.EEXIST, fs.ErrExist},
		{bfstore.EACCES, syscall.EACCES, fs.ErrPermission}, {bfstore.EINVAL, 0, fs.ErrInvalid}, {bfstore.ESHUT, 0, fs.ErrClosed}}
	for _, one := range natural {
		err := error(&bfstore.Error{Code: one.code, Errno: one.errno, Message: "words"})
		for _, other := range natural {
			equal(t, errors.Is(err, other.target), one == other, one, other)
			equal(t, errors.Is(err, other.code), one == other)
			equal(t, other.errno != 0 && errors.Is(err, other.errno), one == other && one.errno != 0)
		}
	}
	createAt(t, path, bfstore.Options{Capacity: 5})
	_, err = bfstore.Create(path, bfstore.Options{Capacity: 5})
	refused(t, err, bfstore.EEXIST, path)
	equal(t, errors.Is(err, fs.ErrExist), true)
	_, err = bfstore.Open(path + "/below")
	equal(t, err != nil && !errors.Is(err, fs.ErrExist), true)
	var failure *bfstore.Error
	_, err = bfstore.Open(somewhere(t))
	equal(t, errors.As(err, &failure), true)
	equal(t, failure.Errno, syscall.ENOENT)
	equal(t, failure.Rule, 0)
	equal(t, errors.Is(err, fs.ErrNotExist), true)
}

func TestErrorsAsFindsTheCodeAndTheErrno(t *testing.T) {
	_, err := bfstore.Open(somewhere(t))
	err = fmt.Errorf("wrapped: %w", err)
	var code bfstore.Code
	var errno syscall.Errno
	equal(t, errors.As(err, &code) && errors.As(err, &errno), true)
	equal(t, code, bfstore.ENOENT)
	equal(t, code.IsCall() && !code.IsMalformed(), true)
	equal(t, errno, syscall.ENOENT)
	errno = 5
	equal(t, errors.As(&bfstore.Error{Code: bfstore.EUNCLEAN}, &errno), false)
	equal(t, errno, 5)
	var other *fs.PathError
	equal(t, errors.As(err, &other), false)
}

func TestWhatIsNoFilter(t *testing.T) {
	folder := t.TempDir()
	_, err := bfstore.Open(folder)
	refused(t, err, bfstore.ENOTREGULAR, folder)
	text := filepath.Join(folder, "text")
	ok(t, os.WriteFile(text, []byte(strings.Repeat("no filter ", 9999)), 0o600))
	_, err = bfstore.Open(text)
	refused(t, err, bfstore.EMALFORMED, text)
	var failure *bfstore.Error
	equal(t, errors.As(err, &failure) && failure.Rule == 3, true, err) // the magic bytes
	for _, call := range []func() (*bfstore.Filter, error){
		func() (*bfstore.Filter, error) { return bfstore.Load([]byte("short")) },
		func() (*bfstore.Filter, error) { return bfstore.Load(nil) },
		func() (*bfstore.Filter, error) { return bfstore.Wrap(make([]byte, 100)) },
		func() (*bfstore.Filter, error) { return bfstore.Wrap(nil) },
	} {
		filter, err := call()
		equal(t, filter, nil)
		equal(t, err != nil && len(err.Error()) > 10, true)
	}
	_, err = bfstore.Load(nil)
	refused(t, err, bfstore.EMALFORMED, "the bytes are empty")
	_, err = bfstore.Wrap([]byte{})
	refused(t, err, bfstore.EMALFORMED, "the bytes are empty")
	bits := create(t, bfstore.Options{NumBits: 64, NumProbes: 3, Layout: bfstore.Classic})
	refused(t, bits.ImportBits(nil, bfstore.LittleBits), bfstore.EINVAL, "has 0 bytes")
}

// Each refusal names what a program in Go can write: no name of C, and no command of bf.
func TestTheWayOutHasNamesOfGo(t *testing.T) {
	path, folder := somewhere(t), t.TempDir()
	filter := createAt(t, path, bfstore.Options{Capacity: 5, Seed: bfstore.SeedOf(1)})
	must[bool](t)(filter.AddString("a"))
	inUse := filepath.Join(folder, "in use")
	ok(t, os.WriteFile(inUse, must[[]byte](t)(os.ReadFile(path)), 0o600)) // a copy of an open file is unclean
	reader := open(t, path)
	filling := create(t, bfstore.Options{Filling: true})
	secret := somewhere(t)
	createAt(t, secret, bfstore.Options{Capacity: 5, Hash: bfstore.SipHash, Secret: make([]byte, 16)})
	making := func(options bfstore.Options) func() error {
		return func() error { _, err := bfstore.Create(filepath.Join(folder, "none"), options); return err }
	}
	opening := func(path string, options bfstore.OpenOptions) func() error {
		return func() error { _, err := bfstore.Open(path, options); return err }
	}
	for words, call := range map[string]func() error{
		"only one of NumBits and NumProbes was given":                                  making(bfstore.Options{NumBits: 5}),
		"or NumBits and NumProbes, or a file to be like (Options.Like).":               making(bfstore.Options{}),
		"two of capacity, FPR, BitsPerKey, NumProbes, and one of NumBits and MaxBytes": func() error { _, err := bfstore.MakePlan(bfstore.PlanRequest{NumProbes: 5}); return err },
		"replace it (Replace: true), or open it to add (OpenOrCreate)": func() error {
			_, err := bfstore.Create(path, bfstore.Options{Capacity: 5})
			return err
		},
		"Build it (Build), or create it unpublished (Unpublished: true), add the keys and publish it (Publish).": func() error {
			_, err := bfstore.Create(path, bfstore.Options{Layout: bfstore.Static})
			return err
		},
		"Build another one from all keys (Build).": func() error {
			memory := must[[]byte](t)(syscall.Mmap(-1, 0, 99_999, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE))
			_, err := bfstore.Format(memory, bfstore.Options{Capacity: 5, Layout: bfstore.Static})
			return err
		},
		"open it for writing (OpenOptions{Write: true})":       func() error { _, err := reader.AddString("b"); return err },
		"(OpenOptions{Write: true, Recover: true})":            opening(inUse, bfstore.OpenOptions{}),
		"accept the loss (AcceptLoss: true)":                   opening(inUse, bfstore.OpenOptions{}),
		"made with (the option Secret)":                        opening(secret, bfstore.OpenOptions{}),
		"without one (the option Secret)":                      opening(path, bfstore.OpenOptions{Secret: make([]byte, 16)}),
		"(FinishFilling)":                                      func() error { _, err := filling.Dump(bfstore.DumpOptions{}); return err },
		"(Copy with CopyOptions{Sealed: true})":                func() error { _, err := bfstore.Verify(path, bfstore.VerifyOptions{}); return err },
		"create it first (OpenOrCreate)":                       opening(filepath.Join(folder, "none"), bfstore.OpenOptions{}),
		"the path is empty. Give one.":                         opening("", bfstore.OpenOptions{}),
		"no size was given, or a capacity of 0.":               making(bfstore.Options{Capacity: 0, FPR: 0}),
		"make it with Layout: Counting":                        func() error { _, err := reader.Count([]byte("a")); return err },
		"(Options.Like)":                                       func() error { return create(t, bfstore.Options{Seed: bfstore.SeedOf(8)}).Merge(filter) },
		"Open with a range: does not take Write; leave it out": opening(path, bfstore.OpenOptions{Write: true, Range: &bfstore.Range{Offset: 64}}),
	} {
		err := call()
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v has no %q", err, words)
		} else if regexp.MustCompile(`bfs_|BFS_|\(bf |[a-z]_[a-z]`).MatchString(err.Error()) {
			t.Error(err)
		}
	}
	for _, name := range []string{"num_bits", "./num_bits", "my num_bits", "BFS_READ", "bfs_options.mode"} {
		_, err := bfstore.Open(name) // which is not there
		refused(t, err, bfstore.ENOENT)
		equal(t, strings.HasPrefix(err.Error(), name+": "), true, err)
	}
}

func TestPaths(t *testing.T) {
	options := bfstore.CopyOptions{}
	filter := create(t, bfstore.Options{})
	with := "a\x00b"
	for _, call := range []func() error{
		func() error { _, err := bfstore.Open(with); return err },
		func() error { _, err := bfstore.Create(with, bfstore.Options{Capacity: 5}); return err },
		func() error { _, err := bfstore.Create(somewhere(t), bfstore.Options{Like: with}); return err },
		func() error { _, err := bfstore.RequiredBytes(bfstore.Options{Like: with}); return err },
		func() error { _, _, err := bfstore.OpenOrCreate(with, bfstore.Options{Capacity: 5}); return err },
		func() error { _, err := bfstore.Build(with, bfstore.Strings(nil), bfstore.Options{}); return err },
		func() error {
			_, err := bfstore.InspectForeign(nil, bfstore.ForeignForm{}, bfstore.Options{Like: with})
			return err
		},
		func() error {
			_, err := bfstore.OpenForeign(with, bfstore.ForeignForm{}, bfstore.Options{})
			return err
		},
		func() error { _, err := bfstore.RecognizeForeign(with); return err },
		func() error { _, err := bfstore.Verify(with, bfstore.VerifyOptions{}); return err },
		func() error { return filter.Copy(with, options) },
		func() error { return bfstore.Intersect([]*bfstore.Filter{filter}, with, options) },
	} {
		err := call()
		refused(t, err, bfstore.EINVAL, "NUL")
		equal(t, errors.Is(err, fs.ErrInvalid), true)
	}
	odd := filepath.Join(t.TempDir(), "no\xffUTF-8")
	must[bool](t)(createAt(t, odd, bfstore.Options{Capacity: 5}).AddString("a"))
	must[fs.FileInfo](t)(os.Lstat(odd))
	_, err := bfstore.Open(filepath.Join(filepath.Dir(odd), "\xff"+strings.Repeat("ü", 90)))
	refused(t, err, bfstore.ENOENT, `\xFF`)
}

func TestArgumentsOutOfRange(t *testing.T) {
	path := somewhere(t)
	for words, options := range map[string]bfstore.Options{
		"false-positive rate 2": {Capacity: 5, FPR: 2}, "NumProbes is 1 to 64, and not -1": {NumBits: 5, NumProbes: -1}, "LockTimeout is negative": {Capacity: 5, LockTimeout: -5},
		"LockTimeout is longer than 49 days": {Capacity: 5, LockTimeout: 50 * 24 * time.Hour}, "Mode has more than permission bits": {Capacity: 5, Mode: fs.ModeSetuid | 0o600},
		"Threads is 1 to 64, and not -1": {Capacity: 5, Threads: -1}, "above 64": {Capacity: 5, Threads: 65}, "Threads goes with Exclusive": {Capacity: 5, Threads: 2},
		"does not take Strict; leave it out": {Capacity: 5, Strict: true}, "does not take Bare; leave it out": {Capacity: 5, Bare: true},
		"does not take NoFollow; leave it out (Open, OpenOrCreate, OpenForeign and Verify take it)":         {Capacity: 5, NoFollow: true},
		"unknown layout 99. Give Blocked or Classic or Counting or Static or Window or Window4 or Window2 or Growing.": {Capacity: 5, Layout: 99},
		"layout": {Capacity: 5, Layout: 99}, "hash": {Capacity: 5, Hash: 99}, "not given": {}, "filter.bf": {Capacity: 5, Like: path + "x"},
	} {
		made, err := bfstore.Create(path, options)
		equal(t, made, nil)
		equal(t, err != nil && len(err.Error()) > 10, true, words, err)
		if words != "not given" && !strings.Contains(err.Error(), words) {
			t.Errorf("%q has no %q", err, words)
		}
	}
	_, err := bfstore.Create(path, bfstore.Options{Capacity: 5, FPR: 1e-12})
	refused(t, err, bfstore.ESIZING)
	_, err = bfstore.Open(path, bfstore.OpenOptions{}, bfstore.OpenOptions{})
	refused(t, err, bfstore.EINVAL)
	_, err = bfstore.Open(path, bfstore.OpenOptions{Threads: -1})
	refused(t, err, bfstore.EINVAL, "Threads")
	_, err = bfstore.InspectForeign(nil, bfstore.ForeignForm{Format: "raw"}, bfstore.Options{}, bfstore.Options{})
	refused(t, err, bfstore.EINVAL)
	_, err = bfstore.Format(nil, bfstore.Options{Capacity: 5})
	refused(t, err, bfstore.EINVAL, "RequiredBytes")
	_, err = os.Lstat(path)
	equal(t, errors.Is(err, fs.ErrNotExist), true)
}

func TestAFilterThatWasNotOpenedSaysSo(t *testing.T) {
	var zero bfstore.Filter
	other := create(t, bfstore.Options{})
	maybe, err := zero.ContainsString("a")
	equal(t, maybe, true)
	refused(t, err, bfstore.EINVAL, "a Filter was not opened: Open, ")
	_, err = zero.AddString("a")
	refused(t, err, bfstore.EINVAL, "a Filter was not opened: Open, ")
	_, err = zero.AddKeys(bfstore.Strings([]string{"a"}))
	refused(t, err, bfstore.EINVAL, "a Filter was not opened: Open, ")
	for _, err := range []error{zero.Close(), zero.Sync(), zero.Health(), zero.Publish(), other.Merge(&zero)} {
		refused(t, err, bfstore.EINVAL, "a Filter was not opened: Open, ")
	}
}

func TestMessagesNameTheWayOutInGo(t *testing.T) {
	digests := create(t, bfstore.Options{Hash: bfstore.External})
	_, err := digests.AddString("a")
	refused(t, err, bfstore.EDIGESTONLY, "(AddDigest, ContainsDigest and the like)")
	_, err = bfstore.Create(somewhere(t), bfstore.Options{Capacity: 5, Part: 1})
	refused(t, err, bfstore.EINVAL, "part 1 of 0 does not exist. Give one from 0 to the number of parts less 1, and the number of parts.")
	_, _, err = bfstore.OpenOrCreate(digests.Name(), bfstore.Options{Capacity: 5, Window: time.Hour})
	refused(t, err, bfstore.EMISMATCH, "is there, and has no window: its keys do not expire.")
	_, err = bfstore.Open(digests.Name(), bfstore.OpenOptions{Exclusive: true})
	refused(t, err, bfstore.EBUSY, "for shared writing (OpenOptions{Write: true} without Exclusive).")
	_, err = digests.Turn()
	refused(t, err, bfstore.EUNSUPPORTED, "it has no epoch to end. Make a filter with a window (Options{Window: 24 * time.Hour}).")
	for words, options := range map[string]bfstore.Options{
		"Give one such as 0.01 (the option FPR).":                                        {Capacity: 5, FPR: 2},
		"Give the window, for how long they are kept (Options{Window: 24 * time.Hour}).": {Capacity: 5, Layout: bfstore.Window},
		"Give no window (the option Window), or a layout that has one (Layout: Window).": {Capacity: 5, Layout: bfstore.Classic, Window: time.Hour},
	} {
		_, err = bfstore.Create(somewhere(t), options)
		refused(t, err, bfstore.EINVAL, words)
	}
	ok(t, digests.Close())
	_, err = digests.AddString("a")
	refused(t, err, bfstore.ESHUT, "the filter was closed; open the path again")
}

func TestCapacityAndRate(t *testing.T) {
	filter := create(t, bfstore.Options{Capacity: 1000, FPR: 0.02})
	equal(t, must[uint64](t)(filter.Capacity()), uint64(1000))
	equal(t, must[float64](t)(filter.FPR()), 0.02)
}

func TestWhatAHandleMayNot(t *testing.T) {
	path := somewhere(t)
	ok(t, createAt(t, path, bfstore.Options{Capacity: 100}).Close())
	reader := open(t, path)
	_, err := reader.AddString("a")
	refused(t, err, bfstore.EREADONLY, path)
	_, err = reader.AddKeys(bfstore.Strings([]string{"a"}))
	refused(t, err, bfstore.EREADONLY, path)
	refused(t, reader.Sync(), bfstore.EREADONLY)
	limited := open(t, path, bfstore.OpenOptions{Exclusive: true, Limit: true})
	for i := uint64(0); err == nil || errors.Is(err, bfstore.EREADONLY); i++ {
		_, err = limited.AddInteger(i)
	}
	refused(t, err, bfstore.EFULL)
	_, err = bfstore.Open(path, bfstore.OpenOptions{Write: true, LockTimeout: bfstore.NoWait})
	refused(t, err, bfstore.EBUSY, strconv.Itoa(os.Getpid()))
}

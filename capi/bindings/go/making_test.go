// The ways to get a file: build it of keys, open it or make it, replace it.

package bfstore_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"bfstore.example/bfstore"
)

func TestBuildAndReplace(t *testing.T) {
	path := somewhere(t)
	built := closing(t, must[*bfstore.Filter](t)(bfstore.Build(path, bfstore.Strings([]string{"a", "b"}), bfstore.Options{Seed: bfstore.SeedOf(1)})))
	equal(t, has(t, built, "a") && has(t, built, "b") && !has(t, built, "c"), true)
	equal(t, must[bfstore.Statistics](t)(built.Stats(bfstore.StatsOptions{})).Capacity, 2)
	follower := open(t, path, bfstore.OpenOptions{Follow: true})
	options := bfstore.Options{Replace: true, Unpublished: true, Like: path}
	next := createAt(t, path, options)
	must[bool](t)(next.AddString("c"))
	ok(t, next.Supersede())
	equal(t, must[bool](t)(built.IsCurrent()), false)
	ok(t, next.Publish())
	refused(t, built.Health(), bfstore.ESUPERSEDED)
	equal(t, has(t, built, "never"), true)
	equal(t, must[bool](t)(follower.IsCurrent()), true)
	equal(t, has(t, follower, "c") && !has(t, follower, "b"), true)
	_, err := bfstore.Build(path, bfstore.Fixed([]byte("abc"), 2), bfstore.Options{Replace: true})
	refused(t, err, bfstore.EINVAL, path)
	_, err = bfstore.Build(path, bfstore.Strings(nil), bfstore.Options{Replace: true})
	refused(t, err, bfstore.EINVAL, "no key")
	equal(t, len(must[[]os.DirEntry](t)(os.ReadDir(filepath.Dir(path)))), 1)
}

// A list is copied for one call of the library; the other forms are read in place.
func TestBuildTakesKeysInEveryForm(t *testing.T) {
	const count = 20_000
	digester := create(t, bfstore.Options{Seed: bfstore.SeedOf(5)})
	forms := everyForm(digester, t, count)
	for name, keys := range forms {
		path := somewhere(t)
		built := closing(t, must[*bfstore.Filter](t)(bfstore.Build(path, keys, bfstore.Options{Seed: bfstore.SeedOf(5), Threads: 2})))
		equal(t, len(must[[]uint32](t)(built.SelectKeys(forms["fixed"], nil))), count, name)
		equal(t, must[bfstore.Statistics](t)(built.Stats(bfstore.StatsOptions{})).Capacity, count, name)
		_, err := built.AddString("more")
		refused(t, err, bfstore.EREADONLY)
		_, err = bfstore.Build(path, keys, bfstore.Options{})
		refused(t, err, bfstore.EEXIST, path)
	}
	empty := closing(t, must[*bfstore.Filter](t)(bfstore.Build(somewhere(t), bfstore.Strings(nil), bfstore.Options{})))
	equal(t, has(t, empty, ""), false)
	nulls := bfstore.Strings([]string{"a", "b"}).WithValidity([]byte{1}, 0)
	half := closing(t, must[*bfstore.Filter](t)(bfstore.Build(somewhere(t), nulls, bfstore.Options{FPR: 1e-6})))
	equal(t, has(t, half, "a") && !has(t, half, "b"), true)
	path := somewhere(t)
	_, err := bfstore.Build(path, nulls, bfstore.Options{Unpublished: true})
	refused(t, err, bfstore.EINVAL)
	_, err = bfstore.Build(path, nulls, bfstore.Options{Hash: bfstore.External})
	refused(t, err, bfstore.EDIGESTONLY, path)
	equal(t, names(t, filepath.Dir(path)), "")
}

func TestOpenOrCreateMakesAFileOnceAndThenOpensIt(t *testing.T) {
	path := somewhere(t)
	options := bfstore.Options{Capacity: 100, Seed: bfstore.SeedOf(5)}
	either := func() bool {
		filter, created, err := bfstore.OpenOrCreate(path, options)
		ok(t, err)
		defer closing(t, filter)
		fresh := must[bool](t)(filter.AddString("a"))
		equal(t, fresh, created)
		return created
	}
	equal(t, either(), true)
	equal(t, either(), false)
	equal(t, has(t, open(t, path), "a"), true)
	options.Capacity = 1_000_000 // its size may be another one: the file stays
	equal(t, either(), false)
	equal(t, must[bfstore.Statistics](t)(open(t, path).Stats(bfstore.StatsOptions{})).Capacity, 100)

	for code, other := range map[bfstore.Code]bfstore.Options{
		bfstore.EMISMATCH: {Capacity: 100, Seed: bfstore.SeedOf(6)},
		bfstore.ESECRET:   {Capacity: 100, Hash: bfstore.SipHash, Secret: make([]byte, 16)},
		bfstore.EINVAL:    {Capacity: 100, Replace: true},
	} {
		filter, created, err := bfstore.OpenOrCreate(path, other)
		equal(t, filter == nil && !created, true)
		if code == bfstore.ESECRET && errors.Is(err, bfstore.EMISMATCH) {
			continue // the hash is another one, too
		}
		refused(t, err, code)
	}
	text := filepath.Join(t.TempDir(), "text")
	ok(t, os.WriteFile(text, make([]byte, 99999), 0o600))
	_, _, err := bfstore.OpenOrCreate(text, options)
	refused(t, err, bfstore.EMALFORMED, text)
	equal(t, must[fs.FileInfo](t)(os.Lstat(text)).Size(), 99999)
	_, _, err = bfstore.OpenOrCreate(filepath.Join(t.TempDir(), "no folder", "users.bf"), options)
	equal(t, errors.Is(err, fs.ErrNotExist), true, err)
}

func TestOpenOrCreateAsTheOnlyWriter(t *testing.T) {
	path := somewhere(t)
	options := bfstore.Options{Capacity: 100, Exclusive: true, LockTimeout: bfstore.NoWait}
	filter, created, err := bfstore.OpenOrCreate(path, options)
	ok(t, err)
	equal(t, created, true)
	_, _, err = bfstore.OpenOrCreate(path, options)
	refused(t, err, bfstore.EBUSY)
	ok(t, filter.Close())
}

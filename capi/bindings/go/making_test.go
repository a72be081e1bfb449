// The ways to get a file: build it of keys, open it or make it, replace it.

package bfstore_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
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

// builtOnce are the options of a static filter that has no bytes by chance.
func builtOnce() bfstore.Options {
	return bfstore.Options{Layout: bfstore.Static, Seed: bfstore.SeedOf(1), FileID: [16]byte{1}}
}

func TestAStaticFilterHasTheSameBytesForOneSetOfKeys(t *testing.T) {
	const count = 5000
	folder := t.TempDir()
	keys := make([]string, count)
	absent := make([]string, count)
	for i := range keys {
		keys[i], absent[i] = strconv.Itoa(i), "no "+strconv.Itoa(i)
	}
	twice := append(append([]string{}, keys[1000:]...), keys...)
	sized := builtOnce()
	sized.Capacity, sized.Threads = count, 2
	unpublished := builtOnce()
	unpublished.Unpublished = true
	made := createAt(t, filepath.Join(folder, "unpublished"), unpublished)
	equal(t, must[int](t)(made.AddKeys(bfstore.Strings(twice))), 0)
	ok(t, made.Publish())
	digests := must[[]uint64](t)(made.DigestKeys(bfstore.Strings(twice), nil))
	filters := map[string]*bfstore.Filter{"unpublished": made}
	for name, one := range map[string]struct {
		keys    bfstore.Keys
		options bfstore.Options
	}{
		"keys":    {bfstore.Strings(keys), builtOnce()},
		"twice":   {bfstore.Strings(twice), builtOnce()},
		"sized":   {bfstore.Strings(twice), sized},
		"digests": {bfstore.Digests(digests), builtOnce()},
	} {
		filters[name] = closing(t, must[*bfstore.Filter](t)(bfstore.Build(filepath.Join(folder, name), one.keys, one.options)))
	}
	for name, filter := range filters {
		facts := must[bfstore.Statistics](t)(filter.Stats(bfstore.StatsOptions{}))
		equal(t, facts.Layout == bfstore.Static && facts.Capacity == count && facts.KeysAdded == count, true, name, facts)
		ok(t, filter.Health())
		equal(t, len(must[[]uint32](t)(filter.SelectKeys(bfstore.Strings(keys), nil))), count, name)
		equal(t, len(must[[]uint32](t)(filter.SelectKeys(bfstore.Strings(absent), nil))) < count/50, true, name)
		_, err := filter.AddString("late")
		refused(t, err, bfstore.ESEALED)
		equal(t, bytes.Equal(read(t, filepath.Join(folder, name)), read(t, filepath.Join(folder, "keys"))), true, name)
	}
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	return must[[]byte](t)(os.ReadFile(path))
}

func TestAStaticFilterOfNoKeyOrOfTooMany(t *testing.T) {
	path := somewhere(t)
	small := builtOnce()
	small.Capacity = 2
	_, err := bfstore.Build(path, bfstore.Strings([]string{"a", "b", "c"}), small)
	refused(t, err, bfstore.EFULL, "3 keys, and its capacity is 2")
	equal(t, names(t, filepath.Dir(path)), "")
	empty := closing(t, must[*bfstore.Filter](t)(bfstore.Build(path, bfstore.Strings(nil), builtOnce())))
	equal(t, has(t, empty, "a"), false)
	like := closing(t, must[*bfstore.Filter](t)(bfstore.Build(path+".like", bfstore.Strings([]string{"a", "b", "c"}), bfstore.Options{Like: path})))
	facts := must[bfstore.Statistics](t)(like.Stats(bfstore.StatsOptions{}))
	equal(t, facts.Layout == bfstore.Static && facts.Capacity == 3 && has(t, like, "c"), true, facts)
	for _, options := range []bfstore.Options{builtOnce(), small, {Like: path}} {
		options.Replace = true
		_, err = bfstore.Build(path, bfstore.Strings(nil), options)
		refused(t, err, bfstore.EINVAL, "no key was given", "remove the file first")
	}
}

func TestAStaticFilterThatIsNotPublishedGathersKeys(t *testing.T) {
	path := somewhere(t)
	options := builtOnce()
	_, err := bfstore.Create(path, options)
	refused(t, err, bfstore.EUNSUPPORTED)
	options.Unpublished = true
	made := createAt(t, path, options)
	equal(t, must[bool](t)(made.AddString("a")), false)
	equal(t, must[int](t)(made.AddKeys(bfstore.Strings([]string{"b", "c", "a"}))), 0)
	equal(t, has(t, made, "never"), true)
	refused(t, made.Health(), bfstore.EFILLING)
	other := create(t, bfstore.Options{})
	_, current := made.IsCurrent()
	_, removed := made.Remove([]byte("a"))
	_, counted := made.Count([]byte("a"))
	for _, err := range []error{made.Sync(), made.SyncMark(bfstore.Mark{Owner: 1, Mark: 5}), made.Supersede(), current, made.FinishFilling(),
		removed, counted, made.Merge(other)} {
		refused(t, err, bfstore.EUNSUPPORTED)
	}
	_, dumped := made.Dump(bfstore.DumpOptions{})
	for _, err := range []error{dumped, made.Copy(path+" copy", bfstore.CopyOptions{}), other.Merge(made)} {
		refused(t, err, bfstore.EFILLING, "Publish it first")
	}
	equal(t, names(t, filepath.Dir(path)), "")
	ok(t, made.Publish())
	equal(t, has(t, made, "a") && has(t, made, "b") && has(t, made, "c") && !has(t, made, "never"), true)
	equal(t, must[bool](t)(made.IsCurrent()), true)
	equal(t, must[bfstore.Statistics](t)(made.Stats(bfstore.StatsOptions{})).Capacity, 3)
	_, added := made.AddString("late")
	refused(t, added, bfstore.ESEALED, "sealed")
	_, removed = made.Remove([]byte("a"))
	refused(t, removed, bfstore.EUNSUPPORTED, "layout")
	refused(t, made.Supersede(), bfstore.EUNSUPPORTED, "Build another one")
	refused(t, made.SyncMark(bfstore.Mark{Owner: 1, Mark: 5}), bfstore.EREADONLY, "reading")
	refused(t, made.Publish(), bfstore.EINVAL, "published already")
	_, err = bfstore.Open(path, bfstore.OpenOptions{Write: true})
	refused(t, err, bfstore.ESEALED, "build another one")
	ok(t, made.Copy(path+" copy", bfstore.CopyOptions{}))
	equal(t, len(must[[]bfstore.Range](t)(bfstore.Verify(path+" copy", bfstore.VerifyOptions{}))), 0)
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

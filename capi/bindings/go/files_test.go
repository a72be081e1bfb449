// Every function at least once, in its typical use.

package bfstore_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"bfstore.example/bfstore"
)

func TestLayoutsAndHashesHaveNames(t *testing.T) {
	equal(t, [3]string{bfstore.Counting.String(), bfstore.Layout(0).String(), bfstore.Layout(1<<16 + 1).String()}, [3]string{"counting", "0", "65537"})
	equal(t, [2]string{bfstore.JavaPolynomial.String(), bfstore.Hash(1<<32 - 1).String()}, [2]string{"java-polynomial", "4294967295"})
}

func TestWhatAFilterIsMadeWith(t *testing.T) {
	path := somewhere(t)
	id := [16]byte{1, 2, 3}
	filter := createAt(t, path, bfstore.Options{NumBits: 1024, NumProbes: 3, Seed: bfstore.SeedOf(7), Note: []byte("my\x00own"),
		FileID: id, Mode: 0o640, LockTimeout: time.Microsecond, WritebackCheck: bfstore.EachAdd})
	facts := must[bfstore.Statistics](t)(filter.Stats(bfstore.StatsOptions{Fill: true, Memory: true}))
	equal(t, facts.Layout, bfstore.Blocked)
	equal(t, facts.Hash.String(), "xxh3")
	equal(t, [4]uint64{facts.NumBits, uint64(facts.NumProbes), facts.Seed, facts.BodyBytes}, [4]uint64{1024, 3, 7, 128})
	equal(t, facts.FileID, id)
	equal(t, facts.Health, 0)
	equal(t, *facts.Fill, bfstore.Fill{EstimatedKeys: facts.Fill.EstimatedKeys})
	equal(t, facts.Memory != nil && facts.ISA != "", true)
	equal(t, string(facts.Note), "my\x00own")
	equal(t, [2]uint32{facts.Part, facts.NumParts}, [2]uint32{0, 1})
	equal(t, must[fs.FileInfo](t)(os.Lstat(path)).Mode(), 0o640)
	like := create(t, bfstore.Options{Like: path})
	again := must[bfstore.Statistics](t)(like.Stats(bfstore.StatsOptions{}))
	equal(t, [2]uint64{again.NumBits, again.Seed}, [2]uint64{1024, 7})
	equal(t, again.Fill == nil && again.Memory == nil && again.FileID != id, true)
	listed := create(t, bfstore.Options{Hash: bfstore.Murmur3, NumBits: 5000, Seeds: []uint32{5, 9, 11}})
	equal(t, fmt.Sprint(must[bfstore.Statistics](t)(listed.Stats(bfstore.StatsOptions{})).Seeds), "[5 9 11]")
	equal(t, len(facts.Seeds)+len(again.Note), 0)
	most := create(t, bfstore.Options{CapacityAtMost: 10000})
	equal(t, must[uint64](t)(most.Capacity()), 10000)
	ok(t, most.Copy(most.Name()+" folded", bfstore.CopyOptions{FPR: 0.01}))
	folded := open(t, most.Name()+" folded", bfstore.OpenOptions{})
	equal(t, must[bfstore.Statistics](t)(folded.Stats(bfstore.StatsOptions{})).NumBits, 512)
}

func TestASecret(t *testing.T) {
	secret := []byte("sixteen bytes!!!")
	filter := create(t, bfstore.Options{Hash: bfstore.SipHash, Secret: secret})
	must[bool](t)(filter.AddString("a"))
	equal(t, has(t, open(t, filter.Name(), bfstore.OpenOptions{Secret: secret}), "a"), true)
	for _, wrong := range [][]byte{nil, []byte("another secret!!")} {
		_, err := bfstore.Open(filter.Name(), bfstore.OpenOptions{Secret: wrong})
		refused(t, err, bfstore.ESECRET)
	}
}

func TestMarksAndRecovery(t *testing.T) {
	filter := create(t, bfstore.Options{})
	must[bool](t)(filter.AddString("a"))
	ok(t, filter.SyncMark(bfstore.Mark{Owner: 3, Epoch: 8, Mark: 42}))
	equal(t, filter.GetMark(3, 8), 42)
	equal(t, filter.GetMark(3, 9), 0)
	equal(t, must[[]bfstore.Mark](t)(filter.ListMarks())[0], bfstore.Mark{Owner: 3, Mark: 42, Epoch: 8})
	ok(t, filter.SyncMark(bfstore.Mark{Owner: 4, Epoch: 1, Mark: 1}))
	refused(t, filter.SyncMark(bfstore.Mark{Owner: 4, Epoch: 1, Mark: 2, Recovered: true}), bfstore.EINVAL)
	equal(t, filter.GetMark(4, 1), 1)
	ok(t, filter.DropOwner(4))
	ok(t, filter.Sync())
	copied := filter.Name() + ".copy" // a copy of a file in use is unclean
	ok(t, os.WriteFile(copied, must[[]byte](t)(os.ReadFile(filter.Name())), 0o600))
	_, err := bfstore.Open(copied)
	refused(t, err, bfstore.EUNCLEAN, copied)
	recovering := open(t, copied, bfstore.OpenOptions{Write: true, Recover: true})
	equal(t, has(t, recovering, "never"), true)
	refused(t, recovering.Health(), bfstore.ERECOVERING)
	must[bool](t)(recovering.AddString("b"))
	equal(t, must[bool](t)(recovering.FinishRecovery(3)), true)
	equal(t, [3]bool{has(t, recovering, "a"), has(t, recovering, "b"), has(t, recovering, "never")}, [3]bool{true, true, false})
}

func TestFilling(t *testing.T) {
	filter := create(t, bfstore.Options{Filling: true})
	equal(t, has(t, filter, "never"), true)
	refused(t, filter.Health(), bfstore.EFILLING)
	ok(t, filter.FinishFilling())
	equal(t, has(t, filter, "never"), false)
}

func TestADeltaMakesTheLaterFile(t *testing.T) {
	filter := create(t, bfstore.Options{NumBits: 1 << 16, NumProbes: 5})
	must[bool](t)(filter.AddString("a"))
	before, after, delta, made := filter.Name()+".before", filter.Name()+".after", filter.Name()+".delta", filter.Name()+".made"
	ok(t, filter.Copy(before, bfstore.CopyOptions{Sealed: true}))
	must[bool](t)(filter.AddString("b"))
	ok(t, filter.Copy(after, bfstore.CopyOptions{Sealed: true}))
	ok(t, filter.Close())
	refused(t, bfstore.MakeDelta(after, before, delta, bfstore.CopyOptions{}), bfstore.EMISMATCH)
	ok(t, bfstore.MakeDelta(before, after, delta, bfstore.CopyOptions{Mode: 0o644}))
	refused(t, bfstore.MakeDelta(before, after, delta, bfstore.CopyOptions{}), bfstore.EEXIST)
	ok(t, bfstore.ApplyDelta(before, delta, made, bfstore.CopyOptions{}))
	equal(t, string(must[[]byte](t)(os.ReadFile(made))), string(must[[]byte](t)(os.ReadFile(after))))
	ok(t, bfstore.ApplyDelta(before, delta, before, bfstore.CopyOptions{Replace: true}))
	refused(t, bfstore.ApplyDelta(before, delta, made, bfstore.CopyOptions{Replace: true}), bfstore.EMISMATCH)
	refused(t, bfstore.ApplyDelta(after, delta, made, bfstore.CopyOptions{Filling: true}), bfstore.EINVAL)
}

func TestSealAndVerify(t *testing.T) {
	filter := create(t, bfstore.Options{NumBits: 1 << 23, NumProbes: 5})
	must[bool](t)(filter.AddString("a"))
	_, err := bfstore.Verify(filter.Name(), bfstore.VerifyOptions{})
	refused(t, err, bfstore.ENOTSEALED)
	sealed := filter.Name() + ".sealed"
	ok(t, filter.Copy(sealed, bfstore.CopyOptions{Sealed: true, Mode: 0o600}))
	ok(t, filter.Close())
	equal(t, len(must[[]bfstore.Range](t)(bfstore.Verify(sealed, bfstore.VerifyOptions{NoFollow: true}))), 0)
	_, err = bfstore.Open(sealed, bfstore.OpenOptions{Write: true})
	refused(t, err, bfstore.ESEALED)
	file := must[*os.File](t)(os.OpenFile(sealed, os.O_RDWR, 0))
	must[int](t)(file.WriteAt([]byte{0xff}, 1<<20))
	ok(t, file.Close())
	damaged := must[[]bfstore.Range](t)(bfstore.Verify(sealed, bfstore.VerifyOptions{}))
	equal(t, len(damaged) == 1 && damaged[0].Offset <= 1<<20 && damaged[0].Bytes == 65536, true, damaged)
	_, err = bfstore.Open(sealed, bfstore.OpenOptions{Verify: true})
	refused(t, err, bfstore.EDAMAGED)
	equal(t, has(t, open(t, sealed, bfstore.OpenOptions{TolerateDamage: true}), "a"), true)
	source := open(t, filter.Name()) // is replaced by its own sealed copy
	ok(t, source.Copy(filter.Name(), bfstore.CopyOptions{Sealed: true, Replace: true}))
	refused(t, source.Health(), bfstore.ESUPERSEDED)
	equal(t, len(must[[]bfstore.Range](t)(bfstore.Verify(filter.Name(), bfstore.VerifyOptions{}))), 0)
	equal(t, has(t, open(t, filter.Name()), "a"), true)
}

func TestSets(t *testing.T) {
	one := create(t, bfstore.Options{Seed: bfstore.SeedOf(5)})
	two := create(t, bfstore.Options{Seed: bfstore.SeedOf(5)})
	for i := uint64(0); i < 3000; i++ {
		must[bool](t)(one.AddInteger(i))
		must[bool](t)(two.AddInteger(i + 1000))
	}
	compared := must[bfstore.Comparison](t)(one.Compare(two))
	equal(t, compared.Comparable && compared.SomeInBoth && !compared.Equal && !compared.AInB && compared.Differs == 0, true)
	if both := compared.KeysBoth; both.Low > 2000 || both.High < 2000 || both.Estimate < 1800 {
		t.Fatal(both)
	}
	path := somewhere(t)
	ok(t, bfstore.Intersect([]*bfstore.Filter{one, two}, path, bfstore.CopyOptions{}))
	common := open(t, path)
	for i := uint64(1000); i < 3000; i++ {
		equal(t, must[bool](t)(common.ContainsInteger(i)), true)
	}
	ok(t, one.Merge(two))
	equal(t, must[bool](t)(one.ContainsInteger(3999)), true)
	equal(t, must[bfstore.Comparison](t)(two.Compare(one)).AInB, true)
	refused(t, one.Merge(create(t, bfstore.Options{Seed: bfstore.SeedOf(6)})), bfstore.EMISMATCH)
	_, err := os.Lstat(path + "x")
	equal(t, errors.Is(err, fs.ErrNotExist), true)
	refused(t, bfstore.Intersect(nil, path+"x", bfstore.CopyOptions{}), bfstore.EINVAL)
}

func TestCopies(t *testing.T) {
	filter := create(t, bfstore.Options{Capacity: 100_000})
	must[int](t)(filter.AddKeys(bfstore.Strings([]string{"a", "b"})))
	path := somewhere(t)
	ok(t, filter.Copy(path, bfstore.CopyOptions{FPR: 0.01}))
	saved := open(t, path)
	equal(t, has(t, saved, "a") && has(t, saved, "b"), true)
	small := must[bfstore.Statistics](t)(saved.Stats(bfstore.StatsOptions{})).BodyBytes
	equal(t, small < must[bfstore.Statistics](t)(filter.Stats(bfstore.StatsOptions{})).BodyBytes, true)
	refused(t, filter.Copy(path, bfstore.CopyOptions{}), bfstore.EEXIST)
	ok(t, filter.Copy(path, bfstore.CopyOptions{Replace: true, SameFileID: true}))

	data := must[[]byte](t)(filter.Dump(bfstore.DumpOptions{}))
	loaded := closing(t, must[*bfstore.Filter](t)(bfstore.Load(data, bfstore.OpenOptions{Write: true})))
	data[20000]++ // the bytes were copied
	equal(t, has(t, loaded, "a") && must[bool](t)(loaded.AddString("c")), true)
	whole := closing(t, must[*bfstore.Filter](t)(bfstore.Load(must[[]byte](t)(os.ReadFile(path)))))
	equal(t, has(t, whole, "b") && !has(t, whole, "zoe"), true)

	embedded := filepath.Join(t.TempDir(), "in another file")
	ok(t, os.WriteFile(embedded, append(make([]byte, 128), must[[]byte](t)(filter.Dump(bfstore.DumpOptions{}))...), 0o600))
	inside := open(t, embedded, bfstore.OpenOptions{Range: &bfstore.Range{Offset: 128}})
	equal(t, has(t, inside, "a") && !has(t, inside, "zoe"), true)
	_, err := bfstore.Open(embedded, bfstore.OpenOptions{Range: &bfstore.Range{Offset: 1}})
	refused(t, err, bfstore.EINVAL)
}

func TestBuffers(t *testing.T) {
	options := bfstore.Options{Capacity: 1000, Seed: bfstore.SeedOf(1)}
	size := must[uint64](t)(bfstore.RequiredBytes(options))
	memory := must[[]byte](t)(syscall.Mmap(-1, 0, int(size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE))
	made := must[*bfstore.Filter](t)(bfstore.Format(memory, options))
	must[bool](t)(made.AddString("a"))
	ok(t, made.Close())
	wrapped := must[*bfstore.Filter](t)(bfstore.Wrap(memory))
	equal(t, has(t, wrapped, "a") && !has(t, wrapped, "b"), true)
	_, err := wrapped.AddString("b")
	refused(t, err, bfstore.EREADONLY)
	refused(t, wrapped.Shut(), bfstore.EINVAL)
	ok(t, wrapped.Close())
	writing := must[*bfstore.Filter](t)(bfstore.Wrap(memory, bfstore.OpenOptions{Write: true}))
	equal(t, must[bool](t)(writing.AddString("b")), true)
	ok(t, writing.Close())
	_, err = bfstore.Wrap(memory[8:])
	refused(t, err, bfstore.EINVAL)
	ok(t, syscall.Munmap(memory))
}

func TestBareFilters(t *testing.T) {
	keys := bfstore.Strings([]string{"a", "b"})
	size := bfstore.BareBytes(2, 12, bfstore.Blocked)
	equal(t, size, 72)
	data := must[[]byte](t)(bfstore.BareBuild(size, keys, bfstore.Blocked, 0))
	equal(t, bfstore.BareContains(data, []byte("a")) && bfstore.BareContainsString(data, "b") && !bfstore.BareContainsString(data, "c"), true)
	loaded := closing(t, must[*bfstore.Filter](t)(bfstore.Load(data, bfstore.OpenOptions{Bare: true})))
	digests := must[[]uint64](t)(loaded.DigestKeys(keys, nil))
	again := must[[]byte](t)(bfstore.BareBuild(size, bfstore.Digests(digests), bfstore.Blocked, bfstore.XXH3))
	equal(t, bytes.Equal(again, data), true)
	equal(t, bytes.Equal(must[[]byte](t)(loaded.Dump(bfstore.DumpOptions{Bare: true})), data), true)
	equal(t, bfstore.BareContainsDigest(data, digests[0]), true)
	equal(t, bfstore.BareContainsString(nil, "c") && bfstore.BareContainsString(data[1:], "c"), true)
	for _, wrong := range []uint64{0, 71, 1 << 60} {
		_, err := bfstore.BareBuild(wrong, keys, bfstore.Blocked, 0)
		refused(t, err, bfstore.EINVAL)
		_, err = bfstore.BareBuild(wrong, bfstore.Digests(digests), bfstore.Blocked, bfstore.External)
		refused(t, err, bfstore.EINVAL)
	}
}

func TestBitsOfOtherPrograms(t *testing.T) {
	options := bfstore.Options{Hash: bfstore.Murmur3, NumBits: 1001, NumProbes: 2}
	filter, other := create(t, options), create(t, options)
	must[bool](t)(filter.AddString("foo"))
	for _, order := range []bfstore.Order{bfstore.LittleBits, bfstore.BigBits} {
		bits := must[[]byte](t)(filter.ExportBits(order))
		equal(t, len(bits), 126)
		ok(t, other.ImportBits(bits, order))
		equal(t, bytes.Equal(must[[]byte](t)(other.ExportBits(order)), bits), true)
		refused(t, other.ImportBits(bits[1:], order), bfstore.EINVAL)
	}
	equal(t, has(t, other, "foo") && !has(t, other, "bar"), true)
}

// jaybird is BloomFilter(10, 0.001) of pybloom-live 3.1.0 with the keys "alice", "bob" and "caf\u00e9".
const jaybird = "fca9f1d24d62503f0a000000000000000f000000000000000a000000000000000300000000000000" +
	"80c21002480200179018000904114892002200"

func names(t *testing.T, folder string) string {
	var found []string
	for _, entry := range must[[]fs.DirEntry](t)(os.ReadDir(folder)) {
		found = append(found, entry.Name())
	}
	return strings.Join(found, " ")
}

func TestAFileOfPythonBloomfilterBecomesAFilterAndComesBack(t *testing.T) {
	data := must[[]byte](t)(hex.DecodeString(jaybird))
	form, folder := bfstore.ForeignForm{Format: "jaybird", Name: "words.jay"}, t.TempDir()
	told := must[bfstore.Foreign](t)(bfstore.InspectForeign(data[:40], form))
	equal(t, *told.Keys, 3)
	told.Keys = nil
	equal(t, told, bfstore.Foreign{Layout: bfstore.Classic, Hash: bfstore.Jaybird, NumProbes: 10, NumBits: 150, Capacity: 10, FPR: 0.001, Bytes: 59, Filters: 1})
	made := closing(t, must[*bfstore.Filter](t)(bfstore.ImportForeign(filepath.Join(folder, "filter.bf"), data, form, bfstore.Options{})))
	equal(t, [4]bool{has(t, made, "alice"), has(t, made, "bob"), has(t, made, "caf\u00e9"), has(t, made, "carol")}, [4]bool{true, true, true, false})
	equal(t, bytes.Equal(must[[]byte](t)(made.ExportForeign(form)), data), true)
	_, err := made.AddString("carol")
	refused(t, err, bfstore.EREADONLY)
	_, err = bfstore.ImportForeign(filepath.Join(folder, "other"), data[:58], form, bfstore.Options{})
	refused(t, err, bfstore.EMALFORMED, "words.jay: has 58 bytes")
	equal(t, names(t, folder), "filter.bf")
}

func TestAPlainArrayNeedsTheCallersWord(t *testing.T) {
	formats := " " + strings.Join(bfstore.ForeignFormats(), " ") + " "
	equal(t, strings.Contains(formats, " raw ") && strings.Contains(formats, " jaybird "), true)
	raw := func(order bfstore.Order) bfstore.ForeignForm { return bfstore.ForeignForm{Format: "raw", Order: order} }
	big, bits, folder := raw(bfstore.BigBits), make([]byte, 16), t.TempDir()
	bits[3] = 0x80
	told := must[bfstore.Foreign](t)(bfstore.InspectForeign(bits, raw(0)))
	equal(t, told, bfstore.Foreign{Needs: bfstore.NeedsSize | bfstore.NeedsOrder | bfstore.NeedsHash, Layout: bfstore.Classic, Filters: 1})
	options := bfstore.Options{Hash: bfstore.Murmur3, NumBits: 124, NumProbes: 4, Unpublished: true}
	told = must[bfstore.Foreign](t)(bfstore.InspectForeign(nil, big, options))
	equal(t, told.NumBits == 124 && told.Hash == bfstore.Murmur3 && told.Bytes == 16 && told.Keys == nil, true)

	path := filepath.Join(folder, "filter.bf")
	without, other := options, options
	without.Hash, other.NumBits = 0, 132
	for _, wrong := range []struct {
		form    bfstore.ForeignForm
		options bfstore.Options
	}{{big, without}, {big, bfstore.Options{}}, {big, other}, {raw(0), options}, {raw(3), options},
		{bfstore.ForeignForm{Format: "pickle", Order: bfstore.BigBits}, options},
		{bfstore.ForeignForm{Format: "raw\x00", Order: bfstore.BigBits}, options},
		{bfstore.ForeignForm{Format: "raw", Order: bfstore.BigBits, Name: "a\x00"}, options}, {bfstore.ForeignForm{}, options}} {
		_, err := bfstore.ImportForeign(path, bits, wrong.form, wrong.options)
		refused(t, err, bfstore.EINVAL)
	}
	_, err := bfstore.InspectForeign(bits, big, without)
	refused(t, err, bfstore.EINVAL)

	made := closing(t, must[*bfstore.Filter](t)(bfstore.ImportForeign(path, bits, big, options)))
	equal(t, bytes.Equal(must[[]byte](t)(made.ExportForeign(big)), bits), true)
	equal(t, must[bool](t)(made.AddString("key")), true)
	equal(t, names(t, folder), "")
	ok(t, made.Publish())
	equal(t, names(t, folder), "filter.bf")
	for _, order := range []bfstore.Order{bfstore.LittleBits, bfstore.BigBits} {
		equal(t, bytes.Equal(must[[]byte](t)(made.ExportForeign(raw(order))), must[[]byte](t)(made.ExportBits(order))), true)
	}
	for _, wrong := range []bfstore.ForeignForm{raw(0), {Format: "jaybird", Order: bfstore.BigBits}, {Format: "raw\x00"}} {
		_, err := made.ExportForeign(wrong)
		refused(t, err, bfstore.EINVAL)
	}
	_, err = made.ExportForeign(bfstore.ForeignForm{Format: "jaybird"})
	refused(t, err, bfstore.EUNSUPPORTED)
}

// foreign writes a file of another program.
func foreign(t *testing.T, data []byte) string {
	path := filepath.Join(t.TempDir(), "foreign")
	ok(t, os.WriteFile(path, data, 0o600))
	return path
}

func TestAFileOfAnotherProgramIsAskedInPlace(t *testing.T) {
	data, form := must[[]byte](t)(hex.DecodeString(jaybird)), bfstore.ForeignForm{Format: "jaybird"}
	path := foreign(t, data)
	equal(t, strings.Join(must[[]string](t)(bfstore.RecognizeForeign(path)), " "), "jaybird")
	equal(t, len(must[[]string](t)(bfstore.RecognizeForeign(foreign(t, []byte("no filter")), bfstore.RecognizeOptions{AnyFilesystem: true}))), 0)
	private := closing(t, must[*bfstore.Filter](t)(bfstore.OpenForeign(path, form, bfstore.Options{Private: true})))
	file := must[*os.File](t)(os.Open(path))
	byFile := closing(t, must[*bfstore.Filter](t)(bfstore.OpenForeignFile(file, form, bfstore.Options{})))
	ok(t, file.Close())
	options := bfstore.Options{Populate: true, Random: true, Guard: true, AnyFilesystem: true}
	shared := closing(t, must[*bfstore.Filter](t)(bfstore.OpenForeign(path, form, options)))
	for _, filter := range []*bfstore.Filter{private, byFile, shared} {
		equal(t, [4]bool{has(t, filter, "alice"), has(t, filter, "bob"), has(t, filter, "caf\u00e9"), has(t, filter, "carol")}, [4]bool{true, true, true, false})
		_, err := filter.AddString("carol")
		refused(t, err, bfstore.EREADONLY, path)
	}
	ok(t, os.WriteFile(path, make([]byte, len(data)), 0o600))
	equal(t, has(t, shared, "carol") && !has(t, private, "carol"), true)
	refused(t, shared.Health(), bfstore.ELOST)
	ok(t, private.Health())
	_, err := bfstore.OpenForeignFile(file, form, bfstore.Options{})
	refused(t, err, bfstore.EINVAL, "closed")
}

func TestAPlainArrayIsAskedInPlace(t *testing.T) {
	path, form := foreign(t, make([]byte, 16)), bfstore.ForeignForm{Format: "raw", Order: bfstore.BigBits}
	equal(t, len(must[[]string](t)(bfstore.RecognizeForeign(path))), 0)
	options := bfstore.Options{Hash: bfstore.Murmur3, NumBits: 124, NumProbes: 4}
	opened := closing(t, must[*bfstore.Filter](t)(bfstore.OpenForeign(path, form, options)))
	equal(t, has(t, opened, "key"), false)
	equal(t, must[bfstore.Statistics](t)(opened.Stats(bfstore.StatsOptions{})).NumBits, 124)

	without, other, making, link := options, options, options, path+"link"
	without.Hash, other.NumBits, making.Replace = 0, 132, true
	for words, wrong := range map[string]bfstore.Options{"hash": without, "132": other, "Replace": making, "NUL": {Like: "a\x00"}} {
		_, err := bfstore.OpenForeign(path, form, wrong)
		refused(t, err, bfstore.EINVAL, words)
	}
	ok(t, os.Symlink(path, link))
	closing(t, must[*bfstore.Filter](t)(bfstore.OpenForeign(link, form, options)))
	options.NoFollow = true
	_, err := bfstore.OpenForeign(link, form, options)
	refused(t, err, bfstore.ESYMLINK, link)
	_, err = bfstore.RecognizeForeign(link, bfstore.RecognizeOptions{NoFollow: true})
	refused(t, err, bfstore.ESYMLINK, link)
	_, err = bfstore.OpenForeign(path+"none", form, options)
	refused(t, err, bfstore.ENOENT)
	_, err = bfstore.RecognizeForeign(path + "none")
	refused(t, err, bfstore.ENOENT)
	_, err = bfstore.RecognizeForeign(path, bfstore.RecognizeOptions{}, bfstore.RecognizeOptions{})
	refused(t, err, bfstore.EINVAL)
}

func TestOneFilterOfAFileAndAColumnAreNamed(t *testing.T) {
	data, folder := must[[]byte](t)(hex.DecodeString(jaybird)), t.TempDir()
	path := foreign(t, data)
	for _, row := range []struct {
		form  bfstore.ForeignForm
		words string
	}{{bfstore.ForeignForm{Format: "jaybird", Column: "id"}, "no columns"}, {bfstore.ForeignForm{Format: "jaybird", Member: 2}, "no number 2"},
		{bfstore.ForeignForm{Format: "jaybird", Column: "a\x00"}, "NUL"}, {bfstore.ForeignForm{Format: "jaybird", Member: -1}, "-1"},
		{bfstore.ForeignForm{Format: "jaybird", Member: 1 << 32}, "4294967296"}} {
		_, err := bfstore.OpenForeign(path, row.form, bfstore.Options{})
		refused(t, err, bfstore.EINVAL, row.words)
		_, err = bfstore.ImportForeign(filepath.Join(folder, "filter.bf"), data, row.form, bfstore.Options{})
		refused(t, err, bfstore.EINVAL, row.words)
	}
	equal(t, names(t, folder), "")
	_, err := bfstore.InspectForeign(data, bfstore.ForeignForm{Format: "jaybird", Column: "id"})
	refused(t, err, bfstore.EINVAL, "no columns")
	one := closing(t, must[*bfstore.Filter](t)(bfstore.OpenForeign(path, bfstore.ForeignForm{Format: "jaybird", Member: 1}, bfstore.Options{})))
	equal(t, has(t, one, "alice"), true)
}

func TestSeveralFiltersAreAskedAtOnce(t *testing.T) {
	var filters []*bfstore.Filter
	for i := uint64(0); i < 100; i++ {
		one := create(t, bfstore.Options{Seed: bfstore.SeedOf(i % 2)})
		must[int](t)(one.AddKeys(bfstore.Strings([]string{fmt.Sprint(i), "every"})))
		if i == 70 {
			path := foreign(t, must[[]byte](t)(hex.DecodeString(jaybird)))
			filters = append(filters, closing(t, must[*bfstore.Filter](t)(bfstore.OpenForeign(path, bfstore.ForeignForm{Format: "jaybird"}, bfstore.Options{}))))
		}
		filters = append(filters, one)
	}
	which := func(key string) string {
		numbers := must[[]int](t)(bfstore.WhichString(filters, key))
		equal(t, fmt.Sprint(must[[]int](t)(bfstore.Which(filters, []byte(key)))), fmt.Sprint(numbers))
		equal(t, must[bool](t)(bfstore.ContainsAnyString(filters, key)), len(numbers) > 0)
		equal(t, must[bool](t)(bfstore.ContainsAny(filters, []byte(key))), len(numbers) > 0)
		return strings.Trim(fmt.Sprint(numbers), "[]")
	}
	equal(t, which("alice"), "70")
	equal(t, which("absent"), "")
	equal(t, len(strings.Fields(which("every"))), 100)
	for i, number := range map[int]int{0: 0, 63: 63, 64: 64, 99: 100} {
		equal(t, strings.Contains(" "+which(fmt.Sprint(i))+" ", fmt.Sprintf(" %d ", number)), true, i)
	}
	equal(t, must[bool](t)(bfstore.ContainsAny(nil, []byte("key"))) || len(must[[]int](t)(bfstore.Which(nil, nil))) > 0, false)

	digests, closed := create(t, bfstore.Options{Hash: bfstore.External}), create(t, bfstore.Options{})
	ok(t, closed.Close())
	for code, wrong := range map[bfstore.Code]*bfstore.Filter{bfstore.EDIGESTONLY: digests, bfstore.ESHUT: closed, bfstore.EINVAL: nil} {
		maybe, err := bfstore.ContainsAnyString([]*bfstore.Filter{filters[0], wrong}, "absent")
		refused(t, err, code)
		equal(t, maybe, true)
		numbers, err := bfstore.WhichString([]*bfstore.Filter{filters[0], wrong}, "absent")
		refused(t, err, code)
		equal(t, fmt.Sprint(numbers), "[0 1]")
	}
	ok(t, filters[0].Close()) // no refused call holds it
}

func TestPlans(t *testing.T) {
	plan := must[bfstore.Plan](t)(bfstore.MakePlan(bfstore.PlanRequest{Capacity: 1_000_000, FPR: 0.01, Layout: bfstore.Classic}))
	equal(t, plan.NumProbes > 5 && plan.NumProbes < 9 && plan.FPR <= 0.01 && plan.FileBytes > plan.BodyBytes, true)
	equal(t, plan.Abilities&(bfstore.CanAdd|bfstore.CanRemove), bfstore.CanAdd)
	made := create(t, bfstore.Options{NumBits: plan.NumBits, NumProbes: plan.NumProbes, Capacity: plan.Capacity, Layout: plan.Layout})
	equal(t, uint64(must[fs.FileInfo](t)(os.Lstat(made.Name())).Size()), plan.FileBytes)
	built := must[bfstore.Plan](t)(bfstore.MakePlan(bfstore.PlanRequest{Capacity: 10_000_000, FPR: 0.01, Layout: bfstore.Static}))
	equal(t, built.Layout == bfstore.Static && built.Abilities == bfstore.CanBuild && built.BitsPerKey < 7.3, true, built)
	_, err := bfstore.MakePlan(bfstore.PlanRequest{FPR: 3})
	refused(t, err, bfstore.EINVAL)
	_, err = bfstore.MakePlan(bfstore.PlanRequest{NumProbes: -1})
	refused(t, err, bfstore.EINVAL)
}

func TestDescriptors(t *testing.T) {
	filter := create(t, bfstore.Options{})
	must[bool](t)(filter.AddString("a"))
	ok(t, filter.Close())
	file := must[*os.File](t)(os.Open(filter.Name()))
	opened := closing(t, must[*bfstore.Filter](t)(bfstore.OpenFile(file)))
	ok(t, file.Close())
	equal(t, has(t, opened, "a") && !has(t, opened, "b"), true)
	_, err := bfstore.OpenFile(file)
	refused(t, err, bfstore.EINVAL, "closed")
	_, err = bfstore.OpenFile(nil)
	refused(t, err, bfstore.EINVAL)
}

func TestThreadsOfOneBatch(t *testing.T) {
	numbers := make([]uint64, 50_000)
	for i := range numbers {
		numbers[i] = uint64(i)
	}
	made := create(t, bfstore.Options{Capacity: 100_000, Exclusive: true, Threads: 2})
	must[int](t)(made.AddKeys(bfstore.Integers(numbers)))
	ok(t, made.Close())
	filter := open(t, made.Name(), bfstore.OpenOptions{Exclusive: true, Threads: 2})
	must[int](t)(filter.AddKeys(bfstore.Integers(numbers)))
	equal(t, len(must[[]uint32](t)(filter.SelectKeys(bfstore.Integers(numbers), nil))), len(numbers))
}

func TestTheVersionHasThreeNumbers(t *testing.T) {
	equal(t, len(strings.Split(bfstore.Version(), ".")), 3)
}

func TestParts(t *testing.T) {
	folder := t.TempDir()
	options := bfstore.Options{Capacity: 100, Seed: bfstore.SeedOf(1)}
	var halves []*bfstore.Filter
	for i := uint32(0); i < 2; i++ {
		options.Part, options.NumParts = i, 2
		half, err := bfstore.Create(filepath.Join(folder, fmt.Sprint("half", i)), options)
		if err != nil {
			t.Fatal(err)
		}
		defer half.Close()
		halves = append(halves, half)
	}
	facts := must[bfstore.Statistics](t)(halves[1].Stats(bfstore.StatsOptions{}))
	equal(t, [2]uint32{facts.Part, facts.NumParts}, [2]uint32{1, 2})
	for digest := uint64(1); digest < 5; digest++ {
		if _, err := halves[digest%2].AddDigest(digest%2<<63 + digest); err != nil {
			t.Fatal(err)
		}
	}
	_, err := halves[0].AddDigest(1 << 63)
	refused(t, err, bfstore.EPART)
	whole := filepath.Join(folder, "whole")
	refused(t, bfstore.Join(halves[1:], whole, bfstore.CopyOptions{}), bfstore.EMISMATCH, "missing: 0")
	options.Part = 2
	_, err = bfstore.Create(whole, options)
	refused(t, err, bfstore.EINVAL)
	if err := bfstore.Join(halves, whole, bfstore.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(folder, "set")
	if err := os.WriteFile(list, []byte("bfstore-set 1\nhalf1\nhalf0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	set := must[*bfstore.Filter](t)(bfstore.Open(list, bfstore.OpenOptions{Guard: true}))
	all := must[*bfstore.Filter](t)(bfstore.Open(whole))
	for digest := uint64(1); digest < 100; digest++ {
		for _, half := range []uint64{0, 1 << 63} {
			equal(t, must[bool](t)(set.ContainsDigest(half+digest)), must[bool](t)(all.ContainsDigest(half+digest)))
		}
	}
	_, err = set.AddDigest(1)
	refused(t, err, bfstore.EREADONLY)
	for _, filter := range []*bfstore.Filter{set, all} {
		if err := filter.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, other := range []bfstore.OpenOptions{{Follow: true}, {Write: true}} { // a list is only read, and stays
		_, err = bfstore.Open(list, other)
		refused(t, err, bfstore.EINVAL, list)
	}
}

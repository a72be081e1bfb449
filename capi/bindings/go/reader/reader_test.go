//go:build linux

// The reader gives the library's answers, refuses files that it does not understand, and answers maybe in every doubt.

package reader

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"bfstore.example/bfstore"
	"github.com/zeebo/xxh3"
)

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

func refused(t testing.TB, err error, name string) {
	t.Helper()
	var failure *Error
	if !errors.As(err, &failure) || failure.Name != name || len(failure.Message) < 10 {
		t.Fatalf("%v, not %s", err, name)
	}
}

const present = 3000 // keys in the filters of these tests: "key 0" on

func key(number int) []byte { return []byte("key " + strconv.Itoa(number)) }

// fill makes a file with the keys of these tests, and leaves it open. Its seed is fixed: which absent keys are there is no chance.
func fill(t testing.TB, options bfstore.Options) *bfstore.Filter {
	t.Helper()
	if options.NumBits == 0 && options.Capacity == 0 {
		options.NumBits, options.NumProbes = 512*64, 5
	}
	if options.Seed == nil {
		options.Seed = bfstore.SeedOf(1)
	}
	made := must[*bfstore.Filter](t)(bfstore.Create(filepath.Join(t.TempDir(), "filter.bf"), options))
	t.Cleanup(made.Abandon)
	list := make([][]byte, present)
	for i := range list {
		list[i] = key(i)
	}
	must[int](t)(made.AddKeys(bfstore.Bytes(list)))
	return made
}

func closed(t testing.TB, options bfstore.Options) string {
	t.Helper()
	made := fill(t, options)
	ok(t, made.Close())
	return made.Name()
}

func open(t testing.TB, path string) *Filter {
	t.Helper()
	made := must[*Filter](t)(Open(path, Options{}))
	t.Cleanup(func() { made.Close() })
	return made
}

// allThere fails if a key that was added is missing: a wrong no.
func allThere(t testing.TB, filter *Filter) {
	t.Helper()
	for i := 0; i < present; i++ {
		if maybe, err := filter.Contains(key(i)); !maybe || err != nil {
			t.Fatal("a wrong no", i, err)
		}
	}
}

// noes counts the no answers for 1000 absent keys.
func noes(t testing.TB, filter *Filter) (count int) {
	t.Helper()
	for i := 0; i < 1000; i++ {
		if maybe, err := filter.ContainsString(fmt.Sprint("absent ", i)); err != nil {
			t.Fatal(err)
		} else if !maybe {
			count++
		}
	}
	return count
}

var shapes = []bfstore.Options{
	{NumBits: 512, NumProbes: 1, Seed: bfstore.SeedOf(0)}, {NumBits: 512 * 60, NumProbes: 4, Seed: bfstore.SeedOf(1<<64 - 1)},
	{NumBits: 512 * 3000, NumProbes: 64}, {NumBits: 512 * 32767, NumProbes: 7}, {NumBits: 512 * 32768, NumProbes: 7, Note: []byte("n")},
	{NumBits: 512 * 101, NumProbes: 6, Note: make([]byte, 1024)}, {Capacity: 5000, FPR: 0.001}, {Capacity: 5000, MaxBytes: 65536},
	{Layout: bfstore.Classic, NumBits: 1, NumProbes: 1}, {Layout: bfstore.Classic, NumBits: 63, NumProbes: 3},
	{Layout: bfstore.Classic, NumBits: 64, NumProbes: 2}, {Layout: bfstore.Classic, NumBits: 65, NumProbes: 5},
	{Layout: bfstore.Classic, NumBits: 99991, NumProbes: 7}, {Layout: bfstore.Classic, NumBits: 20_000_003, NumProbes: 64},
	{Layout: bfstore.Classic, Capacity: 5000, FPR: 0.01},
}

func TestTheAnswersAreThoseOfTheLibrary(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	false_, true_ := 0, 0
	for _, shape := range shapes {
		path := closed(t, shape)
		library := must[*bfstore.Filter](t)(bfstore.Open(path))
		filter := open(t, path)
		allThere(t, filter)
		facts, same := filter.Facts(), must[bfstore.Statistics](t)(library.Stats(bfstore.StatsOptions{}))
		equal(t, facts, Facts{same.Layout.String(), same.NumProbes, same.NumBits, same.Capacity, same.FPR, same.Seed, same.FileID, false})
		equal(t, string(filter.Note()), string(shape.Note))
		var list [][]byte
		for i := 0; i < 2000; i++ {
			one := make([]byte, i%300)
			random.Read(one)
			list = append(list, one)
		}
		digests := must[[]uint64](t)(library.DigestKeys(bfstore.Bytes(list), nil))
		want := must[[]bool](t)(library.ContainsKeys(bfstore.Bytes(list), nil))
		answers := must[[]bool](t)(filter.ContainsKeys(list, make([]bool, 5)))
		for i, one := range list {
			maybe, err := filter.Contains(one)
			again, err2 := filter.ContainsString(string(one))
			if maybe != want[i] || again != maybe || answers[i] != maybe || filter.Digest(one) != digests[i] || err != nil || err2 != nil {
				t.Fatal(shape, i)
			}
			if maybe {
				true_++
			} else {
				false_++
			}
		}
		for i := uint64(0); i < 500; i++ {
			equal(t, must[bool](t)(filter.ContainsInteger(i<<50|i)), must[bool](t)(library.ContainsInteger(i<<50|i)))
		}
		ok(t, library.Close())
	}
	if false_ < 3_000 || true_ < 3_000 {
		t.Fatal(false_, true_)
	}
}

func TestTheWorkedExampleOfTheSpecification(t *testing.T) {
	equal(t, xxh3.HashSeed([]byte("alice"), 1), 0x699b7243ff43b565)
	filter := Filter{is: identity{layout: blocked, numBits: 1024, numProbes: 3}, body: make([]uint64, 16)}
	for i, bit := range []int{398, 459, 207} {
		equal(t, filter.hasBits(0x699b7243ff43b565), false, i)
		filter.body[bit/64] |= 1 << (bit % 64)
	}
	equal(t, filter.hasBits(0x699b7243ff43b565), littleEndian)
	filter = Filter{is: identity{layout: classic, numBits: 1000, numProbes: 3}, body: make([]uint64, 16)}
	for i, bit := range []int{412, 78, 923} {
		equal(t, filter.hasBits(0x699b7243ff43b565), false, i)
		filter.body[bit/64] |= 1 << (bit % 64)
	}
	equal(t, filter.hasBits(0x699b7243ff43b565), littleEndian)
}

// patched returns the path of a copy with changed bytes, and with correct checksums if `again`.
func patched(t testing.TB, path string, again bool, change func(data []byte) []byte) string {
	t.Helper()
	data := must[[]byte](t)(os.ReadFile(path))
	data = change(data)
	if again && len(data) >= headerBytes {
		binary.LittleEndian.PutUint64(data[page-8:], xxh3.HashSeed(data[:page-8], 0))
		for _, at := range []int{page, 2 * page} {
			binary.LittleEndian.PutUint64(data[at+page-8:], xxh3.HashSeed(data[at:at+page-8], xxh3.HashSeed(data[88:104], 0)))
		}
	}
	other := filepath.Join(t.TempDir(), "patched")
	ok(t, os.WriteFile(other, data, 0o600))
	return other
}

func set(at int, value ...byte) func([]byte) []byte {
	return func(data []byte) []byte {
		copy(data[at:], value)
		return data
	}
}

// flip changes a byte, whatever it was: a byte of a checksum has any value by chance.
func flip(at int) func([]byte) []byte {
	return func(data []byte) []byte {
		data[at] ^= 0x5a
		return data
	}
}

func set64(at int, value uint64) func([]byte) []byte {
	return func(data []byte) []byte {
		binary.LittleEndian.PutUint64(data[at:], value)
		return data
	}
}

// record returns a change that puts one parameter record into a file that has none.
func record(type_ uint16, flags uint16, value ...byte) func([]byte) []byte {
	return func(data []byte) []byte {
		binary.LittleEndian.PutUint16(data[128:], type_)
		binary.LittleEndian.PutUint16(data[130:], flags)
		binary.LittleEndian.PutUint32(data[132:], uint32(len(value)))
		copy(data[136:], value)
		data[112] = byte(8 + (len(value)+7)/8*8)
		return data
	}
}

func newer(data []byte) []byte {
	data[10] = 1
	return data
}

func both(one, two func([]byte) []byte) func([]byte) []byte {
	return func(data []byte) []byte { return two(one(data)) }
}

func TestEveryFileThatIsNotUnderstoodIsRefused(t *testing.T) {
	good := closed(t, bfstore.Options{})
	data := must[[]byte](t)(os.ReadFile(good))
	live := u64(data[3*page:])
	end := len(data) - 8
	if u64(data[end:]) != u64(data[96:])|endBit {
		end = int(u64(data[72:])+u64(data[80:])+page-1) / page * page
	}
	for _, one := range []struct {
		kind   *kind // nil: it is opened
		what   string
		change func([]byte) []byte
	}{
		{&tooShort, "an empty file", func(data []byte) []byte { return nil }},
		{&tooShort, "a short file", func(data []byte) []byte { return data[:headerBytes-1] }},
		{&badMagic, "a byte of the magic", set(3, 'T')},
		{&badVersion, "version 1", set(8, 1)},
		{&badVersion, "version 3", set(8, 3)},
		{&badVersion, "version 0", set(8, 0)},
		{&badForm, "an embedded filter", set(28, 2)},
		{&badHeader, "a short header", set(12, 192, 0)},
		{&badReserved, "reserved_a", set(30, 1)},
		{&badReserved, "reserved_b", set(116, 1)},
		{&badReserved, "reserved_c", set(127, 1)},
		{&badReserved, "after the records", set(page-9, 1)},
		{&badFeature, "incompat", set(27, 1)},
		{&badLayout, "counting", set(32, 3)},
		{&badLayout, "layout 4", set(32, 4)},
		{&badHash, "external", set(34, 2)},
		{&badHash, "siphash", set(34, 3)},
		{&badHash, "hash 9", set(35, 9)},
		{&badProbes, "k 0", set(36, 0)},
		{&badProbes, "k 65", set(36, 65)},
		{&badBits, "m 0", set64(40, 0)},
		{&badBits, "m of half a block", set64(40, 512*64+256)},
		{&badBits, "m 2^49", set64(40, 1<<49)},
		{&badCapacity, "n 0", set64(48, 0)},
		{&badCapacity, "n 2^63", set64(48, 1<<63)},
		{&badCapacity, "p 0", set64(56, 0)},
		{&badCapacity, "p not a number", set64(56, 0x7ff8<<48)},
		{&badCapacity, "p 2", set64(56, 0x4000<<48)},
		{&badBody, "a shorter body", set64(80, 512*64/8-8)},
		{&badBody, "another m", set64(40, 512*65)},
		{&badBody, "a body in the header", set64(72, page)},
		{&badBody, "a body at no page", set64(72, headerBytes+64)},
		{&badBody, "a body after the file", set64(72, 1<<62)},
		{&badBody, "a body whose end overflows", set64(72, 1<<64-page)},
		{&badBody, "cut before the end word", func(data []byte) []byte { return data[:end] }},
		{&badRecord, "records that are too long", set(112, 8, 0xff)},
		{&badRecord, "records of no multiple of 8", set(112, 9)},
		{&badRecord, "a value after the records", both(record(1, 0, 'a'), set(132, 200))},
		{&badCritical, "an unknown critical record", record(99, 1)},
		{&badCritical, "the first unknown critical record", record(6, 1)},
		{&badCritical, "and in a larger minor version", both(newer, record(77, 1))},
		{&badCritical, "and with reserved flags", record(77, 3)},
		{&badRecord, "an unknown critical record that is too long", both(record(99, 1), set(132, 200))},
		{&badRecord, "a note that is critical", record(1, 1, 'a')},
		{&badRecord, "reserved flags", record(99, 2)},
		{&badRecord, "bytes after a value", both(record(1, 0, 'a'), set(137, 1))},
		{&badRecord, "a secret check", record(2, 1, make([]byte, 16)...)},
		{&badRecord, "a secret check that is not critical", record(2, 0, make([]byte, 16)...)},
		{&badRecord, "a part without a number", record(4, 1)},
		{&badRecord, "a part that is not critical", record(4, 0, make([]byte, 16)...)},
		{&aPart, "a part", record(4, 1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)},
		{&badRecord, "seeds", record(5, 1, make([]byte, 20)...)},
		{&badRecord, "a seal in a file that is not sealed", record(3, 0, make([]byte, 40)...)},
		{&badRecord, "sealed, without a seal", set(20, 1)},
		{&badCanary, "another seed", set(64, data[64]^1)},
		{&badCanary, "another canary", set(104, data[104]^1)},
		{&badLiveWord, "another file's end word", set(end, data[end]^1)},
		{&badReserved, "reserved bytes of a slot", set(page+104, 1)},
		{&badReserved, "epoch of a slot", set(page+80, 1)},
		{&badReserved, "turned_at", set(2*page+88, 1)},
		{&badReserved, "turned_after_boot", set(2*page+103, 1)},
		{&badReserved, "slices of a slot", set(2*page+12, 2)},
		{&badReserved, "recovered in a clean slot", set(page+64, 1)},
		{&badReserved, "reserved bytes of the live page", set(3*page+32, 1)},
		{&badReserved, "syncing 2", set(3*page+8, 2)},
		{&badReserved, "an epoch", set(3*page+16, 1)},
		{&badReserved, "no slice", set(3*page+24, 0)},
		{&badReserved, "two slices", set(3*page+24, 2)},
		{&badReserved, "the end of the live page", set(4*page-1, 1)},
		{&badSlots, "no known state", both(set(page+8, 9), set(2*page+8, 9))},
		{&badLiveWord, "another live word", set64(3*page, live^1<<16)},
		{&badLiveWord, "no live word", set64(3*page, 0)},
		{&badLiveWord, "bit 0", set64(3*page, live^1)},
		{&badLiveWord, "the end word's bit", set64(3*page, live|endBit)},
		{&badLiveWord, "bit 63", set64(3*page, live^1<<63)},
		{&badLiveWord, "another file's, with a later state", set64(3*page, live^1<<16|1<<6)},
		{&laterState, "the first later state", set64(3*page, live|1<<6)},
		{&laterState, "the last later state, and all known ones", set64(3*page, live|1<<14|states&^laterBits)},
		{&laterState, "a later state of a larger minor version", both(newer, set64(3*page, live|1<<6))},
		{&poisoned, "poisoned", set64(3*page, live|poisonedBit)},
		{&superseded, "superseded", set64(3*page, live|supersededBit)},
		{&superseded, "replaced and poisoned", set64(3*page, live|replacedBit|poisonedBit)},
		{&recovering, "recovering", set64(3*page, live|recoveringBit)},
		{&filling, "filling", set64(3*page, live|fillingBit)},
		{&unclean, "one slot is torn", set(page+8, 9)},
		{&unclean, "the other slot is torn", set(2*page+8, 9)},
		{&unclean, "two slots of one sequence", func(data []byte) []byte { copy(data[page:], data[2*page:2*page+8]); return data }},
		{&unclean, "slots that are 5 apart", func(data []byte) []byte { data[page] += 4; data[2*page] += 8; return data }},
		{&unclean, "dirty, and a slot is torn", both(set(page+8, 2), set(2*page+8, 9))},
		{&busy, "dirty", both(set(page+8, 2), set(2*page+8, 2))},
		{&recovering, "paused", both(set(page+8, 4), set(2*page+8, 4))},
		{&unclean, "filling in the slots alone", both(set(page+72, 1), set(2*page+72, 1))},
		{nil, "syncing, of a closer that was killed", set(3*page+8, 1)},
		{nil, "words of a larger minor version", both(newer, both(set(2*page+80, 1, 2, 3, 4, 5, 6, 7, 8, 9), set(3*page+16, 7, 6, 5, 4, 3, 2, 1, 9, 9)))},
		{nil, "a larger minor version", newer},
		{nil, "with something new", both(newer, set(page-20, 1))},
		{nil, "and with a record", both(newer, record(77, 4, 'a'))},
		{nil, "compat", set(16, 0xff)},
		{nil, "ro_compat", set(23, 0x80)},
		{nil, "an unknown record", record(99, 0, 'a')},
	} {
		path := patched(t, good, true, one.change)
		filter, err := Open(path, Options{})
		if one.kind == nil {
			if err != nil {
				t.Fatal(one.what, err)
			}
			allThere(t, filter)
			ok(t, filter.Close())
			continue
		}
		refusedAs(t, err, one.kind, one.what, path)
		if _, err := bfstore.Open(path); one.kind.rule != 0 {
			sameRule(t, err, one.kind.rule, one.what)
		}
	}
	path := patched(t, good, false, set(200, 1))
	_, err := Open(path, Options{})
	refusedAs(t, err, &badChecksum, "another byte", path)
	_, err = bfstore.Open(path)
	sameRule(t, err, badChecksum.rule)
}

// refusedAs checks that an error is of this kind, and says so in words.
func refusedAs(t testing.TB, err error, want *kind, what, path string) {
	t.Helper()
	var failure *Error
	if !errors.As(err, &failure) || failure.Code != want.code || failure.Rule != want.rule || failure.Message != path+": "+want.words ||
		failure.IsMalformed() != (want.code <= -200) {
		t.Fatalf("%s: %v, not %v", what, err, *want)
	}
}

// TestErrorsHaveTheCodesOfThePackageBfstore: errors.As with a bfstore.Code found none.
func TestErrorsHaveTheCodesOfThePackageBfstore(t *testing.T) {
	_, err := Open(filepath.Join(t.TempDir(), "none"), Options{})
	var code bfstore.Code
	var other syscall.Errno
	var failure *Error
	if !errors.As(err, &code) || code != bfstore.ENOENT || !errors.Is(err, bfstore.ENOENT) || errors.Is(err, bfstore.EBUSY) {
		t.Fatal(err, code)
	}
	if !errors.As(err, &other) || other != syscall.ENOENT || !errors.As(err, &failure) || !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err, other)
	}
	if failure.IsState() || !(&Error{Code: cEUNCLEAN}).IsState() {
		t.Fatal(failure)
	}
}

// TestANilFilterAnswersMaybe: a program that ignores the error of Open asks nil. Every method panicked.
func TestANilFilterAnswersMaybe(t *testing.T) {
	none, err := Open(filepath.Join(t.TempDir(), "none"), Options{})
	if none != nil || err == nil {
		t.Fatal(none, err)
	}
	calls := map[string]func() (bool, error){
		"Contains":        func() (bool, error) { return none.Contains([]byte("a")) },
		"ContainsString":  func() (bool, error) { return none.ContainsString("a") },
		"ContainsInteger": func() (bool, error) { return none.ContainsInteger(1) },
		"ContainsDigest":  func() (bool, error) { return none.ContainsDigest(1) },
		"ContainsKeys": func() (bool, error) {
			answers, err := none.ContainsKeys([][]byte{nil, []byte("b")}, make([]bool, 1, 2))
			return len(answers) == 2 && answers[0] && answers[1], err
		},
		"Health":    func() (bool, error) { return true, none.Health() },
		"IsCurrent": func() (bool, error) { current, err := none.IsCurrent(); return !current, err },
		"Close":     func() (bool, error) { return true, none.Close() },
	}
	for name, call := range calls {
		if right, err := call(); !right || !errors.Is(err, fs.ErrInvalid) || !errors.Is(err, bfstore.EINVAL) {
			t.Error(name, right, err)
		}
	}
	if none.Digest(nil) != 0 || none.Note() != nil || none.Facts() != (Facts{}) {
		t.Error("facts of nothing")
	}
	for i, count := 0, reflect.TypeOf(none).NumMethod(); i < count; i++ {
		name := reflect.TypeOf(none).Method(i).Name
		if _, tried := calls[name]; !tried && name != "Digest" && name != "Note" && name != "Facts" {
			t.Error(name, "is not tried with nil")
		}
	}
}

// TestAFileThatAWriterHasOpenSaysWhatToDo: the words named no way out.
func TestAFileThatAWriterHasOpenSaysWhatToDo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "filter.bf")
	writer := must[*bfstore.Filter](t)(bfstore.Create(path, bfstore.Options{Capacity: 100}))
	defer writer.Close()
	_, err := Open(path, Options{})
	refusedAs(t, err, &busy, "with a writer", path)
	for _, way := range []string{"bf copy FROM TO", "the package bfstore"} {
		if !strings.Contains(err.Error(), way) {
			t.Fatal(err)
		}
	}
	copied := path + ".copy"
	if err := writer.Copy(copied, bfstore.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	must[*Filter](t)(Open(copied, Options{})).Close()
}

// TestRefusalsNameAWayOut: most said only what is wrong.
func TestRefusalsNameAWayOut(t *testing.T) {
	for one, way := range map[*kind]string{
		&absent: "(bfstore.Create or bfstore.Build, or bf build)", &filesystem: "copy the file to a local disk", &unclean: "(bf recover)", &poisoned: "(bf recover)",
		&recovering: "(bf recover)", &lost: "open the path again", &superseded: "open the path again", &fault: "open the path again",
		&notSealed: "(bf seal)", &damaged: "get the file again", &filling: "(bf finish-filling)", &notRegular: "give the path of a filter file",
		&symlink: "give the path of the file itself", &tooShort: "give the path of one", &badMagic: "give the path of one",
		&badFeature: "use the package bfstore", &badLayout: "use the package bfstore", &badHash: "use the package bfstore",
		&badCritical: "use the package bfstore", &aPart: "use the package bfstore", &laterState: "use that version",
	} {
		if !strings.HasSuffix(one.words, way) && !strings.Contains(one.words, way+", or") {
			t.Errorf("%q has no %q", one.words, way)
		}
	}
	path := filepath.Join(t.TempDir(), "none")
	_, err := Open(path, Options{})
	refusedAs(t, err, &absent, "no file", path)
	if err.Error() != path+": "+absent.words || !errors.Is(err, fs.ErrNotExist) { // it was "opening: no such file or directory"
		t.Error(err)
	}
}

// sameRule checks that the library names the same rule of the format.
func sameRule(t testing.TB, err error, rule uint32, what ...any) {
	t.Helper()
	var failure *bfstore.Error
	if !errors.As(err, &failure) || failure.Code != bfstore.EMALFORMED || failure.Rule != rule {
		t.Errorf("%v: not rule %d: %+v", what, rule, failure)
	}
}

func TestAPartIsForTheLibrary(t *testing.T) {
	made := must[*bfstore.Filter](t)(bfstore.Create(filepath.Join(t.TempDir(), "part"), bfstore.Options{Capacity: 9999, Part: 1, NumParts: 2}))
	ok(t, made.Close())
	_, err := Open(made.Name(), Options{})
	refusedAs(t, err, &aPart, "a part", made.Name())
}

func TestNoChangedByteOfTheHeaderMakesAWrongNo(t *testing.T) {
	good := closed(t, bfstore.Options{NumBits: 512 * 128, NumProbes: 6})
	random := rand.New(rand.NewSource(2))
	data := must[[]byte](t)(os.ReadFile(good))
	path := filepath.Join(t.TempDir(), "changed")
	ok(t, os.WriteFile(path, data, 0o600))
	file := must[*os.File](t)(os.OpenFile(path, os.O_RDWR, 0))
	defer file.Close()
	opened := 0
	for i := 0; i < 500; i++ {
		at := random.Intn(136)
		if i%2 == 0 {
			at = random.Intn(headerBytes)
		}
		changed := append([]byte{}, data[:headerBytes]...)
		changed[at] ^= byte(1 + random.Intn(255))
		must[int](t)(file.WriteAt(changed, 0))
		if filter, err := Open(path, Options{}); err == nil {
			opened++
			for number := 0; number < 100; number++ {
				if maybe, _ := filter.Contains(key(number)); !maybe {
					t.Fatal("a wrong no after byte", at)
				}
			}
			ok(t, filter.Close())
		}
	}
	if opened == 0 || opened == 500 {
		t.Fatal(opened)
	}
}

func TestWhatIsNotAFile(t *testing.T) {
	folder := t.TempDir()
	_, err := Open(folder, Options{})
	refused(t, err, "BFS_ENOTREGULAR")
	_, err = Open(filepath.Join(folder, "none"), Options{})
	refused(t, err, "BFS_ENOENT")
	equal(t, errors.Is(err, fs.ErrNotExist), true)
	path := closed(t, bfstore.Options{})
	ok(t, os.Symlink(path, filepath.Join(folder, "link")))
	_, err = Open(filepath.Join(folder, "link"), Options{})
	refused(t, err, "BFS_ESYMLINK")
	_, err = Open("a\x00b", Options{})
	refused(t, err, "BFS_ESYSTEM")
	pipe := filepath.Join(folder, "pipe")
	ok(t, syscall.Mkfifo(pipe, 0o600))
	_, err = Open(pipe, Options{})
	refused(t, err, "BFS_ENOTREGULAR")
	_, err = Open("/proc/self/maps", Options{})
	equal(t, err != nil, true)
}

func TestAFileInUseIsRefusedAndAWriterMayComeLater(t *testing.T) {
	writer := fill(t, bfstore.Options{})
	_, err := Open(writer.Name(), Options{})
	refused(t, err, "BFS_EBUSY")
	ok(t, writer.Close())
	filter := open(t, writer.Name())
	before := noes(t, filter)
	equal(t, before > 500, true)
	later := must[*bfstore.Filter](t)(bfstore.Open(writer.Name(), bfstore.OpenOptions{Write: true}))
	for i := 0; i < 500; i++ {
		text := fmt.Sprint("later ", i)
		must[bool](t)(later.AddString(text))
		equal(t, must[bool](t)(filter.ContainsString(text)), true)
	}
	ok(t, later.Sync())
	equal(t, noes(t, filter) < before, true)
	ok(t, filter.Health())
	ok(t, later.Close())
	allThere(t, filter)
}

func TestAFileThatIsReplacedIsDoubt(t *testing.T) {
	path := closed(t, bfstore.Options{})
	filter := open(t, path)
	equal(t, noes(t, filter) > 500, true)
	next := must[*bfstore.Filter](t)(bfstore.Create(path, bfstore.Options{Like: path, Replace: true}))
	equal(t, noes(t, filter), 0)
	refused(t, filter.Health(), "BFS_ESUPERSEDED")
	ok(t, next.Close())
	equal(t, noes(t, open(t, path)), 1000)
}

func TestEverySignInALiveWordIsDoubt(t *testing.T) {
	names := map[int]string{1: "BFS_EPOISONED", 2: "BFS_ESUPERSEDED", 3: "BFS_ERECOVERING", 4: "BFS_ESUPERSEDED", 5: "BFS_EFILLING"}
	for bit := 6; bit < 15; bit++ {
		names[bit] = "BFS_ELATER"
	}
	for _, bit := range []int{0, 15, 16, 31, 37, 48, 63} {
		names[bit] = "BFS_ELOST"
	}
	for bit, name := range names {
		path := closed(t, bfstore.Options{})
		filter := open(t, path)
		file := must[*os.File](t)(os.OpenFile(path, os.O_RDWR, 0))
		for _, at := range []int64{3 * page, int64(filter.is.endAt)} {
			word := make([]byte, 8)
			must[int](t)(file.ReadAt(word, at))
			changed := append([]byte{}, word...)
			changed[bit/8] ^= 1 << (bit % 8)
			must[int](t)(file.WriteAt(changed, at))
			allThere(t, filter)
			equal(t, noes(t, filter), 0, bit, at)
			if at == 3*page {
				refused(t, filter.Health(), name)
			} else {
				refused(t, filter.Health(), "BFS_ELOST")
			}
			must[int](t)(file.WriteAt(word, at))
			ok(t, filter.Health())
		}
		ok(t, file.Close())
	}
}

func TestAFileThatIsCutOrOverwrittenIsDoubt(t *testing.T) {
	for what, harm := range map[string]func(path string){
		"cut":                 func(path string) { ok(t, os.Truncate(path, headerBytes)) },
		"cut to nothing":      func(path string) { ok(t, os.Truncate(path, 0)) },
		"cut by its end word": func(path string) { ok(t, os.Truncate(path, must[fs.FileInfo](t)(os.Stat(path)).Size()-8)) },
		"cut and grown":       func(path string) { ok(t, os.Truncate(path, 0)); ok(t, os.Truncate(path, 1<<24)) },
		"zeros":               func(path string) { overwrite(t, path, make([]byte, 1<<22)) },
		"overwritten": func(path string) {
			overwrite(t, path, must[[]byte](t)(os.ReadFile(closed(t, bfstore.Options{NumBits: 1 << 24, NumProbes: 5}))))
		},
		"its second half": func(path string) { ok(t, os.Truncate(path, 1<<21+1<<20)) },
	} {
		path := closed(t, bfstore.Options{NumBits: 1 << 24, NumProbes: 5})
		filter := open(t, path)
		equal(t, noes(t, filter) > 990, true)
		harm(path)
		allThere(t, filter)
		equal(t, noes(t, filter), 0, what)
		answers := must[[]bool](t)(filter.ContainsKeys([][]byte{[]byte("a"), []byte("b"), []byte("c")}, nil))
		equal(t, fmt.Sprint(answers), "[true true true]", what)
		if err := filter.Health(); err == nil {
			t.Fatal(what)
		}
		ok(t, filter.Close())
	}
	func() { // a fault outside of the file stays a panic
		defer func() {
			if what := recover(); what == nil || !strings.Contains(fmt.Sprint(what), "nil pointer") {
				t.Error(what)
			}
		}()
		filter := open(t, closed(t, bfstore.Options{}))
		filter.live = nil
		filter.Contains([]byte("a"))
	}()
}

func TestAFaultIsDoubtForGood(t *testing.T) {
	filter := open(t, closed(t, bfstore.Options{NumBits: 512 * 64, NumProbes: 5}))
	body := filter.mapped[filter.is.bodyAt : filter.is.bodyAt+page]
	ok(t, syscall.Mprotect(body, syscall.PROT_NONE)) // like a page that the disk cannot read
	equal(t, must[bool](t)(filter.ContainsString("absent 1")), true)
	ok(t, syscall.Mprotect(body, syscall.PROT_READ))
	equal(t, noes(t, filter), 0)
	refused(t, filter.Health(), "BFS_EFAULT")
}

// inMemory returns a filter of one line that has the key with this digest, and is in no doubt.
func inMemory(digest uint64) *Filter {
	filter := &Filter{is: identity{layout: blocked, numBits: 512, numProbes: 1}, body: make([]uint64, 8), live: new(uint64), end: new(uint64)}
	*filter.live, *filter.end = 5<<16|1, 9|endBit
	filter.right = *filter.live ^ *filter.end
	filter.body[uint32(digest)*0x9e3779b9>>29] = 1<<64 - 1
	return filter
}

// The bits vanish after the file was poisoned, or return before it is recovered: a lookup that runs across either reads
// the live word before it reads the bits, and after.
func TestALookupThatRunsWhileAFileBecomesBadOrGood(t *testing.T) {
	if !littleEndian {
		t.Skip("the words in memory are those of a little-endian machine")
	}
	digest := uint64(12345)
	for trial := 0; trial < 400; trial++ {
		filter := inMemory(digest)
		bits := &filter.body[uint32(digest)*0x9e3779b9>>29]
		good, bad := *filter.live, *filter.live|poisonedBit
		becomesGood := trial%2 == 1
		if becomesGood {
			*filter.live, *bits = bad, 0
		}
		begun, done := make(chan bool), make(chan bool)
		go func() {
			for i := 0; ; i++ {
				if i == 20 {
					close(begun)
				}
				if !filter.ask(digest) {
					t.Error("a wrong no", becomesGood)
				}
				if i > 20 && (atomic.LoadUint64(filter.live) == good) == becomesGood {
					close(done)
					return
				}
			}
		}()
		<-begun
		if becomesGood {
			atomic.StoreUint64(bits, 1<<64-1)
			atomic.StoreUint64(filter.live, good)
		} else {
			atomic.StoreUint64(filter.live, bad)
			atomic.StoreUint64(bits, 0)
		}
		<-done
		if t.Failed() {
			return
		}
	}
}

func overwrite(t testing.TB, path string, data []byte) {
	file := must[*os.File](t)(os.OpenFile(path, os.O_RDWR, 0))
	must[int](t)(file.WriteAt(data, 0))
	ok(t, file.Close())
}

func TestAFileThatOthersPutInItsPlaceIsNoLongerCurrent(t *testing.T) {
	path := closed(t, bfstore.Options{Capacity: 1000})
	filter := must[*Filter](t)(Open(path, Options{}))
	equal(t, must[bool](t)(filter.IsCurrent()), true)
	ok(t, os.Rename(path, path+".moved"))
	equal(t, must[bool](t)(filter.IsCurrent()), false)
	ok(t, os.WriteFile(path, must[[]byte](t)(os.ReadFile(path+".moved")), 0o600))
	equal(t, must[bool](t)(filter.IsCurrent()), false)
	ok(t, os.Rename(path+".moved", path))
	equal(t, must[bool](t)(filter.IsCurrent()), true)
	ok(t, os.Truncate(path, 20000))
	equal(t, must[bool](t)(filter.IsCurrent()), false)
	ok(t, filter.Close())
	_, err := filter.IsCurrent()
	equal(t, errors.Is(err, fs.ErrClosed), true)
}

func TestSealedFilesAreVerified(t *testing.T) {
	path := closed(t, bfstore.Options{NumBits: 1<<23 + 512, NumProbes: 5})
	sealed := path + ".sealed"
	source := must[*bfstore.Filter](t)(bfstore.Open(path))
	ok(t, source.Copy(sealed, bfstore.CopyOptions{Sealed: true}))
	ok(t, source.Close())
	filter := must[*Filter](t)(Open(sealed, Options{Verify: true}))
	allThere(t, filter)
	equal(t, filter.Facts().Sealed, true)
	ok(t, filter.Close())
	for _, at := range []uint64{1 << 20, filter.is.bodyAt + filter.is.bodyBytes - 1, filter.is.seal.sumsAt} {
		_, err := Open(patched(t, sealed, false, flip(int(at))), Options{Verify: true})
		refused(t, err, "BFS_EDAMAGED")
	}
	forged := func(data []byte) []byte { // a chunk and its checksum
		data[filter.is.bodyAt+5] ^= 1
		chunk := data[filter.is.bodyAt : filter.is.bodyAt+chunkBytes]
		return set64(int(filter.is.seal.sumsAt), xxh3.HashSeed(chunk, filter.is.salt()))(data)
	}
	_, err := Open(patched(t, sealed, false, forged), Options{Verify: true})
	refused(t, err, "BFS_EDAMAGED")
	_, err = Open(path, Options{Verify: true})
	refused(t, err, "BFS_ENOTSEALED")
	for _, change := range map[string]func([]byte) []byte{
		"not sealed":      set(20, 0),
		"chunks":          set(136+8, 99),
		"another place":   set64(136+16, 1<<30),
		"another chunk":   set(136, 1),
		"reserved":        set(136+4, 1),
		"critical":        set(130, 1),
		"a shorter value": set(132, 32),
	} {
		_, err := Open(patched(t, sealed, true, change), Options{})
		refused(t, err, "BFS_EMALFORMED")
	}
}

func TestCloseWhileOthersAsk(t *testing.T) {
	path := closed(t, bfstore.Options{})
	for round := 0; round < 10; round++ {
		filter := open(t, path)
		var workers sync.WaitGroup
		begun := make(chan bool, 6)
		for worker := 0; worker < 6; worker++ {
			workers.Add(1)
			go func() {
				defer workers.Done()
				for i := 0; ; i++ {
					maybe, err := filter.Contains(key(i % present))
					if !maybe {
						t.Error("a wrong no")
					}
					if err != nil {
						if !errors.Is(err, fs.ErrClosed) {
							t.Error(err)
						}
						return
					}
					if i == 100 {
						begun <- true
					}
				}
			}()
		}
		for worker := 0; worker < 6; worker++ {
			<-begun
		}
		ok(t, filter.Close())
		workers.Wait()
		refused(t, filter.Close(), "BFS_ESHUT")
		refused(t, filter.Health(), "BFS_ESHUT")
		answers, err := filter.ContainsKeys([][]byte{nil}, nil)
		refused(t, err, "BFS_ESHUT")
		equal(t, answers[0], true)
	}
	equal(t, strings.Count(string(must[[]byte](t)(os.ReadFile("/proc/self/maps"))), path), 0)
}

func BenchmarkContains(b *testing.B) {
	path := closed(b, bfstore.Options{Capacity: 1_000_000, BitsPerKey: 10})
	filter := open(b, path)
	keys := make([][]byte, 1<<16)
	for i := range keys {
		keys[i] = []byte(fmt.Sprintf("%016d", i))
	}
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		filter.Contains(keys[i&(1<<16-1)])
	}
}

func TestAFilterThatIsNotClosedIsUnmapped(t *testing.T) {
	path := closed(t, bfstore.Options{})
	for i := 0; i < 5; i++ {
		must[*Filter](t)(Open(path, Options{}))
	}
	for tries := 0; strings.Contains(string(must[[]byte](t)(os.ReadFile("/proc/self/maps"))), path); tries++ {
		if tries == 100_000 {
			t.Fatal("the file is still mapped")
		}
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
}

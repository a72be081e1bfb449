// The bytes of each key, and every form of many keys.

package bfstore_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"bfstore.example/bfstore"
)

type row struct {
	Text, Integer, Binary, UTF16 *string
	Times                        int
	Bytes, XXH3, Error           string
}

// key is the row's key in Go; false: Go has no such string or integer.
func (r *row) key(t *testing.T) (string, bool) {
	switch {
	case r.Text != nil:
		return strings.Repeat(*r.Text, r.Times), true
	case r.Binary != nil:
		return strings.Repeat(string(unhex(t, *r.Binary)), r.Times), true
	case r.UTF16 != nil:
		return fromUTF16(unhex(t, *r.UTF16))
	}
	number, good := new(big.Int).SetString(*r.Integer, 10)
	if !good || !number.IsUint64() && !number.IsInt64() {
		return "", false
	}
	if number.IsInt64() {
		return string(bfstore.Integer(uint64(number.Int64()))), true
	}
	return string(bfstore.Integer(number.Uint64())), true
}

func unhex(t *testing.T, text string) []byte { return must[[]byte](t)(hex.DecodeString(text)) }

// fromUTF16: Go's conversion puts U+FFFD for a lone surrogate, so a program notices it there, or never has it.
func fromUTF16(data []byte) (string, bool) {
	var units []uint16
	for i := 0; i < len(data); i += 2 {
		units = append(units, uint16(data[i])<<8|uint16(data[i+1]))
	}
	text := string(utf16.Decode(units))
	return text, !strings.ContainsRune(text, utf8.RuneError)
}

func TestEveryRowOfTheTableHasItsDigestOrIsRefused(t *testing.T) {
	var table struct{ Keys []row }
	ok(t, json.Unmarshal(must[[]byte](t)(os.ReadFile(filepath.Join(root, "capi/bindings/keys.json"))), &table))
	if len(table.Keys) < 25 {
		t.Fatal("the table is short")
	}
	filter := create(t, bfstore.Options{Seed: bfstore.SeedOf(0)})
	for _, row := range table.Keys {
		if row.Times == 0 {
			row.Times = 1
		}
		key, good := row.key(t)
		equal(t, good, row.Error == "", row)
		if !good {
			continue
		}
		want := must[uint64](t)(strconv.ParseUint(row.XXH3, 16, 64))
		equal(t, must[uint64](t)(filter.DigestString(key)), want, row)
		equal(t, must[uint64](t)(filter.Digest([]byte(key))), want, row)
		equal(t, must[[]uint64](t)(filter.DigestKeys(bfstore.Strings([]string{key}), nil))[0], want, row)
		if !bytes.Equal([]byte(key), bytes.Repeat(unhex(t, row.Bytes), row.Times)) {
			t.Fatal(row)
		}
	}
}

type listRow struct {
	Fixed, Column   *string
	Width           int
	Offsets         []int32
	Validity, Error string
	First           int
	XXH3            []string
}

func (r *listRow) keys(t *testing.T) bfstore.Keys {
	if r.Fixed != nil {
		return bfstore.Fixed(unhex(t, *r.Fixed), r.Width)
	}
	keys := bfstore.Column32(unhex(t, *r.Column), r.Offsets)
	if r.Validity != "" {
		keys = keys.WithValidity(unhex(t, r.Validity), r.First)
	}
	return keys
}

func TestEveryListOfTheTableHasItsDigestsAndItsNullsOrIsRefused(t *testing.T) {
	var table struct{ Lists []listRow }
	ok(t, json.Unmarshal(must[[]byte](t)(os.ReadFile(filepath.Join(root, "capi/bindings/keys.json"))), &table))
	if len(table.Lists) < 15 {
		t.Fatal("the table is short")
	}
	for _, row := range table.Lists {
		filter := create(t, bfstore.Options{Seed: bfstore.SeedOf(0)})
		keys := row.keys(t)
		if row.Error != "" {
			_, err := filter.AddKeys(keys)
			refused(t, err, bfstore.EINVAL)
			continue
		}
		var digests []uint64
		var there []bool
		for _, digest := range row.XXH3 {
			digests = append(digests, must[uint64](t)(strconv.ParseUint(digest, 16, 64)))
			there = append(there, digest != "0000000000000000")
		}
		equal(t, fmt.Sprint(must[[]uint64](t)(filter.DigestKeys(keys, nil))), fmt.Sprint(digests), row)
		must[int](t)(filter.AddKeys(keys))
		equal(t, fmt.Sprint(must[[]bool](t)(filter.ContainsKeys(keys, nil))), fmt.Sprint(there), row)
		equal(t, must[bool](t)(filter.ContainsDigest(0)), false)
	}
}

func TestAKeyIsTheSameInEveryForm(t *testing.T) {
	filter := create(t, bfstore.Options{})
	equal(t, must[bool](t)(filter.AddString("Zürich")), true)
	equal(t, must[bool](t)(filter.Add([]byte("Zürich"))), false)
	equal(t, must[bool](t)(filter.Contains([]byte("Z\xc3\xbcrich"))), true)
	equal(t, has(t, filter, "Zu\u0308rich"), false) // not normalized
	equal(t, must[bool](t)(filter.AddInteger(0x0102030405060708)), true)
	equal(t, has(t, filter, "\x08\x07\x06\x05\x04\x03\x02\x01"), true)
	equal(t, must[bool](t)(filter.ContainsInteger(0x0102030405060708)), true)
	equal(t, must[bool](t)(filter.ContainsInteger(0x0807060504030201)), false)
	equal(t, must[bool](t)(filter.Contains(bfstore.Integer(0x0102030405060708))), true)
	equal(t, must[bool](t)(filter.Add(nil)), true) // the empty key is a key
	equal(t, must[bool](t)(filter.Contains([]byte{})), true)
	digest := must[uint64](t)(filter.DigestString("later"))
	equal(t, must[bool](t)(filter.ContainsDigest(digest)), false)
	equal(t, must[bool](t)(filter.AddDigest(digest)), true)
	equal(t, has(t, filter, "later"), true)
}

// The key is a part of a struct with pointers: cgo must not check the rest.
func TestAKeyInsideAStructWithPointers(t *testing.T) {
	filter := create(t, bfstore.Options{})
	one := &struct {
		id   [16]byte
		next *int
	}{next: new(int)}
	must[bool](t)(filter.Add(one.id[:]))
	must[int](t)(filter.AddKeys(bfstore.Fixed(one.id[:], 8)))
	equal(t, must[bool](t)(filter.Contains(one.id[:])), true)
}

func TestCounting(t *testing.T) {
	filter := create(t, bfstore.Options{Layout: bfstore.Counting})
	for _, key := range []string{"alice", "alice", "bob"} {
		must[bool](t)(filter.AddString(key))
	}
	equal(t, must[int](t)(filter.CountString("alice")), 2)
	equal(t, must[int](t)(filter.Count([]byte("zoe"))), 0)
	equal(t, must[int](t)(filter.CountDigest(must[uint64](t)(filter.DigestString("bob")))), 1)
	equal(t, must[bool](t)(filter.RemoveString("alice")), true)
	equal(t, has(t, filter, "alice"), true)
	equal(t, must[bool](t)(filter.RemoveDigest(must[uint64](t)(filter.DigestString("alice")))), true)
	equal(t, has(t, filter, "alice"), false)
	equal(t, must[bool](t)(filter.Remove([]byte("alice"))), false)
	equal(t, must[int](t)(filter.RemoveKeys(bfstore.Strings([]string{"bob", "never"}))), 1)
	equal(t, must[bfstore.Statistics](t)(filter.Stats(bfstore.StatsOptions{})).KeysRemoved, 3)
	must[bool](t)(filter.AddString("carol"))
	must[bool](t)(filter.AddString("carol"))
	list := bfstore.Strings([]string{"carol", "never", "null"}).WithValidity([]byte{3}, 0)
	equal(t, fmt.Sprint(must[[]uint8](t)(filter.CountKeys(list, make([]uint8, 1, 8)))), "[2 0 0]")
	many := make([]string, 20_000) // two parts of a list
	many[17_000] = "carol"
	counts := must[[]uint8](t)(filter.CountKeys(bfstore.Strings(many), nil))
	equal(t, counts[17_000] == 2 && counts[16_999] == 0 && len(counts) == len(many), true)
	blocked := create(t, bfstore.Options{})
	given := make([]uint8, 2)
	counts, err := blocked.CountKeys(bfstore.Strings([]string{"a", "b", "c"}), given)
	refused(t, err, bfstore.EUNSUPPORTED)
	equal(t, fmt.Sprint(counts, given), "[15 15 15] [15 15]")
	equal(t, len(must[[]uint8](t)(filter.CountKeys(bfstore.Strings(nil), nil))), 0)
	_, err = blocked.RemoveDigest(5)
	refused(t, err, bfstore.EUNSUPPORTED, "filter.bf")
	_, err = blocked.RemoveString("a")
	refused(t, err, bfstore.EUNSUPPORTED, "filter.bf")
	count, err := blocked.CountString("a")
	refused(t, err, bfstore.EUNSUPPORTED)
	equal(t, count, 15)
}

// everyForm returns the same keys, "00000000" on, in every form.
func everyForm(filter *bfstore.Filter, t *testing.T, count int) map[string]bfstore.Keys {
	var list [][]byte
	var texts []string
	var data, records []byte
	offsets32, offsets64, numbers := []int32{0}, []int64{0}, []uint64{}
	for i := 0; i < count; i++ {
		key := fmt.Sprintf("%08d", i)
		list, texts = append(list, []byte(key)), append(texts, key)
		data, records = append(data, key...), append(append(records, key...), "  and more"...)
		offsets32, offsets64 = append(offsets32, int32(len(data))), append(offsets64, int64(len(data)))
		number := uint64(0)
		for j := range key {
			number |= uint64(key[j]) << (8 * j)
		}
		numbers = append(numbers, number)
	}
	digests := must[[]uint64](t)(filter.DigestKeys(bfstore.Fixed(data, 8), nil))
	return map[string]bfstore.Keys{
		"bytes": bfstore.Bytes(list), "strings": bfstore.Strings(texts), "fixed": bfstore.Fixed(data, 8),
		"records": bfstore.Records(records, 8, 18), "column32": bfstore.Column32(data, offsets32),
		"column64": bfstore.Column64(data, offsets64), "integers": bfstore.Integers(numbers), "digests": bfstore.Digests(digests),
	}
}

func TestEveryFormOfManyKeysIsTheSameKeys(t *testing.T) {
	const count = 20_000 // lists take two parts
	for _, layout := range []bfstore.Layout{bfstore.Blocked, bfstore.Classic, bfstore.Counting} {
		filter := create(t, bfstore.Options{Layout: layout, Capacity: count / 2, FPR: 0.001})
		forms := everyForm(filter, t, count)
		half := everyForm(filter, t, count/2)
		added := 0
		for name, keys := range half {
			fresh := must[int](t)(filter.AddKeys(keys))
			if added == 0 && fresh < count/2*99/100 || added > 0 && fresh != 0 {
				t.Fatal(layout, name, fresh)
			}
			added += fresh
		}
		want := must[[]bool](t)(filter.ContainsKeys(forms["fixed"], nil))
		for i, maybe := range want {
			if one, err := filter.ContainsString(fmt.Sprintf("%08d", i)); one != maybe || err != nil || i < count/2 && !maybe {
				t.Fatal("a wrong answer, one by one or as a batch", layout, i, err)
			}
		}
		for name, keys := range forms {
			equal(t, keys.Len(), count)
			sameAnswers(t, filter, name, keys, want)
		}
	}
}

func sameAnswers(t *testing.T, filter *bfstore.Filter, name string, keys bfstore.Keys, want []bool) {
	answers := must[[]bool](t)(filter.ContainsKeys(keys, make([]bool, 3, len(want)+5)))
	numbers := must[[]uint32](t)(filter.SelectKeys(keys, nil))
	equal(t, len(answers), len(want), name)
	found := 0
	for i, maybe := range want {
		if answers[i] != maybe || maybe && numbers[found] != uint32(i) {
			t.Fatal(name, i)
		}
		if maybe {
			found++
		}
	}
	equal(t, len(numbers), found, name)
	if found == len(want) || name == "digests" {
		return
	}
	first, last := must[uint64](t)(filter.DigestString("00000000")), must[uint64](t)(filter.DigestString(fmt.Sprintf("%08d", len(want)-1)))
	digests := must[[]uint64](t)(filter.DigestKeys(keys, nil))
	equal(t, digests[0], first, name)
	equal(t, digests[len(want)-1], last, name)
}

func TestNullsAreNotKeys(t *testing.T) {
	filter := create(t, bfstore.Options{})
	list := [][]byte{[]byte("a"), nil, []byte("b"), nil}
	bitmap := []byte{0b0101_0000, 0b0000_0001} // from bit 4: valid, null, valid, null; then bit 8
	equal(t, must[int](t)(filter.AddKeys(bfstore.Bytes(list).WithValidity(bitmap, 4))), 2)
	equal(t, has(t, filter, ""), false)
	must[bool](t)(filter.AddString(""))
	answers := must[[]bool](t)(filter.ContainsKeys(bfstore.Column32([]byte("ab"), []int32{0, 1, 1, 2, 2}).WithValidity(bitmap, 4), nil))
	equal(t, fmt.Sprint(answers), "[true false true false]")
	many := make([]string, 20_000) // two parts: the second begins within a byte of the bitmap
	validity := make([]byte, 2501)
	for i := range many {
		many[i] = strconv.Itoa(i)
		if i%3 == 0 {
			validity[(i+1)/8] |= 1 << ((i + 1) % 8)
		}
	}
	other := create(t, bfstore.Options{Capacity: 20_000})
	must[int](t)(other.AddKeys(bfstore.Strings(many).WithValidity(validity, 1)))
	numbers := must[[]uint32](t)(other.SelectKeys(bfstore.Strings(many).WithValidity(validity, 1), nil))
	equal(t, len(numbers), 6667)
	equal(t, numbers[6666], 19998)
}

func TestKeysThatAreWrongAreRefusedAndNothingIsAdded(t *testing.T) {
	filter := create(t, bfstore.Options{})
	for name, keys := range map[string]bfstore.Keys{
		"width 0":            bfstore.Fixed([]byte("abcd"), 0),
		"width -1":           bfstore.Fixed([]byte("abcd"), -1),
		"no multiple":        bfstore.Fixed([]byte("abcde"), 4),
		"stride below width": bfstore.Records([]byte("abcd"), 4, 2),
		"no offsets":         bfstore.Column32(nil, nil),
		"no offsets 64":      bfstore.Column64(nil, nil),
		"end after the data": bfstore.Column32([]byte("abc"), []int32{0, 4}),
		"negative first":     bfstore.Column64([]byte("abc"), []int64{-1, 2}),
		"descending":         bfstore.Column32([]byte("abc"), []int32{0, 2, 1}),
		"short bitmap":       bfstore.Strings(make([]string, 9)).WithValidity([]byte{255}, 0),
		"bitmap before":      bfstore.Strings(make([]string, 1)).WithValidity([]byte{255}, -1),
		"no bitmap":          bfstore.Strings(make([]string, 1)).WithValidity(nil, 0),
	} {
		_, err := filter.AddKeys(keys)
		refused(t, err, bfstore.EINVAL, "filter.bf")
		given := make([]bool, 2)
		answers, err := filter.ContainsKeys(keys, given)
		refused(t, err, bfstore.EINVAL)
		for _, answer := range append(answers, given...) {
			equal(t, answer, true, name)
		}
	}
	numbers, err := filter.SelectKeys(bfstore.Fixed([]byte("abcde"), 4), nil)
	refused(t, err, bfstore.EINVAL)
	equal(t, len(numbers), 2)
	equal(t, must[bfstore.Statistics](t)(filter.Stats(bfstore.StatsOptions{Fill: true})).Fill.SetBits, 0)
}

// TestAWrongOffsetIsNamed: the words were only "an argument is out of range or contradicts another".
func TestAWrongOffsetIsNamed(t *testing.T) {
	filter := create(t, bfstore.Options{})
	for words, keys := range map[string]bfstore.Keys{
		"offset 1 is 4, and the column has 3 bytes of data": bfstore.Column32([]byte("abc"), []int32{0, 4, 5}),
		"offset 0 is -1, which is negative":                 bfstore.Column64([]byte("abc"), []int64{-1, 2}),
		"offset 2 is 1, less than the one before it, 2":     bfstore.Column32([]byte("abc"), []int32{0, 2, 1}),
	} {
		_, err := filter.AddKeys(keys)
		refused(t, err, bfstore.EINVAL, "filter.bf: "+words)
		_, err = bfstore.Build(somewhere(t), keys, bfstore.Options{})
		refused(t, err, bfstore.EINVAL, "filter.bf: "+words)
	}
}

func TestNoKeysAtAll(t *testing.T) {
	filter := create(t, bfstore.Options{})
	for name, keys := range everyForm(filter, t, 0) {
		equal(t, must[int](t)(filter.AddKeys(keys)), 0, name)
		equal(t, len(must[[]bool](t)(filter.ContainsKeys(keys, nil))), 0, name)
		equal(t, len(must[[]uint32](t)(filter.SelectKeys(keys, nil))), 0, name)
		equal(t, len(must[[]uint64](t)(filter.DigestKeys(keys, nil))), 0, name)
	}
}

func TestKeysAndDigestsWhereTheFilterTakesOnlyTheOthers(t *testing.T) {
	digestsOnly := create(t, bfstore.Options{Hash: bfstore.External})
	keysOnly := create(t, bfstore.Options{Hash: bfstore.Murmur3})
	maybe, err := digestsOnly.ContainsString("a")
	refused(t, err, bfstore.EDIGESTONLY)
	equal(t, maybe, true)
	maybe, err = keysOnly.ContainsDigest(1)
	refused(t, err, bfstore.EKEYONLY)
	equal(t, maybe, true)
	answers, err := digestsOnly.ContainsKeys(bfstore.Strings(make([]string, 20_000)), nil)
	refused(t, err, bfstore.EDIGESTONLY)
	for _, maybe := range answers {
		equal(t, maybe, true)
	}
	numbers, err := keysOnly.SelectKeys(bfstore.Digests([]uint64{5, 6}), nil)
	refused(t, err, bfstore.EKEYONLY)
	equal(t, fmt.Sprint(numbers), "[0 1]")
	_, err = digestsOnly.AddString("a")
	refused(t, err, bfstore.EDIGESTONLY)
	_, err = keysOnly.DigestString("a")
	refused(t, err, bfstore.EKEYONLY)
}

func TestMillionsOfKeysThatAreSortedHaveTheAnswersOfFewer(t *testing.T) {
	filter := create(t, bfstore.Options{Capacity: 40_000_000})
	digests := make([]uint64, 3<<20+3)
	for i := range digests {
		digests[i] = uint64(i+1) * 0x9e3779b97f4a7c15
	}
	half := len(digests) / 2
	must[int](t)(filter.AddKeys(bfstore.Digests(digests[:half])))
	answers := func(part []uint64) []bool { return must[[]bool](t)(filter.ContainsKeys(bfstore.Digests(part), nil)) }
	expected := append(answers(digests[:half]), answers(digests[half:])...)
	all := answers(digests)
	selected := must[[]uint32](t)(filter.SelectKeys(bfstore.Digests(digests), nil))
	next, noes := 0, 0
	for i, maybe := range expected {
		if all[i] != maybe {
			t.Fatal(i)
		}
		if !maybe {
			noes++
		} else if next++; selected[next-1] != uint32(i) {
			t.Fatal(i)
		}
	}
	equal(t, next, len(selected))
	equal(t, noes > 0, true)
}

// Keys that expire: epochs that end, and what the statistics say of them.

package bfstore_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"bfstore.example/bfstore"
)

// long is a window none of whose epochs is over before a test is.
const long = 10_000 * time.Hour

func statistics(t *testing.T, filter *bfstore.Filter) bfstore.Statistics {
	t.Helper()
	return must[bfstore.Statistics](t)(filter.Stats(bfstore.StatsOptions{Fill: true}))
}

func TestAKeyIsFoundThroughAllEpochsAndForgottenAfterThem(t *testing.T) {
	for layout, epochs := range map[bfstore.Layout]uint64{0: 8, bfstore.Window: 8, bfstore.Window4: 4, bfstore.Window2: 2} {
		filter := create(t, bfstore.Options{Layout: layout, Window: long})
		reader := open(t, filter.Name())
		equal(t, must[bool](t)(filter.AddString("once")), true)
		for epoch := uint64(0); epoch < epochs; epoch++ {
			equal(t, must[bool](t)(filter.AddString("again")), epoch == 0, layout, epoch)
			equal(t, has(t, filter, "once") && has(t, reader, "once"), true, layout, epoch)
			equal(t, must[bool](t)(filter.TurnFrom(epoch+1)), false, "another epoch than that of the file")
			equal(t, must[bool](t)(filter.TurnFrom(epoch)), true, layout, epoch)
		}
		equal(t, has(t, filter, "once") || has(t, reader, "once"), false, layout)
		equal(t, has(t, filter, "again") && has(t, reader, "again"), true, layout)
		facts := statistics(t, reader)
		equal(t, [2]uint64{uint64(facts.Epochs), facts.Epoch}, [2]uint64{epochs, epochs})
		if layout != 0 {
			equal(t, facts.Layout, layout)
		}
	}
	equal(t, fmt.Sprint(bfstore.Window, bfstore.Window4, bfstore.Window2), "window window-4 window-2")
}

// loopOfTheGuide has the lines of capi/guide/windows.md.
func loopOfTheGuide(t *testing.T) {
	seen, _, err := bfstore.OpenOrCreate("seen.bf", bfstore.Options{Capacity: 10_000_000, Window: 24 * time.Hour})
	ok(t, err)
	for range time.Tick(time.Minute) {
		_, err = seen.Turn()
		ok(t, err)
	}
}

var _ = loopOfTheGuide // compiled alone: it never ends

func TestTurnEndsAnEpochThatHasLastedForItsTime(t *testing.T) {
	filter := create(t, bfstore.Options{Layout: bfstore.Window2, Window: time.Millisecond})
	for !statistics(t, filter).TurnDue {
		time.Sleep(time.Millisecond)
	}
	equal(t, must[bool](t)(filter.Turn()), true)
	equal(t, statistics(t, filter).Epoch, 1)

	filter = create(t, bfstore.Options{Layout: bfstore.Window2, Window: long})
	equal(t, must[bool](t)(filter.Turn()), false)
	facts := statistics(t, filter)
	equal(t, facts.Epoch == 0 && !facts.TurnDue, true)
}

func TestStatisticsOfEpochs(t *testing.T) {
	filter := create(t, bfstore.Options{Window: 90 * time.Minute, FPR: 0.001})
	must[int](t)(filter.AddKeys(bfstore.Strings([]string{"a", "b", "c"})))
	equal(t, must[bool](t)(filter.TurnFrom(0)), true)
	must[bool](t)(filter.AddString("d"))
	facts := statistics(t, filter)
	equal(t, facts.Window, 90*time.Minute)
	equal(t, facts.TurnedAt.Year() > 2022 && facts.TurnedAt.Year() < 2200, true, facts.TurnedAt)
	equal(t, fmt.Sprintf("%.0f", facts.KeysOfEpochs), "[1 3 0 0 0 0 0 0]")
	equal(t, len(must[bfstore.Statistics](t)(filter.Stats(bfstore.StatsOptions{})).KeysOfEpochs), 0)

	facts = statistics(t, create(t, bfstore.Options{Layout: bfstore.Window4, Window: time.Millisecond}))
	equal(t, facts.Window, time.Millisecond)
	equal(t, len(facts.KeysOfEpochs), 4)
	facts = statistics(t, create(t, bfstore.Options{Window: math.MaxInt64}))
	equal(t, facts.Window, math.MaxInt64)

	facts = statistics(t, create(t, bfstore.Options{}))
	equal(t, facts.Epochs == 0 && facts.Epoch == 0 && facts.Window == 0 && facts.KeysOfEpochs == nil, true)
	equal(t, facts.TurnedAt.IsZero() && !facts.TurnDue, true)
}

func TestWindowsThatAreRefused(t *testing.T) {
	for words, options := range map[string]bfstore.Options{
		"negative": {Capacity: 5, Window: -1}, "Window is a millisecond or more, such as 24 * time.Hour, and not 24ns": {Capacity: 5, Window: 24}, "Give the window": {Capacity: 5, Layout: bfstore.Window4},
		"do not expire": {Capacity: 5, Layout: bfstore.Blocked, Window: long},
	} {
		_, err := bfstore.Create(somewhere(t), options)
		refused(t, err, bfstore.EINVAL, words)
	}
	_, err := bfstore.RequiredBytes(bfstore.Options{Capacity: 5, Window: long})
	refused(t, err, bfstore.EUNSUPPORTED, "only a file")

	path := somewhere(t)
	filter, created, err := bfstore.OpenOrCreate(path, bfstore.Options{Capacity: 5, Window: long})
	ok(t, err)
	closing(t, filter)
	equal(t, created, true)
	_, _, err = bfstore.OpenOrCreate(path, bfstore.Options{Capacity: 5, Window: long + time.Millisecond})
	refused(t, err, bfstore.EMISMATCH, path, "window")
	again, created, err := bfstore.OpenOrCreate(path, bfstore.Options{Capacity: 5, Window: long})
	ok(t, err)
	closing(t, again)
	equal(t, created, false)
}

func TestTurnsThatAreRefused(t *testing.T) {
	filter := create(t, bfstore.Options{Window: long})
	for code, other := range map[bfstore.Code]*bfstore.Filter{
		bfstore.EUNSUPPORTED: create(t, bfstore.Options{}), bfstore.EREADONLY: open(t, filter.Name()),
		bfstore.EINVAL: create(t, bfstore.Options{Window: long, Unpublished: true}),
	} {
		for _, turn := range []func() (bool, error){other.Turn, func() (bool, error) { return other.TurnFrom(0) }} {
			turned, err := turn()
			refused(t, err, code, other.Name())
			equal(t, turned, false)
		}
	}
	_, err := filter.TurnFrom(math.MaxUint64) // not Turn
	refused(t, err, bfstore.EINVAL, filter.Name(), "18446744073709551615")
	ok(t, filter.Close())
	_, err = filter.Turn()
	refused(t, err, bfstore.ESHUT)
	var none *bfstore.Filter
	_, err = none.TurnFrom(0)
	refused(t, err, bfstore.EINVAL)
}

//go:build linux

// The state of a file, from its slots and its live word.

package reader

import "github.com/zeebo/xxh3"

// Bits of the live word.
const (
	poisonedBit   = 1 << 1
	supersededBit = 1 << 2
	recoveringBit = 1 << 3
	replacedBit   = 1 << 4
	fillingBit    = 1 << 5
	laterBits     = 1<<15 - 1<<6 // states of later versions
	endBit        = 1 << 15      // set in the end word, clear in every live word
	states        = poisonedBit | supersededBit | recoveringBit | replacedBit | fillingBit | laterBits
)

const (
	clean = 1
	dirty = 2
)

type slot struct {
	sequence uint64
	state    uint32
	filling  bool
}

// readSlot judges one state slot; nil: it is invalid.
func (i *identity) readSlot(data []byte) (*slot, *kind) {
	made := slot{sequence: u64(data), state: u32(data[8:]), filling: u32(data[72:]) != 0}
	if xxh3.HashSeed(data[:page-8], i.salt()) != u64(data[page-8:]) || made.state < clean || made.state > 4 {
		return nil, nil
	}
	reserved := allZero(data[80:128]) && allZero(data[1664:page-8]) && u32(data[72:]) <= 1 && u32(data[12:]) == 1 &&
		(made.state > dirty || u64(data[64:]) == 0)
	if i.minor == 0 && !reserved {
		return nil, &badReserved
	}
	return &made, nil
}

// judge returns why a file with these header pages and this end word does not answer; nil: it is clean.
func (i *identity) judge(header []byte, end uint64) *kind {
	if end != i.endWord() {
		return &badLiveWord
	}
	a, broken := i.readSlot(header[page : 2*page])
	if broken != nil {
		return broken
	}
	b, broken := i.readSlot(header[2*page : 3*page])
	if broken != nil {
		return broken
	}
	live, livePage := u64(header[3*page:]), header[3*page:headerBytes]
	if i.minor == 0 && !i.livePageIsKnown(livePage) {
		return &badReserved
	}
	if a == nil && b == nil {
		return &badSlots
	}
	if live&^states != i.liveWord() {
		return &badLiveWord
	}
	if live&laterBits != 0 {
		return &laterState
	}
	return stateOf(a, b, live)
}

func (i *identity) livePageIsKnown(live []byte) bool {
	syncing, epoch, numSlices := u64(live[8:]), u64(live[16:]), u64(live[24:])
	return syncing <= 1 && epoch == 0 && numSlices == 1 && allZero(live[32:64]) && allZero(live[2112:])
}

// stateOf returns the first state that holds, in the order of "When a dirty file may be used"; nil: clean. It refuses
// files that could be in use or be adopted: for these the kernel must say whether it failed to write pages.
func stateOf(a, b *slot, live uint64) *kind {
	newest := a
	if a == nil || b != nil && b.sequence > a.sequence {
		newest = b
	}
	whole := a != nil && b != nil && (a.sequence+1 == b.sequence || b.sequence+1 == a.sequence)
	switch {
	case live&replacedBit != 0:
		return &superseded
	case live&poisonedBit != 0:
		return &poisoned
	case live&recoveringBit != 0 || newest.state > dirty:
		return &recovering
	case live&supersededBit != 0:
		return &superseded
	case newest.filling && live&fillingBit == 0 || !whole:
		return &unclean
	case newest.state == dirty:
		return &busy
	case live&fillingBit != 0:
		return &filling
	}
	return nil
}

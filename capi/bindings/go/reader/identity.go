//go:build linux

// The identity of a file: the contents of page 0, and the check that all of it is understood.

package reader

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/zeebo/xxh3"
)

const (
	page        = 4096
	headerBytes = 4 * page // identity, two state slots, live page
	blocked     = 1
	classic     = 2
	chunkBytes  = 65536
	partRecord  = 4
	lastRecord  = 5 // of those that this version knows
)

// Numbers of the format are little-endian.
var (
	u16 = binary.LittleEndian.Uint16
	u32 = binary.LittleEndian.Uint32
	u64 = binary.LittleEndian.Uint64
)

type identity struct {
	minor     uint16
	sealed    bool
	layout    uint16
	hash      uint16
	numProbes uint32
	numBits   uint64
	capacity  uint64
	fpr       float64
	seed      uint64
	bodyAt    uint64
	bodyBytes uint64
	fileID    [16]byte
	note      []byte
	seal      *seal
	endAt     uint64 // the position of the end word
}

// seal is the position of a sealed file's checksums, and their checksum.
type seal struct {
	chunks, sumsAt, sumsSum uint64
}

func (i *identity) salt() uint64     { return xxh3.HashSeed(i.fileID[:], 0) }
func (i *identity) endWord() uint64  { return xxh3.HashSeed(i.fileID[:], 1) | endBit }
func (i *identity) liveWord() uint64 { return i.salt()&^0xffff | 1 } // without a state

type check struct {
	holds bool
	kind  kind
}

// firstBroken returns the kind of the first check that does not hold.
func firstBroken(checks ...check) *kind {
	for i := range checks {
		if !checks[i].holds {
			return &checks[i].kind
		}
	}
	return nil
}

func allZero(data []byte) bool {
	for _, one := range data {
		if one != 0 {
			return false
		}
	}
	return true
}

// readIdentity judges page 0 of a file of this length, in the order of the specification's checklist.
func readIdentity(data []byte, fileBytes uint64) (*identity, *kind) {
	if broken := firstBroken(
		check{string(data[:8]) == "\x89BFS\r\n\x1a\n", badMagic},
		check{u16(data[8:]) == 2, badVersion},
		check{u16(data[28:]) == 1, badForm},
		check{u32(data[12:]) == page, badHeader},
		check{xxh3.HashSeed(data[:page-8], 0) == u64(data[page-8:]), badChecksum},
	); broken != nil {
		return nil, broken
	}
	made := identity{
		minor: u16(data[10:]), sealed: u32(data[20:])&1 != 0, layout: u16(data[32:]), hash: u16(data[34:]),
		numProbes: u32(data[36:]), numBits: u64(data[40:]), capacity: u64(data[48:]), fpr: math.Float64frombits(u64(data[56:])),
		seed: u64(data[64:]), bodyAt: u64(data[72:]), bodyBytes: u64(data[80:]),
	}
	copy(made.fileID[:], data[88:])
	records := uint64(u32(data[112:]))
	fits := records%8 == 0 && records <= page-136
	reserved := u16(data[30:]) == 0 && u32(data[116:]) == 0 && u64(data[120:]) == 0 &&
		(!fits || allZero(data[128+records:page-8]))
	if broken := firstBroken(
		check{made.minor > 0 || reserved, badReserved},
		check{u32(data[24:]) == 0, badFeature},
		check{made.layout == blocked || made.layout == classic, badLayout},
		check{made.hash == 1, badHash},
		check{made.numProbes >= 1 && made.numProbes <= 64, badProbes},
		check{made.bitsArePossible(), badBits},
		check{made.capacity >= 1 && made.capacity < 1<<63 && made.fpr > 0 && made.fpr <= 1, badCapacity},
		check{made.bodyFits(fileBytes), badBody},
		check{fits, badRecord},
	); broken != nil {
		return nil, broken
	}
	if broken := made.readRecords(data[128 : 128+records]); broken != nil {
		return nil, broken
	}
	if broken := made.findEnd(fileBytes); broken != nil {
		return nil, broken
	}
	return &made, firstBroken(check{u64(data[104:]) == canary(made.seed), badCanary})
}

func (i *identity) bitsArePossible() bool {
	return i.numBits >= 1 && i.numBits <= 1<<48 && (i.layout == classic || i.numBits%512 == 0)
}

// bodyFits checks the position of the body. No sum here overflows, since the number of bits is possible.
func (i *identity) bodyFits(fileBytes uint64) bool {
	return i.bodyBytes == (i.numBits+63)/64*8 && i.bodyAt%page == 0 && i.bodyAt >= headerBytes &&
		i.bodyBytes <= fileBytes && i.bodyAt <= fileBytes-i.bodyBytes
}

func roundUp(number, unit uint64) uint64 { return (number + unit - 1) / unit * unit }

// findEnd finds the end word, which is inside the file.
func (i *identity) findEnd(fileBytes uint64) *kind {
	i.endAt = roundUp(i.bodyAt+i.bodyBytes, page)
	if i.seal != nil {
		if i.seal.chunks != (i.bodyBytes+chunkBytes-1)/chunkBytes || i.seal.sumsAt != i.endAt {
			return &badRecord
		}
		i.endAt += 8 * i.seal.chunks
	}
	return firstBroken(check{i.endAt+8 <= fileBytes, badBody})
}

// readRecords reads the parameter records that files of this layout and hash may have: a note, and a seal.
func (i *identity) readRecords(left []byte) *kind {
	if hasUnknownCritical(left) {
		return &badCritical
	}
	for len(left) > 0 {
		type_, flags, length := u16(left), u16(left[2:]), uint64(u32(left[4:]))
		end := 8 + roundUp(length, 8)
		critical := flags&1 != 0
		if critical && type_ == partRecord && length == 16 {
			return &aPart
		}
		if end > uint64(len(left)) || critical || i.minor == 0 && (flags != 0 || !allZero(left[8+length:end])) {
			return &badRecord
		}
		if !i.takeRecord(type_, left[8:8+length]) {
			return &badRecord
		}
		left = left[end:]
	}
	return firstBroken(check{i.sealed == (i.seal != nil), badRecord})
}

// hasUnknownCritical looks at the records up to the first one that is longer than what is left.
func hasUnknownCritical(left []byte) bool {
	for len(left) > 0 {
		type_, critical, length := u16(left), left[2]&1 != 0, uint64(u32(left[4:]))
		end := 8 + roundUp(length, 8)
		if end > uint64(len(left)) {
			return false
		}
		if critical && (type_ < 1 || type_ > lastRecord) {
			return true
		}
		left = left[end:]
	}
	return false
}

// takeRecord returns false for a known type with wrong contents. It skips unknown types that are not critical.
func (i *identity) takeRecord(type_ uint16, value []byte) bool {
	switch type_ {
	case 1:
		if i.note != nil || len(value) > 1024 {
			return false
		}
		i.note = append([]byte{}, value...)
	case 3:
		if i.seal != nil || len(value) != 40 || u32(value) != chunkBytes || i.minor == 0 && u32(value[4:]) != 0 {
			return false
		}
		i.seal = &seal{u64(value[8:]), u64(value[16:]), u64(value[24:])}
	case 2, partRecord, 5: // for parts, and for other hashes: critical
		return false
	}
	return true
}

// canary returns the hash of keys of every kind of length.
func canary(seed uint64) uint64 {
	var key [1000]byte
	for j := range key {
		key[j] = byte(j % 251)
	}
	sum := uint64(0)
	for _, length := range []int{0, 3, 8, 16, 100, 240, 1000} {
		sum = bits.RotateLeft64(sum, 9) ^ xxh3.HashSeed(key[:length], seed)
	}
	return sum
}

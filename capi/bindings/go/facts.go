// Facts about filters: open ones, compared ones, planned ones.

package bfstore

/*
#include "bridge.h"
*/
import "C"

import (
	"math"
	"strconv"
	"time"
)

// Interval is an estimated number, and the interval that has it in 95 of 100 cases. High is +Inf if the bits set no
// bound.
type Interval struct{ Estimate, Low, High float64 }

func intervalOf(from C.bfs_interval) Interval {
	return Interval{float64(from.estimate), float64(from.low), float64(from.high)}
}

// StatsOptions say which further facts Stats finds out, which cost time.
type StatsOptions struct {
	Fill   bool // counts the bits: reads the whole body
	Memory bool // asks the kernel which pages are in memory
}

// Fill is the result of counting the bits.
type Fill struct {
	SetBits       uint64 // Counting: counters that are not 0
	FillRatio     float64
	EstimatedKeys Interval
	EstimatedFPR  float64 // the rate now
	CountersAt15  uint64  // Counting: counters that no remove lowers any more
}

// Memory is the amount of a file that is in memory.
type Memory struct {
	HugePageBytes uint64
	ResidentBytes uint64 // math.MaxUint64 if the kernel does not tell
}

// Statistics are facts about an open filter.
type Statistics struct {
	Layout      Layout
	Hash        Hash
	NumProbes   int     // k
	NumBits     uint64  // m
	Capacity    uint64  // n: keys sized for; 0 in the bare form
	FPR         float64 // p promised at n keys; 0 in the bare form
	Seed        uint64
	Seeds       []uint32 // NumProbes of them, if the hash takes a list
	Part        uint32   // which part of a whole filter, from 0; a whole filter is part 0 of 1
	NumParts    uint32
	Note        []byte // the owner's note that the filter was made with
	BodyBytes   uint64
	KeysAdded   uint64 // adds that changed a bit; 0 in buffers
	KeysRemoved uint64 // Counting
	Health      Code   // 0, or why every answer is maybe
	Saturated   bool   // more keys were added than Capacity
	ISA         string // the instruction set of the kernel in use: "avx512", "avx2", "neon" or "scalar"
	FileID      [16]byte
	Fill        *Fill   // with StatsOptions.Fill
	Memory      *Memory // with StatsOptions.Memory, for a file

	// Of a layout whose keys expire; otherwise zeros.
	Epochs       int           // the epochs whose keys it has: 8, 4 or 2. 0 if keys do not expire
	Epoch        uint64        // the current one, from 0; also 0 if keys do not expire: see Epochs
	TurnedAt     time.Time     // when it began
	Window       time.Duration // for how long a key is kept after its last add, at least
	TurnDue      bool          // the current epoch has lasted for its time: Turn would end it
	KeysOfEpochs []float64     // with StatsOptions.Fill: estimated keys that were added in each, the current one first
}

// Capacity returns the number of distinct keys that the filter is sized for.
func (f *Filter) Capacity() (uint64, error) {
	facts, err := f.Stats(StatsOptions{})
	return facts.Capacity, err
}

// FPR returns the false-positive rate that is promised at Capacity keys.
func (f *Filter) FPR() (float64, error) {
	facts, err := f.Stats(StatsOptions{})
	return facts.FPR, err
}

// Stats returns facts about the filter.
func (f *Filter) Stats(options StatsOptions) (Statistics, error) {
	flags := bit(options.Fill, C.BFS_STATS_FILL) | bit(options.Memory, C.BFS_STATS_MEMORY)
	from := C.bfs_statistics{struct_bytes: C.sizeof_bfs_statistics}
	err := f.call(func(handle *C.bfs_filter, words *C.bfs_error) C.int32_t {
		return C.bfs_stats(handle, flags, &from, words)
	})
	if err != nil {
		return Statistics{}, err
	}
	return statisticsOf(&from), nil
}

func statisticsOf(from *C.bfs_statistics) Statistics {
	made := Statistics{
		Layout: Layout(from.layout), Hash: Hash(from.hash), NumProbes: int(from.num_probes), NumBits: uint64(from.num_bits),
		Capacity: uint64(from.capacity), FPR: float64(from.fpr), Seed: uint64(from.seed), BodyBytes: uint64(from.body_bytes),
		KeysAdded: uint64(from.keys_added), KeysRemoved: uint64(from.keys_removed), Health: Code(from.health),
		Saturated: from.saturated != 0, ISA: C.GoString(&from.isa[0]),
	}
	made.Part, made.NumParts = uint32(from.part), uint32(from.num_parts)
	for i := range made.FileID {
		made.FileID[i] = byte(from.file_id[i])
	}
	for _, seed := range from.seeds[:from.num_seeds] {
		made.Seeds = append(made.Seeds, uint32(seed))
	}
	for _, one := range from.note[:from.note_bytes] {
		made.Note = append(made.Note, byte(one))
	}
	if from.has_fill != 0 {
		keys := Interval{float64(from.estimated_keys), float64(from.estimated_keys_low), float64(from.estimated_keys_high)}
		made.Fill = &Fill{uint64(from.set_bits), float64(from.fill_ratio), keys, float64(from.estimated_fpr),
			uint64(from.counters_at_15)}
	}
	if from.has_memory != 0 {
		made.Memory = &Memory{uint64(from.huge_page_bytes), uint64(from.resident_bytes)}
	}
	if from.epochs != 0 {
		made.addEpochs(from)
	}
	return made
}

func (s *Statistics) addEpochs(from *C.bfs_statistics) {
	s.Epochs, s.Epoch, s.TurnDue = int(from.epochs), uint64(from.epoch), from.turn_due != 0
	s.Window = math.MaxInt64 // 292 years
	if from.window_ms <= math.MaxInt64/C.uint64_t(time.Millisecond) {
		s.Window = time.Duration(from.window_ms) * time.Millisecond
	}
	if from.turned_at != 0 {
		s.TurnedAt = time.Unix(int64(from.turned_at/1e9), int64(from.turned_at%1e9))
	}
	if from.has_fill != 0 {
		for _, keys := range from.keys_of_epochs[:from.epochs] {
			s.KeysOfEpochs = append(s.KeysOfEpochs, float64(keys))
		}
	}
}

// Comparison compares two filters, A and B. If their sizes differ, the larger one counts as folded.
type Comparison struct {
	Differs     Differences
	Comparable  bool // otherwise only KeysA and KeysB are known
	Equal       bool
	AInB        bool // nothing shows that A has a key that B lacks
	BInA        bool
	SomeInBoth  bool   // false: the overlap may be chance
	NumBits     uint64 // m of the smaller filter
	SetBitsA    uint64
	SetBitsB    uint64
	SetBitsBoth uint64 // 0: certainly no key is in both
	KeysA       Interval
	KeysB       Interval
	KeysEither  Interval
	KeysBoth    Interval
	Jaccard     Interval // KeysBoth / KeysEither
}

// Compare reads every bit of the filter, A, and of another one, B.
func (f *Filter) Compare(other *Filter) (Comparison, error) {
	leave, err := enterAll(f, other)
	if err != nil {
		return Comparison{}, err
	}
	defer leave()
	from := C.bfs_comparison{struct_bytes: C.sizeof_bfs_comparison}
	words := wordsFor()
	if code := C.bfs_compare(f.handle, other.handle, &from, words); code != C.BFS_OK {
		return Comparison{}, failure(code, words)
	}
	return Comparison{
		Differences(from.differs), from.comparable != 0, from.equal != 0, from.a_in_b != 0, from.b_in_a != 0,
		from.some_in_both != 0, uint64(from.num_bits), uint64(from.set_bits_a), uint64(from.set_bits_b),
		uint64(from.set_bits_both), intervalOf(from.keys_a), intervalOf(from.keys_b), intervalOf(from.keys_either),
		intervalOf(from.keys_both), intervalOf(from.jaccard),
	}, nil
}

// PlanRequest is the known numbers of a planned filter. Zero means "not given".
type PlanRequest struct {
	Layout     Layout
	Capacity   uint64
	FPR        float64
	BitsPerKey float64
	MaxBytes   uint64
	NumBits    uint64
	NumProbes  int
}

// Plan is the planned filter.
type Plan struct {
	Layout     Layout
	NumProbes  int // k
	Abilities  Abilities
	NumBits    uint64  // m
	Capacity   uint64  // n
	FPR        float64 // at n keys
	BitsPerKey float64
	BodyBytes  uint64
	FileBytes  uint64
	FillRatio  float64 // expected at n keys
	BloomFPR   float64 // (1 - e^(-kn/m))^k
	CacheLines float64 // read by a lookup of a present key
	PageFaults float64 // of such a lookup, if the file is not in memory
}

// MakePlan computes the other numbers from the given ones, without making a filter.
func MakePlan(request PlanRequest) (Plan, error) {
	if request.NumProbes < 0 || request.NumProbes > 1<<30 {
		return Plan{}, invalid("NumProbes is 1 to 64, and not " + strconv.Itoa(request.NumProbes))
	}
	given := C.bfs_plan_request{
		struct_bytes: C.sizeof_bfs_plan_request, layout: C.uint32_t(request.Layout), capacity: C.uint64_t(request.Capacity),
		fpr: C.double(request.FPR), bits_per_key: C.double(request.BitsPerKey), max_bytes: C.uint64_t(request.MaxBytes),
		num_bits: C.uint64_t(request.NumBits), num_probes: C.uint32_t(request.NumProbes),
	}
	from, words := C.bfs_plan_result{struct_bytes: C.sizeof_bfs_plan_result}, wordsFor()
	if code := C.bfs_plan(&given, &from, words); code != C.BFS_OK {
		return Plan{}, failure(code, words)
	}
	return Plan{
		Layout(from.layout), int(from.num_probes), Abilities(from.abilities), uint64(from.num_bits), uint64(from.capacity),
		float64(from.fpr), float64(from.bits_per_key), uint64(from.body_bytes), uint64(from.file_bytes),
		float64(from.fill_ratio), float64(from.bloom_fpr), float64(from.cache_lines), float64(from.page_faults),
	}, nil
}

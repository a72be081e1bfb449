// Shared by the programs here in Go: what an original says of absent keys, and a line of files.tsv.
package originals

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"
)

const (
	absent = 1_000_000
	few    = 10_000
)

// Row is what a line of files.tsv says of a file, besides the answers.
type Row struct {
	Name, Format, Prefix string
	Count                int
	Module               string
}

// Path returns the path of the file, in the folder of the command line.
func (row Row) Path() string { return filepath.Join(os.Args[1], row.Name) }

// Keys calls add for each of the keys.
func (row Row) Keys(add func(key []byte)) {
	for i := 0; i < row.Count; i++ {
		add(fmt.Appendf(nil, "%s%d", row.Prefix, i))
	}
}

// Writes the nanoseconds of a lookup of an absent key to the standard error.
func (row Row) time(has func(key []byte) bool) {
	var keys [few][]byte
	for i := range keys {
		keys[i] = fmt.Appendf(nil, "absent-%d", i)
	}
	best := time.Duration(math.MaxInt64)
	for round := 0; round < 20; round++ {
		begin := time.Now() // clock: for the report
		for _, key := range keys {
			has(key)
		}
		if taken := time.Since(begin); taken < best { // clock: for the report
			best = taken
		}
	}
	fmt.Fprintf(os.Stderr, "time\t%s\t%.1f\n", row.Name, float64(best.Nanoseconds())/few)
}

// Print writes the line of a filter that answers with has.
func (row Row) Print(has func(key []byte) bool) {
	fold := fnv.New64a()
	count, fewCount, fewFold := 0, 0, uint64(0)
	for i := 0; i < absent; i++ {
		if i == few {
			fewCount, fewFold = count, fold.Sum64()
		}
		if has(fmt.Appendf(nil, "absent-%d", i)) {
			count++
			fold.Write(binary.LittleEndian.AppendUint32(nil, uint32(i)))
		}
	}
	fmt.Printf("%s\t%s\t-\t-\t%s\t%d\t%d\t%016x\t%d\t%016x\t%s\tutf8\n", row.Name, row.Format, row.Prefix, row.Count,
		count, fold.Sum64(), fewCount, fewFold, row.version())
	row.time(has)
}

func (row Row) version() string {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == row.Module {
			return module.Path + " " + module.Version
		}
	}
	return row.Module
}

// Must ends the program on an error.
func Must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

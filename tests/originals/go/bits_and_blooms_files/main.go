// Files of bits-and-blooms/bloom: WriteTo() and MarshalJSON() of one filter of its sizing, and of one whose m is no
// multiple of 64.
package main

import (
	"bytes"
	"encoding/json"
	"os"

	"github.com/bits-and-blooms/bloom/v3"

	"originals"
)

func make(name, prefix string, count int, filter *bloom.BloomFilter) {
	row := originals.Row{Name: name + ".bloom", Format: "bits-and-blooms", Prefix: prefix, Count: count,
		Module: "github.com/bits-and-blooms/bloom/v3"}
	row.Keys(func(key []byte) { filter.Add(key) })
	var binary bytes.Buffer
	_, err := filter.WriteTo(&binary)
	originals.Must(err)
	originals.Must(os.WriteFile(row.Path(), binary.Bytes(), 0o666))
	var opened bloom.BloomFilter
	_, err = opened.ReadFrom(&binary)
	originals.Must(err)
	row.Print(opened.Test)

	row.Name, row.Format = name+".json", "bits-and-blooms-json"
	text, err := json.Marshal(filter)
	originals.Must(err)
	originals.Must(os.WriteFile(row.Path(), text, 0o666))
	var read bloom.BloomFilter
	originals.Must(json.Unmarshal(text, &read))
	row.Print(read.Test)
}

func main() {
	make("bits_and_blooms.one-percent", "key-", 1000, bloom.NewWithEstimates(1000, 0.01))
	make("bits_and_blooms.five-probes", "schlüssel-und-noch-mehr-", 500, bloom.New(4999, 5))
}

// Files of DCSO's bloom: one of its sizing, one of another k with free data after the bits, and one whose m is a power
// of two. That one has more false positives than its size promises: see FORMAT.md.
package main

import (
	"os"

	"github.com/DCSO/bloom"

	"originals"
)

func make(name, prefix string, count int, capacity uint64, rate float64, data []byte) {
	row := originals.Row{Name: name, Format: "dcso", Prefix: prefix, Count: count, Module: "github.com/DCSO/bloom"}
	made := bloom.Initialize(capacity, rate)
	made.Data = data
	row.Keys(made.Add)
	file, err := os.Create(row.Path())
	originals.Must(err)
	originals.Must(made.Write(file))
	originals.Must(file.Close())
	opened, err := bloom.LoadFilter(row.Path(), false)
	originals.Must(err)
	row.Print(opened.Check)
}

func main() {
	make("dcso.one-percent.bloom", "key-", 1000, 1000, 0.01, nil)
	make("dcso.data.bloom", "clé-", 700, 777, 0.0003, []byte("its owner's words"))
	make("dcso.power-of-two.bloom", "key-", 900, 900, 0.012610946150999992, nil)
}

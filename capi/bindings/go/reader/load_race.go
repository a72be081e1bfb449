//go:build linux && race

package reader

import "sync/atomic"

var fence uint32

// load replaces atomic.LoadUint64: the race detector's own atomic loads are not in Go, so a fault in them ends the
// program.
//
//go:norace
//go:noinline
func load(at *uint64) uint64 {
	value := *at
	atomic.AddUint32(&fence, 1) // no later load comes before this one
	return value
}

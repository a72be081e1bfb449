//go:build linux && !race

package reader

import "sync/atomic"

func load(at *uint64) uint64 { return atomic.LoadUint64(at) }

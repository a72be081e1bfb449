// Package gate lets any number of calls use a resource at once, and one goroutine take it away when no call uses it.
//
// It is like a sync.RWMutex for many short readers: readers on different processors write to different cache lines, and
// a reader that comes after Close gets an error instead of waiting.
package gate

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

const (
	open uint32 = iota
	alone
	closed
)

// Lane counts the calls of some goroutines.
type Lane struct {
	calls int64
	_     [56]byte // each lane fills a cache line
}

// Gate is open as its zero value.
type Gate struct {
	lanes  [16]Lane
	state  uint32
	change sync.Mutex // held by Alone and Close
}

// Enter begins a call; nil: the gate is closed. Leave of the returned lane ends the call. The pointer to the lane keeps
// the object alive that contains the gate, so no finalizer runs during a call.
func (g *Gate) Enter() *Lane {
	// Goroutines differ in the address of their stack, and a goroutine keeps its address for a long time.
	var here byte
	place := uintptr(unsafe.Pointer(&here))
	lane := &g.lanes[(place>>11^place>>15)%16]
	// First the count, then the state. Close uses the opposite order, so one of the two sees the other.
	atomic.AddInt64(&lane.calls, 1)
	if atomic.LoadUint32(&g.state) == open {
		return lane
	}
	return g.enterLater(lane)
}

// TryEnter is Enter without waiting. nil: the gate is closed, or another goroutine is in Alone.
func (g *Gate) TryEnter() *Lane {
	lane := &g.lanes[0] // for calls that are long and few
	atomic.AddInt64(&lane.calls, 1)
	if atomic.LoadUint32(&g.state) == open {
		return lane
	}
	lane.Leave()
	return nil
}

func (g *Gate) enterLater(lane *Lane) *Lane {
	for {
		lane.Leave()
		if atomic.LoadUint32(&g.state) == closed {
			return nil
		}
		g.change.Lock() // waits for the end of Alone
		g.change.Unlock()
		atomic.AddInt64(&lane.calls, 1)
		if atomic.LoadUint32(&g.state) == open {
			return lane
		}
	}
}

// Leave ends a call.
func (l *Lane) Leave() { atomic.AddInt64(&l.calls, -1) }

// Alone runs work while no call uses the resource; new calls wait. False: the gate is closed.
func (g *Gate) Alone(work func()) bool {
	g.change.Lock()
	defer g.change.Unlock()
	if g.state == closed {
		return false
	}
	atomic.StoreUint32(&g.state, alone)
	defer atomic.StoreUint32(&g.state, open)
	g.drain()
	work()
	return true
}

// Close lets no new call begin, and returns when the last one has ended. False: the gate was already closed.
func (g *Gate) Close() bool {
	g.change.Lock()
	defer g.change.Unlock()
	if g.state == closed {
		return false
	}
	atomic.StoreUint32(&g.state, closed)
	g.drain()
	return true
}

// Closed reports whether Close was called.
func (g *Gate) Closed() bool { return atomic.LoadUint32(&g.state) == closed }

func (g *Gate) drain() {
	for i := range g.lanes {
		for tries := 0; atomic.LoadInt64(&g.lanes[i].calls) != 0; tries++ {
			if tries < 100 {
				runtime.Gosched()
			} else {
				time.Sleep(100 * time.Microsecond)
			}
		}
	}
}

package gate

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

func TestTryEnterDoesNotWait(t *testing.T) {
	var gate Gate
	lane := gate.TryEnter()
	if lane == nil {
		t.Fatal("not open")
	}
	lane.Leave()
	gate.Alone(func() {
		if gate.TryEnter() != nil {
			t.Error("a call runs beside Alone")
		}
	})
	gate.Close()
	if gate.TryEnter() != nil {
		t.Error("a call runs after Close")
	}
}

func TestNoCallRunsBesideAloneOrAfterClose(t *testing.T) {
	var gate Gate
	var workers sync.WaitGroup
	var inside, calls int64
	for worker := 0; worker < 4; worker++ {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for lane := gate.Enter(); lane != nil; lane = gate.Enter() {
				atomic.AddInt64(&inside, 1)
				atomic.AddInt64(&calls, 1)
				atomic.AddInt64(&inside, -1)
				lane.Leave()
			}
		}()
	}
	plain := 0 // for the race detector: Alone excludes Alone
	for i := 0; i < 30; i++ {
		alone := gate.Alone(func() {
			plain++
			if atomic.LoadInt64(&inside) != 0 {
				t.Error("a call ran")
			}
		})
		if !alone {
			t.Fatal("closed")
		}
		for before := atomic.LoadInt64(&calls); atomic.LoadInt64(&calls) == before; {
			runtime.Gosched()
		}
	}
	if !gate.Close() || atomic.LoadInt64(&inside) != 0 || !gate.Closed() {
		t.Fatal("a call ran after Close")
	}
	workers.Wait()
	if gate.Close() || gate.Enter() != nil || gate.Alone(func() { t.Error("ran") }) {
		t.Fatal("open again")
	}
}

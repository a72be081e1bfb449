// Syncs, marks, recoveries, epochs that end, and the state of a file.

package bfstore

/*
#include "bridge.h"
*/
import "C"

import "math"

// Mark is the mark of an owner: a process, a shard or a database that has its own log.
type Mark struct {
	Owner     uint64 // a number of the owner's choice
	Mark      uint64 // every key of the log up to this position is durable; 0: none yet
	Epoch     uint64 // which log: a number of the owner's choice, a new one whenever positions begin anew
	Recovered bool   // from ListMarks, in a recovery: the owner has finished it
}

// Sync makes all adds before the call durable. A failure poisons the file for every process (EPOISONED): a failed
// Sync cannot be retried.
func (f *Filter) Sync() error {
	return f.call(func(handle *C.bfs_filter, words *C.bfs_error) C.int32_t { return C.bfs_sync(handle, nil, words) })
}

// SyncMark syncs, and then stores the mark: the caller promises that every key up to it has returned from an add.
// Recovered must be false.
func (f *Filter) SyncMark(mark Mark) error {
	given := C.bfs_owner_mark{owner: C.uint64_t(mark.Owner), mark: C.uint64_t(mark.Mark), epoch: C.uint64_t(mark.Epoch)}
	if mark.Recovered {
		given.recovered = 1
	}
	return f.call(func(handle *C.bfs_filter, words *C.bfs_error) C.int32_t { return C.bfs_sync(handle, &given, words) })
}

// GetMark returns the mark of `owner` in `epoch`, as of the last sync by any process; 0: add the keys of all rows. It
// is also 0 if the file has no mark, or cannot be read, or the filter was closed.
func (f *Filter) GetMark(owner, epoch uint64) uint64 {
	lane := f.lane()
	if lane == nil {
		return 0
	}
	defer lane.Leave()
	return uint64(C.bfs_get_mark(f.handle, C.uint64_t(owner), C.uint64_t(epoch)))
}

// ListMarks returns the marks of all owners, in no order.
func (f *Filter) ListMarks() ([]Mark, error) {
	var rows [64]C.bfs_owner_mark // no file has more
	count, err := f.ask(func(handle *C.bfs_filter, words *C.bfs_error) C.int64_t {
		return C.bfs_list_marks(handle, &rows[0], C.size_t(len(rows)), words)
	})
	if err != nil {
		return nil, err
	}
	marks := make([]Mark, count)
	for i := range marks {
		row := &rows[i]
		marks[i] = Mark{uint64(row.owner), uint64(row.mark), uint64(row.epoch), row.recovered != 0}
	}
	return marks, nil
}

// DropOwner forgets an owner, durably, so that a recovery no longer waits for it. Drop an owner whose rows are gone.
func (f *Filter) DropOwner(owner uint64) error {
	return f.call(func(handle *C.bfs_filter, words *C.bfs_error) C.int32_t {
		return C.bfs_drop_owner(handle, C.uint64_t(owner), words)
	})
}

// FinishRecovery is for a filter that was opened to recover it: `owner` has added again every key of its log after its
// mark. True: the recovery is over, and answers count again. False: the recovery waits for other owners.
func (f *Filter) FinishRecovery(owner uint64) (bool, error) {
	over, err := f.ask(func(handle *C.bfs_filter, words *C.bfs_error) C.int64_t {
		return C.int64_t(C.bfs_finish_recovery(handle, C.uint64_t(owner), words))
	})
	return over == 1, err
}

// FinishFilling ends the filling of a filter that was made with Filling: all its keys were added. The order of an
// online build matters: see bfs_finish_filling in bfstore_engine.h.
func (f *Filter) FinishFilling() error {
	return f.call(func(handle *C.bfs_filter, words *C.bfs_error) C.int32_t { return C.bfs_finish_filling(handle, words) })
}

// Turn ends the epoch of a filter whose keys expire (Options.Window), if the epoch has lasted for its time: it forgets
// the keys of the oldest epoch, begins the next one, and reports whether it did. It reads and writes the whole body, and
// syncs; other handles ask and add meanwhile.
//
// No other call ends epochs: so call it again and again, some ten times in an epoch, in one process or in several, which
// end one epoch together. Without it keys are kept for longer, and more answers are maybe.
func (f *Filter) Turn() (bool, error) { return f.turn(C.BFS_IF_DUE) }

// TurnFrom is Turn for a caller that knows the time itself: it ends the epoch with this number, which the caller has read
// from Statistics.Epoch, whatever the time is. If the filter is in another epoch, it changes nothing.
func (f *Filter) TurnFrom(epoch uint64) (bool, error) {
	if epoch == math.MaxUint64 { // which means Turn to the library
		return false, invalid(f.Name() + ": no epoch has the number 18446744073709551615")
	}
	return f.turn(C.uint64_t(epoch))
}

func (f *Filter) turn(from C.uint64_t) (bool, error) {
	turned, err := f.ask(func(handle *C.bfs_filter, words *C.bfs_error) C.int64_t {
		return C.int64_t(C.bfs_turn(handle, from, words))
	})
	return turned == 1, err
}

// Health returns nil, or why every answer is maybe now. It reads only memory, so a long-running reader may call it
// often.
func (f *Filter) Health() error {
	lane, err := f.enter()
	if err != nil {
		return err
	}
	code := C.bfs_health(f.handle)
	lane.Leave()
	if code != C.BFS_OK {
		return f.failed(C.int64_t(code))
	}
	return nil
}

// IsCurrent reports whether the path still names this file, the file has its full length, and no process is replacing
// it. False: open the path again. It asks the file system, so do not call it for every lookup.
func (f *Filter) IsCurrent() (bool, error) {
	current, err := f.ask(func(handle *C.bfs_filter, words *C.bfs_error) C.int64_t {
		return C.int64_t(C.bfs_is_current(handle, words))
	})
	return current == 1, err
}

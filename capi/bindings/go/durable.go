// Syncs, marks, recoveries, and the state of a file.

package bfstore

/*
#include "bridge.h"
*/
import "C"

// Mark is what a filter keeps for an owner: a process, a shard, a database, that has a log of its own.
type Mark struct {
	Owner     uint64
	Mark      uint64 // every key of the log up to this position is durable; 0: none yet
	Epoch     uint64 // which log
	Recovered bool   // in a recovery: the owner has finished it
}

// Sync makes durable everything that was added before the call.
func (f *Filter) Sync() error { return f.SyncMark(0, 0, 0) }

// SyncMark does the same, and then stores `mark`, a position in the log `epoch` of `owner`: the caller promises that
// every key up to it has returned from an add.
func (f *Filter) SyncMark(owner, epoch, mark uint64) error {
	return f.call(func(handle *C.bfs_filter, words *C.bfs_error) C.int32_t {
		return C.bfs_sync(handle, C.uint64_t(owner), C.uint64_t(epoch), C.uint64_t(mark), words)
	})
}

// GetMark is the mark of `owner` in `epoch`, as of the last sync by any process; 0: add the keys of all rows. So it is if
// the file has none, or cannot be read, or the filter was closed.
func (f *Filter) GetMark(owner, epoch uint64) uint64 {
	lane := f.gate.Enter()
	if lane == nil {
		return 0
	}
	defer lane.Leave()
	return uint64(C.bfs_get_mark(f.handle, C.uint64_t(owner), C.uint64_t(epoch)))
}

// ListMarks is the marks of all owners, in no order.
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

// DropOwner forgets an owner, durably. A recovery does not wait for it any more: drop an owner whose rows are gone.
func (f *Filter) DropOwner(owner uint64) error {
	return f.call(func(handle *C.bfs_filter, words *C.bfs_error) C.int32_t {
		return C.bfs_drop_owner(handle, C.uint64_t(owner), words)
	})
}

// FinishRecovery is for a filter that was opened to recover it: `owner` has added again every key of its log that came
// after its mark. True: the recovery is over, and answers are answers again. False: other owners are waited for.
func (f *Filter) FinishRecovery(owner uint64) (bool, error) {
	over, err := f.ask(func(handle *C.bfs_filter, words *C.bfs_error) C.int64_t {
		return C.int64_t(C.bfs_finish_recovery(handle, C.uint64_t(owner), words))
	})
	return over == 1, err
}

// FinishFilling ends the filling of a filter that was made with Filling: every key that it is to have was added. The
// order of an online build matters: see bfs_finish_filling in bfstore.h.
func (f *Filter) FinishFilling() error {
	return f.call(func(handle *C.bfs_filter, words *C.bfs_error) C.int32_t { return C.bfs_finish_filling(handle, words) })
}

// Health is nil, or why every answer is maybe now. It reads memory alone, so a long-running reader may ask often.
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

// IsCurrent tells whether the path still names this file, as long as it must be, and no process is putting another in
// its place. False: open the path again. It asks the file system, so do not call it for every lookup.
func (f *Filter) IsCurrent() (bool, error) {
	current, err := f.ask(func(handle *C.bfs_filter, words *C.bfs_error) C.int64_t {
		return C.int64_t(C.bfs_is_current(handle, words))
	})
	return current == 1, err
}

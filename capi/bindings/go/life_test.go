// Filters that are closed in use, used after that, left to the collector, truncated by another process.

package bfstore_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bfstore.example/bfstore"
)

// children are programs that a test runs in a process of its own, by name: see TestMain.
var children = map[string]func([]string){"cut": askWhileCut}

// notAfterClose are the methods that a closed filter still has.
var notAfterClose = map[string]bool{"Abandon": true, "Name": true, "String": true, "GetMark": true}

func TestEveryMethodOfAClosedFilterFails(t *testing.T) {
	closed, other := create(t, bfstore.Options{}), create(t, bfstore.Options{})
	ok(t, closed.Close())
	methods := reflect.TypeOf(closed)
	called := 0
	for i := 0; i < methods.NumMethod(); i++ {
		method := methods.Method(i)
		if notAfterClose[method.Name] {
			continue
		}
		given := []reflect.Value{reflect.ValueOf(closed)}
		for j := 1; j < method.Type.NumIn(); j++ {
			kind := method.Type.In(j)
			if kind == methods {
				given = append(given, reflect.ValueOf(other))
			} else {
				given = append(given, reflect.Zero(kind))
			}
		}
		results := method.Func.Call(given)
		err, _ := results[len(results)-1].Interface().(error)
		if !errors.Is(err, fs.ErrClosed) || !strings.Contains(err.Error(), "closed") {
			t.Errorf("%s: %v", method.Name, err)
		}
		if maybe, is := results[0].Interface().(bool); is && strings.HasPrefix(method.Name, "Contains") {
			equal(t, maybe, true, method.Name)
		}
		called++
	}
	if called < 35 {
		t.Fatal(called)
	}
	for _, err := range []error{other.Merge(closed), bfstore.Intersect([]*bfstore.Filter{other, closed}, somewhere(t), bfstore.CopyOptions{})} {
		equal(t, errors.Is(err, fs.ErrClosed), true)
	}
	answers, err := closed.ContainsKeys(bfstore.Strings([]string{"a", "b"}), nil)
	equal(t, errors.Is(err, fs.ErrClosed), true)
	equal(t, fmt.Sprint(answers), "[true true]")
	closed.Abandon()
	equal(t, closed.GetMark(1, 1), 0)
	must[bool](t)(other.AddString("is still open"))
}

// TestEveryMethodOfANilFilterFails: a program that ignores the error of Open asks nil. Every method panicked.
func TestEveryMethodOfANilFilterFails(t *testing.T) {
	var none *bfstore.Filter
	methods := reflect.TypeOf(none)
	for i := 0; i < methods.NumMethod(); i++ {
		method := methods.Method(i)
		given := []reflect.Value{reflect.ValueOf(none)}
		for j := 1; j < method.Type.NumIn(); j++ {
			given = append(given, reflect.Zero(method.Type.In(j)))
		}
		results := method.Func.Call(given)
		if notAfterClose[method.Name] {
			continue
		}
		err, _ := results[len(results)-1].Interface().(error)
		if !errors.Is(err, fs.ErrInvalid) || !strings.Contains(err.Error(), "nil") {
			t.Errorf("%s: %v", method.Name, err)
		}
		if maybe, is := results[0].Interface().(bool); is && strings.HasPrefix(method.Name, "Contains") {
			equal(t, maybe, true, method.Name)
		}
	}
	equal(t, none.String(), "bfstore.Filter(nil)")
	answers, err := none.ContainsKeys(bfstore.Strings([]string{"a", "b"}), nil)
	refused(t, err, bfstore.EINVAL, "nil")
	equal(t, fmt.Sprint(answers), "[true true]")
}

func TestAClosedFilterIsSyncedAndClean(t *testing.T) {
	filter := create(t, bfstore.Options{})
	must[bool](t)(filter.AddString("a"))
	ok(t, filter.Close())
	refused(t, filter.Close(), bfstore.ESHUT)
	equal(t, has(t, open(t, filter.Name(), bfstore.OpenOptions{NoWrite: true}), "a"), true)
}

func TestAFilterThatWasShutAnswersMaybe(t *testing.T) {
	filter := create(t, bfstore.Options{})
	equal(t, has(t, filter, "a"), false)
	ok(t, filter.Health())
	ok(t, filter.Shut())
	equal(t, has(t, filter, "a"), true)
	refused(t, filter.Health(), bfstore.ESHUT)
	_, err := filter.AddString("a")
	refused(t, err, bfstore.ESHUT)
	ok(t, filter.Close())
}

func TestAFilterThatIsNotClosedIsGivenBack(t *testing.T) {
	path := somewhere(t)
	func() {
		filter := must[*bfstore.Filter](t)(bfstore.Create(path, bfstore.Options{Capacity: 100, Exclusive: true}))
		must[bool](t)(filter.AddString("a"))
	}()
	var again *bfstore.Filter
	for tries := 0; again == nil; tries++ {
		runtime.GC()
		time.Sleep(time.Millisecond)
		var err error
		if again, err = bfstore.Open(path, bfstore.OpenOptions{Exclusive: true, LockTimeout: bfstore.NoWait}); tries == 100_000 {
			t.Fatal(err) // the first handle's locks still exist
		}
	}
	equal(t, has(t, closing(t, again), "a"), true)
}

func descriptors(t *testing.T) int {
	return len(must[[]os.DirEntry](t)(os.ReadDir("/proc/self/fd")))
}

func TestDescriptorsAndMappingsComeBack(t *testing.T) {
	filter := create(t, bfstore.Options{})
	before, mapped := descriptors(t), mappings(t, filter.Name())
	for i := 0; i < 50; i++ {
		one := must[*bfstore.Filter](t)(bfstore.Open(filter.Name()))
		must[[]bool](t)(one.ContainsKeys(bfstore.Strings([]string{"a"}), nil))
		if i%2 == 0 {
			ok(t, one.Close())
		} else {
			one.Abandon()
		}
		_, err := bfstore.Open(filter.Name() + "x")
		equal(t, err != nil, true)
	}
	equal(t, descriptors(t), before)
	equal(t, mappings(t, filter.Name()), mapped)
}

func mappings(t *testing.T, path string) int {
	return strings.Count(string(must[[]byte](t)(os.ReadFile("/proc/self/maps"))), path)
}

func TestCloseWhileOthersUseTheFilter(t *testing.T) {
	present := make([]uint64, 20_000)
	for i := range present {
		present[i] = uint64(i)
	}
	for round := 0; round < 6; round++ {
		filter := create(t, bfstore.Options{Capacity: 50_000, Exclusive: round%2 == 0})
		must[int](t)(filter.AddKeys(bfstore.Integers(present)))
		var workers sync.WaitGroup
		var begun int64
		for worker := 0; worker < 6; worker++ {
			workers.Add(1)
			go func(worker int) {
				defer workers.Done()
				for {
					atomic.AddInt64(&begun, 1)
					if err := useOnce(filter, worker, present); errors.Is(err, fs.ErrClosed) {
						return
					} else if err != nil {
						t.Error(err)
						return
					}
				}
			}(worker)
		}
		for atomic.LoadInt64(&begun) < 30 {
			runtime.Gosched()
		}
		if round < 4 {
			ok(t, filter.Close())
		} else {
			filter.Abandon()
		}
		workers.Wait()
		again := open(t, filter.Name())
		for _, maybe := range must[[]bool](t)(again.ContainsKeys(bfstore.Integers(present), nil)) {
			equal(t, maybe, true)
		}
	}
}

// useOnce looks up or adds keys that are present.
func useOnce(filter *bfstore.Filter, worker int, present []uint64) error {
	if worker%2 == 0 {
		answers, err := filter.ContainsKeys(bfstore.Integers(present), nil)
		for _, maybe := range answers {
			if !maybe {
				return errors.New("a wrong no")
			}
		}
		if err == nil {
			_, err = filter.AddKeys(bfstore.Integers(present))
		}
		return err
	}
	for number := uint64(0); number < 500; number++ {
		one, err := filter.ContainsInteger(number)
		if err != nil {
			return err
		}
		any, err := bfstore.ContainsAny([]*bfstore.Filter{filter, filter}, bfstore.Integer(number))
		if !one || !any {
			return errors.New("a wrong no")
		} else if err != nil {
			return err
		}
	}
	_, err := filter.AddInteger(uint64(worker))
	return err
}

func TestManyGoroutinesAddAndAskAtOnce(t *testing.T) {
	filter := create(t, bfstore.Options{Capacity: 80_000})
	var workers sync.WaitGroup
	for worker := uint64(0); worker < 8; worker++ {
		workers.Add(1)
		go func(worker uint64) {
			defer workers.Done()
			for i := uint64(0); i < 5_000; i++ {
				key := bfstore.Integer(worker<<32 | i)
				if _, err := filter.Add(key); err != nil {
					t.Error(err)
				}
				if maybe, err := filter.Contains(key); !maybe || err != nil {
					t.Error("a wrong no", err)
				}
			}
			if worker%4 == 0 {
				if err := filter.SyncMark(bfstore.Mark{Owner: worker, Epoch: 1, Mark: 5_000}); err != nil {
					t.Error(err)
				}
			}
		}(worker)
	}
	workers.Wait()
	equal(t, len(must[[]bfstore.Mark](t)(filter.ListMarks())), 2)
}

func TestPublishWaitsForCallsThatRun(t *testing.T) {
	path := somewhere(t)
	filter := createAt(t, path, bfstore.Options{Capacity: 1000, Unpublished: true})
	must[bool](t)(filter.AddString("a"))
	stop, done := make(chan bool), make(chan error)
	go func() {
		for {
			select {
			case <-stop:
				done <- nil
				return
			default:
				if maybe, err := filter.ContainsString("a"); !maybe || err != nil {
					done <- fmt.Errorf("a wrong no, or %w", err)
					return
				}
			}
		}
	}()
	ok(t, filter.Publish())
	stop <- true
	ok(t, <-done)
	equal(t, has(t, open(t, path), "a"), true)
}

// askWhileCut runs in a process of its own: it looks up keys in a guarded filter while the test truncates the file.
func askWhileCut(arguments []string) {
	options := bfstore.OpenOptions{Guard: true, Write: arguments[1] == "write"}
	filter, err := bfstore.Open(arguments[0], options)
	if err != nil {
		panic(err)
	}
	keys := make([]uint64, 100_000)
	for i := range keys {
		keys[i] = uint64(i)
	}
	for round := 0; filter.Health() == nil; round++ {
		if round == 2 {
			fmt.Println("ready")
		}
		answers, err := filter.ContainsKeys(bfstore.Integers(keys[:50_000]), nil)
		for i, maybe := range answers {
			if !maybe || err != nil {
				panic(fmt.Sprint("a wrong no of ", i, err))
			}
		}
		for i := uint64(0); i < 5_000; i++ {
			if maybe, _ := filter.ContainsInteger(i * 10); !maybe {
				panic("a wrong no")
			}
		}
	}
	for _, number := range keys {
		if maybe, _ := filter.ContainsInteger(number); !maybe {
			panic("a no in doubt")
		}
	}
	if _, err := filter.AddString("a"); err == nil {
		panic("an add was not refused")
	}
	fmt.Println(filter.Health(), recovered(func() { fmt.Println(*(*int)(nil)) }))
}

// recovered returns the panic of a call: Go still reports its own faults.
func recovered(call func()) (what any) {
	defer func() { what = recover() }()
	call()
	return nil
}

func TestAFileThatAnotherProcessCutsIsDoubt(t *testing.T) {
	for _, mode := range []string{"read", "write"} {
		path := filepath.Join(t.TempDir(), "filter.bf")
		filter := createAt(t, path, bfstore.Options{NumBits: 1 << 26, NumProbes: 6})
		keys := make([]uint64, 50_000)
		for i := range keys {
			keys[i] = uint64(i)
		}
		must[int](t)(filter.AddKeys(bfstore.Integers(keys)))
		ok(t, filter.Close())
		child := exec.Command(os.Args[0], path, mode)
		child.Env = append(os.Environ(), "BFSTORE_TEST_CHILD=cut")
		output := must[io.ReadCloser](t)(child.StdoutPipe())
		var failure strings.Builder
		child.Stderr = &failure
		ok(t, child.Start())
		lines := bufio.NewReader(output)
		equal(t, must[string](t)(lines.ReadString('\n')), "ready\n")
		ok(t, os.Truncate(path, 16384))
		rest := string(must[[]byte](t)(io.ReadAll(lines)))
		if err := child.Wait(); err != nil {
			t.Fatal(err, failure.String())
		}
		if !strings.Contains(rest, path) || !strings.Contains(rest, "nil pointer dereference") {
			t.Fatal(rest)
		}
	}
}

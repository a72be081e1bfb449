//! Handles: shut in use, ended, leaked, forked, shared by threads; files that are truncated during lookups.

use std::env;
use std::fs::{self, OpenOptions};
use std::mem;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use bfstore::{AlignedBytes, BufferFilter, CopyOptions, Error, Filter, Keys};

use crate::support::{child, failed, failed_with, small, succeeds, Folder};

extern "C" {
    fn fork() -> i32;
    fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
    fn _exit(status: i32) -> !;
}

const SIGBUS: i32 = 7;
const SIGABRT: i32 = 6;

fn test_path() -> PathBuf {
    env::var_os("BFSTORE_TEST_PATH").expect("run by another test").into()
}

fn child_at(name: &str, folder: &Folder) -> Command {
    let mut command = child(&format!("life::{name}"));
    command.env("BFSTORE_TEST_PATH", folder.filter());
    command
}

// --- Ending ----------------------------------------------------------------------------------------------------------

#[test]
fn filters_go_to_other_threads() {
    fn is_send_and_sync<T: Send + Sync>() {}
    is_send_and_sync::<Filter>();
    is_send_and_sync::<BufferFilter<'static>>();
    is_send_and_sync::<Keys<'static>>();
    is_send_and_sync::<Error>();
    let folder = Folder::new();
    let made = folder.create();
    made.add("a").unwrap();
    thread::spawn(move || made.close()).join().unwrap().unwrap();
    assert!(Filter::open(folder.filter()).unwrap().contains("a"));
}

#[test]
fn a_closed_filter_is_synced_and_clean() {
    let folder = Folder::new();
    for (round, end) in [|filter: Filter| filter.close().unwrap(), drop::<Filter>].into_iter().enumerate() {
        let made = small().replace(true).create(folder.filter()).unwrap();
        made.add("a").unwrap();
        end(made);
        // A file is sealed only if no handle writes to it, and no_write refuses one that would have to be synced.
        let reader = Filter::options().no_write(true).open(folder.filter()).unwrap();
        reader.save_with(folder.filter(), CopyOptions::new().sealed(true).replace(true)).unwrap();
        let reader = Filter::options().no_write(true).open(folder.filter()).unwrap();
        assert!(reader.contains("a") && !reader.contains("b"), "{round}");
    }
}

#[test]
fn an_abandoned_filter_loses_nothing_and_its_locks_are_gone() {
    let folder = Folder::new();
    let made = small().exclusive(true).create(folder.filter()).unwrap();
    made.add("a").unwrap();
    made.abandon();
    failed_with(Filter::options().no_write(true).open(folder.filter()), "BFS_EUNCLEAN"); // not synced
    let again = Filter::options().exclusive(true).lock_timeout(Duration::ZERO).open(folder.filter()).unwrap();
    assert!(again.contains("a"));
    small().unpublished(true).create(folder.join("none")).unwrap().abandon();
    assert!(!folder.join("none").exists());
}

#[test]
fn close_tells_what_drop_cannot() {
    let folder = Folder::new();
    let made = folder.create();
    made.add("a").unwrap();
    OpenOptions::new().write(true).open(folder.filter()).unwrap().set_len(5).unwrap();
    assert!(matches!(failed(made.close()), Error::Doubt(_)));
}

#[test]
fn a_filter_that_was_shut_is_doubt() {
    let folder = Folder::new();
    let made = folder.create();
    made.add("a").unwrap();
    made.shut().unwrap();
    made.shut().unwrap();
    assert!(matches!(failed_with(made.health(), "BFS_ESHUT"), Error::Shut(_)));
    assert!(made.contains("a") && made.contains("anything") && made.contains_digest(5));
    assert_eq!(made.contains_many(&["a", "b"]), Ok(vec![true, true]));
    assert_eq!(made.select_iter(["a", "b"]).count(), 2);
    for error in [
        failed(made.add("b")),
        failed(made.add_many(&["b"])),
        failed(made.sync()),
        failed(made.marks()),
        failed(made.dump()),
        failed(made.is_current()),
    ] {
        assert!(matches!(error, Error::Shut(_)), "{error:?}");
    }
    assert_eq!(made.get_mark(1, 1), 0);
    assert!(format!("{made:?}").contains("BFS_ESHUT"));
    assert!(!Filter::options().no_write(true).open(folder.filter()).unwrap().contains("b")); // clean
    made.close().unwrap();
    let mut memory = AlignedBytes::zeroed(small().required_bytes().unwrap() as usize);
    failed_with(small().format(&mut memory).unwrap().shut(), "BFS_EINVAL");
}

fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

/// VmSize in KiB: shows mappings that were not released.
fn mapped() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmSize:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn handles_do_not_leak_memory_or_descriptors() {
    let folder = Folder::new();
    succeeds(&mut child_at("child_that_opens_often", &folder));
}

#[test]
#[ignore = "run by handles_do_not_leak_memory_or_descriptors"]
fn child_that_opens_often() {
    let path = test_path();
    let mut options = small();
    options.num_bits(1 << 23).num_probes(7).replace(true); // 1 MiB: 200 of them would show
    let round = || {
        drop(options.create(&path).unwrap());
        let opened = Filter::open(&path).unwrap();
        opened.contains_many(&["a", "b"]).unwrap();
        let loaded = Filter::load(&opened.dump().unwrap()).unwrap();
        loaded.close().unwrap();
        failed(opened.add("a"));
        failed(Filter::open("/no/such/file"));
        failed(Filter::load(b"short"));
        options.clone().unpublished(true).create(&path).unwrap().abandon();
    };
    (0..5).for_each(|_| round());
    let before = (descriptors(), mapped());
    (0..50).for_each(|_| round());
    let after = (descriptors(), mapped());
    assert_eq!(after.0, before.0);
    assert!(after.1 < before.1 + 20_000, "{before:?} {after:?}");
}

#[test]
fn a_filter_that_is_forgotten_is_as_of_a_killed_process() {
    let folder = Folder::new();
    let made = folder.create();
    made.add("a").unwrap();
    mem::forget(made);
    let again = Filter::options().write(true).open(folder.filter()).unwrap();
    assert!(again.contains("a"));
}

// --- Threads ---------------------------------------------------------------------------------------------------------

#[test]
fn many_threads_add_and_ask_at_once() {
    const THREADS: u64 = 4;
    const EACH: u64 = 20_000;
    let folder = Folder::new();
    for exclusive in [false, true] {
        let made = small().capacity(THREADS * EACH).exclusive(exclusive).replace(true).create(folder.filter()).unwrap();
        thread::scope(|scope| {
            for number in 0..THREADS {
                let made = &made;
                scope.spawn(move || {
                    let mine: Vec<u64> = (number * EACH..(number + 1) * EACH).collect();
                    for chunk in mine.chunks(500) {
                        let (single, batch) = chunk.split_at(100);
                        assert!(single.iter().all(|key| made.add(key).is_ok()));
                        made.add_many(batch).unwrap();
                        assert!(chunk.iter().all(|key| made.contains(key)));
                    }
                });
            }
        });
        let all: Vec<u64> = (0..THREADS * EACH).collect();
        assert_eq!(made.select(&all).unwrap().len(), all.len());
        let absent = (1 << 40..(1 << 40) + 10_000u64).filter(|key| made.contains(*key)).count();
        assert!(absent < 500, "{absent}");
        made.close().unwrap();
    }
}

/// Threads look up keys without end; another thread shuts the filter. Each gets right answers, "maybe" or an error.
#[test]
fn shut_while_other_threads_are_in_batches() {
    let present: Vec<u64> = (0..20_000).collect();
    for round in 0..6 {
        let folder = Folder::new();
        let made = small().capacity(50_000).exclusive(round % 2 == 0).create(folder.filter()).unwrap();
        made.add_many(&present).unwrap();
        let made = Arc::new(made);
        let (laps, added) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let threads: Vec<_> = (0..4u64)
            .map(|number| {
                let (made, laps, added, present) = (made.clone(), laps.clone(), added.clone(), present.clone());
                thread::spawn(move || {
                    for lap in 0.. {
                        let answers = made.contains_many(&present).unwrap();
                        assert!(answers.into_iter().all(|maybe| maybe), "a wrong no while the filter was shut");
                        assert!(made.contains(5) && made.select(&present).unwrap().len() == present.len());
                        match made.add((number << 32) + lap + 100_000) {
                            Ok(_) => drop(added.fetch_add(1, Ordering::Relaxed)),
                            Err(Error::Shut(_)) => return (number, lap),
                            Err(other) => panic!("{other}"),
                        }
                        laps.fetch_add(1, Ordering::Relaxed);
                    }
                    unreachable!()
                })
            })
            .collect();
        while laps.load(Ordering::Relaxed) < 12 {
            thread::yield_now();
        }
        made.shut().unwrap();
        let ended: Vec<(u64, u64)> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        assert!(added.load(Ordering::Relaxed) >= 12);
        Arc::try_unwrap(made).unwrap().close().unwrap();
        let again = Filter::options().no_write(true).open(folder.filter()).unwrap(); // clean
        assert!(present.iter().all(|key| again.contains(key)));
        for (number, laps) in ended {
            assert!((0..laps).all(|lap| again.contains((number << 32) + lap + 100_000)), "an add was lost");
        }
    }
}

#[test]
fn a_lookup_while_the_file_is_replaced() {
    let folder = Folder::new();
    let keys: Vec<u64> = (0..1000).collect();
    let mut options = small();
    options.seed(3);
    options.build(folder.filter(), &keys).unwrap();
    let reader = Filter::options().follow(true).open(folder.filter()).unwrap();
    let (done, start) = (AtomicBool::new(false), Barrier::new(3));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                start.wait();
                while !done.load(Ordering::Relaxed) {
                    assert!(reader.contains_many(&keys).unwrap().into_iter().all(|maybe| maybe));
                }
            });
        }
        start.wait();
        for _ in 0..20 {
            options.replace(true).build(folder.filter(), &keys).unwrap();
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(reader.is_current(), Ok(true));
    assert!(reader.health().is_ok() && !reader.contains("absent"));
}

// --- fork ------------------------------------------------------------------------------------------------------------

#[test]
fn a_child_of_a_fork_asks_and_may_not_add() {
    succeeds(&mut child_at("child_that_forks", &Folder::new()));
}

#[test]
#[ignore = "run by a_child_of_a_fork_asks_and_may_not_add"]
fn child_that_forks() {
    let path = test_path();
    let made = small().create(&path).unwrap();
    made.add("a").unwrap();
    // SAFETY: the child uses only memory and files, and ends without the parent's destructors.
    let process = unsafe { fork() };
    if process == 0 {
        let good = made.contains("a")
            && !made.contains("b")
            && is_forked(made.add("b"))
            && is_forked(made.add_many(&["b"]))
            && is_forked(made.sync())
            && {
                drop(made);
                let own = Filter::options().write(true).open(&path).unwrap();
                own.add("of the child").is_ok() && own.close().is_ok()
            };
        unsafe { _exit(i32::from(!good)) };
    }
    let mut status = -1;
    assert_eq!(unsafe { waitpid(process, &mut status, 0) }, process);
    assert_eq!(status, 0);
    assert!(made.contains("of the child"));
    assert_eq!(made.add("b"), Ok(true));
    made.close().unwrap();
}

fn is_forked<T>(result: Result<T, Error>) -> bool {
    matches!(result, Err(Error::Forked(_)))
}

// --- Signals ---------------------------------------------------------------------------------------------------------

/// Another process truncates the file while threads look up keys.
#[test]
fn a_file_that_is_cut_is_doubt_with_the_handlers_of_rust() {
    succeeds(&mut child_at("child_whose_file_is_cut", &Folder::new()));
}

#[test]
#[ignore = "run by a_file_that_is_cut_is_doubt_with_the_handlers_of_rust"]
fn child_whose_file_is_cut() {
    let path = test_path();
    let keys: Vec<u64> = (0..1000).collect();
    let made = small().capacity(10_000_000).create(&path).unwrap();
    made.add_many(&keys).unwrap();
    made.close().unwrap();
    let reader = Filter::options().guard(true).open(&path).unwrap();
    let (start, cut) = (Barrier::new(3), AtomicBool::new(false));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                start.wait();
                loop {
                    let last = cut.load(Ordering::SeqCst);
                    assert!(keys.iter().all(|key| reader.contains(key)), "a wrong no");
                    assert!(reader.contains_many(&keys).unwrap().into_iter().all(|maybe| maybe), "a wrong no");
                    if last {
                        return;
                    }
                }
            });
        }
        start.wait();
        assert!(Command::new("truncate").args(["-s", "20000"]).arg(&path).status().unwrap().success());
        cut.store(true, Ordering::SeqCst);
    });
    assert!(reader.contains("anything"));
    assert!(matches!(failed(reader.health()), Error::Doubt(_)));
    reader.abandon();
}

#[test]
fn without_the_guard_it_is_sigbus() {
    let folder = Folder::new();
    let ended = child_at("child_without_a_guard", &folder).status().unwrap();
    assert_eq!(ended.signal(), Some(SIGBUS));
}

#[test]
#[ignore = "run by without_the_guard_it_is_sigbus"]
fn child_without_a_guard() {
    let path = test_path();
    small().capacity(10_000_000).create(&path).unwrap().close().unwrap();
    let reader = Filter::open(&path).unwrap();
    OpenOptions::new().write(true).open(&path).unwrap().set_len(20_000).unwrap();
    panic!("alive: {}", (0..1000).filter(|key| reader.contains(*key)).count());
}

#[test]
fn rusts_own_faults_go_on_working_with_the_guard() {
    let folder = Folder::new();
    let overflow = child_at("child_whose_stack_overflows", &folder).output().unwrap();
    assert_eq!(overflow.status.signal(), Some(SIGABRT));
    let told = String::from_utf8_lossy(&overflow.stderr).into_owned();
    assert!(told.contains("has overflowed its stack"), "{told}");
    let killed = child_at("child_with_a_fault_of_its_own", &folder).status().unwrap();
    assert_eq!(killed.signal(), Some(SIGBUS));
    let panicked = child_at("child_that_panics", &folder).output().unwrap();
    assert!(String::from_utf8_lossy(&panicked.stdout).contains("1 passed"), "{panicked:?}");
}

/// Returns a filter with the guard, which has caught a fault once.
fn guarded() -> Filter {
    let path = test_path();
    small().capacity(10_000_000).replace(true).create(&path).unwrap().close().unwrap();
    let reader = Filter::options().guard(true).open(&path).unwrap();
    OpenOptions::new().write(true).open(&path).unwrap().set_len(20_000).unwrap();
    assert!((0..1000).all(|key| reader.contains(key)));
    reader
}

#[test]
#[ignore = "run by rusts_own_faults_go_on_working_with_the_guard"]
fn child_whose_stack_overflows() {
    let _reader = guarded();
    #[allow(unconditional_recursion)]
    fn deeper(depth: u64) -> u64 {
        let room = [depth; 100];
        // SAFETY: the item exists; the read makes the compiler keep the array on the stack.
        deeper(depth + 1) + unsafe { std::ptr::read_volatile(&room[(depth % 100) as usize]) }
    }
    deeper(0);
}

/// A fault outside of guarded files: the library passes the signal on to Rust's handler, which ends the process.
#[test]
#[ignore = "run by rusts_own_faults_go_on_working_with_the_guard"]
fn child_with_a_fault_of_its_own() {
    let _reader = guarded();
    let other = test_path().with_extension("other");
    small().capacity(10_000_000).create(&other).unwrap().close().unwrap();
    let unguarded = Filter::open(&other).unwrap();
    OpenOptions::new().write(true).open(&other).unwrap().set_len(20_000).unwrap();
    panic!("alive: {}", (0..1000).filter(|key| unguarded.contains(*key)).count());
}

#[test]
#[ignore = "run by rusts_own_faults_go_on_working_with_the_guard"]
fn child_that_panics() {
    let path = test_path();
    let caught = std::panic::catch_unwind(|| {
        let made = small().guard(true).replace(true).create(&path).unwrap();
        made.add("a").unwrap();
        let none: Vec<u64> = Vec::new();
        made.add(none[made.count("a").map_or(0, |_| 1)]).unwrap();
    });
    assert!(caught.is_err());
    // Unwinding has closed it.
    assert!(Filter::options().no_write(true).open(&path).unwrap().contains("a"));
}

//! Keys that expire: epochs that end, and what the statistics say of them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use bfstore::{Error, Filter, Layout, Measure, Statistics};

use crate::support::{failed, failed_with, small, Folder};

/// A window none of whose epochs is over before a test is.
const LONG: Duration = Duration::from_secs(10_000 * 3600);

fn statistics(filter: &Filter) -> Statistics {
    filter.stats_with(Measure { fill: true, memory: false }).unwrap()
}

#[test]
fn a_key_is_found_through_all_epochs_and_forgotten_after_them() {
    for (layout, epochs) in
        [(None, 8), (Some(Layout::Window), 8), (Some(Layout::Window4), 4), (Some(Layout::Window2), 2)]
    {
        let folder = Folder::new();
        let mut options = small();
        options.window(LONG);
        if let Some(layout) = layout {
            options.layout(layout);
        }
        let filter = options.create(folder.filter()).unwrap();
        let reader = Filter::open(folder.filter()).unwrap();
        assert_eq!(filter.add("once"), Ok(true));
        for epoch in 0..epochs {
            assert_eq!(filter.add("again"), Ok(epoch == 0), "{layout:?}, {epoch}");
            assert!(filter.contains("once") && reader.contains("once"), "{layout:?}, {epoch}");
            assert_eq!(filter.turn_from(epoch + 1), Ok(false)); // another epoch than that of the file
            assert_eq!(filter.turn_from(epoch), Ok(true));
        }
        assert!(!filter.contains("once") && !reader.contains("once"), "{layout:?}");
        assert!(filter.contains("again") && reader.contains("again"), "{layout:?}");
        let facts = statistics(&reader);
        assert_eq!((u64::from(facts.epochs), facts.epoch), (epochs, epochs));
        assert_eq!(facts.layout, layout.unwrap_or(Layout::Window));
    }
    let names = [Layout::Window, Layout::Window4, Layout::Window2].map(|one| one.to_string());
    assert_eq!(names, ["window", "window-4", "window-2"]);
    assert_eq!("window-4".parse(), Ok(Layout::Window4));
}

/// The lines of capi/guide/windows.md: compiled alone.
#[allow(dead_code)] // rustc 1.63 does not count the use below
fn loop_of_the_guide(stop: &AtomicBool) -> bfstore::Result<()> {
    let seen = Filter::options_to_create()
        .capacity(10_000_000)
        .window(Duration::from_secs(86_400))
        .open_or_create("seen.bf")?;
    while !stop.load(Ordering::Relaxed) {
        seen.turn()?;
        thread::sleep(Duration::from_secs(60));
    }
    Ok(())
}
const _: fn(&AtomicBool) -> bfstore::Result<()> = loop_of_the_guide;

#[test]
fn a_turn_ends_an_epoch_that_has_lasted_for_its_time() {
    let folder = Folder::new();
    let mut options = small();
    let short = options.layout(Layout::Window2).window(Duration::from_millis(1)).create(folder.filter()).unwrap();
    while !statistics(&short).turn_due {
        thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(short.turn(), Ok(true));
    assert_eq!(statistics(&short).epoch, 1);

    let long = options.window(LONG).create(folder.join("long")).unwrap();
    assert_eq!(long.turn(), Ok(false));
    let facts = statistics(&long);
    assert_eq!((facts.epoch, facts.turn_due), (0, false));
}

#[test]
fn statistics_of_epochs() {
    let folder = Folder::new();
    let day = Duration::from_secs(86_400);
    let filter = small().fpr(0.001).window(day).create(folder.filter()).unwrap();
    filter.add_many(&["a", "b", "c"]).unwrap();
    assert_eq!(filter.turn_from(0), Ok(true));
    filter.add("d").unwrap();
    let facts = statistics(&filter);
    assert_eq!((facts.window, facts.turn_due), (Some(day), false));
    let years = |number: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(number * 365 * 86_400);
    assert!(facts.turned_at > Some(years(50)) && facts.turned_at < Some(years(200)), "{:?}", facts.turned_at);
    let keys: Vec<_> = facts.keys_of_epochs.iter().map(|keys| keys.round() as u64).collect();
    assert_eq!(keys, [1, 3, 0, 0, 0, 0, 0, 0]);
    assert!(filter.stats().unwrap().keys_of_epochs.is_empty());

    let tiny = small().layout(Layout::Window4).window(Duration::from_millis(1)).create(folder.join("tiny")).unwrap();
    let facts = statistics(&tiny);
    assert_eq!((facts.window, facts.keys_of_epochs.len()), (Some(Duration::from_millis(1)), 4));

    let facts = statistics(&small().create(folder.join("none")).unwrap());
    assert_eq!((facts.epochs, facts.epoch, facts.turned_at, facts.window, facts.turn_due), (0, 0, None, None, false));
    assert!(facts.keys_of_epochs.is_empty());
}

/// An iterator's keys go into a filter of changed options, which keep the window.
#[test]
fn a_build_of_an_iterator_has_the_window() {
    let folder = Folder::new();
    let built = small().window(LONG).build_iter(folder.filter(), ["a", "b"]).unwrap();
    assert_eq!(built.stats().unwrap().window, Some(LONG));
    assert!(built.contains("a") && !built.contains("c"));
}

#[test]
fn windows_that_are_refused() {
    let folder = Folder::new();
    for (made, said) in [
        (small().window(Duration::ZERO).create(folder.filter()), "a millisecond or longer, not 0ns"),
        (small().window(Duration::MAX).create(folder.filter()), "too long"),
        (small().layout(Layout::Window4).create(folder.filter()), "Give the window"),
        (small().layout(Layout::Blocked).window(LONG).create(folder.filter()), "do not expire"),
    ] {
        let error = failed_with(made, "BFS_EINVAL");
        assert!(error.to_string().contains(said), "{error}");
    }
    let error = failed_with(small().window(LONG).required_bytes(), "BFS_EUNSUPPORTED");
    assert!(error.to_string().contains("only a file"), "{error}");
    assert!(folder.names().is_empty());

    drop(small().window(LONG).open_or_create(folder.filter()).unwrap());
    let other = LONG + Duration::from_millis(1);
    let error = failed_with(small().window(other).open_or_create(folder.filter()), "BFS_EMISMATCH");
    assert!(error.to_string().contains("window"), "{error}");
    assert!(!small().window(LONG).open_or_create(folder.filter()).unwrap().created());
}

#[test]
fn turns_that_are_refused() {
    let folder = Folder::new();
    let filter = small().window(LONG).create(folder.filter()).unwrap();
    let others = [
        (small().create(folder.join("blocked")).unwrap(), "BFS_EUNSUPPORTED"),
        (Filter::open(folder.filter()).unwrap(), "BFS_EREADONLY"),
        (small().window(LONG).unpublished(true).create(folder.join("unpublished")).unwrap(), "BFS_EINVAL"),
    ];
    for (other, code) in &others {
        failed_with(other.turn(), code);
        failed_with(other.turn_from(0), code);
    }
    let error = failed(filter.turn_from(u64::MAX)); // not turn()
    assert!(matches!(error, Error::Invalid(_)) && error.to_string().contains("18446744073709551615"), "{error}");
    filter.shut().unwrap();
    failed_with(filter.turn(), "BFS_ESHUT");
}

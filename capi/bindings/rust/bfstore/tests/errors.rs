//! Every code is an error with words, of the variant of the code, and of the kind that std::io has.

use std::error::Error as _;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

use bfstore::{
    bare, strerror, verify, AlignedBytes, BitOrder, Error, Filter, Hash, Keys, Layout, LogPosition, PlanRequest,
};

use crate::support::{failed, failed_with, small, unseeded, Folder};

// `use bfstore::*` leaves a program's own results with other errors possible.
#[test]
fn a_result_may_have_another_error() {
    let number: bfstore::Result<u8, std::num::ParseIntError> = "5".parse();
    assert_eq!(number, Ok(5));
}

#[test]
fn files_that_are_there_or_not() {
    let folder = Folder::new();
    let error = failed_with(Filter::open(folder.filter()), "BFS_ENOENT");
    assert!(matches!(error, Error::NotFound(_)));
    assert!(error.to_string().contains(folder.filter().to_str().unwrap()), "{error}");
    assert_eq!((error.os_errno(), error.kind(), error.code()), (2, io::ErrorKind::NotFound, bfstore::sys::BFS_ENOENT));
    assert_eq!(format!("{error:?}"), format!("NotFound({:?}, BFS_ENOENT, errno 2)", error.to_string()));
    match &error {
        Error::NotFound(failure) => assert_eq!(failure.to_string(), error.to_string()),
        _ => panic!("{error:?}"),
    }
    drop(folder.create());
    let error = failed_with(small().create(folder.filter()), "BFS_EEXIST");
    assert!(matches!(error, Error::Exists(_)));
    assert_eq!((error.os_errno(), error.kind()), (17, io::ErrorKind::AlreadyExists));
    let error = failed_with(Filter::open(folder.path()), "BFS_ENOTREGULAR");
    assert!(matches!(error, Error::Malformed(_)) && error.kind() == io::ErrorKind::InvalidData);
    assert_eq!(error.rule(), 0);
    fs::write(folder.join("text"), "no filter ".repeat(9999)).unwrap();
    let error = failed_with(Filter::open(folder.join("text")), "BFS_EMALFORMED");
    assert!(matches!(error, Error::Malformed(_)) && error.rule() != 0);
    assert!(format!("{error:?}").ends_with(&format!(", BFS_EMALFORMED, rule {})", error.rule())));
    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    assert!(error.to_string().contains("/text: "), "{error}");
}

/// The first bytes of a file: another version of the format, or a feature, is not damage (FORMAT.md, "Identity").
#[test]
fn a_file_of_a_later_library_is_too_new() {
    let folder = Folder::new();
    let made = small().seed(0).create(folder.filter()).unwrap();
    let digest = |bytes: &[u8]| made.digest(bytes).unwrap().to_le_bytes();
    let good = fs::read(folder.filter()).unwrap();
    for (at, code_name) in [(8, "BFS_EVERSION"), (24, "BFS_EFEATURE")] {
        let mut changed = good.clone();
        changed[at] ^= 0x40;
        let sum = digest(&changed[..4088]);
        changed[4088..4096].copy_from_slice(&sum);
        fs::write(folder.join("later"), changed).unwrap();
        let error = failed_with(Filter::open(folder.join("later")), code_name);
        assert!(matches!(error, Error::TooNew(_)) && error.kind() == io::ErrorKind::Unsupported, "{error:?}");
    }
}

#[test]
fn an_io_error_keeps_the_error() {
    let error = failed(Filter::open("/no/such/file"));
    let io = io::Error::from(error.clone());
    assert_eq!((io.kind(), io.to_string()), (io::ErrorKind::NotFound, error.to_string()));
    assert_eq!(io.get_ref().unwrap().downcast_ref::<Error>(), Some(&error));
    assert!(error.source().is_none());
    fn asks() -> io::Result<()> {
        Filter::open("/no/such/file")?.close()?;
        Ok(())
    }
    assert_eq!(asks().unwrap_err().kind(), io::ErrorKind::NotFound);
}

#[test]
fn a_second_exclusive_writer() {
    let folder = Folder::new();
    let _writer = small().exclusive(true).create(folder.filter()).unwrap();
    let busy = Filter::options().write(true).lock_timeout(Duration::ZERO).open(folder.filter());
    let error = failed_with(busy, "BFS_EBUSY");
    assert!(matches!(error, Error::Busy(_)) && error.kind() == io::ErrorKind::WouldBlock);
    assert!(error.to_string().contains(&std::process::id().to_string()), "{error}");
}

#[test]
fn a_reader_that_adds() {
    let folder = Folder::new();
    drop(folder.create());
    let reader = Filter::open(folder.filter()).unwrap();
    let errors = [
        failed(reader.add("a")),
        failed(reader.add_many(&["a"])),
        failed(reader.add_digest(1)),
        failed(reader.add_many(Keys::digests(&[1]))),
        failed(reader.add_iter(["a"])),
        failed(reader.sync()),
    ];
    for error in errors {
        assert!(matches!(error, Error::ReadOnly(_)), "{error:?}");
        assert!(error.to_string().contains("filter.bf"), "{error}");
    }
}

#[test]
fn a_full_filter() {
    let folder = Folder::new();
    let full = small().capacity(100).limit(true).create(folder.filter()).unwrap();
    let error = failed_with((0..10_000).try_for_each(|key| full.add(key).map(drop)), "BFS_EFULL");
    assert!(matches!(error, Error::Full(_)));
}

#[test]
fn arguments_out_of_range() {
    let folder = Folder::new();
    let path = folder.filter();
    for (made, said) in [
        (small().fpr(0.0).create(&path), "false-positive rate 0 "),
        (small().bits_per_key(0.0).create(&path), "bits per key 0 "),
        (unseeded().hash(Hash::SipHash).secret(&[1; 15]).create(&path), "the secret has 15 bytes, and not 16"),
    ] {
        let error = failed_with(made, "BFS_EINVAL");
        assert!(error.to_string().contains(said), "{error}");
    }
    let error = failed_with(small().fpr(2.0).create(&path), "BFS_EINVAL");
    assert!(
        error.to_string().contains("false-positive rate 2") && error.kind() == io::ErrorKind::InvalidInput,
        "{error}"
    );
    assert!(matches!(failed_with(small().fpr(1e-12).create(&path), "BFS_ESIZING"), Error::Invalid(_)));
    failed_with(Filter::options_to_create().create(&path), "BFS_EINVAL");
    failed_with(small().layout(Layout::Unknown(99)).create(&path), "BFS_EINVAL");
    failed_with(unseeded().hash(Hash::Unknown(99)).create(&path), "BFS_EINVAL");
    failed_with(small().note(&[0; 1025]).create(&path), "BFS_EINVAL");
    failed_with(small().file_id([0; 16]).create(&path), "BFS_EINVAL");
    failed_with(unseeded().hash(Hash::SipHash).secret(b"short").create(&path), "BFS_EINVAL");
    failed_with(unseeded().hash(Hash::SipHash).secret(b"").create(&path), "BFS_EINVAL");
    failed_with(unseeded().secret(b"").create(&path), "BFS_EINVAL");
    failed_with(small().bare(true).create(&path), "BFS_EINVAL");
    failed_with(small().lock_timeout(Duration::from_secs(5_000_000)).create(&path), "BFS_EINVAL");
    failed_with(small().writeback_check(Duration::MAX).create(&path), "BFS_EINVAL");
    failed_with(PlanRequest::new().plan(), "BFS_EINVAL");
    failed_with(bare::build(&mut [0; 7], Layout::Blocked, Hash::Xxh3, &["a"]), "BFS_EINVAL");
    assert!(folder.names().is_empty(), "{:?}", folder.names());
    let filter = folder.create();
    failed_with(filter.import_bits(b"", BitOrder::Big), "BFS_EUNSUPPORTED");
    failed_with(Filter::options().secret(b"").open(&path), "BFS_EINVAL");
    failed_with(Filter::options().limit(true).open(&path), "BFS_EINVAL");
    failed_with(Filter::options().write(true).wrap(&AlignedBytes::zeroed(128)), "BFS_EINVAL");
}

/// Each refusal names what a program in Rust can write: no flag of C, and no command of bf.
#[test]
fn the_way_out_has_names_of_rust() {
    let folder = Folder::new();
    let (path, in_use, secret) = (folder.filter(), folder.join("in use"), folder.join("secret"));
    let filter = small().seed(1).create(&path).unwrap();
    filter.add("a").unwrap();
    fs::copy(&path, &in_use).unwrap(); // a copy of an open file is unclean
    let reader = Filter::open(&path).unwrap();
    drop(unseeded().hash(Hash::SipHash).secret(&[7; 16]).create(&secret).unwrap());
    let filling = small().filling(true).create(folder.join("filling")).unwrap();
    let other = small().seed(8).create(folder.join("other")).unwrap();
    let mut range = Filter::options();
    range.range(64..).write(true);
    for (error, words) in [
        (failed(Filter::options_to_create().create(folder.join("x"))), "or a file to be like (like())."),
        (failed(small().bare(true).create(folder.join("x"))), "create: does not take bare(true); leave it out"),
        (failed(small().threads(2).create(folder.join("x"))), "create: threads() goes with exclusive(true)"),
        (failed(range.open(&path)), "open with a range: does not take write(true); leave it out"),
        (failed(small().create(&path)), "replace it (replace(true)), or open it to add (open_or_create())"),
        (failed(reader.add("b")), "open it for writing (options().write(true))"),
        (failed(reader.sync()), "options().write(true)"),
        (failed(Filter::open(&in_use)), "(options().write(true).recover(true))"),
        (failed(Filter::open(&in_use)), "accept the loss (accept_loss(true))"),
        (failed(Filter::open(&secret)), "made with (secret())"),
        (failed(Filter::options().secret(&[7; 16]).open(&path)), "without one (secret())"),
        (failed(Filter::open(folder.join("none"))), "create it first (open_or_create())"),
        (failed(Filter::options().exclusive(true).open(&path)), "(options().write(true) without exclusive(true))."),
        (failed(small().fpr(2.0).create(folder.join("x"))), "Give one such as 0.01 (fpr())."),
        (
            failed(small().layout(Layout::Window).create(folder.join("x"))),
            "Give the window, for how long they are kept (window(Duration::from_secs(86_400))).",
        ),
        (
            failed(small().layout(Layout::Classic).window(Duration::from_secs(5)).create(folder.join("x"))),
            "Give no window (window()), or a layout that has one (layout(Layout::Window)).",
        ),
        (
            failed(filter.turn()),
            "it has no epoch to end. Make a filter with a window (window(Duration::from_secs(86_400))).",
        ),
        (failed(Filter::open("")), "the path is empty. Give one."),
        (failed(small().create("")), "the path is empty. Give one."),
        (failed(Filter::options_to_create().capacity(0).create(folder.join("x"))), "no size was given, or a capacity of 0."),
        (failed(reader.count("a")), "make it with layout(Layout::Counting)"),
        (
            failed(small().layout(Layout::Static).create(folder.join("x"))),
            "Build it (build()), or create it unpublished (unpublished(true)), add the keys and publish it (publish()).",
        ),
        (failed(small().layout(Layout::Static).format(&mut AlignedBytes::zeroed(99_999))), "Build another one from all keys (build())."),
        (failed(filling.dump()), "(finish_filling())"),
        (failed(verify(&path)), "(seal())"),
        (failed(other.merge(&filter)), "(like())"),
    ] {
        let said = error.to_string();
        assert!(said.contains(words), "{said}: {words}");
        assert!(!["bfs_", "BFS_", "(bf "].iter().any(|name| said.contains(name)), "{said}");
    }
    for name in ["num_bits", "BFS_READ", "bfs_options.mode"] {
        assert!(failed(Filter::open(name)).to_string().starts_with(&format!("{name}: ")));
    }
}

#[test]
fn a_column_that_is_wrong_says_at_which_offset() {
    let folder = Folder::new();
    let filter = folder.create();
    for (offsets, words) in [
        ([0, 4, 5], "offset 1 is 4, and the column has 3 bytes of data"),
        ([0, 2, 1], "offset 2 is 1, less than the one before it, 2"),
        ([-1, 2, 3], "offset 0 is -1, negative"),
    ] {
        let wide = offsets.map(i64::from);
        let keys = || Keys::column32(b"abc", &offsets).unwrap();
        for error in [
            failed_with(filter.add_many(keys()), "BFS_EINVAL"),
            failed_with(filter.contains_many(keys()), "BFS_EINVAL"),
            failed_with(filter.select(keys()), "BFS_EINVAL"),
            failed_with(filter.digest_many(Keys::column64(b"abc", &wide).unwrap()), "BFS_EINVAL"),
        ] {
            assert_eq!(error.to_string(), format!("{}: {words}", folder.filter().display()));
        }
    }
}

/// A struct without its size leaves the error unchanged, without words: so this makes each call fail that can.
#[test]
fn every_call_that_can_fail_has_words() {
    let folder = Folder::new();
    let (path, other) = (folder.filter(), folder.join("other"));
    drop(folder.create());
    let reader = Filter::open(&path).unwrap();
    let sip = unseeded().hash(Hash::SipHash).secret(&[7; 16]).create(&other).unwrap();
    let none = folder.join("no/folder");
    let mut memory = AlignedBytes::zeroed(128);
    let mut loaded = Filter::load(&reader.dump().unwrap()).unwrap();
    let errors = [
        failed(Filter::open(&none)),
        failed(small().create(&none)),
        failed(small().fpr(2.0).required_bytes()),
        failed(small().format(&mut memory)),
        failed(Filter::options().wrap(&memory)),
        failed(Filter::load(&memory)),
        failed(Filter::options().bare(true).load(b"short")),
        failed(loaded.publish()),
        failed(reader.supersede()),
        failed(loaded.shut().and_then(|()| loaded.health())),
        failed(reader.save(&path)),
        failed(reader.seal(&none)),
        failed(verify(&path)),
        failed(reader.sync_mark(LogPosition { owner: 1, epoch: 1, mark: 1 })),
        failed(reader.drop_owner(1)),
        failed(reader.finish_recovery(1)),
        failed(reader.finish_filling()),
        failed(loaded.marks()),
        failed(loaded.is_current()),
        failed(Filter::options().threads(1).open(&path)),
        failed(small().threads(65).exclusive(true).replace(true).create(&path)),
        failed(small().open_or_create(&none)),
        failed(small().build(&none, &["a"])),
        failed(reader.merge(&sip)),
        failed(sip.merge(&reader)),
        failed(bfstore::intersect(&[&reader, &sip], folder.join("x"))),
        failed(bfstore::intersect(&[], folder.join("x"))),
        failed(reader.import_bits(b"a", BitOrder::Little)),
        failed(reader.export_bits(BitOrder::Little)),
        failed(PlanRequest::new().plan()),
        failed(sip.dump_with(bfstore::DumpOptions { bare: true, same_file_id: false })),
    ];
    for error in errors {
        // More than the sentence of a code: the name of the thing.
        assert_ne!(error.to_string(), strerror(error.code()), "{error:?}");
    }
}

#[test]
fn a_path_with_a_zero_byte() {
    let folder = Folder::new();
    let path = folder.join("a\0b");
    drop(folder.create());
    let filter = Filter::open(folder.filter()).unwrap();
    for error in [
        failed(Filter::open(&path)),
        failed(small().create(&path)),
        failed(filter.save(&path)),
        failed(verify(&path)),
        failed(filter.seal(&path)),
        failed(small().open_or_create(&path)),
        failed(small().build(&path, &["a"])),
        failed(bfstore::intersect(&[&filter], &path)),
        failed(small().like(&path).create(folder.join("like"))),
    ] {
        assert!(matches!(error, Error::Invalid(_)) && error.to_string().contains("zero byte"), "{error:?}");
    }
    assert_eq!(folder.names(), ["filter.bf"]);
}

#[test]
fn a_path_that_is_no_text() {
    let folder = Folder::new();
    let path = folder.join(OsStr::from_bytes(b"\xFF\xFE.bf"));
    small().create(&path).unwrap().close().unwrap();
    assert!(path.exists());
    assert!(!Filter::open(&path).unwrap().contains("a"));
    let error = failed_with(small().create(&path), "BFS_EEXIST");
    assert!(error.to_string().contains("\\xFF\\xFE.bf"), "{error}");
    let long = [b"/no/\xFF/".as_slice(), "ü".repeat(300).as_bytes()].concat();
    assert!(failed_with(Filter::open(OsStr::from_bytes(&long)), "BFS_ENOENT").to_string().contains("\\xFF"));
}

#[test]
fn every_code_has_a_sentence_and_a_name() {
    for code in [bfstore::sys::BFS_EUNCLEAN, bfstore::sys::BFS_EMALFORMED, -9999] {
        assert!(strerror(code).len() > 10);
    }
}

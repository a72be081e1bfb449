//! Files: every option, marks, recovery, online builds, seals, copies, sets, bits, plans, bare filters.

use std::collections::HashSet;
use std::env;
use std::fs::{self, File};
use std::os::unix::fs::{symlink, PermissionsExt};
use std::time::Duration;

use bfstore::{
    apply_delta, apply_delta_with, bare, contains_any, foreign_formats, inspect_foreign, intersect, intersect_with,
    make_delta, make_delta_with, recognize_foreign, recognize_foreign_nofollow, verify, verify_nofollow, which,
    AlignedBytes, BitOrder, CopyOptions, CreateOptions, DumpOptions, Error, Filter, ForeignForm, Hash, Keys, Layout,
    LogPosition, Mark, Measure, OpenOptions, PlanRequest,
};

use crate::support::{failed, failed_with, small, unseeded, Folder};

const SECRET: &[u8] = b"sixteen bytes...";
const ALL: Measure = Measure { fill: true, memory: true };

fn filled(folder: &Folder, name: &str, keys: std::ops::Range<u64>) -> Filter {
    let made = small().seed(7).create(folder.join(name)).unwrap();
    made.add_iter(keys).unwrap();
    made
}

// --- Making and opening ----------------------------------------------------------------------------------------------

#[test]
fn layouts_and_hashes_have_names() {
    assert_eq!(["counting", "99"], [Layout::Counting, Layout::Unknown(99)].map(|one| one.to_string())[..]);
    assert_eq!(
        ["java-polynomial", "65537"],
        [Hash::JavaPolynomial, Hash::Unknown(65537)].map(|one| one.to_string())[..]
    );
    assert_eq!("classic".parse::<Layout>().unwrap(), Layout::Classic);
    assert_eq!("siphash".parse::<Hash>().unwrap(), Hash::SipHash);
    for name in ["", "Classic", "classic\0", "2", "99"] {
        failed_with(name.parse::<Layout>(), "BFS_EINVAL");
        failed_with(name.parse::<Hash>(), "BFS_EINVAL");
    }
}

#[test]
fn what_is_given_is_what_the_filter_has() {
    let folder = Folder::new();
    let id = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
    let made = Filter::options_to_create()
        .capacity(5000)
        .fpr(0.001)
        .layout(Layout::Classic)
        .seed(7)
        .note(b"mine\0")
        .file_id(id)
        .mode(0o640)
        .create(folder.filter())
        .unwrap();
    let facts = made.stats().unwrap();
    assert_eq!(
        (facts.capacity, facts.layout, facts.hash, facts.seed, facts.file_id, facts.health),
        (5000, Layout::Classic, Hash::Xxh3, 7, id, Ok(()))
    );
    assert!(facts.fpr <= 0.001 && facts.fpr > 0.0009, "{}", facts.fpr);
    assert_eq!((facts.note.as_slice(), facts.seeds.as_slice()), (b"mine\0".as_slice(), [].as_slice()));
    assert_eq!((facts.part, facts.num_parts, made.created()), (0, 1, true));
    assert_eq!(fs::metadata(folder.filter()).unwrap().permissions().mode() & 0o737, 0o600);
    let bits =
        |options: &bfstore::CreateOptions<'_>, name: &str| options.create(folder.join(name)).unwrap().stats().unwrap();
    let mut none = Filter::options_to_create();
    assert_eq!(bits(none.clone().like(folder.filter()), "like").num_bits, facts.num_bits);
    assert!(bits(small().max_bytes(50_000), "small").body_bytes <= 50_000);
    let mut most = Filter::options_to_create();
    assert_eq!(bits(most.capacity_at_most(10_000), "most").capacity, 10_000);
    assert_eq!(bits(none.num_bits(1024).num_probes(3), "bits").num_probes, 3);
    assert_eq!(bits(small().bits_per_key(16.0), "per key").num_bits / 10_000, 16);
    let seeded = unseeded()
        .hash(Hash::Murmur3)
        .seeds(&[5, 7, 11])
        .num_bits(1 << 16)
        .capacity(0)
        .create(folder.join("seeds"))
        .unwrap();
    assert_eq!(seeded.stats().unwrap().seeds, [5, 7, 11]);
}

#[test]
fn every_flag_that_makes() {
    let folder = Folder::new();
    drop(folder.create());
    let mut options = small();
    options
        .replace(true)
        .populate(true)
        .random(true)
        .guard(true)
        .any_filesystem(true)
        .exclusive(true)
        .lock_timeout(Duration::ZERO)
        .writeback_check(Duration::ZERO);
    assert_eq!(options.create(folder.filter()).unwrap().add("a"), Ok(true));
}

#[test]
fn every_flag_that_reads() {
    let folder = Folder::new();
    drop(folder.create());
    let opens = |options: &bfstore::OpenOptions<'_>| {
        let opened = options.open(folder.filter()).unwrap_or_else(|error| panic!("{options:?}: {error}"));
        assert!(!opened.contains("a"), "{options:?}");
    };
    let options = Filter::options;
    opens(options().populate(true));
    opens(options().random(true));
    opens(options().private(true));
    opens(options().guard(true));
    opens(options().strict(true));
    opens(options().any_filesystem(true));
    opens(options().no_write(true));
    opens(options().follow(true));
    opens(options().follow_symlinks(false));
    opens(options().lock_timeout(Duration::MAX));
    opens(options().lock_timeout(Duration::from_nanos(1)));
    opens(options().private(true).private(false).populate(true));
    let writer = options()
        .write(true)
        .exclusive(true)
        .limit(true)
        .writeback_check(Duration::from_millis(5))
        .open(folder.filter());
    assert_eq!(writer.unwrap().add("a"), Ok(true));
}

#[test]
fn a_symbolic_link_is_refused_where_that_is_said() {
    let folder = Folder::new();
    drop(folder.create());
    let link = folder.join("link");
    symlink(folder.filter(), &link).unwrap();
    Filter::open(&link).unwrap();
    let error = failed_with(Filter::options().follow_symlinks(false).open(&link), "BFS_ESYMLINK");
    assert!(matches!(error, Error::Malformed(_)));
    Filter::options().follow_symlinks(false).follow_symlinks(true).open(&link).unwrap();
    Filter::open(folder.filter()).unwrap().seal(folder.join("sealed")).unwrap();
    fs::remove_file(&link).unwrap();
    symlink(folder.join("sealed"), &link).unwrap();
    assert_eq!(verify(&link), Ok(vec![]));
    failed_with(verify_nofollow(&link), "BFS_ESYMLINK");
}

#[test]
fn build_appears_when_it_is_complete() {
    let folder = Folder::new();
    let keys: Vec<String> = (0..1000).map(|key| key.to_string()).collect();
    let built = Filter::options_to_create().fpr(0.001).build(folder.filter(), &keys).unwrap();
    assert_eq!((built.stats().unwrap().capacity, built.created()), (1000, true));
    assert_eq!(built.contains_many(&keys), Ok(vec![true; 1000]));
    assert!(matches!(failed(built.add("late")), Error::ReadOnly(_)));
    let none: [&str; 0] = [];
    assert!(!Filter::options_to_create().build(folder.join("none"), &none).unwrap().contains("a"));
    let unsound = Keys::column32(b"abc", &[0, 9]).unwrap();
    failed_with(Filter::options_to_create().build(folder.join("unsound"), unsound), "BFS_EINVAL");
    failed_with(Filter::options_to_create().build(folder.filter(), &keys), "BFS_EEXIST");
    assert_eq!(folder.names(), ["filter.bf", "none"]);
}

#[test]
fn an_iterator_is_built_with_and_without_a_known_length() {
    let folder = Folder::new();
    let options = Filter::options_to_create();
    let capacity = |filter: &Filter| filter.stats().unwrap().capacity;
    let exact = options.build_iter(folder.join("exact"), 0..5000u64).unwrap();
    let unknown = options.build_iter(folder.join("unknown"), (0..9999u64).filter(|key| key % 2 == 0)).unwrap();
    let sized = small().build_iter(folder.join("sized"), (0..9999u64).filter(|key| key % 2 == 0)).unwrap();
    assert_eq!((capacity(&exact), capacity(&unknown), capacity(&sized)), (5000, 5000, 10_000));
    assert!((0..5000u64).all(|key| exact.contains(key)));
    assert!((0..9999u64).step_by(2).all(|key| unknown.contains(key) && sized.contains(key)));
    assert!((1..9999u64).step_by(2).filter(|key| unknown.contains(*key)).count() < 200);
    assert!(exact.created() && matches!(failed(exact.add(1)), Error::ReadOnly(_)));
    assert!(!options.build_iter(folder.join("none"), [""; 0]).unwrap().contains(""));
    failed_with(options.clone().replace(true).build_iter(folder.join("exact"), [""; 0]), "BFS_EINVAL");
    failed_with(options.clone().replace(true).build(folder.join("exact"), &[""; 0]), "BFS_EINVAL");
    failed_with(options.build_iter(folder.join("none"), 0..10u64), "BFS_EEXIST");
    let external = unseeded().hash(Hash::External).build_iter(folder.join("external"), ["a"]);
    failed_with(external, "BFS_EDIGESTONLY");
    let panics = std::panic::catch_unwind(|| {
        options
            .build_iter(folder.join("panics"), (0..5000u64).map(|key| if key < 4999 { key } else { panic!("{key}") }))
    });
    assert!(panics.is_err());
    assert_eq!(folder.names(), ["exact", "none", "sized", "unknown"]);
}

/// The options of a static filter that has no bytes by chance.
fn built_once<'a>() -> CreateOptions<'a> {
    let mut options = Filter::options_to_create();
    options.layout(Layout::Static).seed(1).file_id([7; 16]);
    options
}

#[test]
fn a_static_filter_has_the_same_bytes_for_one_set_of_keys() {
    let folder = Folder::new();
    let keys: Vec<String> = (0..5000).map(|i| i.to_string()).collect();
    let twice: Vec<&String> = keys.iter().rev().chain(&keys[..1000]).collect();
    let unknown = || twice.iter().filter(|key| !key.is_empty());
    let path = |name| folder.join(name);
    let mut made = built_once().unpublished(true).create(path("digests")).unwrap();
    made.add_many(Keys::digests(&made.digest_many(&twice[..]).unwrap())).unwrap();
    made.publish().unwrap();
    for filter in [
        built_once().build(path("keys"), &keys[..]).unwrap(),
        built_once().build(path("twice"), &twice[..]).unwrap(),
        built_once().threads(2).capacity(5000).build(path("sized"), &twice[..]).unwrap(),
        built_once().build_iter(path("exact"), &twice).unwrap(),
        built_once().build_iter(path("unknown"), unknown()).unwrap(),
        built_once().capacity(5000).threads(2).build_iter(path("sized unknown"), unknown()).unwrap(),
        made,
    ] {
        let facts = filter.stats().unwrap();
        assert_eq!(
            (facts.layout, facts.capacity, facts.keys_added, filter.health()),
            (Layout::Static, 5000, 5000, Ok(()))
        );
        assert!(filter.created() && keys.iter().all(|key| filter.contains(key)));
        assert!((0..5000).filter(|key| filter.contains(format!("no {key}"))).count() < 100);
        assert!(matches!(failed(filter.add("late")), Error::Sealed(_)));
    }
    let files: HashSet<_> = folder.names().iter().map(|name| fs::read(folder.join(name)).unwrap()).collect();
    assert_eq!((folder.names().len(), files.len()), (7, 1));
}

/// They were once taken in silence if they came from an iterator, and the rate was far above the one promised.
#[test]
fn more_keys_than_the_capacity_make_no_file() {
    let folder = Folder::new();
    let (keys, path) = ((0..9000u64).collect::<Vec<_>>(), folder.join("no"));
    drop(Filter::options_to_create().build(folder.join("model"), &keys[..4000]).unwrap());
    let model = folder.join("model");
    for layout in [Layout::Blocked, Layout::Classic, Layout::Counting] {
        let mut sized = Filter::options_to_create();
        sized.layout(layout).capacity(4000);
        let mut of_bits = sized.clone();
        of_bits.num_bits(1 << 20).num_probes(5);
        let mut like = Filter::options_to_create();
        like.like(&model);
        for options in [sized, of_bits, like] {
            let error = failed_with(options.build(&path, &keys[..]), "BFS_EFULL");
            assert!(error.to_string().contains("more keys than its capacity"), "{error}");
            let error = failed_with(options.build_iter(&path, keys.iter().filter(|_| true)), "BFS_EFULL");
            assert!(error.to_string().contains("no: not built, for there are more keys than its capacity, 4000."), "{error}");
        }
    }
    assert_eq!(folder.names(), ["model"]);
    let exact = Filter::options_to_create().capacity(4000).build_iter(folder.join("exact"), &keys[..4000]).unwrap();
    assert!(!exact.stats().unwrap().saturated);
    // m and k alone promise no number of keys.
    let bits = Filter::options_to_create().num_bits(1 << 13).num_probes(5).build_iter(folder.join("bits"), &keys).unwrap();
    assert!(bits.stats().unwrap().saturated);
}

#[test]
fn a_static_filter_like_a_smaller_one_has_room_for_all_keys() {
    let folder = Folder::new();
    let (keys, model) = ((0..5000u64).collect::<Vec<_>>(), folder.join("model"));
    let seed = built_once().build(&model, &keys[..10]).unwrap().stats().unwrap().seed;
    let mut like = Filter::options_to_create();
    like.like(&model);
    for filter in [
        like.build(folder.join("list"), &keys[..]).unwrap(),
        like.build_iter(folder.join("iterator"), keys.iter().filter(|_| true)).unwrap(),
    ] {
        let facts = filter.stats().unwrap();
        assert_eq!((facts.layout, facts.capacity, facts.seed), (Layout::Static, 5000, seed));
        assert!(keys.iter().all(|key| filter.contains(key)));
    }
}

#[test]
fn a_static_filter_of_no_key_or_of_too_many() {
    let folder = Folder::new();
    let (keys, path) = ((0..5000u64).collect::<Vec<_>>(), folder.filter());
    let small = built_once().capacity(4999).clone();
    for full in [small.build(&path, &keys[..]), small.build_iter(&path, keys.iter().filter(|_| true))] {
        let error = failed_with(full, "BFS_EFULL");
        assert!(error.to_string().contains("5000 keys, and its capacity is 4999"), "{error}");
    }
    assert!(folder.names().is_empty());
    assert!(!built_once().build_iter(&path, [""; 0]).unwrap().contains(""));
    let mut like = Filter::options_to_create();
    like.like(&path);
    for mut options in [built_once(), built_once().capacity(5).clone(), like] {
        options.replace(true);
        for none in [options.build(&path, &[""; 0]), options.build_iter(&path, [""; 0])] {
            let error = failed_with(none, "BFS_EINVAL");
            assert!(error.to_string().contains("no key was given"), "{error}");
            assert!(error.to_string().contains("remove the file first"), "{error}");
        }
    }
}

#[test]
fn a_static_filter_that_is_not_published_gathers_keys() {
    let folder = Folder::new();
    let path = folder.filter();
    failed_with(built_once().create(&path), "BFS_EUNSUPPORTED");
    let mut made = built_once().unpublished(true).create(&path).unwrap();
    assert_eq!((made.add("a"), made.add_many(&["b", "c", "a"]), made.contains("never")), (Ok(false), Ok(0), true));
    assert_eq!(failed(made.health()).code_name(), "BFS_EFILLING");
    let other = small().create(folder.join("other")).unwrap();
    for error in [
        failed(made.sync_mark(LogPosition { owner: 1, epoch: 0, mark: 5 })),
        failed(made.sync()),
        failed(made.supersede()),
        failed(made.is_current()),
        failed(made.finish_filling()),
        failed(made.remove("a")),
        failed(made.count("a")),
        failed(made.merge(&other)),
    ] {
        assert_eq!(error.code_name(), "BFS_EUNSUPPORTED", "{error}");
    }
    for error in [failed(made.dump()), failed(made.save(folder.join("copy"))), failed(other.merge(&made))] {
        assert_eq!(error.code_name(), "BFS_EFILLING", "{error}");
        assert!(error.to_string().contains("Publish it first"), "{error}");
    }
    assert!(!path.exists());
    made.publish().unwrap();
    assert_eq!(["a", "b", "c", "never"].map(|key| made.contains(key)), [true, true, true, false]);
    assert_eq!((made.stats().unwrap().capacity, made.health(), made.is_current()), (3, Ok(()), Ok(true)));
    for (error, code, words) in [
        (failed(made.add("late")), "BFS_ESEALED", "sealed"),
        (failed(made.remove("a")), "BFS_EUNSUPPORTED", "layout"),
        (failed(made.supersede()), "BFS_EUNSUPPORTED", "Build another one"),
        (failed(made.sync_mark(LogPosition { owner: 1, epoch: 0, mark: 5 })), "BFS_EREADONLY", "reading"),
        (failed(made.publish()), "BFS_EINVAL", "published already"),
        (failed(Filter::options().write(true).open(&path)), "BFS_ESEALED", "build another one"),
    ] {
        assert_eq!(error.code_name(), code, "{error}");
        assert!(error.to_string().contains(words), "{error}: {words}");
    }
    made.save(folder.join("copy")).unwrap();
    assert!(verify(folder.join("copy")).unwrap().is_empty());
}

#[test]
fn open_or_create_makes_the_file_once_and_never_replaces_it() {
    let folder = Folder::new();
    let first = small().open_or_create(folder.filter()).unwrap();
    first.add("a").unwrap();
    let second = small().capacity(5).open_or_create(folder.filter()).unwrap(); // its size stays
    assert_eq!((first.created(), second.created(), second.contains("a")), (true, false, true));
    assert_eq!(second.stats().unwrap().capacity, 10_000);
    second.add("b").unwrap();
    assert!(first.contains("b"));
    drop((first, second));
    let alone = small().exclusive(true).open_or_create(folder.filter()).unwrap();
    let busy = small().lock_timeout(Duration::ZERO).open_or_create(folder.filter());
    assert!(matches!(failed(busy), Error::Busy(_)));
    drop(alone);
    for other in [
        small().layout(Layout::Classic).open_or_create(folder.filter()),
        small().seed(5).open_or_create(folder.filter()),
        small().part(0, 2).open_or_create(folder.filter()),
    ] {
        assert!(matches!(failed_with(other, "BFS_EMISMATCH"), Error::Mismatch(_)));
    }
    failed_with(small().replace(true).open_or_create(folder.filter()), "BFS_EINVAL");
    failed_with(small().recover(true).create(folder.join("other")), "BFS_EINVAL");
    fs::write(folder.join("text"), "no filter ".repeat(9999)).unwrap();
    assert!(matches!(failed(small().open_or_create(folder.join("text"))), Error::Malformed(_)));
    let filling = small().filling(true).open_or_create(folder.join("filling")).unwrap();
    assert!(filling.created() && matches!(failed(filling.health()), Error::Filling(_)));
    filling.finish_filling().unwrap();
    assert_eq!(folder.names(), ["filling", "filter.bf", "text"]);
}

#[test]
fn threads_that_open_or_create_at_once_make_one_file() {
    for _ in 0..20 {
        let folder = Folder::new();
        let filters: Vec<Filter> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4u64)
                .map(|key| {
                    let path = folder.filter();
                    scope.spawn(move || {
                        let opened = small().open_or_create(path).unwrap();
                        opened.add(key).unwrap();
                        opened
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(filters.iter().filter(|filter| filter.created()).count(), 1);
        assert!((0..4u64).all(|key| filters.iter().all(|filter| filter.contains(key))));
    }
}

#[test]
fn an_unpublished_file_has_no_name_and_takes_the_place_of_another() {
    let folder = Folder::new();
    folder.create().add("old").unwrap();
    let reader = Filter::open(folder.filter()).unwrap();
    let mut made = small().unpublished(true).replace(true).create(folder.filter()).unwrap();
    made.add("new").unwrap();
    assert!(reader.health().is_ok() && !reader.contains("anything"));
    made.supersede().unwrap();
    made.publish().unwrap();
    let error = failed_with(reader.health(), "BFS_ESUPERSEDED");
    assert!(matches!(error, Error::Doubt(_)));
    assert!(reader.contains("anything"));
    assert_eq!((reader.is_current(), made.is_current()), (Ok(false), Ok(true)));
    let now = Filter::open(folder.filter()).unwrap();
    assert!(now.contains("new") && !now.contains("old"));
}

#[test]
fn a_reader_that_follows() {
    let folder = Folder::new();
    let mut options = small();
    options.seed(1);
    options.create(folder.filter()).unwrap().add("old").unwrap();
    let reader = Filter::options().follow(true).open(folder.filter()).unwrap();
    options.replace(true).build(folder.filter(), &["new"]).unwrap();
    assert_eq!(reader.is_current(), Ok(true));
    assert!(reader.contains("new") && !reader.contains("old"));
}

#[test]
fn a_secret() {
    let folder = Folder::new();
    unseeded().hash(Hash::SipHash).secret(SECRET).create(folder.filter()).unwrap().add("a").unwrap();
    let opened = Filter::options().secret(SECRET).open(folder.filter()).unwrap();
    assert!(opened.contains("a") && !opened.contains("b"));
    assert!(matches!(failed_with(Filter::open(folder.filter()), "BFS_ESECRET"), Error::Secret(_)));
    failed_with(Filter::options().secret(b"another secret!!").open(folder.filter()), "BFS_ESECRET");
}

#[test]
fn a_descriptor() {
    let folder = Folder::new();
    folder.create().add("a").unwrap();
    let file = File::open(folder.filter()).unwrap();
    let opened = Filter::options().open_fd(&file).unwrap();
    drop(file);
    assert!(opened.contains("a") && !opened.contains("b"));
    assert!(format!("{opened:?}").contains("descriptor"));
}

#[test]
fn a_range_of_a_file() {
    let folder = Folder::new();
    let made = folder.create();
    made.add("a").unwrap();
    let dumped = made.dump().unwrap();
    let whole = folder.join("whole");
    fs::write(&whole, [vec![b'.'; 640], dumped.clone(), b"the rest".to_vec()].concat()).unwrap();
    let end = 640 + dumped.len() as u64;
    let from = |options: &OpenOptions<'_>| options.open(&whole);
    for opened in [
        from(Filter::options().range(640..end)),
        from(Filter::options().range(640..=end - 1)),
        from(Filter::options().range(640..)),
        from(Filter::options().range(640..).private(true)),
        Filter::options().range(640..end).open_fd(File::open(&whole).unwrap()),
    ] {
        let opened = opened.unwrap();
        assert!(opened.contains("a") && !opened.contains("b"));
    }
    assert!(matches!(failed(from(Filter::options().range(..))), Error::Malformed(_)));
    assert!(matches!(failed(from(Filter::options().range(640..end - 1))), Error::Malformed(_)));
    // The library takes 0 bytes for "to the end": an empty range is not that.
    #[allow(clippy::reversed_empty_ranges)]
    for empty in [640..640, 640..0] {
        assert!(failed_with(from(Filter::options().range(empty)), "BFS_EINVAL").to_string().contains("empty"));
    }
    failed_with(from(Filter::options().range(640..).write(true)), "BFS_EINVAL");
}

#[test]
fn threads_of_an_exclusive_writer() {
    let folder = Folder::new();
    let keys: Vec<u64> = (0..100_000).collect();
    let mut options = small();
    options.capacity(100_000).exclusive(true).threads(2);
    options.create(folder.filter()).unwrap().add_many(&keys[..50_000]).unwrap();
    let again = Filter::options().exclusive(true).threads(2).open(folder.filter()).unwrap();
    again.add_many(&keys[50_000..]).unwrap();
    assert!(again.contains_many(&keys).unwrap().into_iter().all(|maybe| maybe));
    let built = small().capacity(100_000).threads(2).build(folder.join("built"), &keys).unwrap();
    assert!(built.contains_many(&keys).unwrap().into_iter().all(|maybe| maybe));
    let mut memory = AlignedBytes::zeroed(options.required_bytes().unwrap() as usize);
    let formatted = options.format(&mut memory).unwrap();
    formatted.add_many(&keys).unwrap();
    assert!(formatted.contains_many(&keys).unwrap().into_iter().all(|maybe| maybe));
    failed_with(small().threads(2).create(folder.join("shared")), "BFS_EINVAL");
    failed_with(Filter::options().threads(2).open(folder.filter()), "BFS_EINVAL");
}

// --- Durability ------------------------------------------------------------------------------------------------------

#[test]
fn marks() {
    let folder = Folder::new();
    let made = folder.create();
    made.sync().unwrap();
    made.sync_mark(LogPosition { owner: 7, epoch: 1, mark: 100 }).unwrap();
    made.sync_mark(LogPosition { owner: u64::MAX, epoch: 1 << 63, mark: 5 }).unwrap();
    made.sync_mark(LogPosition { owner: 7, epoch: 1, mark: 99 }).unwrap(); // the higher one stays
    let mut marks: Vec<(u64, u64, u64, bool)> = made
        .marks()
        .unwrap()
        .iter()
        .map(|Mark { owner, mark, epoch, recovered, .. }| (*owner, *mark, *epoch, *recovered))
        .collect();
    marks.sort_unstable();
    assert_eq!(marks, [(7, 100, 1, false), (u64::MAX, 5, 1 << 63, false)]);
    assert_eq!((made.get_mark(7, 1), made.get_mark(7, 2), made.get_mark(8, 1)), (100, 0, 0));
    made.drop_owner(7).unwrap();
    assert_eq!(made.get_mark(7, 1), 0);
    let known = |owner| made.sync_mark(LogPosition { owner, epoch: 1, mark: 0 });
    (0..63).for_each(|owner| known(owner).unwrap());
    assert!(matches!(failed_with(known(64), "BFS_EOWNERS"), Error::Owners(_)));
}

/// Leaves the file as a machine does that went down (FORMAT.md, "State slots"): dirty, in another boot.
fn go_down(folder: &Folder) {
    let mut data = fs::read(folder.filter()).unwrap();
    let seed = small().seed(0).create(folder.join("unseeded")).unwrap().digest(&data[88..104]).unwrap();
    let hash = small().seed(seed).replace(true).create(folder.join("hash")).unwrap();
    for at in [4096, 8192] {
        data[at + 8..at + 12].copy_from_slice(&2u32.to_le_bytes());
        data[at + 16..at + 32].copy_from_slice(b"of another boot.");
        let sum = hash.digest(&data[at..at + 4088]).unwrap();
        data[at + 4088..at + 4096].copy_from_slice(&sum.to_le_bytes());
    }
    fs::write(folder.filter(), data).unwrap();
}

#[test]
fn a_recovery() {
    let folder = Folder::new();
    let made = folder.create();
    made.add("before").unwrap();
    made.sync_mark(LogPosition { owner: 7, epoch: 1, mark: 1 }).unwrap();
    made.close().unwrap();
    go_down(&folder);
    let error = failed_with(Filter::open(folder.filter()), "BFS_EUNCLEAN");
    assert!(matches!(error, Error::Recovery(_)));
    failed_with(small().open_or_create(folder.filter()), "BFS_EUNCLEAN");
    let recovering = small().recover(true).open_or_create(folder.filter()).unwrap();
    assert!(!recovering.created());
    failed_with(Filter::options().write(true).open(folder.filter()), "BFS_ERECOVERING");
    recovering.abandon();
    let recovering = Filter::options().write(true).recover(true).open(folder.filter()).unwrap();
    failed_with(recovering.health(), "BFS_ERECOVERING");
    assert!(recovering.contains("anything"));
    recovering.add("after").unwrap();
    assert_eq!(recovering.finish_recovery(7), Ok(true));
    assert!(recovering.contains("before") && recovering.contains("after") && !recovering.contains("anything"));
    recovering.close().unwrap();
    Filter::open(folder.filter()).unwrap().health().unwrap();
}

#[test]
fn a_loss_that_is_accepted() {
    let folder = Folder::new();
    folder.create().close().unwrap();
    go_down(&folder);
    let opened = Filter::options().write(true).accept_loss(true).open(folder.filter()).unwrap();
    assert_eq!(opened.health(), Ok(()));
}

#[test]
fn an_online_build() {
    let folder = Folder::new();
    let made = small().filling(true).create(folder.filter()).unwrap();
    assert!(matches!(failed_with(made.health(), "BFS_EFILLING"), Error::Filling(_)));
    assert_eq!(made.stats().unwrap().health, made.health());
    assert!(made.contains("anything"));
    assert!(matches!(failed(made.dump()), Error::Filling(_)));
    made.add("a").unwrap();
    made.finish_filling().unwrap();
    assert!(made.health().is_ok() && made.contains("a") && !made.contains("anything"));
}

#[test]
fn a_delta_makes_the_later_file() {
    let folder = Folder::new();
    let filter = folder.create();
    let [before, after, delta, made] = ["before", "after", "delta", "made"].map(|name| folder.join(name));
    filter.add("a").unwrap();
    filter.seal(&before).unwrap();
    filter.add("b").unwrap();
    filter.seal(&after).unwrap();
    filter.close().unwrap();
    assert!(matches!(failed_with(make_delta(&after, &before, &delta), "BFS_EMISMATCH"), Error::Mismatch(_)));
    make_delta(&before, &after, &delta).unwrap();
    failed_with(make_delta(&before, &after, &delta), "BFS_EEXIST");
    make_delta_with(&before, &after, &delta, &CopyOptions::new().replace(true).mode(0o644)).unwrap();
    apply_delta(&before, &delta, &made).unwrap();
    assert_eq!(fs::read(&made).unwrap(), fs::read(&after).unwrap());
    apply_delta_with(&before, &delta, &before, &CopyOptions::new().replace(true)).unwrap();
    assert!(Filter::open(&before).unwrap().contains("b"));
    failed_with(apply_delta(&before, &delta, folder.join("no")), "BFS_EMISMATCH");
}

#[test]
fn a_sealed_file() {
    let folder = Folder::new();
    let made = folder.create();
    made.add("a").unwrap();
    let sealed = folder.join("sealed");
    made.seal(&sealed).unwrap();
    assert_eq!(verify(&sealed), Ok(vec![]));
    assert!(Filter::options().verify(true).open(&sealed).unwrap().contains("a"));
    assert!(matches!(failed_with(Filter::options().write(true).open(&sealed), "BFS_ESEALED"), Error::Sealed(_)));
    failed_with(verify(folder.filter()), "BFS_ENOTSEALED");
    failed_with(made.seal(&sealed), "BFS_EEXIST");
    made.save_with(&sealed, CopyOptions::new().sealed(true).replace(true).mode(0o600)).unwrap();
    made.close().unwrap();
    let own = Filter::open(folder.filter()).unwrap(); // a file takes its own place
    own.save_with(folder.filter(), CopyOptions::new().sealed(true).replace(true)).unwrap();
    assert_eq!(verify(folder.filter()), Ok(vec![]));
    let mut data = fs::read(&sealed).unwrap();
    data[16_384 + 100] ^= 1;
    fs::set_permissions(&sealed, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&sealed, data).unwrap();
    let damaged = verify(&sealed).unwrap();
    assert!(damaged.len() == 1 && damaged[0].contains(&(16_384 + 100)), "{damaged:?}");
    assert!(matches!(failed_with(Filter::options().verify(true).open(&sealed), "BFS_EDAMAGED"), Error::Damaged(_)));
    let tolerant = Filter::options().tolerate_damage(true).open(&sealed).unwrap();
    assert!(tolerant.contains("a") && tolerant.contains("anything"));
}

// --- Copies and sets -------------------------------------------------------------------------------------------------

#[test]
fn save_dump_load() {
    let folder = Folder::new();
    let made = small().seed(7).note(b"note").create(folder.filter()).unwrap();
    made.add_many(&["a", "b"]).unwrap();
    let saved = folder.join("saved");
    made.save(&saved).unwrap();
    let dumped = made.dump().unwrap();
    let unaligned = [b".".as_slice(), &dumped].concat();
    for copy in [
        Filter::open(&saved).unwrap(),
        Filter::load(&dumped).unwrap(),
        Filter::load(&unaligned[1..]).unwrap(),
        Filter::options().write(true).load(&fs::read(&saved).unwrap()).unwrap(),
    ] {
        assert_eq!(copy.stats().unwrap().note, b"note");
        assert!(copy.contains("a") && copy.contains("b") && !copy.contains("c"));
        assert!(copy.compare(&made).unwrap().equal);
    }
    failed_with(made.save(&saved), "BFS_EEXIST");
    made.save_with(&saved, CopyOptions::new().replace(true).same_file_id(true).lock_timeout(Duration::ZERO)).unwrap();
    assert_eq!(Filter::open(&saved).unwrap().stats().unwrap().file_id, made.stats().unwrap().file_id);
    made.save_with(folder.join("folded"), CopyOptions::new().fpr(0.5)).unwrap();
    assert!(Filter::open(folder.join("folded")).unwrap().stats().unwrap().num_bits < made.stats().unwrap().num_bits);
    let same = DumpOptions { bare: false, same_file_id: true };
    let id = Filter::load(&made.dump_with(same).unwrap()).unwrap().stats().unwrap().file_id;
    assert_eq!(id, made.stats().unwrap().file_id);
    made.save_with(folder.join("filling"), CopyOptions::new().filling(true)).unwrap();
    failed_with(Filter::open(folder.join("filling")).unwrap().health(), "BFS_EFILLING");
}

#[test]
fn bare_dumps() {
    let folder = Folder::new();
    let made = Filter::options_to_create().seed(0).num_bits(1024).num_probes(6).create(folder.filter()).unwrap();
    made.add("a").unwrap();
    let dumped = made.dump_with(DumpOptions { bare: true, same_file_id: false }).unwrap();
    let loaded = Filter::options().bare(true).load(&dumped).unwrap();
    assert!(loaded.contains("a") && !loaded.contains("b"));
    assert!(bare::contains(&dumped, "a") && !bare::contains(&dumped, "b"));
}

#[test]
fn a_buffer_is_formatted_and_wrapped_in_place() {
    let options = small();
    let bytes = options.required_bytes().unwrap() as usize;
    let mut memory = AlignedBytes::zeroed(bytes);
    assert_eq!((memory.len(), memory.as_ptr() as usize % 64), (bytes, 0));
    options.format(&mut memory).unwrap().add("a").unwrap();
    {
        let writer = Filter::options().write(true).wrap_mut(&mut memory).unwrap();
        writer.add("b").unwrap();
        failed_with(writer.sync(), "BFS_EINVAL");
        writer.close().unwrap();
    }
    let reader = Filter::options().wrap(&memory).unwrap();
    assert!(reader.contains("a") && reader.contains("b") && !reader.contains("c"));
    assert!(matches!(failed(reader.add("c")), Error::ReadOnly(_)));
    let copy = AlignedBytes::from(&*memory);
    assert!(Filter::options().wrap(&copy).unwrap().contains("b"));
    failed_with(Filter::options().wrap(&memory[1..]), "BFS_EINVAL");
    assert!(matches!(failed(Filter::options().wrap(&AlignedBytes::zeroed(8192))), Error::Malformed(_)));
}

#[test]
fn memory_that_several_filters_share() {
    let options = small();
    let mut memory = AlignedBytes::zeroed(options.required_bytes().unwrap() as usize);
    let (start, bytes) = (memory.as_mut_ptr(), memory.len());
    // SAFETY: the memory outlives both filters, and only they touch it.
    let (one, two) = unsafe {
        let one = options.format_raw(start, bytes).unwrap();
        (one, Filter::options().wrap_raw(start, bytes).unwrap())
    };
    one.add("a").unwrap();
    assert!(two.contains("a") && !two.contains("b"));
}

#[test]
fn parts() {
    let folder = Folder::new();
    let part = |number: u32| small().seed(1).part(number, 2).create(folder.join(number.to_string())).unwrap();
    let halves = [part(0), part(1)];
    let parts = |filter: &Filter| filter.stats().map(|facts| (facts.part, facts.num_parts));
    assert_eq!(parts(&halves[1]), Ok((1, 2)));
    for key in ["a", "b", "c", "d"] {
        halves[(halves[0].digest(key).unwrap() >> 63) as usize].add(key).unwrap();
    }
    failed_with(halves[0].add_digest(u64::MAX), "BFS_EPART");
    failed_with(bfstore::join(&[&halves[1]], folder.join("whole")), "BFS_EMISMATCH");
    bfstore::join(&[&halves[1], &halves[0]], folder.join("whole")).unwrap();
    bfstore::join_with(&[&halves[1], &halves[0]], folder.join("whole"), CopyOptions::new().replace(true)).unwrap();
    let whole = Filter::open(folder.join("whole")).unwrap();
    assert!(["a", "b", "c", "d"].iter().all(|key| whole.contains(key)));
    assert_eq!(parts(&whole), Ok((0, 1)));

    fs::write(folder.join("set"), "bfstore-set 1\n1\n0\n").unwrap();
    let set = Filter::open(folder.join("set")).unwrap();
    for key in ["a", "b", "c", "d", "e", "f", "g", "h"] {
        assert_eq!(set.contains(key), whole.contains(key));
    }
    failed_with(set.add("e"), "BFS_EREADONLY");
    set.close().unwrap();
    failed(Filter::options().write(true).open(folder.join("set")));
}

#[test]
fn merge_compare_intersect() {
    let folder = Folder::new();
    let (a, b) = (filled(&folder, "a", 0..1000), filled(&folder, "b", 500..1500));
    let found = a.compare(&b).unwrap();
    assert!(found.comparable && found.some_in_both && !found.equal && !found.a_in_b && !found.b_in_a);
    assert_eq!(found.differs.bits(), 0);
    assert!(found.keys_both.low <= 500.0 && found.keys_both.high >= 500.0, "{found:?}");
    assert!((found.jaccard.estimate - 1.0 / 3.0).abs() < 0.1);
    intersect(&[&a, &b], folder.join("both")).unwrap();
    let both = Filter::open(folder.join("both")).unwrap();
    assert!((500..1000u64).all(|key| both.contains(key)));
    assert!((0..500u64).filter(|key| both.contains(*key)).count() < 50);
    failed_with(intersect(&[&a, &b], folder.join("both")), "BFS_EEXIST");
    intersect_with(&[&a, &b], folder.join("both"), CopyOptions::new().replace(true)).unwrap();
    a.merge(&b).unwrap();
    assert!((0..1500u64).all(|key| a.contains(key)));
    assert!(b.compare(&a).unwrap().a_in_b);
    let other = small().layout(Layout::Classic).seed(8).create(folder.join("other")).unwrap();
    let differs = a.compare(&other).unwrap().differs;
    assert!(differs.layout() && differs.seed() && !differs.hash() && !differs.secret());
    assert!(matches!(failed_with(a.merge(&other), "BFS_EMISMATCH"), Error::Mismatch(_)));
}

#[test]
fn bits_of_other_programs() {
    let folder = Folder::new();
    let mut options = Filter::options_to_create();
    options.hash(Hash::Murmur3).num_bits(1001).num_probes(5);
    let made = options.create(folder.filter()).unwrap();
    made.add_many(&["a", "b"]).unwrap();
    for order in [BitOrder::Little, BitOrder::Big] {
        let bits = made.export_bits(order).unwrap();
        assert_eq!(bits.len(), 126);
        let other = options.clone().replace(true).create(folder.join("other")).unwrap();
        other.import_bits(&bits, order).unwrap();
        assert!(other.contains("a") && other.contains("b") && !other.contains("c"));
        assert_eq!(other.export_bits(order), Ok(bits));
    }
    assert_ne!(made.export_bits(BitOrder::Little), made.export_bits(BitOrder::Big));
    failed_with(made.import_bits(&[0; 125], BitOrder::Big), "BFS_EINVAL");
}

/// BloomFilter(10, 0.001) of pybloom-live 3.1.0 with the keys "alice", "bob" and "caf\u{e9}".
const JAYBIRD: &[u8; 59] = b"\xfc\xa9\xf1\xd2\x4d\x62\x50\x3f\x0a\x00\x00\x00\x00\x00\x00\x00\
    \x0f\x00\x00\x00\x00\x00\x00\x00\x0a\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00\
    \x80\xc2\x10\x02\x48\x02\x00\x17\x90\x18\x00\x09\x04\x11\x48\x92\x00\x22\x00";

#[test]
fn a_file_of_python_bloomfilter_becomes_a_filter_and_comes_back() {
    let folder = Folder::new();
    let mut form = ForeignForm::new("jaybird");
    let told = inspect_foreign(&JAYBIRD[..40], &form).unwrap();
    assert_eq!((told.layout, told.hash, told.num_probes), (Layout::Classic, Some(Hash::Jaybird), Some(10)));
    assert_eq!((told.num_bits, told.capacity, told.fpr), (Some(150), Some(10), Some(0.001)));
    assert_eq!((told.keys, told.bytes, told.filters, told.needs.bits()), (Some(3), Some(59), 1, 0));
    let options = Filter::options_to_create();
    let made = options.import_foreign(folder.filter(), JAYBIRD, &form).unwrap();
    assert_eq!(made.contains_many(&["alice", "bob", "caf\u{e9}", "carol"]), Ok(vec![true, true, true, false]));
    assert_eq!(made.export_foreign(&form), Ok(JAYBIRD.to_vec()));
    failed_with(made.add("carol"), "BFS_EREADONLY");
    let short = options.import_foreign(folder.join("other"), &JAYBIRD[..58], form.name("words.jay"));
    let error = failed_with(short, "BFS_EMALFORMED");
    assert!(matches!(error, Error::Malformed(_)));
    assert!(error.to_string().starts_with("words.jay: has 58 bytes"), "{error}");
    assert_eq!(folder.names(), ["filter.bf"]);
}

#[test]
fn a_plain_array_needs_the_callers_word() {
    let folder = Folder::new();
    assert!(["raw", "jaybird"].iter().all(|name| foreign_formats().contains(name)));
    let mut bits = [0; 16];
    bits[3] = 0x80;
    let told = inspect_foreign(&bits, &ForeignForm::new("raw")).unwrap();
    assert!(told.needs.size() && told.needs.order() && told.needs.hash() && !told.needs.column());
    assert_eq!((told.num_bits, told.hash, told.keys, told.bytes), (None, None, None, None));
    let mut form = ForeignForm::new("raw");
    form.order(BitOrder::Big);
    let mut options = Filter::options_to_create();
    options.hash(Hash::Murmur3).num_bits(124).num_probes(4).unpublished(true);
    let told = options.inspect_foreign(&[], &form).unwrap();
    assert_eq!((told.num_bits, told.hash, told.bytes), (Some(124), Some(Hash::Murmur3), Some(16)));

    let path = folder.filter();
    let mut hashless = Filter::options_to_create();
    hashless.num_bits(124).num_probes(4);
    for wrong in [
        hashless.import_foreign(&path, &bits, &form),
        Filter::options_to_create().import_foreign(&path, &bits, &form),
        options.clone().num_bits(132).import_foreign(&path, &bits, &form),
        options.import_foreign(&path, &bits, &ForeignForm::new("raw")),
        options.import_foreign(&path, &bits, ForeignForm::new("pickle").order(BitOrder::Big)),
        options.import_foreign(&path, &bits, ForeignForm::new("raw\0").order(BitOrder::Big)),
    ] {
        failed_with(wrong, "BFS_EINVAL");
    }
    failed_with(options.inspect_foreign(&[], &ForeignForm::new("pickle")), "BFS_EINVAL");

    let mut made = options.import_foreign(&path, &bits, &form).unwrap();
    assert_eq!(made.export_foreign(&form), Ok(bits.to_vec()));
    assert_eq!(made.add("key"), Ok(true));
    assert_eq!(folder.names(), [""; 0]);
    made.publish().unwrap();
    assert_eq!(folder.names(), ["filter.bf"]);
    let mut little = ForeignForm::new("raw");
    little.order(BitOrder::Little);
    assert_eq!(made.export_foreign(&little), made.export_bits(BitOrder::Little));
    assert_eq!(made.export_foreign(&form), made.export_bits(BitOrder::Big));
    failed_with(made.export_foreign(&ForeignForm::new("raw")), "BFS_EINVAL");
    failed_with(made.export_foreign(ForeignForm::new("jaybird").order(BitOrder::Big)), "BFS_EINVAL");
    failed_with(made.export_foreign(&ForeignForm::new("jaybird")), "BFS_EUNSUPPORTED");
}

#[test]
fn a_file_of_another_program_is_asked_in_place() {
    let folder = Folder::new();
    let (path, form) = (folder.join("words"), ForeignForm::new("jaybird"));
    fs::write(&path, JAYBIRD).unwrap();
    assert_eq!(recognize_foreign(&path), Ok(vec!["jaybird"]));
    let mut options = Filter::options_to_create();
    let keys = ["alice", "bob", "caf\u{e9}", "carol"];
    let private = options.clone().private(true).open_foreign(&path, &form).unwrap();
    options.populate(true).random(true).guard(true).any_filesystem(true);
    let shared = options.open_foreign(&path, &form).unwrap();
    let by_descriptor = options.open_foreign_fd(File::open(&path).unwrap(), &form).unwrap();
    for opened in [&private, &shared, &by_descriptor] {
        assert_eq!(opened.contains_many(&keys), Ok(vec![true, true, true, false]));
        assert!(!opened.created());
        failed_with(opened.add("carol"), "BFS_EREADONLY");
    }
    assert_eq!(folder.names(), ["words"]);
    fs::write(&path, [0; 59]).unwrap();
    assert!(shared.contains("carol") && !private.contains("carol"));
    failed_with(shared.health(), "BFS_ELOST");
    assert_eq!(private.health(), Ok(()));
}

#[test]
fn a_plain_array_is_asked_in_place() {
    let folder = Folder::new();
    let (path, link) = (folder.join("bits"), folder.join("link"));
    fs::write(&path, [0; 16]).unwrap();
    symlink(&path, &link).unwrap();
    assert_eq!(recognize_foreign(&path), Ok(vec![]));
    assert_eq!(recognize_foreign(&link), Ok(vec![]));
    failed_with(recognize_foreign_nofollow(&link), "BFS_ESYMLINK");
    let mut form = ForeignForm::new("raw");
    form.order(BitOrder::Big);
    let mut options = Filter::options_to_create();
    options.hash(Hash::Murmur3).num_bits(124).num_probes(4);
    let opened = options.open_foreign(&link, &form).unwrap();
    assert_eq!((opened.contains("key"), opened.stats().unwrap().num_bits), (false, 124));
    failed_with(options.clone().follow_symlinks(false).open_foreign(&link, &form), "BFS_ESYMLINK");
    for wrong in [
        Filter::options_to_create().open_foreign(&path, &form),
        options.clone().num_bits(132).open_foreign(&path, &form),
        options.clone().replace(true).open_foreign(&path, &form),
        options.clone().note(b"mine").part(0, 2).open_foreign(&path, &form),
        options.open_foreign(&path, &ForeignForm::new("raw")),
        options.open_foreign(folder.join("a\0b"), &form),
    ] {
        failed_with(wrong, "BFS_EINVAL");
    }
    for error in
        [failed(options.open_foreign(folder.join("none"), &form)), failed(recognize_foreign(folder.join("none")))]
    {
        assert!(matches!(error, Error::NotFound(_)), "{error:?}");
    }
}

#[test]
fn one_filter_of_a_file_and_a_column_are_named() {
    let folder = Folder::new();
    let path = folder.join("words");
    fs::write(&path, JAYBIRD).unwrap();
    let options = Filter::options_to_create();
    let mut form = ForeignForm::new("jaybird");
    form.member(1);
    assert!(options.open_foreign(&path, &form).unwrap().contains("alice"));
    form.member(2);
    for error in
        [failed(options.open_foreign(&path, &form)), failed(options.import_foreign(folder.filter(), JAYBIRD, &form))]
    {
        assert!(matches!(error, Error::Invalid(_)) && error.to_string().contains("no number 2"), "{error:?}");
    }
    form.member(0).column("id");
    for error in [
        failed(options.open_foreign(&path, &form)),
        failed(options.import_foreign(folder.filter(), JAYBIRD, &form)),
        failed(inspect_foreign(JAYBIRD, &form)),
    ] {
        assert!(matches!(error, Error::Invalid(_)) && error.to_string().contains("no columns"), "{error:?}");
    }
    failed_with(inspect_foreign(JAYBIRD, form.column("a\0b")), "BFS_EINVAL");
}

#[test]
fn several_filters_are_asked_at_once() {
    let folder = Folder::new();
    let path = folder.join("words");
    fs::write(&path, JAYBIRD).unwrap();
    let mut made: Vec<Filter> = (0..100u64)
        .map(|number| {
            let one = small().seed(number % 2).create(folder.join(number.to_string())).unwrap();
            one.add_many(&[number, 1000]).unwrap();
            one
        })
        .collect();
    made.insert(70, Filter::options_to_create().open_foreign(&path, &ForeignForm::new("jaybird")).unwrap());
    let filters: Vec<&Filter> = made.iter().collect();
    for (key, numbers) in [("alice", vec![70]), ("absent", vec![])] {
        assert_eq!((contains_any(&filters, key), which(&filters, key)), (!numbers.is_empty(), Ok(numbers)));
    }
    let others: Vec<usize> = (0..101).filter(|number| *number != 70).collect();
    assert_eq!((contains_any(&filters, 1000), which(&filters, 1000)), (true, Ok(others)));
    for number in [0, 63, 64, 99] {
        assert!(which(&filters, number).unwrap().contains(&(number as usize + usize::from(number >= 70))));
    }
    assert_eq!((contains_any(&[], "key"), which(&[], "key")), (false, Ok(vec![])));
    let digests = unseeded().hash(Hash::External).create(folder.join("digests")).unwrap();
    assert!(contains_any(&[&made[0], &digests], "absent"));
    let error = failed_with(which(&[&made[0], &digests], "absent"), "BFS_EDIGESTONLY");
    assert!(matches!(error, Error::KindOfKey(_)));
    made[1].shut().unwrap();
    assert!(contains_any(&[&made[0], &made[1]], "absent"));
    assert_eq!(which(&[&made[0], &made[1]], "absent"), Ok(vec![1]));
}

// --- Numbers ---------------------------------------------------------------------------------------------------------

#[test]
fn bare_filters() {
    let keys: Vec<[u8; 8]> = (0..100u64).map(u64::to_le_bytes).collect();
    let bytes = bare::bytes(100, 10.0, Layout::Blocked).unwrap();
    let mut block = vec![0; bytes as usize];
    bare::build(&mut block, Layout::Blocked, Hash::Xxh3, &keys).unwrap();
    assert!((0..100).all(|key| bare::contains(&block, key)));
    assert!((1000..2000).filter(|key| bare::contains(&block, *key)).count() < 100);
    let digests: Vec<u64> = (1..=100u64).map(|number| number.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
    bare::build(&mut block, Layout::Classic, Hash::External, Keys::digests(&digests)).unwrap();
    assert!(digests.iter().all(|digest| bare::contains_digest(&block, *digest)));
    assert!(
        (0..1000u64).filter(|number| bare::contains_digest(&block, number.wrapping_mul(0xD6E8_FEB8_6659_FD93))).count()
            < 100
    );
    assert!(bare::contains(&block, "a") && bare::contains(b"no filter", "a") && bare::contains(b"", "a"));
    assert_eq!(bare::bytes(0, -1.0, Layout::Blocked), None);
    let before = block.clone();
    let bitmap = Keys::from(&["a", "b"]).with_validity(b"\x01", 0).unwrap();
    failed_with(bare::build(&mut block, Layout::Blocked, Hash::Xxh3, bitmap), "BFS_EINVAL");
    failed_with(bare::build(&mut block, Layout::Blocked, Hash::SipHash, Keys::digests(&digests)), "BFS_EINVAL");
    failed_with(bare::build(&mut block, Layout::Blocked, Hash::External, &["a"]), "BFS_EDIGESTONLY");
    assert_eq!(block, before);
}

#[test]
fn plans() {
    let folder = Folder::new();
    let plan = PlanRequest::new().capacity(1_000_000).fpr(0.01).plan().unwrap();
    assert_eq!((plan.layout, plan.capacity), (Layout::Blocked, 1_000_000));
    assert!(plan.fpr <= 0.01 && plan.abilities.merge() && plan.abilities.add() && !plan.abilities.remove());
    assert!(PlanRequest::new().capacity(5).layout(Layout::Counting).plan().unwrap().abilities.remove());
    let built = PlanRequest::new().capacity(10_000_000).fpr(0.01).layout(Layout::Static).plan().unwrap();
    assert!(
        built.layout == Layout::Static && built.abilities.build() && !built.abilities.add() && built.bits_per_key < 7.3
    );
    let made = Filter::options_to_create()
        .num_bits(plan.num_bits)
        .num_probes(plan.num_probes)
        .capacity(plan.capacity)
        .create(folder.filter())
        .unwrap();
    assert_eq!(fs::metadata(folder.filter()).unwrap().len(), plan.file_bytes);
    assert_eq!(made.stats().unwrap().num_bits, plan.num_bits);
    let from_bits = PlanRequest::new().max_bytes(100_000).bits_per_key(8.0).num_probes(3).plan().unwrap();
    assert_eq!(from_bits.num_probes, 3);
    assert_eq!(PlanRequest::new().num_bits(51_200).capacity(99).plan().unwrap().num_bits, 51_200);
}

#[test]
fn stats() {
    let folder = Folder::new();
    let made = filled(&folder, "filter.bf", 0..1000);
    let few = made.stats().unwrap();
    assert_eq!((few.keys_added, few.saturated, few.fill, few.memory), (1000, false, None, None));
    assert!(["avx512", "avx2", "neon", "scalar"].contains(&few.isa.as_str()), "{}", few.isa);
    let more = made.stats_with(ALL).unwrap();
    let fill = more.fill.unwrap();
    assert!(fill.estimated_keys.low <= 1000.0 && fill.estimated_keys.high >= 1000.0 && fill.set_bits > 0);
    assert!(fill.ratio > 0.0 && fill.estimated_fpr < 0.01 && fill.counters_at_15 == 0);
    assert!(more.memory.unwrap().resident_bytes.unwrap() > 0);
}

#[test]
fn a_kernel_that_this_machine_lacks_is_an_error() {
    // A process of its own, since all threads share the environment.
    let folder = Folder::new();
    drop(folder.create());
    let foreign = if cfg!(target_arch = "aarch64") { "avx2" } else { "neon" };
    let mut child = crate::support::child("files::child_with_a_foreign_kernel");
    child.env("BFSTORE_FORCE_ISA", foreign).env("BFSTORE_TEST_PATH", folder.filter());
    crate::support::succeeds(&mut child);
}

#[test]
#[ignore = "run by a_kernel_that_this_machine_lacks_is_an_error"]
fn child_with_a_foreign_kernel() {
    failed_with(Filter::open(env::var_os("BFSTORE_TEST_PATH").unwrap()), "BFS_EINVAL");
}

#[test]
fn capacity_and_rate_of_a_filter() {
    let folder = Folder::new();
    let filter = Filter::options_to_create().capacity(1000).fpr(0.02).create(folder.filter()).unwrap();
    assert_eq!((filter.capacity(), filter.fpr()), (Ok(1000), Ok(0.02)));
}

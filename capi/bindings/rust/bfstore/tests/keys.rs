//! The bytes of each key: programs in other languages have to agree with this table.

use std::borrow::Cow;
use std::collections::BTreeSet;

use bfstore::{AsKey, Hash, Keys, Layout};

use crate::support::json::{self, Json};
use crate::support::{failed_with, read, repository, set_bits, small, unseeded, Folder};

fn unhex(digits: &str) -> Vec<u8> {
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

/// The key of a row in Rust; None if Rust has no such value.
enum Said {
    Text(String),
    Signed(i64),
    Unsigned(u64),
    Binary(Vec<u8>),
}

fn said(row: &Json, times: usize) -> Option<Said> {
    let row = row.map();
    if let Some(units) = row.get("utf16") {
        let units: Vec<u16> = unhex(units.text()).chunks(2).map(|two| u16::from_be_bytes([two[0], two[1]])).collect();
        return String::from_utf16(&units).ok().map(Said::Text);
    }
    if let Some(digits) = row.get("integer") {
        let digits = digits.text();
        return digits.parse().map(Said::Signed).or_else(|_| digits.parse().map(Said::Unsigned)).ok();
    }
    match row.get("text") {
        Some(text) => Some(Said::Text(text.text().repeat(times))),
        None => Some(Said::Binary(unhex(row["binary"].text()).repeat(times))),
    }
}

#[test]
fn every_row_of_the_table_has_its_digest_or_is_no_value() {
    let folder = Folder::new();
    let filter = small().seed(0).create(folder.filter()).unwrap();
    let table = json::parse(&read(repository("capi/bindings/keys.json")));
    let rows = table.map()["keys"].list();
    let mut refused = 0;
    for row in rows {
        let times = row.map().get("times").map_or(1, |times| times.number() as usize);
        let digest = match said(row, times) {
            None => {
                assert!(row.map().contains_key("error"), "{row:?}");
                refused += 1;
                continue;
            }
            Some(Said::Text(text)) => (filter.digest(&text), filter.digest_many(&[text.as_str()])),
            Some(Said::Signed(integer)) => (filter.digest(integer), filter.digest_many(&[integer])),
            Some(Said::Unsigned(integer)) => (filter.digest(integer), filter.digest_many(&[integer])),
            Some(Said::Binary(bytes)) => (filter.digest(&bytes), filter.digest_many(&[bytes.as_slice()])),
        };
        let wanted = u64::from_str_radix(row.map()["xxh3"].text(), 16).unwrap();
        assert_eq!(digest, (Ok(wanted), Ok(vec![wanted])), "{row:?}");
        assert_eq!(filter.digest(unhex(row.map()["bytes"].text()).repeat(times)), Ok(wanted));
    }
    assert!(rows.len() > 30 && refused == 6, "{} {refused}", rows.len());
}

#[test]
fn every_list_of_the_table_has_its_digests_and_its_nulls_or_is_refused() {
    let folder = Folder::new();
    let table = json::parse(&read(repository("capi/bindings/keys.json")));
    let rows = table.map()["lists"].list();
    assert!(rows.len() > 14);
    for (number, row) in rows.iter().enumerate() {
        let filter = small().seed(0).create(folder.join(format!("{number}.bf"))).unwrap();
        let map = row.map();
        let hex = |name: &str| map.get(name).map_or(Vec::new(), |digits| unhex(digits.text()));
        let (data, bitmap) = (if map.contains_key("fixed") { hex("fixed") } else { hex("column") }, hex("validity"));
        let offsets: Vec<i32> =
            map.get("offsets").map_or(Vec::new(), |all| all.list().iter().map(|one| one.number() as i32).collect());
        let keys = match map.get("width") {
            Some(width) => Keys::fixed(&data, width.number() as usize).unwrap(),
            None => Keys::column32(&data, &offsets).unwrap(),
        };
        let keys = match map.get("first") {
            Some(first) => keys.with_validity(&bitmap, first.number() as usize).unwrap(),
            None => keys,
        };
        if map.contains_key("error") {
            failed_with(filter.add_many(keys), "BFS_EINVAL");
            assert_eq!(set_bits(&filter), 0);
            continue;
        }
        let digests: Vec<u64> =
            map["xxh3"].list().iter().map(|one| u64::from_str_radix(one.text(), 16).unwrap()).collect();
        let there: Vec<bool> = digests.iter().map(|digest| *digest != 0).collect();
        assert_eq!(filter.digest_many(keys.clone()), Ok(digests), "{row:?}");
        filter.add_many(keys.clone()).unwrap();
        assert_eq!(filter.contains_many(keys), Ok(there), "{row:?}");
        assert!(!filter.contains_digest(0));
    }
}

fn bytes_of(key: impl AsKey) -> Vec<u8> {
    key.with_key(<[u8]>::to_vec)
}

#[test]
fn every_form_of_a_key_is_its_bytes() {
    let five = [5, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!([bytes_of(5), bytes_of(5u16), bytes_of(5u32), bytes_of(5i64), bytes_of(5u64)], [five; 5]);
    assert_eq!([bytes_of(5usize), bytes_of(5isize), bytes_of(5i16)], [five; 3]);
    assert_eq!([bytes_of(-1), bytes_of(-1i16), bytes_of(-1i64), bytes_of(u64::MAX)], [[0xFF; 8]; 4]);
    assert_eq!(bytes_of(u32::MAX), [255, 255, 255, 255, 0, 0, 0, 0]);
    let text = String::from("Zürich");
    let forms = [
        bytes_of("Zürich"),
        bytes_of(&text),
        bytes_of(text.clone()),
        bytes_of(Cow::Borrowed("Zürich")),
        bytes_of(Box::<str>::from("Zürich")),
        bytes_of(text.as_bytes()),
        bytes_of(text.as_bytes().to_vec()),
        bytes_of(b"Z\xC3\xBCrich"),
        bytes_of(Box::<[u8]>::from(text.as_bytes())),
        bytes_of(&text),
    ];
    assert!(forms.iter().all(|form| form == b"Z\xC3\xBCrich"), "{forms:?}");
    assert_eq!(bytes_of([7u8; 16]), [7; 16]);
    assert_eq!(bytes_of(""), b"");
}

#[test]
fn what_is_added_in_one_form_is_there_in_the_others() {
    let folder = Folder::new();
    let filter = folder.create();
    assert!(!filter.contains("alice"));
    assert_eq!(filter.add("alice"), Ok(true));
    assert_eq!(filter.add(b"alice"), Ok(false));
    assert!(filter.contains("alice".to_string()) && filter.contains(*b"alice") && !filter.contains("bob"));
    assert_eq!((filter.try_contains("alice"), filter.try_contains("bob")), (Ok(true), Ok(false)));
    filter.add(4711).unwrap();
    assert!(filter.contains(4711u64) && filter.contains(4711i16) && !filter.contains("4711"));
    filter.add("").unwrap();
    assert!(filter.contains(b"") && filter.contains([0u8; 0]));
    let digest = filter.digest("carol").unwrap();
    assert!(!filter.contains_digest(digest));
    assert_eq!(filter.add_digest(digest), Ok(true));
    assert!(filter.contains("carol") && filter.contains_digest(digest));
}

#[test]
fn different_bytes_are_different_keys() {
    let folder = Folder::new();
    let filter = folder.create();
    let keys = ["", "\0", "a", "a\0", "Zürich", "Zu\u{308}rich", "\u{FEFF}"];
    let digests: BTreeSet<u64> = keys.iter().map(|key| filter.digest(key).unwrap()).collect();
    assert_eq!(digests.len(), keys.len());
}

#[test]
fn digests_are_refused_where_keys_are_wanted_and_the_other_way_round() {
    let folder = Folder::new();
    let digests_only = unseeded().hash(Hash::External).create(folder.join("external")).unwrap();
    let keys_only = unseeded().hash(Hash::Murmur3).create(folder.join("murmur")).unwrap();
    failed_with(digests_only.add("a"), "BFS_EDIGESTONLY");
    failed_with(digests_only.try_contains("a"), "BFS_EDIGESTONLY");
    failed_with(digests_only.contains_many(&["a"]), "BFS_EDIGESTONLY");
    failed_with(digests_only.select(&["a"]), "BFS_EDIGESTONLY");
    failed_with(keys_only.add_digest(1), "BFS_EKEYONLY");
    failed_with(keys_only.contains_many(Keys::digests(&[1])), "BFS_EKEYONLY");
    failed_with(keys_only.digest("a"), "BFS_EKEYONLY");
    failed_with(keys_only.digest_many(&["a"]), "BFS_EKEYONLY");
    failed_with(keys_only.add_many(Keys::digests(&[1])), "BFS_EKEYONLY");
    // Every doubt is "maybe".
    assert!(digests_only.contains("a") && keys_only.contains_digest(1));
    assert_eq!(digests_only.select_iter(["a", "b"]).collect::<Vec<_>>(), ["a", "b"]);
    let mut answers = [false; 2];
    failed_with(digests_only.contains_into(&["a", "b"], &mut answers), "BFS_EDIGESTONLY");
    assert_eq!(answers, [true; 2]);
    assert_eq!((set_bits(&digests_only), set_bits(&keys_only)), (0, 0));
}

#[test]
fn keys_of_other_programs() {
    let folder = Folder::new();
    for (name, hash) in [("jaybird", Hash::Jaybird), ("pybloom-live", Hash::PybloomLive)] {
        let made =
            unseeded().capacity(1000).fpr(0.01).hash(hash).tutorial_sizing(true).create(folder.join(name)).unwrap();
        let facts = made.stats().unwrap();
        assert_eq!((facts.hash, facts.layout, facts.num_bits, facts.num_probes), (hash, Layout::Classic, 7 * 1370, 7));
        assert_eq!(made.add_many(&["foo", "4711"]), Ok(2));
        assert!(made.contains("4711") && !made.contains(4711) && !made.contains("bar"));
    }
}

#[test]
fn keys_are_counted_and_removed() {
    let folder = Folder::new();
    let counting = small().layout(Layout::Counting).create(folder.filter()).unwrap();
    counting.add("alice").unwrap();
    counting.add("alice").unwrap();
    counting.add(5).unwrap();
    assert_eq!((counting.count("alice"), counting.count(5), counting.count("bob")), (Ok(2), Ok(1), Ok(0)));
    let digest = counting.digest("alice").unwrap();
    assert_eq!(counting.count_many(Keys::digests(&[digest, 5])), Ok(vec![2, 0]));
    assert_eq!(counting.count_many(&["bob", "alice"]), Ok(vec![0, 2]));
    assert_eq!(counting.remove("alice"), Ok(true));
    assert!(counting.contains("alice"));
    assert_eq!(counting.remove_many(Keys::digests(&[digest])), Ok(1));
    assert!(!counting.contains("alice"));
    assert_eq!(counting.remove("alice"), Ok(false));
    assert_eq!(counting.add_many(&["a", "b", "c"]), Ok(3));
    assert_eq!(counting.remove_many(&["a", "b", "never"]), Ok(2));
    assert_eq!(counting.remove_many(Keys::digests(&[counting.digest("c").unwrap()])), Ok(1));
    assert_eq!(counting.contains_many(&["a", "b", "c"]), Ok(vec![false; 3]));
    assert!(counting.contains(5));
    let facts = counting.stats().unwrap();
    assert_eq!((facts.keys_added, facts.keys_removed), (6, 5));
}

#[test]
fn other_layouts_cannot_remove() {
    let folder = Folder::new();
    let blocked = folder.create();
    failed_with(blocked.remove("a"), "BFS_EUNSUPPORTED");
    failed_with(blocked.remove_many(Keys::digests(&[1])), "BFS_EUNSUPPORTED");
    failed_with(blocked.remove_many(&["a"]), "BFS_EUNSUPPORTED");
    failed_with(blocked.count("a"), "BFS_EUNSUPPORTED");
    failed_with(blocked.count_many(&["a"]), "BFS_EUNSUPPORTED");
}

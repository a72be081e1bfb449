//! Every form of many keys gives the answers of the single calls.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use bfstore::{AsKey, CreateOptions, Filter, Keys};

use crate::support::{failed_with, set_bits, small, Folder};

fn mixed() -> Vec<Vec<u8>> {
    let mut keys: Vec<Vec<u8>> = ["", "alice", "bob", "Zürich", "a\0b", "\0", "kkkkkkkkkkkk", "kkkkkkkkkkkkk"]
        .iter()
        .map(|key| key.as_bytes().to_vec())
        .collect();
    keys.push(vec![b'x'; 1000]);
    keys.extend((0..100).map(|i| format!("key {i}").into_bytes()));
    keys
}

fn rows() -> Vec<Vec<u8>> {
    (0..200).map(|i| format!("{i:08}").into_bytes()).collect()
}

fn slices(keys: &[Vec<u8>]) -> Vec<&[u8]> {
    keys.iter().map(Vec::as_slice).collect()
}

fn column<T: TryFrom<usize>>(keys: &[Vec<u8>]) -> (Vec<u8>, Vec<T>) {
    let mut offsets = vec![T::try_from(0).ok().unwrap()];
    let mut data = Vec::new();
    for key in keys {
        data.extend_from_slice(key);
        offsets.push(T::try_from(data.len()).ok().unwrap());
    }
    (data, offsets)
}

/// Adds every other key one by one; then looks up and adds all in the form `keys`.  None is a null.
#[track_caller]
fn check(keys: Keys<'_>, expected: &[Option<&[u8]>]) {
    let folder = Folder::new();
    let filter = folder.create();
    for key in expected.iter().step_by(2).flatten() {
        filter.add(key).unwrap();
    }
    let answers: Vec<bool> = expected.iter().map(|key| key.map_or(false, |key| filter.contains(key))).collect();
    assert!(answers.contains(&true) && answers.contains(&false));
    assert_eq!(keys.len(), expected.len());
    assert_eq!(filter.contains_many(keys.clone()).unwrap(), answers);
    let mut place = vec![false; answers.len()];
    let found = filter.contains_into(keys.clone(), &mut place).unwrap();
    assert_eq!((found, &place), (answers.iter().filter(|maybe| **maybe).count(), &answers));
    let numbers: Vec<u32> = (0u32..).zip(&answers).filter(|(_, maybe)| **maybe).map(|(number, _)| number).collect();
    assert_eq!(filter.select(keys.clone()).unwrap(), numbers);
    let digests: Vec<u64> = expected.iter().map(|key| key.map_or(0, |key| filter.digest(key).unwrap())).collect();
    assert_eq!(filter.digest_many(keys.clone()).unwrap(), digests);
    let distinct: BTreeSet<_> = expected.iter().flatten().filter(|key| !filter.contains(key)).collect();
    let new = filter.add_many(keys.clone()).unwrap();
    assert!(new <= distinct.len() as u64 && new + 3 > distinct.len() as u64, "{new} of {}", distinct.len());
    assert!(expected.iter().flatten().all(|key| filter.contains(key)));
    let after = filter.contains_many(keys).unwrap();
    assert!(after.iter().zip(expected).all(|(maybe, key)| *maybe == key.is_some()));
}

fn all<'k>(keys: &[&'k [u8]]) -> Vec<Option<&'k [u8]>> {
    keys.iter().copied().map(Some).collect()
}

#[test]
fn slices_of_bytes_and_texts() {
    let keys = mixed();
    let keys = slices(&keys);
    check(Keys::from(keys.as_slice()), &all(&keys));
    check(Keys::from(&keys), &all(&keys));
    let texts: Vec<&str> = keys.iter().map(|key| std::str::from_utf8(key).unwrap()).collect();
    check(Keys::from(&texts), &all(&keys));
    check(Keys::from(&["a", "b", ""]), &[Some(b"a"), Some(b"b"), Some(b"")]);
}

/// A type of a program, whose keys are made when they are asked for.
struct Row(u32);

impl AsKey for Row {
    fn with_key<R>(&self, use_key: impl FnOnce(&[u8]) -> R) -> R {
        use_key(format!("{:08}", self.0).as_bytes())
    }
}

/// A type of another crate: not AsKey, but it lends its bytes.
struct Foreign(Vec<u8>);

impl AsRef<[u8]> for Foreign {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

#[test]
fn slices_of_every_type_of_key() {
    let keys = mixed();
    let expected = all(&slices(&keys));
    let texts: Vec<String> = keys.iter().map(|key| String::from_utf8(key.clone()).unwrap()).collect();
    check(Keys::from(&keys), &expected);
    check(Keys::from(&texts), &expected);
    check(Keys::from(texts.as_slice()), &expected);
    check(Keys::from(&texts.iter().collect::<Vec<&String>>()), &expected);
    check(Keys::from(&texts.iter().map(|text| Cow::from(text.as_str())).collect::<Vec<_>>()), &expected);
    check(Keys::from(&texts.iter().map(|text| Arc::<str>::from(text.as_str())).collect::<Vec<_>>()), &expected);
    check(Keys::from(&texts.iter().map(|text| Rc::<str>::from(text.as_str())).collect::<Vec<_>>()), &expected);
    check(Keys::from(&keys.iter().map(|key| key.clone().into_boxed_slice()).collect::<Vec<_>>()), &expected);
    check(Keys::refs(&keys.iter().cloned().map(Foreign).collect::<Vec<_>>()), &expected);
    let rows: Vec<Row> = (0..200).map(Row).collect();
    let bytes: Vec<Vec<u8>> = self::rows();
    check(Keys::from(&rows), &all(&slices(&bytes)));
    check(Keys::from(&rows.iter().collect::<Vec<&Row>>()), &all(&slices(&bytes)));
    check(Keys::from(&[*b"abc", *b"def", *b"ghi"]), &[Some(b"abc"), Some(b"def"), Some(b"ghi")]);
    check(Keys::from(&[b"abc", b"def", b"ghi"]), &[Some(b"abc"), Some(b"def"), Some(b"ghi")]);
    let folder = Folder::new();
    let filter = folder.create();
    assert_eq!(filter.add_many(&[[0u8; 0]; 3]), Ok(1)); // the empty key is a key
    assert!(filter.contains("") && !filter.contains("a"));
    filter.add_many(&[String::from("a"), String::from("b")]).unwrap();
    filter.add_many(&vec!["c".to_string()]).unwrap();
    filter.add_many(&[[7u8; 16]]).unwrap();
    assert_eq!(filter.contains_many(&["a", "b", "c", "d"]), Ok(vec![true, true, true, false]));
    assert!(filter.contains([7; 16]));
}

/// What a view owns moves and is cloned with it.
#[test]
fn keys_outlive_the_place_where_they_were_made() {
    let texts: Vec<String> = (0..100).map(|number| format!("a text of some length: {number}")).collect();
    let made: Vec<Keys<'_>> = vec![Keys::from(&texts), Keys::from(&[1u32, 2, 3]), Keys::from(&[Row(1), Row(2)])];
    let cloned = made.clone();
    let folder = Folder::new();
    let filter = folder.create();
    for keys in made {
        filter.add_many(keys).unwrap();
    }
    for keys in cloned {
        assert!(filter.contains_many(keys).unwrap().into_iter().all(|maybe| maybe));
    }
    assert!(filter.contains(2) && filter.contains("00000002") && filter.contains(&texts[99]) && !filter.contains(5));
}

#[test]
fn integers_of_every_width_are_keys_of_8_bytes() {
    let numbers: Vec<i64> = [0, 1, -1, i64::MAX, i64::MIN].into_iter().chain(100..200).collect();
    let bytes: Vec<Vec<u8>> = numbers.iter().map(|number| number.to_le_bytes().to_vec()).collect();
    check(Keys::from(&numbers), &all(&slices(&bytes)));
    let unsigned: Vec<u64> = numbers.iter().map(|number| *number as u64).collect();
    check(Keys::from(unsigned.as_slice()), &all(&slices(&bytes)));
    let narrow: Vec<i32> = (-100..100).collect();
    let bytes: Vec<Vec<u8>> = narrow.iter().map(|number| i64::from(*number).to_le_bytes().to_vec()).collect();
    check(Keys::from(&narrow), &all(&slices(&bytes)));
    check(Keys::from(&narrow.iter().map(|number| *number as i16).collect::<Vec<_>>()), &all(&slices(&bytes)));
    check(Keys::from(&narrow.iter().map(|number| *number as isize).collect::<Vec<_>>()), &all(&slices(&bytes)));
    check(Keys::from(&narrow.iter().collect::<Vec<&i32>>()), &all(&slices(&bytes)));
    let folder = Folder::new();
    let filter = folder.create();
    filter.add_many(&[4711u64, u64::MAX]).unwrap();
    filter.add_many(&[5, 6]).unwrap();
    filter.add_many(&[u32::MAX]).unwrap();
    assert!(filter.contains(4711) && filter.contains(-1) && filter.contains(6u16) && filter.contains(u32::MAX));
}

#[test]
fn keys_of_one_width() {
    let keys = rows();
    let data = keys.concat();
    check(Keys::fixed(&data, 8).unwrap(), &all(&slices(&keys)));
    let arrays: Vec<[u8; 8]> = keys.iter().map(|key| key.as_slice().try_into().unwrap()).collect();
    check(Keys::from(&arrays), &all(&slices(&keys)));
    let unaligned: Vec<u8> = [b".".as_slice(), &data].concat();
    check(Keys::fixed(&unaligned[1..], 8).unwrap(), &all(&slices(&keys)));
}

#[test]
fn fields_of_records() {
    let keys = rows();
    let records: Vec<u8> = keys.iter().flat_map(|key| [b"id ", key.as_slice(), b" the rest"].concat()).collect();
    check(Keys::strided(&records, 20, 3, 8).unwrap(), &all(&slices(&keys)));
    check(
        Keys::strided(&records, 20, 3, 17).unwrap(),
        &all(&records.chunks(20).map(|one| &one[3..]).collect::<Vec<_>>()),
    );
}

#[test]
fn columns_of_arrow() {
    let keys = mixed();
    let (data, offsets) = column::<i32>(&keys);
    check(Keys::column32(&data, &offsets).unwrap(), &all(&slices(&keys)));
    check(Keys::column32(&data, &offsets[5..60]).unwrap(), &all(&slices(&keys[5..59])));
    let (data, offsets) = column::<i64>(&keys);
    check(Keys::column64(&data, &offsets).unwrap(), &all(&slices(&keys)));
}

#[test]
fn nulls_are_neither_added_nor_present() {
    let keys = mixed();
    let (data, offsets) = column::<i32>(&keys);
    let is_null = |number: usize| number % 5 == 1;
    for shift in [0, 3, 13] {
        let mut bitmap = vec![0u8; (keys.len() + shift) / 8 + 1];
        for number in (0..keys.len()).filter(|number| !is_null(*number)) {
            bitmap[(number + shift) / 8] |= 1 << ((number + shift) % 8);
        }
        let expected: Vec<Option<&[u8]>> =
            (0..).zip(&keys).map(|(number, key)| if is_null(number) { None } else { Some(key.as_slice()) }).collect();
        check(Keys::column32(&data, &offsets).unwrap().with_validity(&bitmap, shift).unwrap(), &expected);
        check(Keys::from(&slices(&keys)).with_validity(&bitmap, shift).unwrap(), &expected);
    }
}

#[test]
fn digests() {
    let folder = Folder::new();
    let filter = folder.create();
    let keys = mixed();
    let digests: Vec<u64> = keys.iter().map(|key| filter.digest(key).unwrap()).collect();
    assert_eq!(filter.add_many(Keys::digests(&digests[..50])), filter.stats().map(|facts| facts.keys_added));
    let expected: Vec<bool> = keys.iter().map(|key| filter.contains(key)).collect();
    assert!(expected.contains(&false) && expected[..50] == [true; 50]);
    assert_eq!(filter.contains_many(Keys::digests(&digests)), Ok(expected));
    assert_eq!(filter.add_many(Keys::digests(&digests[..50])), Ok(0));
    assert_eq!(filter.digest_many(Keys::digests(&digests)), Ok(digests));
}

#[test]
fn iterators_of_any_length() {
    let folder = Folder::new();
    for count in [0, 1, 1023, 1024, 1025, 5000u64] {
        let filter = small().fpr(1e-6).create(folder.join(count.to_string())).unwrap();
        assert_eq!(filter.add_iter(0..count), Ok(count));
        assert_eq!(filter.select_iter(0..count + 3000).collect::<Vec<_>>(), (0..count).collect::<Vec<_>>());
        assert_eq!(filter.add_iter((0..count).map(|number| number.to_string())), Ok(count));
        assert!((0..count).all(|number| filter.contains(number.to_string())));
    }
    let long = "x".repeat(700_000); // more than a chunk's bytes
    let filter = folder.create();
    filter.add_iter([long.clone(), "b".into(), long.clone() + "y"]).unwrap();
    assert_eq!(filter.select_iter([&long, "c", &(long.clone() + "y"), "b"]).count(), 3);
}

#[test]
fn extend_adds_all_or_panics() {
    let folder = Folder::new();
    let mut filter = folder.create();
    filter.extend(["a", "b"]);
    (&filter).extend((0..3000u64).map(|number| number.to_string()));
    assert!(
        filter.contains("a") && filter.contains("b") && (0..3000).all(|number| filter.contains(number.to_string()))
    );
    drop(filter);
    let mut reader = Filter::open(folder.filter()).unwrap();
    let lost = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| reader.extend(["c"])));
    let words = *lost.unwrap_err().downcast::<String>().unwrap();
    assert!(words.contains("filter.bf"), "{words}");
    reader.extend([""; 0]);
}

#[test]
fn no_keys() {
    let folder = Folder::new();
    let filter = folder.create();
    let none: [&str; 0] = [];
    let bytes: &[[u8; 16]] = &[];
    for keys in [
        Keys::from(&none),
        Keys::from(bytes),
        Keys::from(&[0u64; 0]),
        Keys::digests(&[]),
        Keys::fixed(b"", 3).unwrap(),
        Keys::column32(b"abc", &[2]).unwrap(),
        Keys::column64(b"", &[0]).unwrap(),
        Keys::strided(b"", 5, 2, 1).unwrap(),
        Keys::from(&none).with_validity(b"", 0).unwrap(),
    ] {
        assert!(keys.is_empty());
        assert_eq!(filter.add_many(keys.clone()), Ok(0), "{keys:?}");
        assert_eq!(filter.contains_many(keys.clone()), Ok(vec![]));
        assert_eq!(filter.select(keys.clone()), Ok(vec![]));
        assert_eq!(filter.digest_many(keys), Ok(vec![]));
    }
}

#[test]
fn what_is_no_batch_is_refused_and_adds_nothing() {
    let folder = Folder::new();
    let filter = folder.create();
    failed_with(Keys::fixed(b"1234567", 4), "BFS_EINVAL");
    failed_with(Keys::fixed(b"", 0), "BFS_EINVAL");
    failed_with(Keys::strided(b"12345678", 4, 2, 3), "BFS_EINVAL");
    failed_with(Keys::strided(b"12345678", 4, usize::MAX, 3), "BFS_EINVAL");
    failed_with(Keys::strided(b"1234567", 4, 0, 3), "BFS_EINVAL");
    failed_with(Keys::strided(b"", 0, 0, 0), "BFS_EINVAL");
    failed_with(Keys::column32(b"abc", &[]), "BFS_EINVAL");
    failed_with(Keys::from(&["a", "b"]).with_validity(b"\xFF", 7), "BFS_EINVAL");
    failed_with(Keys::from(&["a", "b"]).with_validity(b"\xFF", usize::MAX), "BFS_EINVAL");
    for offsets in [[0, 5, 3], [0, 3, -1], [-2, 1, 3], [0, 1, 4], [0, i32::MAX, i32::MAX]] {
        failed_with(filter.add_many(Keys::column32(b"abc", &offsets).unwrap()), "BFS_EINVAL");
        let wide: Vec<i64> = offsets.iter().map(|offset| i64::from(*offset)).collect();
        failed_with(filter.contains_many(Keys::column64(b"abc", &wide).unwrap()), "BFS_EINVAL");
    }
    let mut answers = [false; 3];
    failed_with(filter.contains_into(&["a", "b"], &mut answers), "BFS_EINVAL");
    assert_eq!(answers, [true; 3]);
    failed_with(filter.contains_into(Keys::column32(b"abc", &[0, 5, 3, 3]).unwrap(), &mut answers), "BFS_EINVAL");
    assert_eq!(answers, [true; 3]);
    assert_eq!(set_bits(&filter), 0);
}

#[test]
fn millions_of_keys_that_are_sorted_have_the_answers_of_fewer() {
    let folder = Folder::new();
    let filter = CreateOptions::new().capacity(40_000_000).create(folder.filter()).unwrap();
    let digests: Vec<u64> = (1..=(3 << 20) + 3).map(|i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    let (present, absent) = digests.split_at(digests.len() / 2);
    filter.add_many(Keys::digests(present)).unwrap();
    let mut expected = filter.contains_many(Keys::digests(present)).unwrap();
    expected.extend(filter.contains_many(Keys::digests(absent)).unwrap());
    assert!(expected.contains(&false));
    assert!(filter.contains_many(Keys::digests(&digests)).unwrap() == expected);
    let numbers: Vec<u32> = (0..).zip(&expected).filter(|(_, maybe)| **maybe).map(|(number, _)| number).collect();
    assert!(filter.select(Keys::digests(&digests)).unwrap() == numbers);
}

//! Many keys, in the form in which the program has them.

use std::marker::PhantomData;
use std::mem::{align_of, size_of};
use std::os::raw::c_void;
use std::ptr::null;

use bfstore_sys as sys;

use crate::{AsKey, Error, Result};

/// Many keys, at their place in memory.
///
/// A slice, an array or a vector of any type of key ([`AsKey`]) converts into `Keys`: `&[&str]`, `&Vec<String>`,
/// `&[[u8; 16]]`, `&[u64]`.  The other forms have functions here.  No form copies byte strings or texts.  Of types that
/// own their bytes, such as `String`, it makes a list of addresses.  Integers of fewer than 64 bits, and types of a program
/// that implement `AsKey`, are copied.
///
/// ```
/// # let path = std::env::temp_dir().join(format!("bfstore-keys-{}.bf", std::process::id()));
/// use bfstore::{Filter, Keys};
/// let users = Filter::options_to_create().capacity(1000).create(&path)?;
/// users.add_many(&["alice", "bob"])?;
/// users.add_many(&vec![String::from("erin")])?;
/// users.add_many(&[1u64, 2, 3])?;
/// users.add_many(Keys::fixed(b"0001000200030004", 4)?)?;
/// users.add_many(Keys::column32(b"carolday", &[0, 5, 5, 8])?)?; // "carol", "" and "day"
/// assert_eq!(users.contains_many(&["bob", "carol", "0003", "nobody"])?, [true, true, true, false]);
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), bfstore::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Keys<'a> {
    form: sys::bfs_keys,
    own: Own,
    memory: PhantomData<&'a [u8]>,
}

/// What the view owns itself.
#[derive(Debug, Clone)]
enum Own {
    Nothing,
    Pairs(Vec<sys::bfs_key>),
    Integers(Vec<[u8; 8]>),
    Column(Chunk),
}

// SAFETY: a view of memory with a shared borrow, like &[u8].
unsafe impl Send for Keys<'_> {}
// SAFETY: as above.
unsafe impl Sync for Keys<'_> {}

// A slice of bytes has the form of a bfs_key with this compiler: the language does not promise it.
const _: () = {
    assert!(size_of::<&[u8]>() == size_of::<sys::bfs_key>());
    assert!(align_of::<&[u8]>() == align_of::<sys::bfs_key>());
    // SAFETY: equal sizes; any two words are a bfs_key.
    let pair: sys::bfs_key = unsafe { std::mem::transmute::<&[u8], sys::bfs_key>(&[1, 2, 3]) };
    assert!(pair.bytes == 3);
};

impl<'a> Keys<'a> {
    fn new(kind: u32, count: usize, data: *const c_void) -> Keys<'a> {
        let form = sys::bfs_keys { kind, count: count as u64, data, ..Default::default() };
        Keys { form, own: Own::Nothing, memory: PhantomData }
    }

    fn owning(kind: u32, count: usize, own: Own) -> Keys<'a> {
        Keys { own, ..Keys::new(kind, count, null()) }
    }

    /// Takes byte strings or texts where they are.
    pub(crate) fn pairs<T: ?Sized>(slices: &'a [&'a T]) -> Keys<'a> {
        assert!(size_of::<&T>() == size_of::<sys::bfs_key>());
        Keys::new(sys::BFS_KEYS_PAIRS, slices.len(), slices.as_ptr().cast())
    }

    /// Takes integers of 64 bits of a little-endian machine.
    pub(crate) fn words<T>(integers: &'a [T]) -> Keys<'a> {
        assert!(size_of::<T>() == 8);
        Keys::of_width(integers.as_ptr().cast(), 8, integers.len())
    }

    /// Takes arrays of bytes.
    pub(crate) fn rows<const WIDTH: usize>(rows: &'a [[u8; WIDTH]]) -> Keys<'a> {
        if WIDTH == 0 {
            return Keys::gathered(rows); // empty keys: the library has no width 0
        }
        Keys::of_width(rows.as_ptr().cast(), WIDTH, rows.len())
    }

    /// Copies integers.
    pub(crate) fn integers(integers: impl Iterator<Item = [u8; 8]>) -> Keys<'a> {
        let integers: Vec<_> = integers.collect();
        let mut keys = Keys::owning(sys::BFS_KEYS_FIXED, integers.len(), Own::Integers(integers));
        keys.form.key_bytes = 8;
        keys
    }

    /// Lists the addresses of the keys, or copies keys that are not in memory as bytes.
    pub(crate) fn gathered<K: AsKey>(keys: &'a [K]) -> Keys<'a> {
        let pair =
            |key: &'a K| key.key_in_memory().map(|key| sys::bfs_key { data: key.as_ptr().cast(), bytes: key.len() });
        match keys.iter().map(pair).collect::<Option<Vec<_>>>() {
            Some(pairs) => Keys::owning(sys::BFS_KEYS_PAIRS, keys.len(), Own::Pairs(pairs)),
            None => Keys::owning(sys::BFS_KEYS_COLUMN64, keys.len(), Own::Column(Chunk::of(keys))),
        }
    }

    /// Takes values of any type that lends its bytes, such as those of other crates: a list of their addresses.
    ///
    /// ```
    /// # use bfstore::Keys;
    /// # let texts = vec![String::from("alice")];
    /// assert_eq!(Keys::refs(&texts).len(), 1);
    /// ```
    pub fn refs<T: AsRef<[u8]>>(values: &'a [T]) -> Keys<'a> {
        let pair = |value: &'a T| {
            let key = value.as_ref();
            sys::bfs_key { data: key.as_ptr().cast(), bytes: key.len() }
        };
        Keys::owning(sys::BFS_KEYS_PAIRS, values.len(), Own::Pairs(values.iter().map(pair).collect()))
    }

    /// Makes keys of one width, one after the other in `data`.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the width is 0, or `data` is not a whole number of keys.
    pub fn fixed(data: &'a [u8], width: usize) -> Result<Keys<'a>> {
        if width == 0 || data.len() % width != 0 {
            return Err(Error::invalid(format!("{} bytes are no whole number of keys of {width} bytes", data.len())));
        }
        Ok(Keys::of_width(data.as_ptr(), width, data.len() / width))
    }

    /// Takes the key of `width` bytes at `offset` of each record of `stride` bytes.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the key is not within the record, or `records` is not a whole number of records.
    pub fn strided(records: &'a [u8], stride: usize, offset: usize, width: usize) -> Result<Keys<'a>> {
        let within = matches!(offset.checked_add(width), Some(end) if end <= stride);
        if width == 0 || !within || records.len() % stride != 0 {
            let given = format!("{width} bytes at {offset} of records of {stride} bytes");
            return Err(Error::invalid(format!("{given} are no keys of {} bytes", records.len())));
        }
        let first = if records.is_empty() { records } else { &records[offset..] };
        let mut keys = Keys::of_width(first.as_ptr(), width, records.len() / stride);
        keys.form.stride = stride as u64;
        Ok(keys)
    }

    fn of_width(data: *const u8, width: usize, count: usize) -> Keys<'a> {
        let mut keys = Keys::new(sys::BFS_KEYS_FIXED, count, data.cast());
        keys.form.key_bytes = width as u64;
        keys
    }

    /// Takes a string column of Apache Arrow: key i is `data[offsets[i]..offsets[i + 1]]`.
    ///
    /// # Errors
    /// [`Error::Invalid`] if `offsets` is empty.  The call that takes the keys refuses offsets that descend or leave
    /// `data`, before it uses any key.
    pub fn column32(data: &'a [u8], offsets: &'a [i32]) -> Result<Keys<'a>> {
        Keys::column(sys::BFS_KEYS_COLUMN32, data, offsets)
    }

    /// Takes a large string column of Apache Arrow: as [`column32`](Keys::column32), with offsets of 64 bits.
    ///
    /// # Errors
    /// As [`column32`](Keys::column32).
    pub fn column64(data: &'a [u8], offsets: &'a [i64]) -> Result<Keys<'a>> {
        Keys::column(sys::BFS_KEYS_COLUMN64, data, offsets)
    }

    fn column<T>(kind: u32, data: &'a [u8], offsets: &'a [T]) -> Result<Keys<'a>> {
        let count =
            offsets.len().checked_sub(1).ok_or_else(|| Error::invalid("a column has one offset more than keys"))?;
        let mut keys = Keys::new(kind, count, data.as_ptr().cast());
        keys.form.data_bytes = data.len() as u64;
        keys.form.offsets = offsets.as_ptr().cast();
        Ok(keys)
    }

    /// Takes digests of the filter's hash ([`Filter::digest`](crate::Filter::digest)), or the program's own with
    /// [`Hash::External`](crate::Hash::External).
    pub fn digests(digests: &'a [u64]) -> Keys<'a> {
        Keys::new(sys::BFS_KEYS_DIGESTS, digests.len(), digests.as_ptr().cast())
    }

    /// Sets Arrow's validity bitmap: key i exists if bit `offset + i` is set, the lowest bit of a byte first.  A null
    /// is not the empty key: it is not added, and its answer is no.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the bitmap is too short.
    pub fn with_validity(mut self, bitmap: &'a [u8], offset: usize) -> Result<Keys<'a>> {
        let bits = (bitmap.len() as u64).saturating_mul(8);
        match (offset as u64).checked_add(self.form.count) {
            Some(end) if end <= bits => (),
            _ => {
                let wanted = format!("{} keys from bit {offset} on", self.form.count);
                return Err(Error::invalid(format!("a bitmap of {bits} bits is too short for {wanted}")));
            }
        }
        self.form.validity = bitmap.as_ptr();
        self.form.validity_offset = offset as u64;
        Ok(self)
    }

    /// Returns the number of keys, including nulls.
    pub fn len(&self) -> usize {
        self.form.count as usize
    }

    /// Returns whether no key exists.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the struct that the library reads, with memory for sorting many keys: valid as long as `self` and `scratch`.
    /// Without memory the answers are the same, and take longer.
    pub(crate) fn sorted_form(&self, scratch: &mut Vec<u8>) -> sys::bfs_keys {
        let mut form = self.form();
        let bytes = form
            .count
            .saturating_mul(sys::BFS_SCRATCH_KEY_BYTES.into())
            .saturating_add(sys::BFS_SCRATCH_MORE_BYTES.into());
        if form.count >= sys::BFS_SCRATCH_LEAST_KEYS.into() && scratch.try_reserve_exact(bytes as usize).is_ok() {
            form.scratch = scratch.as_mut_ptr().cast();
            form.scratch_bytes = scratch.capacity() as u64;
        }
        form
    }

    /// Says which offset of a column the library has refused, if one is wrong.
    #[cold]
    pub(crate) fn misfit(&self) -> Option<String> {
        let form = self.form();
        if form.offsets.is_null() {
            return None;
        }
        // SAFETY: a column has one offset more than keys, of its kind's width.
        let offset = |i: usize| match form.kind {
            sys::BFS_KEYS_COLUMN32 => i64::from(unsafe { *form.offsets.cast::<i32>().add(i) }),
            _ => unsafe { *form.offsets.cast::<i64>().add(i) },
        };
        let mut before = 0;
        for i in 0..=form.count as usize {
            let one = offset(i);
            if one < before {
                let than = if i == 0 { "negative".into() } else { format!("less than the one before it, {before}") };
                return Some(format!("offset {i} is {one}, {than}"));
            }
            if one as u64 > form.data_bytes {
                return Some(format!("offset {i} is {one}, and the column has {} bytes of data", form.data_bytes));
            }
            before = one;
        }
        None
    }

    /// Returns the struct that the library reads: valid as long as `self`.
    pub(crate) fn form(&self) -> sys::bfs_keys {
        let mut form = self.form;
        match &self.own {
            Own::Nothing => (),
            Own::Pairs(pairs) => form.data = pairs.as_ptr().cast(),
            Own::Integers(integers) => form.data = integers.as_ptr().cast(),
            Own::Column(column) => {
                form.data = column.data.as_ptr().cast();
                form.data_bytes = column.data.len() as u64;
                form.offsets = column.offsets.as_ptr().cast();
            }
        }
        form
    }
}

impl<'a, K: AsKey> From<&'a [K]> for Keys<'a> {
    #[inline]
    fn from(keys: &'a [K]) -> Keys<'a> {
        K::many(keys)
    }
}

impl<'a, K: AsKey> From<&'a Vec<K>> for Keys<'a> {
    fn from(keys: &'a Vec<K>) -> Keys<'a> {
        K::many(keys)
    }
}

impl<'a, K: AsKey, const COUNT: usize> From<&'a [K; COUNT]> for Keys<'a> {
    fn from(keys: &'a [K; COUNT]) -> Keys<'a> {
        K::many(keys)
    }
}

/// Some keys of an iterator, as one column: so the library gets an iterator's keys many at once.
#[derive(Debug, Clone)]
pub(crate) struct Chunk {
    data: Vec<u8>,
    offsets: Vec<i64>,
}

impl Chunk {
    const KEYS: usize = 1024;
    const BYTES: usize = 1 << 20;

    pub(crate) fn new() -> Chunk {
        Chunk { data: Vec::new(), offsets: vec![0] }
    }

    pub(crate) fn of<K: AsKey>(keys: impl IntoIterator<Item = K>) -> Chunk {
        let mut chunk = Chunk::new();
        keys.into_iter().for_each(|key| chunk.push(&key));
        chunk
    }

    pub(crate) fn clear(&mut self) {
        self.data.clear();
        self.offsets.truncate(1);
    }

    pub(crate) fn is_full(&self) -> bool {
        self.offsets.len() > Chunk::KEYS || self.data.len() >= Chunk::BYTES
    }

    pub(crate) fn push(&mut self, key: &impl AsKey) {
        key.with_key(|bytes| self.data.extend_from_slice(bytes));
        self.offsets.push(self.data.len() as i64);
    }

    pub(crate) fn keys(&self) -> Keys<'_> {
        Keys::column64(&self.data, &self.offsets).expect("a chunk has one offset more than keys")
    }
}

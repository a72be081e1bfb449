//! An open filter: one key, many keys, and all other functions of a handle.

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::os::raw::c_void;
use std::path::Path;
use std::ptr::{null, null_mut, NonNull};

use bfstore_sys as sys;

use crate::error::{call, checked};
use crate::facts::health;
use crate::keys::Chunk;
use crate::options::c_path;
use crate::{
    AsKey, BitOrder, Comparison, CopyOptions, CreateOptions, DumpOptions, Error, ForeignForm, Keys, LogPosition, Mark,
    Measure, OpenOptions, Result, Statistics,
};

/// An open filter.  [`contains`](Filter::contains) says `false` only for a certain no.
///
/// Any number of threads may share one (`&Filter`, `Arc<Filter>`), and any number of processes one file.
///
/// A filter that is dropped is closed: a writer syncs the file and marks it clean, which may wait for the disk, and for
/// a lock as long as `lock_timeout`.  Drop cannot report a failure; [`close`](Filter::close) does.  `close` takes the
/// filter, so no program can use a closed one:
///
/// ```compile_fail
/// let users = bfstore::Filter::open("users.bf").unwrap();
/// users.close().unwrap();
/// users.contains("alice"); // error[E0382]: borrow of moved value
/// ```
///
/// After a fork the child may look up keys through the filters that it inherits, and drop them.  Adding is
/// [`Error::Forked`]: the child opens the path again.
pub struct Filter {
    raw: NonNull<sys::bfs_filter>,
    name: Box<str>, // for error messages
    created: bool,
}

// SAFETY: the library keeps nothing of the thread that made a handle: any thread may use and end it (bfstore.h,
// "Threads").
unsafe impl Send for Filter {}
// SAFETY: any number of threads may use one handle at once, in every function except bfs_close, bfs_abandon and
// bfs_publish.  These need it alone, so they take `self` or `&mut self` here.
unsafe impl Sync for Filter {}

/// Making, opening, ending.
impl Filter {
    /// Opens a filter file, or a list of the parts of one, for reading.  [`options`](Filter::options) has all other ways.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Recovery`] (not closed cleanly before a crash), [`Error::Malformed`] and others.
    pub fn open(path: impl AsRef<Path>) -> Result<Filter> {
        OpenOptions::new().open(path)
    }

    /// Returns options to open a filter: [`OpenOptions`].
    pub fn options<'a>() -> OpenOptions<'a> {
        OpenOptions::new()
    }

    /// Returns options to make a filter: [`CreateOptions`].
    pub fn options_to_create<'a>() -> CreateOptions<'a> {
        CreateOptions::new()
    }

    /// Opens a copy of the filter in bytes from anywhere, for reading: from [`dump`](Filter::dump), or from a whole
    /// file.
    ///
    /// # Errors
    /// As [`OpenOptions::load`].
    pub fn load(bytes: &[u8]) -> Result<Filter> {
        OpenOptions::new().load(bytes)
    }

    /// Wraps the handle that a function of the library makes.  `name` names it in errors.
    ///
    /// # Safety
    /// The function stores a handle that no other code ends, or returns an error.
    pub(crate) unsafe fn made<T: Into<i64>>(
        name: impl fmt::Display,
        make: impl FnOnce(*mut *mut sys::bfs_filter, *mut sys::bfs_error) -> T,
    ) -> Result<Filter> {
        let mut out = null_mut();
        call(|error| make(&mut out, error))?;
        let raw = NonNull::new(out).ok_or_else(|| Error::of_code(sys::BFS_EINTERNAL, "bfstore"))?;
        Ok(Filter { raw, name: name.to_string().into_boxed_str(), created: false })
    }

    pub(crate) fn newly_made(mut self) -> Filter {
        self.created = true;
        self
    }

    /// Returns whether the call that returned this filter also made it.  `false` if the filter existed:
    /// [`open_or_create`](CreateOptions::open_or_create) does either.
    pub fn created(&self) -> bool {
        self.created
    }

    #[inline] // into programs: a call for each key would cost time
    fn raw(&self) -> *mut sys::bfs_filter {
        self.raw.as_ptr()
    }

    /// Checks the result of a call without a record for its error.
    #[inline]
    fn checked(&self, returned: impl Into<i64>) -> Result<u64> {
        checked(returned, &self.name)
    }

    /// Checks the result of a call with keys: their view may be what is wrong.
    fn checked_keys(&self, keys: &Keys<'_>, returned: impl Into<i64>) -> Result<u64> {
        self.checked(returned).map_err(|error| match keys.misfit() {
            Some(wrong) if error.code() == sys::BFS_EINVAL => Error::invalid(format!("{}: {wrong}", self.name)),
            _ => error,
        })
    }

    /// Closes the filter.  The last writer of a file syncs it and marks it clean.
    ///
    /// # Errors
    /// Why that failed.  The filter is closed anyway, and the next open also reports it.
    pub fn close(self) -> Result<()> {
        let raw = self.into_raw();
        // SAFETY: `self` was the only owner.
        call(|error| unsafe { sys::bfs_close(raw, error) }).map(drop)
    }

    /// Ends the filter as if its process had been killed: waits for no lock and no disk.  No key that was added is
    /// lost, and nothing is synced.
    pub fn abandon(self) {
        let raw = self.into_raw();
        // SAFETY: `self` was the only owner.
        unsafe { sys::bfs_abandon(raw) };
    }

    /// Returns the handle, which the caller must end.
    fn into_raw(self) -> *mut sys::bfs_filter {
        let mut filter = ManuallyDrop::new(self);
        // SAFETY: the rest of the filter is not dropped, and the name is not used again.
        unsafe { std::ptr::drop_in_place(&mut filter.name) };
        filter.raw()
    }

    /// Ends the work of a filter that other threads use: they may be in calls, and may begin more.  From now on lookups
    /// answer "maybe", which is no error ([`contains_many`](Filter::contains_many) is `Ok` with `true` for each key),
    /// [`health`](Filter::health) is [`Error::Shut`], and adds are refused with it.  A writer syncs and releases its
    /// locks, as in [`close`](Filter::close).  Shutting a filter again does nothing.
    ///
    /// # Errors
    /// As [`close`](Filter::close); [`Error::Invalid`] in a buffer.
    pub fn shut(&self) -> Result<()> {
        // SAFETY: any thread may call it; nothing is freed.
        call(|error| unsafe { sys::bfs_shut(self.raw(), error) }).map(drop)
    }

    /// Gives a filter that was created [`unpublished`](CreateOptions::unpublished) its name, as the complete, durable,
    /// clean file.  From then on it only reads.
    ///
    /// # Errors
    /// No file has appeared, and the filter is unchanged.
    pub fn publish(&mut self) -> Result<()> {
        // SAFETY: `&mut self`: no other thread uses the handle.
        call(|error| unsafe { sys::bfs_publish(self.raw(), error) }).map(drop)
    }

    /// For a filter created unpublished and with [`replace`](CreateOptions::replace): supersedes the file that has the
    /// name now, before [`publish`](Filter::publish).  Adds by its writers are refused from now on.
    ///
    /// # Errors
    /// As [`publish`](Filter::publish).
    pub fn supersede(&self) -> Result<()> {
        // SAFETY: any thread may call it.
        call(|error| unsafe { sys::bfs_supersede(self.raw(), error) }).map(drop)
    }
}

impl Drop for Filter {
    fn drop(&mut self) {
        // SAFETY: `&mut self` of the only owner.  Drop cannot return the error: close() does.
        unsafe { sys::bfs_close(self.raw(), null_mut()) };
    }
}

impl fmt::Debug for Filter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let health = self.health().map_or_else(|error| error.code_name(), |()| "BFS_OK");
        formatter.debug_struct("Filter").field("name", &self.name).field("health", &health).finish()
    }
}

/// One key.
impl Filter {
    /// Returns `false` if the key is certainly absent.  Returns `true` if it may be present, or if the filter is in
    /// doubt ([`health`](Filter::health)), or takes only digests ([`try_contains`](Filter::try_contains) reports that).
    #[must_use = "the answer is all that a lookup does"]
    #[inline]
    pub fn contains(&self, key: impl AsKey) -> bool {
        // SAFETY: the key lives until the call returns.
        key.with_key(|key| unsafe { sys::bfs_contains(self.raw(), key.as_ptr().cast(), key.len()) != 0 })
    }

    /// Looks up a key, with the error of a filter that takes only digests.
    ///
    /// # Errors
    /// [`Error::KindOfKey`].
    #[inline]
    pub fn try_contains(&self, key: impl AsKey) -> Result<bool> {
        // SAFETY: the key lives until the call returns.
        let answer = key.with_key(|key| unsafe { sys::bfs_contains(self.raw(), key.as_ptr().cast(), key.len()) });
        self.checked(answer).map(|answer| answer != 0)
    }

    /// Looks up a key's digest: see [`contains`](Filter::contains).
    #[must_use = "the answer is all that a lookup does"]
    #[inline]
    pub fn contains_digest(&self, digest: u64) -> bool {
        // SAFETY: a handle and a number.
        unsafe { sys::bfs_contains_digest(self.raw(), digest) != 0 }
    }

    /// Adds a key.  Returns `true` if it was certainly new.  It survives a killed process at once, and a power cut once
    /// a later [`sync`](Filter::sync) has returned.
    ///
    /// # Errors
    /// [`Error::ReadOnly`], [`Error::Doubt`], [`Error::Full`], [`Error::Forked`] and others: the key is not added.
    #[inline]
    pub fn add(&self, key: impl AsKey) -> Result<bool> {
        // SAFETY: the key lives until the call returns.
        let added = key.with_key(|key| unsafe { sys::bfs_add(self.raw(), key.as_ptr().cast(), key.len()) });
        self.checked(added).map(|new| new != 0)
    }

    /// Adds a key's digest: see [`add`](Filter::add).
    ///
    /// # Errors
    /// As [`add`](Filter::add).
    #[inline]
    pub fn add_digest(&self, digest: u64) -> Result<bool> {
        // SAFETY: a handle and a number.
        self.checked(unsafe { sys::bfs_add_digest(self.raw(), digest) }).map(|new| new != 0)
    }

    /// Removes a key from a filter with the counting layout.  Returns `false` if it was certainly absent.
    ///
    /// Remove only keys that were added, and each at most as often as it was added.  Otherwise the filter may answer no
    /// for keys that it has: only this way can a caller make a wrong no.  Never repeat a remove that failed.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for another layout, and those of [`add`](Filter::add).
    pub fn remove(&self, key: impl AsKey) -> Result<bool> {
        // SAFETY: the key lives until the call returns.
        let removed = key.with_key(|key| unsafe { sys::bfs_remove(self.raw(), key.as_ptr().cast(), key.len()) });
        self.checked(removed).map(|there| there != 0)
    }

    /// Returns an upper bound of the key's adds less its removes, in the counting layout; 15: 15 or more, or in doubt.
    ///
    /// # Errors
    /// [`Error::Unsupported`], [`Error::KindOfKey`].
    pub fn count(&self, key: impl AsKey) -> Result<u8> {
        key.with_key(|key| self.count_many(&[key])).map(|counts| counts[0])
    }

    /// Returns the key's digest in this filter.  Filters with equal hash and seed (or secret) have equal digests.
    ///
    /// # Errors
    /// [`Error::KindOfKey`].
    pub fn digest(&self, key: impl AsKey) -> Result<u64> {
        let mut digest = 0;
        let code = key.with_key(|key| {
            // SAFETY: the key and the place for the digest live until the call returns.
            unsafe { sys::bfs_digest(self.raw(), key.as_ptr().cast(), key.len(), &mut digest) }
        });
        self.checked(code).map(|_| digest)
    }
}

/// Many keys: slices, arrays and vectors of any type of key (`&[&str]`, `&Vec<String>`, `&[[u8; 16]]`, `&[u64]`), and the
/// other forms of [`Keys`].
impl Filter {
    /// Adds keys.  Returns the number of certainly new ones.
    ///
    /// # Errors
    /// As [`add`](Filter::add).  [`Error::Invalid`] and [`Error::KindOfKey`]: nothing was added.  After another error
    /// some of the keys may have been added, and none counts as added.
    pub fn add_many<'k>(&self, keys: impl Into<Keys<'k>>) -> Result<u64> {
        let keys = keys.into();
        // SAFETY: the keys are borrowed until the call returns.
        self.checked_keys(&keys, unsafe { sys::bfs_add_keys(self.raw(), &keys.form()) })
    }

    /// Removes keys.  Returns the number of keys that were not certainly absent.  See [`remove`](Filter::remove).
    ///
    /// # Errors
    /// [`Error::Invalid`], [`Error::Unsupported`] and [`Error::KindOfKey`]: nothing was removed.  After another error
    /// some of the keys may have been removed: do not repeat the call.
    pub fn remove_many<'k>(&self, keys: impl Into<Keys<'k>>) -> Result<u64> {
        let keys = keys.into();
        // SAFETY: the keys are borrowed until the call returns.
        self.checked_keys(&keys, unsafe { sys::bfs_remove_keys(self.raw(), &keys.form()) })
    }

    /// Returns an upper bound of each key's adds less its removes, in the counting layout, as [`count`](Filter::count)
    /// does; 0 for a null.
    ///
    /// # Errors
    /// As [`count`](Filter::count).
    pub fn count_many<'k>(&self, keys: impl Into<Keys<'k>>) -> Result<Vec<u8>> {
        let keys = keys.into();
        let mut counts = vec![0; keys.len()];
        // SAFETY: there is a place for each key.
        self.checked_keys(&keys, unsafe { sys::bfs_count_keys(self.raw(), &keys.form(), counts.as_mut_ptr()) })
            .map(|_| counts)
    }

    /// Returns an answer for each key, as [`contains`](Filter::contains) does; `false` for a null.  A filter that was
    /// shut, or is in doubt, answers `true` for each, and that is no error: see [`health`](Filter::health).
    ///
    /// # Errors
    /// [`Error::Invalid`], [`Error::KindOfKey`].
    pub fn contains_many<'k>(&self, keys: impl Into<Keys<'k>>) -> Result<Vec<bool>> {
        let keys = keys.into();
        let mut answers = vec![true; keys.len()];
        self.contains_into(keys, &mut answers).map(|_| answers)
    }

    /// Looks up keys, with the answers in the caller's memory.  Returns the number of keys that may be present.
    ///
    /// # Errors
    /// As [`contains_many`](Filter::contains_many), and if `answers` and `keys` have different lengths.  Then every
    /// answer is `true`.
    pub fn contains_into<'k>(&self, keys: impl Into<Keys<'k>>, answers: &mut [bool]) -> Result<usize> {
        let keys = keys.into();
        answers.fill(true);
        if answers.len() != keys.len() {
            return Err(Error::invalid(format!("{} answers for {} keys", answers.len(), keys.len())));
        }
        let mut scratch = Vec::new();
        let form = keys.sorted_form(&mut scratch);
        // SAFETY: there is a place for each key, and the library stores 0 or 1, which is what a bool is.
        let found = unsafe { sys::bfs_contains_keys(self.raw(), &form, answers.as_mut_ptr().cast()) };
        self.checked_keys(&keys, found).map(|found| found as usize)
    }

    /// Returns the indexes of the keys that may be present, ascending.
    ///
    /// # Errors
    /// As [`contains_many`](Filter::contains_many), and for more than 2^32 keys.
    pub fn select<'k>(&self, keys: impl Into<Keys<'k>>) -> Result<Vec<u32>> {
        let keys = keys.into();
        let mut numbers = Vec::with_capacity(keys.len());
        let mut scratch = Vec::new();
        let form = keys.sorted_form(&mut scratch);
        // SAFETY: there is room for an index of each key, and the library returns the number that it fills in.
        let found = unsafe { sys::bfs_select_keys(self.raw(), &form, numbers.as_mut_ptr()) };
        let found = self.checked_keys(&keys, found)?;
        // SAFETY: as above.
        unsafe { numbers.set_len(found as usize) };
        Ok(numbers)
    }

    /// Returns the digest of each key in this filter; 0 for a null.
    ///
    /// # Errors
    /// As [`contains_many`](Filter::contains_many).
    pub fn digest_many<'k>(&self, keys: impl Into<Keys<'k>>) -> Result<Vec<u64>> {
        let keys = keys.into();
        let mut digests = vec![0; keys.len()];
        // SAFETY: there is a place for each key.
        self.checked_keys(&keys, unsafe { sys::bfs_digest_keys(self.raw(), &keys.form(), digests.as_mut_ptr()) })
            .map(|_| digests)
    }

    /// Adds the keys of an iterator, many at once.  Returns the number of certainly new ones.
    ///
    /// # Errors
    /// As [`add_many`](Filter::add_many): the keys that were taken before may have been added.
    pub fn add_iter<K: AsKey>(&self, keys: impl IntoIterator<Item = K>) -> Result<u64> {
        let (mut chunk, mut new) = (Chunk::new(), 0);
        for key in keys {
            chunk.push(&key);
            if chunk.is_full() {
                new += self.add_many(chunk.keys())?;
                chunk.clear();
            }
        }
        Ok(new + self.add_many(chunk.keys())?)
    }

    /// Returns the items of an iterator that may be present.  Looks up many at once: it reads up to 1,024 items ahead.
    /// If the filter cannot be asked, it returns every item.
    ///
    /// ```
    /// # let path = std::env::temp_dir().join(format!("bfstore-select-iter-{}.bf", std::process::id()));
    /// # let users = bfstore::Filter::options_to_create().build(&path, &[17u64, 4711])?;
    /// let to_read: Vec<u64> = users.select_iter(4000..5000u64).collect();
    /// assert!(to_read.contains(&4711) && to_read.len() < 100);
    /// # std::fs::remove_file(&path).unwrap();
    /// # Ok::<(), bfstore::Error>(())
    /// ```
    pub fn select_iter<I>(&self, items: I) -> SelectIter<'_, I::IntoIter>
    where
        I: IntoIterator,
        I::Item: AsKey,
    {
        let (chunk, ready) = (Chunk::new(), Vec::new().into_iter());
        SelectIter { filter: self, items: items.into_iter(), chunk, ready }
    }
}

/// Adds the keys of an iterator, many at once, as [`add_iter`](Filter::add_iter) does.
///
/// # Panics
/// If a key cannot be added: a key that is lost without a sign would be answered "no".  `add_iter` returns the error.
impl<K: AsKey> Extend<K> for Filter {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        (&*self).extend(keys);
    }
}

/// As for [`Filter`]: threads share one.
impl<K: AsKey> Extend<K> for &Filter {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        if let Err(error) = self.add_iter(keys) {
            panic!("{error}");
        }
    }
}

/// The items of an iterator that may be in a filter: see [`Filter::select_iter`].
pub struct SelectIter<'f, I: Iterator> {
    filter: &'f Filter,
    items: I,
    chunk: Chunk,
    ready: std::vec::IntoIter<I::Item>,
}

impl<I: Iterator> SelectIter<'_, I>
where
    I::Item: AsKey,
{
    /// Looks up the next items, which may all be absent.  Returns `None` at the end.
    fn refill(&mut self) -> Option<()> {
        let mut items = Vec::new();
        self.chunk.clear();
        while !self.chunk.is_full() {
            match self.items.next() {
                Some(item) => {
                    self.chunk.push(&item);
                    items.push(item);
                }
                None => break,
            }
        }
        if items.is_empty() {
            return None;
        }
        let mut answers = vec![true; items.len()];
        // An error leaves every answer true: doubt is "maybe".
        let _ = self.filter.contains_into(self.chunk.keys(), &mut answers);
        let maybe = items.into_iter().zip(answers).filter(|(_, maybe)| *maybe).map(|(item, _)| item);
        self.ready = maybe.collect::<Vec<_>>().into_iter();
        Some(())
    }
}

impl<I: Iterator> Iterator for SelectIter<'_, I>
where
    I::Item: AsKey,
{
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        loop {
            if let Some(item) = self.ready.next() {
                return Some(item);
            }
            self.refill()?;
        }
    }
}

impl<I: Iterator> fmt::Debug for SelectIter<'_, I> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SelectIter").field("filter", self.filter).finish_non_exhaustive()
    }
}

/// Durability: syncs, marks, recovery, online builds.
impl Filter {
    /// Makes everything that was added durable.
    ///
    /// # Errors
    /// A failure poisons the file, for every process: a sync that failed cannot be retried.
    pub fn sync(&self) -> Result<()> {
        self.synced(null())
    }

    /// Makes everything that was added durable, then stores a mark.  The caller promises that every key of its log up to
    /// the mark has returned from an add.  Mark 0 makes the owner known, so that a recovery waits for it.
    ///
    /// # Errors
    /// As [`sync`](Filter::sync).
    pub fn sync_mark(&self, position: LogPosition) -> Result<()> {
        let LogPosition { owner, epoch, mark } = position;
        self.synced(&sys::bfs_owner_mark { owner, mark, epoch, recovered: 0, reserved: 0 })
    }

    fn synced(&self, mark: *const sys::bfs_owner_mark) -> Result<()> {
        // SAFETY: any thread may call it; a mark lives until the call returns.
        call(|error| unsafe { sys::bfs_sync(self.raw(), mark, error) }).map(drop)
    }

    /// Returns the owner's mark in this epoch, as of the last sync by any process; 0: add the keys of all rows.
    pub fn get_mark(&self, owner: u64, epoch: u64) -> u64 {
        // SAFETY: any thread may call it.
        unsafe { sys::bfs_get_mark(self.raw(), owner, epoch) }
    }

    /// Returns the mark of every owner that the filter knows, in no order.
    ///
    /// # Errors
    /// [`Error::Invalid`] in a buffer, and others.
    pub fn marks(&self) -> Result<Vec<Mark>> {
        const MOST: usize = 64; // owners of a file
        let mut marks = [sys::bfs_owner_mark { owner: 0, mark: 0, epoch: 0, recovered: 0, reserved: 0 }; MOST];
        // SAFETY: there is room for MOST marks.
        let known = call(|error| unsafe { sys::bfs_list_marks(self.raw(), marks.as_mut_ptr(), MOST, error) })?;
        Ok(marks.iter().take(known as usize).map(Mark::new).collect())
    }

    /// Forgets an owner whose rows are gone, durably.
    ///
    /// # Errors
    /// As [`sync`](Filter::sync).
    pub fn drop_owner(&self, owner: u64) -> Result<()> {
        // SAFETY: any thread may call it.
        call(|error| unsafe { sys::bfs_drop_owner(self.raw(), owner, error) }).map(drop)
    }

    /// For a recovery: the owner promises that it has added again every key of its log after its mark.  Returns `true`
    /// if the recovery is over, and answers count again.
    ///
    /// # Errors
    /// As [`sync`](Filter::sync).
    pub fn finish_recovery(&self, owner: u64) -> Result<bool> {
        // SAFETY: any thread may call it.
        call(|error| unsafe { sys::bfs_finish_recovery(self.raw(), owner, error) }).map(|over| over != 0)
    }

    /// Ends the filling of a filter that was created with [`filling`](CreateOptions::filling): the caller promises that
    /// the adds of all its keys have returned.  The order of the steps is in
    /// guide/engines.md, "An online build".
    ///
    /// # Errors
    /// As [`sync`](Filter::sync); every answer stays "maybe".
    pub fn finish_filling(&self) -> Result<()> {
        // SAFETY: any thread may call it.
        call(|error| unsafe { sys::bfs_finish_filling(self.raw(), error) }).map(drop)
    }
}

/// Keys that expire: filters with a [`window`](CreateOptions::window).
impl Filter {
    /// Ends the current epoch if it has lasted for its time: forgets the keys of the oldest one, and begins the next.
    /// Returns whether it did.  Reads and writes the whole body, and syncs; other handles ask and add meanwhile.
    ///
    /// No other call ends epochs.  So call it again and again, some ten times in an epoch, in one process or in several,
    /// which end one epoch together.  Without it keys are kept for longer, and more answers are "maybe".
    ///
    /// ```
    /// # let path = std::env::temp_dir().join(format!("bfstore-turn-{}.bf", std::process::id()));
    /// let day = std::time::Duration::from_secs(24 * 3600);
    /// let seen = bfstore::Filter::options_to_create().capacity(1_000_000).window(day).open_or_create(&path)?;
    /// assert_eq!((seen.add("pay 17")?, seen.add("pay 18")?, seen.add("pay 17")?), (true, true, false));
    /// assert_eq!(seen.turn()?, false); // every few minutes, in any number of processes
    /// # std::fs::remove_file(&path).unwrap();
    /// # Ok::<(), bfstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`] if keys do not expire, and on an overlay filesystem; [`Error::Recovery`] during a recovery;
    /// [`Error::Invalid`] for an unpublished file; and as [`sync`](Filter::sync).
    pub fn turn(&self) -> Result<bool> {
        self.turned(sys::BFS_IF_DUE)
    }

    /// Ends the epoch with this number, which the caller has read from [`Statistics::epoch`], whatever the time is: for a
    /// caller that knows the time itself.  Changes nothing if the filter is in another epoch.  Returns whether it ended
    /// the epoch.
    ///
    /// # Errors
    /// As [`turn`](Filter::turn).
    pub fn turn_from(&self, epoch: u64) -> Result<bool> {
        match epoch {
            sys::BFS_IF_DUE => Err(Error::invalid(format!("{}: no epoch has the number {epoch}", self.name))),
            _ => self.turned(epoch),
        }
    }

    fn turned(&self, from: u64) -> Result<bool> {
        // SAFETY: any thread may call it.
        call(|error| unsafe { sys::bfs_turn(self.raw(), from, error) }).map(|turned| turned != 0)
    }
}

/// Facts.
impl Filter {
    /// Returns Ok if answers count.
    ///
    /// # Errors
    /// Why every answer is "maybe" now: [`Error::Recovery`], [`Error::Doubt`], [`Error::Filling`] (adds are not refused
    /// then), [`Error::Shut`].
    pub fn health(&self) -> Result<()> {
        // SAFETY: any thread may call it.
        health(unsafe { sys::bfs_health(self.raw()) }, &self.name)
    }

    /// Returns whether the path still names this file, whole, and no process is replacing it.  If not, open the path
    /// again.  Asks the file system, so do not call it for every lookup.
    ///
    /// # Errors
    /// [`Error::Invalid`] in a buffer, and others.
    pub fn is_current(&self) -> Result<bool> {
        // SAFETY: any thread may call it.
        call(|error| unsafe { sys::bfs_is_current(self.raw(), error) }).map(|current| current != 0)
    }

    /// Returns the number of distinct keys that the filter is sized for.
    ///
    /// # Errors
    /// As [`stats`](Filter::stats).
    pub fn capacity(&self) -> Result<u64> {
        self.stats().map(|facts| facts.capacity)
    }

    /// Returns the false-positive rate that is promised at [`capacity`](Filter::capacity) keys.
    ///
    /// # Errors
    /// As [`stats`](Filter::stats).
    pub fn fpr(&self) -> Result<f64> {
        self.stats().map(|facts| facts.fpr)
    }

    /// Returns the facts that are in memory.
    ///
    /// # Errors
    /// [`Error::MemoryShort`].
    pub fn stats(&self) -> Result<Statistics> {
        self.stats_with(Measure::default())
    }

    /// Also returns facts that take longer to find out.
    ///
    /// # Errors
    /// [`Error::MemoryShort`].
    pub fn stats_with(&self, measure: Measure) -> Result<Statistics> {
        let mut facts = sys::bfs_statistics::default();
        // SAFETY: the struct knows its size.
        call(|error| unsafe { sys::bfs_stats(self.raw(), measure.flags(), &mut facts, error) })?;
        Ok(Statistics::new(&facts, &self.name))
    }
}

/// From one form to another.
impl Filter {
    /// Makes a new file of the filter, complete and durable, while others may add.
    ///
    /// # Errors
    /// [`Error::Exists`] and others: then nothing has appeared.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.save_with(path, &CopyOptions::new())
    }

    /// Saves the filter with options.
    ///
    /// # Errors
    /// As [`save`](Filter::save).
    pub fn save_with(&self, path: impl AsRef<Path>, options: &CopyOptions) -> Result<()> {
        let path = c_path(path.as_ref())?;
        // SAFETY: path and options live until the call returns.
        options.with_raw(|flags, raw| {
            call(|error| unsafe { sys::bfs_copy(self.raw(), path.as_ptr(), flags, raw, error) }).map(drop)
        })
    }

    /// Makes a sealed file of the filter: with checksums, and never written to again.  Seal files that you transfer: only
    /// a seal detects changed bits.
    ///
    /// # Errors
    /// As [`save`](Filter::save).
    pub fn seal(&self, path: impl AsRef<Path>) -> Result<()> {
        self.save_with(path, CopyOptions::new().sealed(true))
    }

    /// Returns the filter as bytes, for [`load`](Filter::load): an embedded filter.  Marks are not in them.
    ///
    /// # Errors
    /// As [`save`](Filter::save).
    pub fn dump(&self) -> Result<Vec<u8>> {
        self.dump_with(DumpOptions::default())
    }

    /// Returns the filter as bytes, with options.
    ///
    /// # Errors
    /// As [`save`](Filter::save).
    pub fn dump_with(&self, options: DumpOptions) -> Result<Vec<u8>> {
        self.written(|bytes| self.dump_into(bytes, options))
    }

    /// Returns all bytes that `write` writes.  `write` returns the number of bytes that it needs, and without room
    /// writes none.
    fn written(&self, write: impl Fn(&mut [u8]) -> Result<usize>) -> Result<Vec<u8>> {
        const TRIES: usize = 10;
        let mut wanted = write(&mut [])?;
        for _ in 0..TRIES {
            let mut bytes = vec![0; wanted];
            match write(&mut bytes) {
                Ok(written) if written == bytes.len() => return Ok(bytes),
                Ok(other) => wanted = other,
                // A filter that follows its path may have another size by now.
                Err(error) => match write(&mut [])? {
                    same if same == bytes.len() => return Err(error),
                    other => wanted = other,
                },
            }
        }
        Err(Error::of_code(sys::BFS_EBUSY, &self.name))
    }

    fn dump_into(&self, bytes: &mut [u8], options: DumpOptions) -> Result<usize> {
        let ((place, room), flags) = (place_of(bytes), options.flags());
        // SAFETY: there is room for `room` bytes.
        call(|error| unsafe { sys::bfs_dump(self.raw(), place, room, flags, error) }).map(|taken| taken as usize)
    }

    /// Adds every key of another filter with the same layout, hash, seed and number of probes.
    ///
    /// # Errors
    /// [`Error::Mismatch`] and others.  Some keys may have been added, which is harmless: call again.
    pub fn merge(&self, from: &Filter) -> Result<()> {
        // SAFETY: any thread may call it, with any two handles.
        call(|error| unsafe { sys::bfs_merge(self.raw(), from.raw(), error) }).map(drop)
    }

    /// Compares this filter (A) with another (B): their differences, and the number of keys that they share.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for this layout, and others.
    pub fn compare(&self, other: &Filter) -> Result<Comparison> {
        let mut found = sys::bfs_comparison::default();
        // SAFETY: the struct knows its size.
        call(|error| unsafe { sys::bfs_compare(self.raw(), other.raw(), &mut found, error) })?;
        Ok(Comparison::new(&found))
    }

    /// Takes in the bit array of another program, whose m, k, hash and seeds the filter has.  An array does not tell
    /// whether these are right: look up keys that are known to be in it before you use the filter.
    ///
    /// # Errors
    /// [`Error::Invalid`] for another length, [`Error::Unsupported`] and others.
    pub fn import_bits(&self, bits: &[u8], order: BitOrder) -> Result<()> {
        let (data, length) = (bits.as_ptr().cast(), bits.len() as u64);
        // SAFETY: the bits are borrowed until the call returns.
        call(|error| unsafe { sys::bfs_import_bits(self.raw(), data, length, order.number(), error) }).map(drop)
    }

    /// Returns the filter's bits as an array for another program.
    ///
    /// # Errors
    /// [`Error::Unsupported`] and others.
    pub fn export_bits(&self, order: BitOrder) -> Result<Vec<u8>> {
        let bytes = (self.stats()?.num_bits + 7) / 8;
        let mut bits = vec![0xFF; bytes as usize];
        // SAFETY: there is room for `bytes` bytes.
        call(|error| unsafe {
            sys::bfs_export_bits(self.raw(), bits.as_mut_ptr().cast(), bytes, order.number(), error)
        })?;
        Ok(bits)
    }

    /// Returns the filter for another program, in one of [`foreign_formats`](crate::foreign_formats).  The bytes have
    /// every key whose add returned before this call.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the format has no such filter, [`Error::Invalid`] for a format that the library does
    /// not know, or an order that is missing or not wanted; and others as [`save`](Filter::save).
    pub fn export_foreign(&self, form: &ForeignForm<'_>) -> Result<Vec<u8>> {
        form.with_raw(|form| self.written(|bytes| self.export_into(bytes, form)))
    }

    fn export_into(&self, bytes: &mut [u8], form: &sys::bfs_foreign_form) -> Result<usize> {
        let (place, room) = place_of(bytes);
        // SAFETY: there is room for `room` bytes, and the form lives until the call returns.
        call(|error| unsafe { sys::bfs_foreign_export(self.raw(), form, place, room, error) })
            .map(|taken| taken as usize)
    }

    /// Returns the handle, for functions of many filters.
    pub(crate) fn as_raw(&self) -> *const sys::bfs_filter {
        self.raw()
    }
}

/// Returns the address and length that the library writes to; NULL without room, which asks for the needed length.
fn place_of(bytes: &mut [u8]) -> (*mut c_void, u64) {
    (if bytes.is_empty() { null_mut() } else { bytes.as_mut_ptr().cast() }, bytes.len() as u64)
}

/// A filter in a buffer, which it borrows: it has every method of [`Filter`] that takes `&self`.
///
/// ```
/// use bfstore::{AlignedBytes, Filter};
/// let mut options = Filter::options_to_create();
/// options.capacity(1000);
/// let mut memory = AlignedBytes::zeroed(options.required_bytes()? as usize);
/// let made = options.format(&mut memory)?;
/// made.add("alice")?;
/// made.close()?; // before that the buffer is the filter's
/// assert!(Filter::options().wrap(&memory)?.contains("alice"));
/// # Ok::<(), bfstore::Error>(())
/// ```
///
/// The buffer outlives the filter:
///
/// ```compile_fail,E0597
/// # use bfstore::{AlignedBytes, Filter};
/// let filter;
/// let mut memory = AlignedBytes::zeroed(1000);
/// filter = Filter::options_to_create().capacity(10).format(&mut memory)?;
/// # Ok::<(), bfstore::Error>(())
/// ```
#[derive(Debug)]
pub struct BufferFilter<'b> {
    filter: Filter, // never given out as `&mut`: swapped with another one it would outlive the buffer
    _memory: Borrow<'b>,
}

/// Its Drop tells the compiler that dropping the filter uses the buffer, which has to be there still.
#[derive(Debug)]
struct Borrow<'b>(PhantomData<&'b mut [u8]>);

impl Drop for Borrow<'_> {
    fn drop(&mut self) {}
}

impl BufferFilter<'_> {
    pub(crate) fn new<'b>(filter: Filter) -> BufferFilter<'b> {
        BufferFilter { filter, _memory: Borrow(PhantomData) }
    }

    /// Closes the filter like [`Filter::close`].  It writes no file: the buffer has the filter.
    ///
    /// # Errors
    /// As [`Filter::close`].
    pub fn close(self) -> Result<()> {
        self.filter.close()
    }
}

impl Deref for BufferFilter<'_> {
    type Target = Filter;

    fn deref(&self) -> &Filter {
        &self.filter
    }
}

//! Options to make, open and copy filters: builders, like `std::fs::OpenOptions`.

use std::ffi::CString;
use std::fmt;
use std::ops::{Bound, RangeBounds};
use std::os::raw::c_void;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::io::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};
use std::ptr::{null, null_mut};
use std::time::Duration;

use bfstore_sys as sys;

use crate::error::call;
use crate::keys::Chunk;
use crate::{AsKey, BufferFilter, Error, Filter, Hash, Keys, Layout, Result};

/// Converts the path for the library.
pub(crate) fn c_path(path: &Path) -> Result<CString> {
    CString::new(path.as_os_str().as_bytes())
        .map_err(|_| Error::invalid(format!("{}: a path has no zero byte", path.display())))
}

const IN_BUFFER: &str = "the filter in a buffer";

/// Converts a time to milliseconds.  `zero` is the number that means 0, since 0 means the default.
fn milliseconds(time: Duration, zero: u32, what: &str) -> Result<u32> {
    const MOST: u128 = 4_000_000_000;
    match (time.as_nanos() + 999_999) / 1_000_000 {
        0 => Ok(zero),
        number if number <= MOST => Ok(number as u32),
        _ => Err(Error::invalid(format!("{what} is at most 4,000,000 seconds, not {time:?}"))),
    }
}

fn lock_milliseconds(time: Option<Duration>) -> Result<u32> {
    match time {
        None => Ok(sys::BFS_LOCK_TIMEOUT_DEFAULT),
        Some(Duration::MAX) => Ok(sys::BFS_LOCK_FOREVER),
        Some(time) => milliseconds(time, sys::BFS_LOCK_NO_WAIT, "lock_timeout"),
    }
}

fn writeback_milliseconds(time: Option<Duration>) -> Result<u32> {
    time.map_or(Ok(sys::BFS_WRITEBACK_CHECK_DEFAULT), |time| {
        milliseconds(time, sys::BFS_WRITEBACK_CHECK_EACH_ADD, "writeback_check")
    })
}

/// Converts the time for which keys are kept, which never becomes shorter.  0 milliseconds mean "not given".
fn window_milliseconds(window: Option<Duration>) -> Result<u64> {
    match window {
        None => Ok(0),
        Some(short) if short < Duration::from_millis(1) => {
            Err(Error::invalid(format!("a window is a millisecond or longer, not {short:?}")))
        }
        Some(window) => {
            let number = (window.as_nanos() + 999_999) / 1_000_000;
            u64::try_from(number).map_err(|_| Error::invalid(format!("a window of {number} milliseconds is too long")))
        }
    }
}

/// Makes a given zero differ from a missing number: the library recognizes it by its sign.
pub(crate) fn given(number: f64) -> f64 {
    if number == 0.0 {
        -0.0
    } else {
        number
    }
}

/// A secret: a log of the options shows that it exists, but not its bytes.
#[derive(Clone, Copy)]
struct Secret<'a>(&'a [u8]);

impl fmt::Debug for Secret<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(..)")
    }
}

/// Returns the secret's address and length.  The address of an empty secret is not null: so the library refuses it,
/// instead of treating it as missing.
fn secret_parts(secret: Option<Secret<'_>>) -> (*const c_void, u64) {
    secret.map_or((null(), 0), |secret| (secret.0.as_ptr().cast(), secret.0.len() as u64))
}

/// Returns the address of a value that was given, or NULL.
fn address<T>(given: &Option<T>) -> *const T {
    given.as_ref().map_or(null(), |value| value as *const T)
}

/// Converts a range for the library, to which 0 bytes mean "to the end of the file".
fn c_range(range: (Bound<u64>, Bound<u64>)) -> Result<sys::bfs_range> {
    let offset = match range.0 {
        Bound::Included(first) => Some(first),
        Bound::Excluded(before) => before.checked_add(1),
        Bound::Unbounded => Some(0),
    };
    let end = match range.1 {
        Bound::Included(last) => Some(last.saturating_add(1)),
        Bound::Excluded(end) => Some(end),
        Bound::Unbounded => None,
    };
    match (offset, end) {
        (Some(offset), None) => Ok(sys::bfs_range { offset, bytes: 0 }),
        (Some(offset), Some(end)) if end > offset => Ok(sys::bfs_range { offset, bytes: end - offset }),
        _ => Err(Error::invalid(format!("the range {range:?} of the file is empty, and has no filter"))),
    }
}

/// Methods that set one bit of `flags`.
macro_rules! flags {
    ($($(#[$words:meta])* $name:ident = $flag:ident;)*) => {$(
        $(#[$words])*
        pub fn $name(&mut self, $name: bool) -> &mut Self {
            self.flags = if $name { self.flags | sys::$flag } else { self.flags & !sys::$flag };
            self
        }
    )*};
}

/// The method that sets `BFS_NOFOLLOW`, whose name says the opposite.
macro_rules! follow_symlinks {
    ($(#[$words:meta])*) => {
        $(#[$words])*
        pub fn follow_symlinks(&mut self, follow_symlinks: bool) -> &mut Self {
            self.flags = if follow_symlinks { self.flags & !sys::BFS_NOFOLLOW } else { self.flags | sys::BFS_NOFOLLOW };
            self
        }
    };
}

/// Methods that set one field.
macro_rules! fields {
    ($($(#[$words:meta])* $name:ident: $kind:ty => $field:ident = $value:expr;)*) => {$(
        $(#[$words])*
        pub fn $name(&mut self, $name: $kind) -> &mut Self {
            self.$field = $value;
            self
        }
    )*};
}

// --- Opening ---------------------------------------------------------------------------------------------------------

/// Options to open a filter that exists: for reading by default.
/// [`CreateOptions::open_or_create`] opens a filter, or makes it.
///
/// ```
/// # let path = std::env::temp_dir().join(format!("bfstore-open_options-{}.bf", std::process::id()));
/// # bfstore::Filter::options_to_create().capacity(1000).create(&path)?.close()?;
/// use bfstore::Filter;
/// let users = Filter::options().write(true).guard(true).open(&path)?;
/// users.add("alice")?;
/// users.close()?;
///
/// let mut options = Filter::options(); // to choose step by step: the methods borrow it
/// options.write(true);
/// if cfg!(debug_assertions) {
///     options.guard(true);
/// }
/// options.open(&path)?.close()?;
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), bfstore::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct OpenOptions<'a> {
    flags: u64,
    secret: Option<Secret<'a>>,
    range: Option<(Bound<u64>, Bound<u64>)>,
    lock_timeout: Option<Duration>,
    writeback_check: Option<Duration>,
    threads: u32,
}

impl<'a> OpenOptions<'a> {
    /// Makes options for reading.
    pub fn new() -> OpenOptions<'a> {
        OpenOptions::default()
    }

    flags! {
        /// Looks up and adds, concurrently with any number of other writers.
        write = BFS_WRITE;
        /// Looks up and adds as the only writer, several times as fast.  [`Error::Busy`] if another writer exists.
        exclusive = BFS_EXCLUSIVE;
        /// Reads the whole file into memory now, so that no lookup waits for the disk.
        populate = BFS_POPULATE;
        /// Uses small pages without read-ahead: for a filter larger than memory, or synced often.
        random = BFS_RANDOM;
        /// Reads the file into memory of this process: later changes of the file do not reach the filter.  For reading.
        private = BFS_PRIVATE;
        /// Turns a page that cannot be read (an I/O error, or the file was truncated) into doubt instead of SIGBUS.
        /// Installs a handler of SIGBUS in the process, which passes on other faults.
        guard = BFS_GUARD;
        /// Opens an unclean, poisoned or recovering file, to recover it.  For writing.
        recover = BFS_RECOVER;
        /// Opens such a file as it is: it may lack keys after the marks.  For writing.
        accept_loss = BFS_ACCEPT_LOSS;
        /// Treats a file whose writer was killed as unclean, too: for devices that vanish.
        strict = BFS_STRICT;
        /// Allows a network filesystem or a read-only overlay, which may show readers an older file.
        any_filesystem = BFS_ANY_FILESYSTEM;
        /// Makes an add fail with [`Error::Full`] at the capacity, which is asked at every 64th key.  For writing.
        limit = BFS_LIMIT;
        /// Writes nothing at all, for audits and sandboxes.  For reading.
        no_write = BFS_NO_WRITE;
        /// Follows the path: when another file replaces this one, a lookup opens it, if it has the same hash and seed: make
        /// it with [`like`](CreateOptions::like).  Otherwise every answer stays "maybe", and
        /// [`health`](crate::Filter::health) is superseded.  For reading.
        follow = BFS_FOLLOW;
        /// Compares a sealed file with its checksums first.
        verify = BFS_VERIFY;
        /// Also compares, and answers "maybe" for the keys in damaged places.
        tolerate_damage = BFS_TOLERATE_DAMAGE;
        /// Opens the bare form, a body and a trailer of 8 bytes: for [`wrap`](OpenOptions::wrap) and
        /// [`load`](OpenOptions::load).
        bare = BFS_BARE;
    }

    follow_symlinks! {
        /// `false` refuses a symbolic link as the last part of the path.
    }

    /// Opens an embedded filter in these bytes of the file: `640..` or `640..1280`.  It begins where the range begins, at
    /// a multiple of 64, and is at most as long as the range.  For reading.
    pub fn range(&mut self, range: impl RangeBounds<u64>) -> &mut Self {
        self.range = Some((range.start_bound().cloned(), range.end_bound().cloned()));
        self
    }

    fields! {
        /// 16 bytes: the secret of a filter with [`Hash::SipHash`].  Without it, or with another one, the error is
        /// [`Error::Secret`].
        secret: &'a [u8] => secret = Some(Secret(secret));
        /// Time to wait for each lock: 5 seconds by default; `Duration::ZERO` does not wait, `Duration::MAX` waits as
        /// long as needed.  An exclusive writer is [`Error::Busy`] at once.
        lock_timeout: Duration => lock_timeout = Some(lock_timeout);
        /// Time between checks whether the kernel failed to write: 0.1 seconds by default; `Duration::ZERO` checks at
        /// each add that changes a bit.
        writeback_check: Duration => writeback_check = Some(writeback_check);
        /// Threads, 1 to 64, of a call that adds many keys.  With [`exclusive`](OpenOptions::exclusive).
        threads: u32 => threads = threads;
    }

    fn flags(&self) -> u64 {
        let writing = self.flags & (sys::BFS_WRITE | sys::BFS_EXCLUSIVE);
        let what = match writing {
            0 => sys::BFS_READ,
            _ if writing & sys::BFS_EXCLUSIVE != 0 => sys::BFS_EXCLUSIVE,
            _ => sys::BFS_WRITE,
        };
        (self.flags & !writing) | what
    }

    /// Calls the function with the library's flags and struct.
    fn with_raw<R>(&self, use_raw: impl FnOnce(u64, &mut sys::bfs_options) -> Result<R>) -> Result<R> {
        let range = self.range.map(c_range).transpose()?;
        let (secret, secret_bytes) = secret_parts(self.secret);
        let mut raw = sys::bfs_options {
            secret,
            secret_bytes,
            range: address(&range),
            lock_timeout_ms: lock_milliseconds(self.lock_timeout)?,
            writeback_check_ms: writeback_milliseconds(self.writeback_check)?,
            threads: self.threads,
            ..Default::default()
        };
        use_raw(self.flags(), &mut raw)
    }

    /// Opens a filter file, or, for reading, a text file that lists the parts of one filter: one filter then, which looks
    /// each key up in the key's own part.  The list begins with the line `bfstore-set 1`; then each line is the path of a
    /// part, relative to the list's folder.  A part that is not listed, or is in doubt, may have each of its keys.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Recovery`], [`Error::Malformed`], [`Error::Mismatch`] for parts that are not of one
    /// filter, and others.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Filter> {
        let path = path.as_ref();
        let c_path = c_path(path)?;
        // SAFETY: path and options live until the call returns, which copies what it keeps.
        self.with_raw(|flags, raw| unsafe {
            Filter::made(path.display(), |out, error| sys::bfs_open(c_path.as_ptr(), flags, raw, out, error))
        })
    }

    /// Reads a file that the program has open: for a sandbox, and for memfd_create.  The library duplicates the
    /// descriptor, and the program keeps its own.
    ///
    /// # Errors
    /// As [`open`](OpenOptions::open).
    pub fn open_fd(&self, fd: impl AsFd) -> Result<Filter> {
        let fd = fd.as_fd().as_raw_fd();
        // SAFETY: as in open(); the descriptor is open while it is borrowed.
        self.with_raw(|flags, raw| unsafe {
            raw.fd = &fd;
            Filter::made(format!("descriptor {fd}"), |out, error| sys::bfs_open(null(), flags, raw, out, error))
        })
    }

    /// Opens a copy of the filter in bytes from anywhere, at any address: from [`Filter::dump`], or from a whole file
    /// that was closed.
    ///
    /// # Errors
    /// [`Error::Malformed`], [`Error::Recovery`] for the bytes of a file that was in use, and others.
    pub fn load(&self, bytes: &[u8]) -> Result<Filter> {
        let (data, length) = (bytes.as_ptr().cast(), bytes.len() as u64);
        // SAFETY: the library copies the bytes before it returns.
        self.with_raw(|flags, raw| unsafe {
            let flags = flags | sys::BFS_PRIVATE;
            Filter::made("the loaded filter", |out, error| sys::bfs_open_memory(data, length, flags, raw, out, error))
        })
    }

    /// Reads a filter in a buffer in place.  The buffer must be at a multiple of 64: see
    /// [`AlignedBytes`](crate::AlignedBytes).
    ///
    /// # Errors
    /// [`Error::Invalid`], also for [`write`](OpenOptions::write); [`Error::Malformed`].
    pub fn wrap<'b>(&self, buffer: &'b [u8]) -> Result<BufferFilter<'b>> {
        if self.flags & (sys::BFS_WRITE | sys::BFS_EXCLUSIVE) != 0 {
            return Err(Error::invalid("a shared buffer is read: wrap_mut() takes one that is written to"));
        }
        // SAFETY: a filter that is open for reading never writes to the buffer, and the borrow keeps it unchanged.
        unsafe { self.wrap_raw(buffer.as_ptr() as *mut u8, buffer.len()) }
    }

    /// Reads, or with [`write`](OpenOptions::write) changes, a filter in a buffer in place.
    ///
    /// # Errors
    /// As [`wrap`](OpenOptions::wrap).
    pub fn wrap_mut<'b>(&self, buffer: &'b mut [u8]) -> Result<BufferFilter<'b>> {
        // SAFETY: the filter borrows the buffer exclusively.
        unsafe { self.wrap_raw(buffer.as_mut_ptr(), buffer.len()) }
    }

    /// Opens a filter in memory that Rust does not own alone, such as a map that processes share.
    ///
    /// # Errors
    /// As [`wrap`](OpenOptions::wrap).
    ///
    /// # Safety
    /// The memory is readable (writable, for writing) as long as the filter lives, and changed only through filters.
    pub unsafe fn wrap_raw<'b>(&self, buffer: *mut u8, bytes: usize) -> Result<BufferFilter<'b>> {
        let (data, length) = (buffer.cast::<c_void>(), bytes as u64);
        // SAFETY: the caller's promise; the options live until the call returns.
        let made = self.with_raw(|flags, raw| unsafe {
            Filter::made(IN_BUFFER, |out, error| sys::bfs_open_memory(data, length, flags, raw, out, error))
        })?;
        Ok(BufferFilter::new(made))
    }
}

// --- Creating --------------------------------------------------------------------------------------------------------

/// Options to make a filter.  Give its size by [`capacity`](CreateOptions::capacity) and [`fpr`](CreateOptions::fpr)
/// (0.01 by default), or capacity and [`bits_per_key`](CreateOptions::bits_per_key), or capacity and
/// [`max_bytes`](CreateOptions::max_bytes), or [`num_bits`](CreateOptions::num_bits) and
/// [`num_probes`](CreateOptions::num_probes), or [`like`](CreateOptions::like).
#[derive(Debug, Clone, Default)]
pub struct CreateOptions<'a> {
    flags: u64,
    mode: u32,
    capacity: u64,
    capacity_at_most: u64,
    fpr: f64,
    bits_per_key: f64,
    max_bytes: u64,
    num_bits: u64,
    num_probes: u32,
    layout: Option<Layout>,
    hash: Option<Hash>,
    seed: Option<u64>,
    like: Option<PathBuf>,
    note: &'a [u8],
    secret: Option<Secret<'a>>,
    lock_timeout: Option<Duration>,
    writeback_check: Option<Duration>,
    file_id: Option<[u8; 16]>,
    seeds: &'a [u32],
    part: (u32, u32),
    threads: u32,
    window: Option<Duration>,
}

impl<'a> CreateOptions<'a> {
    /// Makes options without values.
    pub fn new() -> CreateOptions<'a> {
        CreateOptions::default()
    }

    fields! {
        /// n: distinct keys.
        capacity: u64 => capacity = capacity;
        /// Instead of a capacity, if nobody knows how many keys will come: a number that is surely enough.
        /// [`CopyOptions::fpr`] brings the filter to the size for its keys later.
        capacity_at_most: u64 => capacity_at_most = capacity_at_most;
        /// p: the false-positive rate wanted at `capacity` keys, between 0 and 1.
        fpr: f64 => fpr = given(fpr);
        /// m / n.
        bits_per_key: f64 => bits_per_key = given(bits_per_key);
        /// Bytes of the whole file or buffer.
        max_bytes: u64 => max_bytes = max_bytes;
        /// m: 1 to 2^48; rounded up to a multiple of 512 for the blocked layout.
        num_bits: u64 => num_bits = num_bits;
        /// k: 1 to 64.
        num_probes: u32 => num_probes = num_probes;
        /// The place of a key's bits; [`Layout::Blocked`] by default, and [`Layout::Window`] with a
        /// [`window`](CreateOptions::window).
        layout: Layout => layout = Some(layout);
        /// The function that computes them; [`Hash::Xxh3`] by default.
        hash: Hash => hash = Some(hash);
        /// The seed of the hash; random by default.
        seed: u64 => seed = Some(seed);
        /// The identity of the filter; random by default.  Two filters with the same id count as one filter and its
        /// copy: so take a new id if the keys differ.
        file_id: [u8; 16] => file_id = Some(file_id);
        /// The note of the owner, any bytes, at most 1,024.
        note: &'a [u8] => note = note;
        /// 16 bytes: the secret of [`Hash::SipHash`].  Copied, never stored in the file.
        secret: &'a [u8] => secret = Some(Secret(secret));
        /// One seed for each bit of a key, for the hashes of other programs.
        seeds: &'a [u32] => seeds = seeds;
        /// Permission bits of a new file, less the umask; by default those of the file that is replaced, or 0o600.
        mode: u32 => mode = mode;
        /// As [`OpenOptions::lock_timeout`].
        lock_timeout: Duration => lock_timeout = Some(lock_timeout);
        /// As [`OpenOptions::writeback_check`].
        writeback_check: Duration => writeback_check = Some(writeback_check);
        /// Threads, 1 to 64, of a call that adds many keys.  With [`exclusive`](CreateOptions::exclusive), and for
        /// [`build`](CreateOptions::build).
        threads: u32 => threads = threads;
        /// Keys expire: each is kept for this time after its last add, at least.  A fraction of a millisecond counts as a
        /// whole one.  `capacity` is the number of keys of one window.  [`Filter::turn`] ends its epochs.
        window: Duration => window = Some(window);
    }

    /// Makes one part, from 0 on, of `num_parts` of the filter that the other options describe: it takes only the keys of
    /// this part.  All parts need one [`seed`](CreateOptions::seed), or [`like`](CreateOptions::like) another part.
    pub fn part(&mut self, part: u32, num_parts: u32) -> &mut Self {
        self.part = (part, num_parts);
        self
    }

    /// Takes the shape of the filter at this path: m, k, n, p, layout, hash and seed, so that one digest serves both.
    pub fn like(&mut self, path: impl AsRef<Path>) -> &mut Self {
        self.like = Some(path.as_ref().to_path_buf());
        self
    }

    flags! {
        /// Adds as the only writer, several times as fast.
        exclusive = BFS_EXCLUSIVE;
        /// As [`OpenOptions::recover`], for [`open_or_create`](CreateOptions::open_or_create).
        recover = BFS_RECOVER;
        /// As [`OpenOptions::accept_loss`], for [`open_or_create`](CreateOptions::open_or_create).
        accept_loss = BFS_ACCEPT_LOSS;
        /// As [`OpenOptions::strict`], for [`open_or_create`](CreateOptions::open_or_create).
        strict = BFS_STRICT;
        /// As [`OpenOptions::populate`].
        populate = BFS_POPULATE;
        /// As [`OpenOptions::random`].
        random = BFS_RANDOM;
        /// As [`OpenOptions::guard`].
        guard = BFS_GUARD;
        /// As [`OpenOptions::limit`].
        limit = BFS_LIMIT;
        /// As [`OpenOptions::any_filesystem`].
        any_filesystem = BFS_ANY_FILESYSTEM;
        /// Replaces an existing file, whose users learn of it.
        replace = BFS_REPLACE;
        /// No name in the file system until [`Filter::publish`].
        unpublished = BFS_UNPUBLISHED;
        /// An online build: every answer is "maybe" until [`Filter::finish_filling`].
        filling = BFS_FILLING;
        /// As [`OpenOptions::private`], for [`open_foreign`](CreateOptions::open_foreign).
        private = BFS_PRIVATE;
        /// The m and k of most tutorials, cut off instead of rounded up.
        tutorial_sizing = BFS_TUTORIAL_SIZING;
        /// The bare form, for [`format`](CreateOptions::format) and [`required_bytes`](CreateOptions::required_bytes).
        bare = BFS_BARE;
    }

    follow_symlinks! {
        /// As [`OpenOptions::follow_symlinks`], for [`open_or_create`](CreateOptions::open_or_create) and
        /// [`open_foreign`](CreateOptions::open_foreign).
    }

    /// Calls the function with the library's flags and struct.
    pub(crate) fn with_raw<R>(&self, use_raw: impl FnOnce(u64, &sys::bfs_options) -> Result<R>) -> Result<R> {
        let like = self.like.as_deref().map(c_path).transpose()?;
        let (secret, secret_bytes) = secret_parts(self.secret);
        let (part, num_parts) = self.part;
        let raw = sys::bfs_options {
            mode: self.mode,
            capacity: self.capacity,
            capacity_at_most: self.capacity_at_most,
            fpr: self.fpr,
            layout: self.layout.map_or(0, Layout::number),
            hash: self.hash.map_or(0, Hash::number),
            like: like.as_ref().map_or(null(), |like| like.as_ptr()),
            secret,
            secret_bytes,
            lock_timeout_ms: lock_milliseconds(self.lock_timeout)?,
            writeback_check_ms: writeback_milliseconds(self.writeback_check)?,
            threads: self.threads,
            num_probes: self.num_probes,
            part,
            num_parts,
            bits_per_key: self.bits_per_key,
            max_bytes: self.max_bytes,
            num_bits: self.num_bits,
            note_bytes: self.note.len() as u64,
            num_seeds: self.seeds.len() as u64,
            window_ms: window_milliseconds(self.window)?,
            seeds: if self.seeds.is_empty() { null() } else { self.seeds.as_ptr() },
            seed: address(&self.seed),
            note: if self.note.is_empty() { null() } else { self.note.as_ptr().cast() },
            file_id: address(&self.file_id).cast(),
            ..Default::default()
        };
        use_raw(self.flags, &raw)
    }

    /// Makes a new, empty filter file, open for writing.  It appears complete and durable, or not at all.
    ///
    /// # Errors
    /// [`Error::Exists`] without [`replace`](CreateOptions::replace), [`Error::Invalid`], [`Error::NoSpace`] and
    /// others.
    pub fn create(&self, path: impl AsRef<Path>) -> Result<Filter> {
        let path = path.as_ref();
        let c_path = c_path(path)?;
        // SAFETY: path and options live until the call returns, which copies what it keeps.
        let made = self.with_raw(|flags, raw| unsafe {
            Filter::made(path.display(), |out, error| sys::bfs_create(c_path.as_ptr(), flags, raw, out, error))
        });
        made.map(Filter::newly_made)
    }

    /// Opens the filter file for writing, or makes it if there is none; [`Filter::created`] tells which.  Any number of
    /// processes may do so at once: one makes the file, and the others open it.  No file is ever replaced.
    ///
    /// A file that exists keeps its size.  The layout, hash, seed, secret, part and window in the options must be those of
    /// the file.
    ///
    /// ```
    /// # let path = std::env::temp_dir().join(format!("bfstore-open_or_create-{}.bf", std::process::id()));
    /// for run in 0..2 {
    ///     let users = bfstore::Filter::options_to_create().capacity(1000).open_or_create(&path)?;
    ///     assert_eq!((users.created(), users.contains("alice")), (run == 0, run == 1));
    ///     users.add("alice")?;
    ///     users.close()?;
    /// }
    /// # std::fs::remove_file(&path).unwrap();
    /// # Ok::<(), bfstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Mismatch`] and [`Error::Secret`] for another file than the options describe, [`Error::Recovery`], and
    /// others as [`create`](CreateOptions::create) and [`OpenOptions::open`].
    pub fn open_or_create(&self, path: impl AsRef<Path>) -> Result<Filter> {
        let path = path.as_ref();
        let c_path = c_path(path)?;
        let mut created = false;
        let opened = self.with_raw(|flags, raw| {
            let how = if flags & sys::BFS_EXCLUSIVE == 0 { sys::BFS_WRITE } else { sys::BFS_EXCLUSIVE };
            let flags = flags | how | sys::BFS_CREATE;
            // SAFETY: path and options live until the call returns, which copies what it keeps.
            unsafe {
                Filter::made(path.display(), |out, error| {
                    let returned = sys::bfs_open(c_path.as_ptr(), flags, raw, out, error);
                    created = returned == 1;
                    returned
                })
            }
        })?;
        Ok(if created { opened.newly_made() } else { opened })
    }

    /// Makes a filter file of these keys, which appears when it is complete, and is open for reading.  The capacity is
    /// the number of keys, if no option gives the size, or that of different keys for [`Layout::Static`].
    ///
    /// ```
    /// # let path = std::env::temp_dir().join(format!("bfstore-build-{}.bf", std::process::id()));
    /// let words = bfstore::Filter::options_to_create().fpr(0.001).build(&path, &["alice", "bob"])?;
    /// assert!(words.contains("bob") && !words.contains("nobody"));
    /// # std::fs::remove_file(&path).unwrap();
    /// # Ok::<(), bfstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`create`](CreateOptions::create), [`Filter::add_many`] and [`Filter::publish`]; no file has appeared.
    pub fn build<'k>(&self, path: impl AsRef<Path>, keys: impl Into<Keys<'k>>) -> Result<Filter> {
        let (path, keys) = (path.as_ref(), keys.into());
        let c_path = c_path(path)?;
        // SAFETY: path, options and keys live until the call returns, which copies what it keeps.
        let built = self.with_raw(|flags, raw| unsafe {
            Filter::made(path.display(), |out, error| {
                sys::bfs_build(c_path.as_ptr(), flags, raw, &keys.form(), out, error)
            })
        });
        built.map(Filter::newly_made)
    }

    /// Makes a filter file of the keys of an iterator, as [`build`](CreateOptions::build) does of a slice.  The keys need
    /// no memory, except where neither the options give a size nor the iterator its exact length: then they are collected
    /// first.  For [`Layout::Static`] each needs 8 bytes.
    ///
    /// ```
    /// # let path = std::env::temp_dir().join(format!("bfstore-build_iter-{}.bf", std::process::id()));
    /// let lines = "alice\nbob\n";
    /// let words = bfstore::Filter::options_to_create().build_iter(&path, lines.lines())?;
    /// assert!(words.contains("bob") && !words.contains("nobody"));
    /// # std::fs::remove_file(&path).unwrap();
    /// # Ok::<(), bfstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`build`](CreateOptions::build); no file has appeared.
    pub fn build_iter<K: AsKey>(&self, path: impl AsRef<Path>, keys: impl IntoIterator<Item = K>) -> Result<Filter> {
        let keys = keys.into_iter();
        let mut options = self.clone();
        let is_sized = self.capacity != 0 || self.capacity_at_most != 0 || self.num_bits != 0 || self.like.is_some();
        if !is_sized && self.layout != Some(Layout::Static) {
            match keys.size_hint() {
                (least, Some(most)) if least == most => options.capacity(least.max(1) as u64),
                _ => return self.build(path, Chunk::of(keys).keys()),
            };
        }
        let mut built = options.unpublished(true).exclusive(true).create(&path)?;
        let added = built.add_iter(keys).and_then(|added| Ok((added, built.stats()?)));
        let promised = self.capacity != 0 || self.num_bits == 0;
        let outcome = match added {
            // The first key of a new filter is new, but a static one does not look: its publish() sees that there is none.
            Ok((0, facts)) if facts.layout != Layout::Static => {
                built.abandon();
                return self.build(path, Chunk::new().keys()); // as of an empty slice, which replaces no file
            }
            Ok((_, facts)) if facts.saturated && promised => {
                Err(Error::too_many_keys(&path.as_ref().display().to_string(), facts.capacity))
            }
            outcome => outcome.and_then(|_| built.publish()),
        };
        match outcome {
            Ok(()) => Ok(built),
            Err(error) => {
                built.abandon();
                Err(error)
            }
        }
    }

    /// Returns the bytes that [`format`](CreateOptions::format) needs for these options.
    ///
    /// # Errors
    /// [`Error::Invalid`] and others.
    pub fn required_bytes(&self) -> Result<u64> {
        // SAFETY: the options live until the call returns.
        self.with_raw(|flags, raw| {
            call(|error| unsafe { sys::bfs_format(null_mut(), 0, flags, raw, null_mut(), error) })
        })
    }

    /// Makes a new, empty filter in a buffer at a multiple of 64 that is long enough
    /// ([`required_bytes`](CreateOptions::required_bytes)).
    ///
    /// # Errors
    /// [`Error::Invalid`] and others.
    pub fn format<'b>(&self, buffer: &'b mut [u8]) -> Result<BufferFilter<'b>> {
        // SAFETY: the filter borrows the buffer exclusively.
        unsafe { self.format_raw(buffer.as_mut_ptr(), buffer.len()) }
    }

    /// Makes a filter in memory that Rust does not own alone, such as a map that processes share.
    ///
    /// # Errors
    /// As [`format`](CreateOptions::format).
    ///
    /// # Safety
    /// The memory is readable and writable as long as the filter lives, and changed only through filters.
    pub unsafe fn format_raw<'b>(&self, buffer: *mut u8, bytes: usize) -> Result<BufferFilter<'b>> {
        if buffer.is_null() {
            return Err(Error::invalid("the buffer of a new filter is null"));
        }
        // SAFETY: the caller's promise; the options live until the call returns.
        let made = self.with_raw(|flags, raw| unsafe {
            Filter::made(IN_BUFFER, |out, error| sys::bfs_format(buffer.cast(), bytes as u64, flags, raw, out, error))
        });
        made.map(|made| BufferFilter::new(made.newly_made()))
    }
}

// --- Copying ---------------------------------------------------------------------------------------------------------

/// Options to make a new file of an existing filter: for [`Filter::save_with`],
/// [`intersect_with`](crate::intersect_with) and [`join_with`](crate::join_with).
#[derive(Debug, Clone, Default)]
pub struct CopyOptions {
    flags: u64,
    mode: u32,
    fpr: f64,
    lock_timeout: Option<Duration>,
}

impl CopyOptions {
    /// Makes options without values.
    pub fn new() -> CopyOptions {
        CopyOptions::default()
    }

    fields! {
        /// Permission bits of the new file, less the umask; by default those of the file that is replaced, or 0o600.
        mode: u32 => mode = mode;
        /// Folds the copy as small as possible while its rate, with its present keys, is at most this.  Only for
        /// [`Filter::save_with`].
        fpr: f64 => fpr = given(fpr);
        /// As [`OpenOptions::lock_timeout`].
        lock_timeout: Duration => lock_timeout = Some(lock_timeout);
    }

    flags! {
        /// Replaces an existing file, whose users learn of it.
        replace = BFS_REPLACE;
        /// As [`OpenOptions::any_filesystem`].
        any_filesystem = BFS_ANY_FILESYSTEM;
        /// The new file answers "maybe" until its owner calls [`Filter::finish_filling`].
        filling = BFS_FILLING;
        /// The new file has a checksum for every 64 KiB, and is never written to again.  Only for
        /// [`Filter::save_with`].
        sealed = BFS_SEALED;
        /// The new file has the id of the copied filter, and takes no more keys.  Only for [`Filter::save_with`].
        same_file_id = BFS_SAME_FILE_ID;
    }

    /// Calls the function with the library's flags and struct.
    pub(crate) fn with_raw<R>(&self, use_raw: impl FnOnce(u64, &sys::bfs_options) -> Result<R>) -> Result<R> {
        let lock_timeout_ms = lock_milliseconds(self.lock_timeout)?;
        let raw = sys::bfs_options { mode: self.mode, lock_timeout_ms, fpr: self.fpr, ..Default::default() };
        use_raw(self.flags, &raw)
    }
}

/// The form that [`Filter::dump_with`] writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DumpOptions {
    /// The bare form: a body and a trailer of 8 bytes.
    pub bare: bool,
    /// The bytes have the id of the filter, and take no more keys.
    pub same_file_id: bool,
}

impl DumpOptions {
    pub(crate) fn flags(self) -> u64 {
        let bare = if self.bare { sys::BFS_BARE } else { 0 };
        bare | if self.same_file_id { sys::BFS_SAME_FILE_ID } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_milliseconds_and_0_is_not_the_default() {
        let lock = |time| lock_milliseconds(Some(time)).unwrap();
        assert_eq!(lock_milliseconds(None), Ok(sys::BFS_LOCK_TIMEOUT_DEFAULT));
        assert_eq!(lock(Duration::ZERO), sys::BFS_LOCK_NO_WAIT);
        assert_eq!(lock(Duration::MAX), sys::BFS_LOCK_FOREVER);
        assert_eq!((lock(Duration::from_nanos(1)), lock(Duration::from_millis(1500))), (1, 1500));
        assert!(lock_milliseconds(Some(Duration::from_secs(4_000_001))).is_err());
        assert_eq!(writeback_milliseconds(None), Ok(sys::BFS_WRITEBACK_CHECK_DEFAULT));
        assert_eq!(writeback_milliseconds(Some(Duration::ZERO)), Ok(sys::BFS_WRITEBACK_CHECK_EACH_ADD));
        assert_eq!(writeback_milliseconds(Some(Duration::from_millis(250))), Ok(250));
        assert!(writeback_milliseconds(Some(Duration::MAX)).is_err());
    }

    #[test]
    fn a_window_never_becomes_shorter() {
        let window = |time| window_milliseconds(Some(time));
        assert_eq!(window_milliseconds(None), Ok(0));
        assert_eq!((window(Duration::from_millis(1)), window(Duration::from_millis(1500))), (Ok(1), Ok(1500)));
        assert_eq!(window(Duration::from_nanos(1_000_001)), Ok(2));
        assert_eq!(window(Duration::from_millis(u64::MAX)), Ok(u64::MAX));
        for wrong in [Duration::ZERO, Duration::from_millis(u64::MAX) + Duration::from_nanos(1), Duration::MAX] {
            assert!(window(wrong).is_err(), "{wrong:?}");
        }
        let short = window(Duration::from_micros(400)).unwrap_err().to_string();
        assert_eq!(short, "a window is a millisecond or longer, not 400µs");
    }
    #[test]
    fn a_secret_is_in_no_log() {
        let secret = [0x73; 16];
        let (mut creating, mut opening) = (CreateOptions::new(), OpenOptions::new());
        for shown in [format!("{:?}", creating.secret(&secret)), format!("{:?}", opening.secret(&secret))] {
            assert!(shown.contains("secret: Some(Secret(..))") && !shown.contains("115"), "{shown}");
        }
    }
}

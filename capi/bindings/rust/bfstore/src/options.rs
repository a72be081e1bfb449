//! Options to make, open and copy filters: builders, like `std::fs::OpenOptions`.

use std::ffi::CString;
use std::fmt;
use std::os::raw::c_void;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::io::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};
use std::ptr::null;
use std::time::Duration;

use bfstore_sys as sys;

use crate::error::call;
use crate::{BufferFilter, Error, Filter, Hash, Keys, Layout, Result};

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

/// Options to open a filter: for reading by default.
///
/// ```
/// # let path = std::env::temp_dir().join(format!("bfstore-open_options-{}.bf", std::process::id()));
/// # bfstore::Filter::options_to_create().capacity(1000).create(&path)?.close()?;
/// let users = bfstore::Filter::options().write(true).guard(true).open(&path)?;
/// users.add("alice")?;
/// users.close()?;
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), bfstore::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct OpenOptions<'a> {
    flags: u64,
    secret: Option<Secret<'a>>,
    offset: u64,
    max_bytes: u64,
    lock_timeout: Option<Duration>,
    writeback_check: Option<Duration>,
}

impl<'a> OpenOptions<'a> {
    /// Makes options for reading.
    pub fn new() -> OpenOptions<'a> {
        OpenOptions::default()
    }

    flags! {
        /// Looks up and adds, concurrently with any number of other writers.
        write = BFS_OPEN_WRITE;
        /// Looks up and adds as the only writer, several times as fast.  [`Error::Busy`] if another writer exists.
        exclusive = BFS_OPEN_EXCLUSIVE;
        /// Reads the whole file into memory now, so that no lookup waits for the disk.
        populate = BFS_OPEN_POPULATE;
        /// Uses small pages without read-ahead: for a filter larger than memory, or synced often.
        random = BFS_OPEN_RANDOM;
        /// Copies into private memory: later changes of the file do not reach the filter.  For reading.
        copy = BFS_OPEN_COPY;
        /// Turns a page that cannot be read (an I/O error, or the file was truncated) into doubt instead of SIGBUS.
        /// Installs a handler of SIGBUS in the process, which passes on other faults.
        guard = BFS_OPEN_GUARD;
        /// Opens an unclean, poisoned or recovering file, to recover it.  For writing.
        recover = BFS_OPEN_RECOVER;
        /// Opens such a file as it is: it may lack keys after the marks.  For writing.
        accept_loss = BFS_OPEN_ACCEPT_LOSS;
        /// Treats a file whose writer was killed as unclean, too: for devices that vanish.
        strict = BFS_OPEN_STRICT;
        /// Allows a network or overlay filesystem, which may show readers an older file.
        any_filesystem = BFS_OPEN_ANY_FILESYSTEM;
        /// Makes an add fail with [`Error::Full`] at the capacity.  For writing.
        limit = BFS_OPEN_LIMIT;
        /// Writes nothing at all, for audits and sandboxes.  For reading.
        no_write = BFS_OPEN_NO_WRITE;
        /// Follows the path: when another file replaces this one, a lookup opens it.  For reading.
        follow = BFS_OPEN_FOLLOW;
        /// Compares a sealed file with its checksums first.
        verify = BFS_OPEN_VERIFY;
        /// Also compares, and answers "maybe" for every key if the file is damaged.
        tolerate_damage = BFS_OPEN_TOLERATE_DAMAGE;
        /// Opens the bare form, a body and a trailer of 8 bytes: for [`wrap`](OpenOptions::wrap) and
        /// [`load`](OpenOptions::load).
        bare = BFS_OPEN_BARE;
    }

    /// `false` refuses a symbolic link as the last part of the path.
    pub fn follow_symlinks(&mut self, follow_symlinks: bool) -> &mut Self {
        self.flags =
            if follow_symlinks { self.flags & !sys::BFS_OPEN_NOFOLLOW } else { self.flags | sys::BFS_OPEN_NOFOLLOW };
        self
    }

    /// Opens an embedded filter that begins at this byte of the file, a multiple of 64.  For reading.
    pub fn offset(&mut self, offset: u64) -> &mut Self {
        self.flags |= sys::BFS_OPEN_RANGE;
        self.offset = offset;
        self
    }

    fields! {
        /// With [`offset`](OpenOptions::offset): the greatest length of the filter.
        max_bytes: u64 => max_bytes = max_bytes;
        /// 16 bytes: the secret of a filter with [`Hash::SipHash`].
        secret: &'a [u8] => secret = Some(Secret(secret));
        /// Time to wait for each lock: 5 seconds by default; `Duration::ZERO` does not wait, `Duration::MAX` waits as
        /// long as needed.
        lock_timeout: Duration => lock_timeout = Some(lock_timeout);
        /// Time between checks whether the kernel failed to write: 0.1 seconds by default; `Duration::ZERO` checks at
        /// each add that changes a bit.
        writeback_check: Duration => writeback_check = Some(writeback_check);
    }

    /// Returns the library's struct, which borrows from `self`.
    fn raw(&self) -> Result<sys::bfs_open_options> {
        let writing = self.flags & (sys::BFS_OPEN_WRITE | sys::BFS_OPEN_EXCLUSIVE);
        let what = match writing {
            0 => sys::BFS_OPEN_READ,
            _ if writing & sys::BFS_OPEN_EXCLUSIVE != 0 => sys::BFS_OPEN_EXCLUSIVE,
            _ => sys::BFS_OPEN_WRITE,
        };
        let (key, key_bytes) = secret_parts(self.secret);
        Ok(sys::bfs_open_options {
            flags: (self.flags & !writing) | what,
            key,
            key_bytes,
            offset: self.offset,
            max_bytes: self.max_bytes,
            lock_timeout_ms: lock_milliseconds(self.lock_timeout)?,
            writeback_check_ms: writeback_milliseconds(self.writeback_check)?,
            ..Default::default()
        })
    }

    /// Opens a filter file.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Recovery`], [`Error::Malformed`] and others.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Filter> {
        let (path, raw) = (path.as_ref(), self.raw()?);
        let c_path = c_path(path)?;
        // SAFETY: path and options live until the call returns, which copies what it keeps.
        unsafe { Filter::made(path.display(), |out, error| sys::bfs_open_with(c_path.as_ptr(), &raw, out, error)) }
    }

    /// Opens the parts of one filter that a text file lists, for reading, as one filter that answers for every key.  The
    /// file begins with the line `bfstore-set 1`; then each line is the path of a part, relative to the file's folder.
    /// A part that is not listed, or is in doubt, may have each of its keys.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for parts that are not of one filter, and others as [`open`](OpenOptions::open).
    pub fn open_set(&self, manifest: impl AsRef<Path>) -> Result<Filter> {
        let (manifest, raw) = (manifest.as_ref(), self.raw()?);
        let c_path = c_path(manifest)?;
        // SAFETY: as in open().
        unsafe { Filter::made(manifest.display(), |out, error| sys::bfs_open_set(c_path.as_ptr(), &raw, out, error)) }
    }

    /// Reads a file that the program has open: for a sandbox, and for memfd_create.  The library duplicates the
    /// descriptor, and the program keeps its own.
    ///
    /// # Errors
    /// As [`open`](OpenOptions::open).
    pub fn open_fd(&self, fd: impl AsFd) -> Result<Filter> {
        let mut raw = self.raw()?;
        raw.fd = fd.as_fd().as_raw_fd();
        raw.flags |= sys::BFS_OPEN_FD;
        let name = format!("descriptor {}", raw.fd);
        // SAFETY: as in open(); the descriptor is open while it is borrowed.
        unsafe { Filter::made(name, |out, error| sys::bfs_open_with(null(), &raw, out, error)) }
    }

    /// Opens a copy of the filter in bytes from anywhere, at any address: from [`Filter::dump`], or from a whole file
    /// that was closed.
    ///
    /// # Errors
    /// [`Error::Malformed`], [`Error::Recovery`] for the bytes of a file that was in use, and others.
    pub fn load(&self, bytes: &[u8]) -> Result<Filter> {
        let raw = self.raw()?;
        let (data, length) = (bytes.as_ptr().cast(), bytes.len() as u64);
        // SAFETY: the library copies the bytes before it returns.
        unsafe { Filter::made("the loaded filter", |out, error| sys::bfs_load(data, length, &raw, out, error)) }
    }

    /// Reads a filter in a buffer in place.  The buffer must be at a multiple of 64: see
    /// [`AlignedBytes`](crate::AlignedBytes).
    ///
    /// # Errors
    /// [`Error::Invalid`], also for [`write`](OpenOptions::write); [`Error::Malformed`].
    pub fn wrap<'b>(&self, buffer: &'b [u8]) -> Result<BufferFilter<'b>> {
        if self.flags & (sys::BFS_OPEN_WRITE | sys::BFS_OPEN_EXCLUSIVE) != 0 {
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
        let raw = self.raw()?;
        // SAFETY: the caller's promise; the options live until the call returns.
        let made = unsafe {
            Filter::made(IN_BUFFER, |out, error| sys::bfs_wrap_with(buffer.cast(), bytes as u64, &raw, out, error))
        }?;
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
    fpr: f64,
    bits_per_key: f64,
    max_bytes: u64,
    num_bits: u64,
    num_probes: u32,
    layout: Option<Layout>,
    hash: Option<Hash>,
    seed: u64,
    like: Option<PathBuf>,
    note: &'a [u8],
    secret: Option<Secret<'a>>,
    lock_timeout: Option<Duration>,
    writeback_check: Option<Duration>,
    file_id: [u8; 16],
    seeds: &'a [u32],
}

impl<'a> CreateOptions<'a> {
    /// Makes options without values.
    pub fn new() -> CreateOptions<'a> {
        CreateOptions::default()
    }

    fields! {
        /// n: distinct keys.
        capacity: u64 => capacity = capacity;
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
        /// The place of a key's bits; [`Layout::Blocked`] by default.
        layout: Layout => layout = Some(layout);
        /// The function that computes them; [`Hash::Xxh3`] by default.
        hash: Hash => hash = Some(hash);
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
    }

    /// Sets the seed of the hash; random by default.
    pub fn seed(&mut self, seed: u64) -> &mut Self {
        self.flags |= sys::BFS_OPTION_SEED;
        self.seed = seed;
        self
    }

    /// Sets the identity of the filter; random by default.  Two filters with the same id count as one filter and its
    /// copy: so take a new id if the keys differ.
    pub fn file_id(&mut self, file_id: [u8; 16]) -> &mut Self {
        self.flags |= sys::BFS_OPTION_FILE_ID;
        self.file_id = file_id;
        self
    }

    /// Takes the shape of the filter at this path: m, k, n, p, layout, hash and seed, so that one digest serves both.
    pub fn like(&mut self, path: impl AsRef<Path>) -> &mut Self {
        self.like = Some(path.as_ref().to_path_buf());
        self
    }

    flags! {
        /// Adds as the only writer, several times as fast.
        exclusive = BFS_OPEN_EXCLUSIVE;
        /// As [`OpenOptions::populate`].
        populate = BFS_OPEN_POPULATE;
        /// As [`OpenOptions::random`].
        random = BFS_OPEN_RANDOM;
        /// As [`OpenOptions::guard`].
        guard = BFS_OPEN_GUARD;
        /// As [`OpenOptions::limit`].
        limit = BFS_OPEN_LIMIT;
        /// As [`OpenOptions::any_filesystem`].
        any_filesystem = BFS_OPEN_ANY_FILESYSTEM;
        /// Replaces an existing file, whose users learn of it.
        replace = BFS_OPTION_REPLACE;
        /// No name in the file system until [`Filter::publish`].
        unpublished = BFS_OPTION_UNPUBLISHED;
        /// An online build: every answer is "maybe" until [`Filter::finish_filling`].
        filling = BFS_OPTION_FILLING;
        /// The m and k of most tutorials, cut off instead of rounded up.
        tutorial_sizing = BFS_OPTION_TUTORIAL_SIZING;
        /// The bare form, for [`format`](CreateOptions::format) and [`required_bytes`](CreateOptions::required_bytes).
        bare = BFS_OPEN_BARE;
    }

    /// Calls the function with the library's struct.
    pub(crate) fn with_raw<R>(&self, use_raw: impl FnOnce(&sys::bfs_options) -> Result<R>) -> Result<R> {
        let like = self.like.as_deref().map(c_path).transpose()?;
        let (key, key_bytes) = secret_parts(self.secret);
        use_raw(&sys::bfs_options {
            mode: self.mode,
            flags: self.flags,
            capacity: self.capacity,
            fpr: self.fpr,
            bits_per_key: self.bits_per_key,
            max_bytes: self.max_bytes,
            num_bits: self.num_bits,
            num_probes: self.num_probes,
            layout: self.layout.map_or(0, Layout::number),
            hash: self.hash.map_or(0, Hash::number),
            seed: self.seed,
            like: like.as_ref().map_or(null(), |like| like.as_ptr()),
            note: if self.note.is_empty() { null() } else { self.note.as_ptr().cast() },
            note_bytes: self.note.len() as u64,
            key,
            key_bytes,
            lock_timeout_ms: lock_milliseconds(self.lock_timeout)?,
            writeback_check_ms: writeback_milliseconds(self.writeback_check)?,
            file_id: self.file_id,
            seeds: if self.seeds.is_empty() { null() } else { self.seeds.as_ptr() },
            num_seeds: self.seeds.len() as u64,
            ..Default::default()
        })
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
        self.with_raw(|raw| unsafe {
            Filter::made(path.display(), |out, error| sys::bfs_create(c_path.as_ptr(), raw, out, error))
        })
    }

    /// Makes one part, from 0, of the filter that the options describe: it takes only the keys of this part.
    ///
    /// # Errors
    /// As [`create`](CreateOptions::create).
    pub fn create_part(&self, path: impl AsRef<Path>, part: u32, num_parts: u32) -> Result<Filter> {
        let path = path.as_ref();
        let c_path = c_path(path)?;
        // SAFETY: path and options live until the call returns, which copies what it keeps.
        self.with_raw(|raw| unsafe {
            Filter::made(path.display(), |out, error| {
                sys::bfs_create_part(c_path.as_ptr(), raw, part, num_parts, out, error)
            })
        })
    }

    /// Makes a filter file of these keys, which appears when it is complete, and is open for reading.  The capacity is
    /// the number of keys, if no option gives the size.
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
        let keys = keys.into();
        let mut options = self.clone();
        options.unpublished(true).exclusive(true);
        if self.capacity == 0 && self.num_bits == 0 && self.like.is_none() {
            options.capacity(keys.len().max(1) as u64);
        }
        let mut built = options.create(path)?;
        match built.add_many(keys).and_then(|_| built.publish()) {
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
        let mut bytes = 0;
        // SAFETY: the options live until the call returns.
        self.with_raw(|raw| call(|error| unsafe { sys::bfs_required_bytes(raw, &mut bytes, error) }))?;
        Ok(bytes)
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
        // SAFETY: the caller's promise; the options live until the call returns.
        let made = self.with_raw(|raw| unsafe {
            Filter::made(IN_BUFFER, |out, error| sys::bfs_format(buffer.cast(), bytes as u64, raw, out, error))
        })?;
        Ok(BufferFilter::new(made))
    }
}

// --- Copying ---------------------------------------------------------------------------------------------------------

/// Options to make a new file of an existing filter: for [`Filter::save_with`], [`seal_with`](crate::seal_with),
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
        replace = BFS_OPTION_REPLACE;
        /// As [`OpenOptions::any_filesystem`].
        any_filesystem = BFS_OPEN_ANY_FILESYSTEM;
        /// The new file answers "maybe" until its owner calls [`Filter::finish_filling`].
        filling = BFS_OPTION_FILLING;
        /// The new file has the id of the copied filter, and takes no more keys.
        same_file_id = BFS_OPTION_FILE_ID;
    }

    pub(crate) fn raw(&self) -> Result<sys::bfs_copy_options> {
        Ok(sys::bfs_copy_options {
            mode: self.mode,
            flags: self.flags,
            lock_timeout_ms: lock_milliseconds(self.lock_timeout)?,
            fpr: self.fpr,
            ..Default::default()
        })
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
        let bare = if self.bare { sys::BFS_OPEN_BARE } else { 0 };
        bare | if self.same_file_id { sys::BFS_OPTION_FILE_ID } else { 0 }
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
    fn a_secret_is_in_no_log() {
        let secret = [0x73; 16];
        let (mut creating, mut opening) = (CreateOptions::new(), OpenOptions::new());
        for shown in [format!("{:?}", creating.secret(&secret)), format!("{:?}", opening.secret(&secret))] {
            assert!(shown.contains("secret: Some(Secret(..))") && !shown.contains("115"), "{shown}");
        }
    }
}

//! Filters of other programs: facts in their bytes, importing them, and exporting a filter.

use std::ffi::CString;
use std::fmt;
use std::os::raw::c_char;
use std::os::unix::io::{AsFd, AsRawFd};
use std::path::Path;
use std::ptr::null;

use bfstore_sys as sys;

use crate::error::{call, static_text};
use crate::options::c_path;
use crate::{BitOrder, CreateOptions, Error, Filter, Foreign, Result};

/// Returns the names of all formats of other programs' filters that the library knows.  `bfstore_interop.h` describes
/// each.
pub fn foreign_formats() -> Vec<&'static str> {
    // SAFETY: any number is allowed.
    let names = (0..).map(|index| unsafe { sys::bfs_foreign_name(index) });
    names.take_while(|name| !name.is_null()).map(static_text).collect()
}

/// Returns the names of the foreign formats that all bytes of the file have: none, or several if the bytes do not tell
/// which.  A format that needs m and k from its caller is never among them.
///
/// # Errors
/// [`Error::NotFound`] and others.
pub fn recognize_foreign(path: impl AsRef<Path>) -> Result<Vec<&'static str>> {
    recognize_flags(path.as_ref(), 0)
}

/// Recognizes a file; the last part of the path must not be a symbolic link.
///
/// # Errors
/// As [`recognize_foreign`], and [`Error::Malformed`] for a symbolic link.
pub fn recognize_foreign_nofollow(path: impl AsRef<Path>) -> Result<Vec<&'static str>> {
    recognize_flags(path.as_ref(), sys::BFS_NOFOLLOW)
}

fn recognize_flags(path: &Path, flags: u64) -> Result<Vec<&'static str>> {
    let path = c_path(path)?;
    let mut names = Vec::new();
    loop {
        let (index, mut name) = (names.len() as u32, null());
        // SAFETY: the path lives until the call returns.
        call(|error| unsafe { sys::bfs_foreign_recognize(path.as_ptr(), flags, index, &mut name, error) })?;
        if name.is_null() {
            return Ok(names);
        }
        names.push(static_text(name));
    }
}

/// The format of the bytes of another program's filter.
#[derive(Debug, Clone)]
pub struct ForeignForm<'a> {
    format: &'a str,
    order: Option<BitOrder>,
    name: Option<&'a str>,
    column: Option<&'a str>,
    member: u32,
}

impl<'a> ForeignForm<'a> {
    /// Takes one of [`foreign_formats`].
    pub fn new(format: &'a str) -> ForeignForm<'a> {
        ForeignForm { format, order: None, name: None, column: None, member: 0 }
    }

    /// Sets the bit of a byte that comes first: only for a format that needs it
    /// ([`ForeignNeeds::order`](crate::ForeignNeeds::order)).
    pub fn order(&mut self, order: BitOrder) -> &mut Self {
        self.order = Some(order);
        self
    }

    /// Sets the name of the bytes in errors, a path for instance.
    pub fn name(&mut self, name: &'a str) -> &mut Self {
        self.name = Some(name);
        self
    }

    /// Sets the column of a file that has filters of several ones: only for a format that needs it
    /// ([`ForeignNeeds::column`](crate::ForeignNeeds::column)).
    pub fn column(&mut self, column: &'a str) -> &mut Self {
        self.column = Some(column);
        self
    }

    /// Sets the number, from 1 on, of the only one of several filters that is meant; 0, the default: all of them.
    pub fn member(&mut self, member: u32) -> &mut Self {
        self.member = member;
        self
    }

    /// Calls the function with the library's struct.
    pub(crate) fn with_raw<R>(&self, use_raw: impl FnOnce(&sys::bfs_foreign_form) -> Result<R>) -> Result<R> {
        let (format, name) = (c_text(self.format)?, self.name.map(c_text).transpose()?);
        let column = self.column.map(c_text).transpose()?;
        use_raw(&sys::bfs_foreign_form {
            order: self.order.map_or(0, BitOrder::number),
            format: format.as_ptr(),
            name: name.as_ref().map_or(null(), |name| name.as_ptr()),
            column: column.as_ref().map_or(null(), |column| column.as_ptr()),
            member: self.member,
            ..Default::default()
        })
    }
}

fn c_text(text: &str) -> Result<CString> {
    CString::new(text)
        .map_err(|_| Error::invalid(format!("{text:?}: a foreign format, name or column has no zero byte")))
}

/// Returns facts in the bytes of another program's filter, without making one.  The first 64 KiB suffice.
///
/// # Errors
/// [`Error::Invalid`] for a format that the library does not know, [`Error::Malformed`], and [`Error::Unsupported`] for
/// a kind of filter that cannot be imported.
pub fn inspect_foreign(first: &[u8], form: &ForeignForm<'_>) -> Result<Foreign> {
    inspect(first, form, 0, None)
}

fn inspect(first: &[u8], form: &ForeignForm<'_>, flags: u64, options: Option<&sys::bfs_options>) -> Result<Foreign> {
    let mut found = sys::bfs_foreign::default();
    let (data, length) = (first.as_ptr().cast(), first.len() as u64);
    let options = options.map_or(null(), |options| options as *const _);
    // SAFETY: the bytes and all structs live until the call returns.
    form.with_raw(|form| {
        call(|error| unsafe { sys::bfs_foreign_inspect(form, data, length, flags, options, &mut found, error) })
    })?;
    Ok(Foreign::new(&found))
}

/// Imports of other programs' filters, and filters in their files.
impl CreateOptions<'_> {
    /// Describes the filter that [`import_foreign`](CreateOptions::import_foreign) would make of the bytes with these
    /// options.
    ///
    /// # Errors
    /// As [`inspect_foreign`]; [`Error::Invalid`] if the options contradict the bytes, or lack something.
    pub fn inspect_foreign(&self, first: &[u8], form: &ForeignForm<'_>) -> Result<Foreign> {
        self.with_raw(|flags, options| inspect(first, form, flags, Some(options)))
    }

    /// Asks a file of another program in place: maps it, shared with every process that has it open, and makes no file.
    /// The filter only reads.  The form and the options, those of the size, layout, hash, seed, seeds, secret or like,
    /// give the facts that the bytes lack, as for [`import_foreign`](CreateOptions::import_foreign).  If the file has
    /// several filters, a key is in it if one of them has it.
    ///
    /// After a change of the file every answer is "maybe", and [`health`](Filter::health) is [`Error::Doubt`].  A
    /// process that writes through a mapping of its own shows that late or never: with
    /// [`private`](CreateOptions::private) the filter asks a copy of its own.
    ///
    /// ```
    /// # let path = std::env::temp_dir().join(format!("bfstore-foreign-{}", std::process::id()));
    /// # std::fs::write(&path, [0xFF; 125]).unwrap();
    /// use bfstore::{BitOrder, Error, Filter, ForeignForm, Hash};
    /// let mut options = Filter::options_to_create();
    /// options.num_bits(1000).num_probes(7).hash(Hash::Murmur3);
    /// let words = options.open_foreign(&path, ForeignForm::new("raw").order(BitOrder::Big))?;
    /// assert!(words.contains("known"));
    /// # std::fs::remove_file(&path).unwrap();
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Malformed`] for the bytes, [`Error::Invalid`] if the form or the options contradict
    /// them or lack something, and others.
    pub fn open_foreign(&self, path: impl AsRef<Path>, form: &ForeignForm<'_>) -> Result<Filter> {
        let path = path.as_ref();
        let c_path = c_path(path)?;
        self.with_raw(|flags, raw| in_place(path.display(), c_path.as_ptr(), form, flags, raw))
    }

    /// Asks a file of another program that this program has open: as [`open_foreign`](CreateOptions::open_foreign).
    /// The library duplicates the descriptor, and the program keeps its own.
    ///
    /// # Errors
    /// As [`open_foreign`](CreateOptions::open_foreign).
    pub fn open_foreign_fd(&self, fd: impl AsFd, form: &ForeignForm<'_>) -> Result<Filter> {
        let fd = fd.as_fd().as_raw_fd();
        self.with_raw(|flags, raw| {
            let raw = sys::bfs_options { fd: &fd, ..*raw };
            in_place(format!("descriptor {fd}"), null(), form, flags, &raw)
        })
    }

    /// Makes a filter file of the bytes of another program's filter, open for reading.  It appears complete and
    /// durable, or not at all.  The options give the facts that the bytes lack ([`Foreign::needs`]).
    ///
    /// If the caller's options are wrong, the filter answers `false` for keys that are in it, and no program can check
    /// that.  So import [`unpublished`](CreateOptions::unpublished), look up keys that are known to be in the filter,
    /// and [`publish`](Filter::publish) it if none of them is absent.
    ///
    /// ```
    /// # let path = std::env::temp_dir().join(format!("bfstore-import-{}.bf", std::process::id()));
    /// # let bits = [0xFF; 125];
    /// use bfstore::{BitOrder, Error, Filter, ForeignForm, Hash};
    /// let mut options = Filter::options_to_create();
    /// options.num_bits(1000).num_probes(7).hash(Hash::Murmur3).unpublished(true);
    /// let mut words = options.import_foreign(&path, &bits, ForeignForm::new("raw").order(BitOrder::Big))?;
    /// if ["known", "keys"].iter().all(|key| words.contains(key)) {
    ///     words.publish()?;
    /// }
    /// # std::fs::remove_file(&path).unwrap();
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`create`](CreateOptions::create); [`Error::Malformed`] for the bytes, and [`Error::Invalid`] also for an
    /// array of another length than in the options.  No file has appeared.
    pub fn import_foreign(&self, path: impl AsRef<Path>, bytes: &[u8], form: &ForeignForm<'_>) -> Result<Filter> {
        let path = path.as_ref();
        let c_path = c_path(path)?;
        let (data, length) = (bytes.as_ptr().cast(), bytes.len() as u64);
        let made = self.with_raw(|flags, options| {
            // SAFETY: all arguments live until the call returns, which copies what it keeps.
            form.with_raw(|form| unsafe {
                Filter::made(path.display(), |out, error| {
                    sys::bfs_foreign_import(c_path.as_ptr(), form, data, length, flags, options, out, error)
                })
            })
        });
        made.map(Filter::newly_made)
    }
}

/// Opens the file at the path, or of the descriptor in the options.  Both live until the call returns.
fn in_place(
    name: impl fmt::Display,
    path: *const c_char,
    form: &ForeignForm<'_>,
    flags: u64,
    options: &sys::bfs_options,
) -> Result<Filter> {
    // SAFETY: all arguments live until the call returns, which copies what it keeps.
    form.with_raw(|form| unsafe {
        Filter::made(name, |out, error| sys::bfs_foreign_open(path, form, flags, options, out, error))
    })
}

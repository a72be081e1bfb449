//! Filters of other programs: facts in their bytes, importing them, and exporting a filter.

use std::ffi::CString;
use std::path::Path;
use std::ptr::null;

use bfstore_sys as sys;

use crate::error::{call, static_text};
use crate::options::c_path;
use crate::{BitOrder, CreateOptions, Error, Filter, Foreign, Result};

/// Returns the names of the formats that the library knows: `"raw"`, `"jaybird"`, and maybe those of a later library.
///
/// - `raw`: only the bits, as C's `fwrite`, Java's `BitSet` and Python's `bitarray` write them.  The caller describes
///   them by [`num_bits`](CreateOptions::num_bits) and [`num_probes`](CreateOptions::num_probes) (or
///   [`like`](CreateOptions::like)), [`hash`](CreateOptions::hash), its seed or seeds, and
///   [`order`](ForeignForm::order).
/// - `jaybird`: the file that `BloomFilter.tofile()` of python-bloomfilter writes (pybloom, pybloom-live).  A small
///   filter needs [`Hash::Jaybird`](crate::Hash::Jaybird), or [`Hash::PybloomLive`](crate::Hash::PybloomLive) if
///   version 4 of pybloom-live or a later one made it.
pub fn foreign_formats() -> Vec<&'static str> {
    // SAFETY: any number is allowed.
    let names = (0..).map(|index| unsafe { sys::bfs_foreign_name(index) });
    names.take_while(|name| !name.is_null()).map(static_text).collect()
}

/// The format of the bytes of another program's filter.
#[derive(Debug, Clone)]
pub struct ForeignForm<'a> {
    format: &'a str,
    order: Option<BitOrder>,
    name: Option<&'a str>,
}

impl<'a> ForeignForm<'a> {
    /// Takes one of [`foreign_formats`].
    pub fn new(format: &'a str) -> ForeignForm<'a> {
        ForeignForm { format, order: None, name: None }
    }

    /// Sets the bit of a byte that comes first: only for the format `raw`, which needs it.
    pub fn order(&mut self, order: BitOrder) -> &mut Self {
        self.order = Some(order);
        self
    }

    /// Sets the name of the bytes in errors, a path for instance.
    pub fn name(&mut self, name: &'a str) -> &mut Self {
        self.name = Some(name);
        self
    }

    /// Calls the function with the library's struct.
    pub(crate) fn with_raw<R>(&self, use_raw: impl FnOnce(&sys::bfs_foreign_form) -> Result<R>) -> Result<R> {
        let (format, name) = (c_text(self.format)?, self.name.map(c_text).transpose()?);
        use_raw(&sys::bfs_foreign_form {
            order: self.order.map_or(0, BitOrder::number),
            format: format.as_ptr(),
            name: name.as_ref().map_or(null(), |name| name.as_ptr()),
            ..Default::default()
        })
    }
}

fn c_text(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::invalid(format!("{text:?}: a foreign format or name has no zero byte")))
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

/// Imports of other programs' filters.
impl CreateOptions<'_> {
    /// Describes the filter that [`import_foreign`](CreateOptions::import_foreign) would make of the bytes with these
    /// options.
    ///
    /// # Errors
    /// As [`inspect_foreign`]; [`Error::Invalid`] if the options contradict the bytes, or lack something.
    pub fn inspect_foreign(&self, first: &[u8], form: &ForeignForm<'_>) -> Result<Foreign> {
        self.with_raw(|flags, options| inspect(first, form, flags, Some(options)))
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

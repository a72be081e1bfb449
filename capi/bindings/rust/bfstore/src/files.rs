//! Functions of a file that is not open, and of several filters.

use std::ops::Range;
use std::os::raw::c_char;
use std::path::Path;
use std::ptr::null_mut;

use bfstore_sys as sys;

use crate::error::{call, checked};
use crate::options::c_path;
use crate::{AsKey, CopyOptions, Filter, Result};

/// Returns the damaged ranges of a sealed file, ascending; none if the file is unchanged.
///
/// # Errors
/// [`Error::Sealed`](crate::Error::Sealed) if it is not sealed, [`Error::NotFound`](crate::Error::NotFound) and others.
pub fn verify(path: impl AsRef<Path>) -> Result<Vec<Range<u64>>> {
    verify_flags(path.as_ref(), 0)
}

/// Verifies a file; the last part of the path must not be a symbolic link.
///
/// # Errors
/// As [`verify`], and [`Error::Malformed`](crate::Error::Malformed) for a symbolic link.
pub fn verify_nofollow(path: impl AsRef<Path>) -> Result<Vec<Range<u64>>> {
    verify_flags(path.as_ref(), sys::BFS_NOFOLLOW)
}

fn verify_flags(path: &Path, flags: u64) -> Result<Vec<Range<u64>>> {
    let path = c_path(path)?;
    let mut damaged = vec![sys::bfs_range { offset: 0, bytes: 0 }; 100];
    loop {
        // SAFETY: there is room for `damaged.len()` ranges.
        let found =
            call(|error| unsafe { sys::bfs_verify(path.as_ptr(), flags, damaged.as_mut_ptr(), damaged.len(), error) })?
                as usize;
        if found <= damaged.len() {
            return Ok(damaged[..found].iter().map(|range| range.offset..range.offset + range.bytes).collect());
        }
        damaged.resize(found, sys::bfs_range { offset: 0, bytes: 0 });
    }
}

/// Asks several filters about one key: lists from several sources, of this library or of other programs
/// ([`open_foreign`](crate::CreateOptions::open_foreign)).  `false` is a certain no of each of them; every error is
/// `true`, as in [`Filter::contains`].  The key is hashed once for neighbors with the same hash and the same seed or
/// secret.
pub fn contains_any(filters: &[&Filter], key: impl AsKey) -> bool {
    ask(filters, key, null_mut()) != 0
}

/// Asks as [`contains_any`], and returns the numbers, from 0 on and ascending, of the filters that may have the key.
///
/// # Errors
/// [`Error::KindOfKey`](crate::Error::KindOfKey) and others: each filter may have the key.
pub fn which(filters: &[&Filter], key: impl AsKey) -> Result<Vec<usize>> {
    let mut answers = vec![1; filters.len()];
    checked(ask(filters, key, answers.as_mut_ptr()), "the filters")?;
    Ok((0..answers.len()).filter(|number| answers[*number] != 0).collect())
}

/// `answers` is null, or has room for one byte of each filter.
fn ask(filters: &[&Filter], key: impl AsKey, answers: *mut u8) -> i32 {
    let filters = raw_of(filters);
    // SAFETY: the filters are borrowed, and the key lives, until the call returns.
    key.with_key(|key| unsafe {
        sys::bfs_contains_any(filters.as_ptr(), filters.len(), key.as_ptr().cast(), key.len(), answers)
    })
}

fn raw_of(filters: &[&Filter]) -> Vec<*const sys::bfs_filter> {
    filters.iter().map(|filter| filter.as_raw()).collect()
}

/// Makes a new file of the keys that each of the filters has, with the same layout, hash, seed and number of probes.
///
/// # Errors
/// [`Error::Mismatch`](crate::Error::Mismatch), [`Error::Exists`](crate::Error::Exists) and others: no file has
/// appeared.
pub fn intersect(filters: &[&Filter], path: impl AsRef<Path>) -> Result<()> {
    intersect_with(filters, path, &CopyOptions::new())
}

/// Intersects filters with options.
///
/// # Errors
/// As [`intersect`].
pub fn intersect_with(filters: &[&Filter], path: impl AsRef<Path>, options: &CopyOptions) -> Result<()> {
    made_of(filters, path.as_ref(), options, sys::bfs_intersect)
}

/// Makes a new file of the whole filter.  Each of its parts must occur once.
///
/// # Errors
/// [`Error::Mismatch`](crate::Error::Mismatch) names the part that is missing or occurs twice; others as [`intersect`].
pub fn join(parts: &[&Filter], path: impl AsRef<Path>) -> Result<()> {
    join_with(parts, path, &CopyOptions::new())
}

/// Joins parts with options.
///
/// # Errors
/// As [`join`].
pub fn join_with(parts: &[&Filter], path: impl AsRef<Path>, options: &CopyOptions) -> Result<()> {
    made_of(parts, path.as_ref(), options, sys::bfs_join)
}

/// Makes a small file of the bits that the file `after` has and the file `before` lacks.  `after` is `before` with more
/// keys, and both are copies or sealed files of the layout blocked or classic.
///
/// # Errors
/// [`Error::Mismatch`](crate::Error::Mismatch) if `after` is not `before` with more keys,
/// [`Error::Unsupported`](crate::Error::Unsupported) if bits of the layout can go away, and others.
pub fn make_delta(before: impl AsRef<Path>, after: impl AsRef<Path>, delta: impl AsRef<Path>) -> Result<()> {
    make_delta_with(before, after, delta, &CopyOptions::new())
}

/// Makes a delta with options.
///
/// # Errors
/// As [`make_delta`].
pub fn make_delta_with(
    before: impl AsRef<Path>,
    after: impl AsRef<Path>,
    delta: impl AsRef<Path>,
    options: &CopyOptions,
) -> Result<()> {
    of_paths([before.as_ref(), after.as_ref(), delta.as_ref()], options, sys::bfs_make_delta)
}

/// Makes the file `after` that the delta's maker had, of the file `before` from which the delta was made.
///
/// # Errors
/// [`Error::Mismatch`](crate::Error::Mismatch) if `before` is another file, and others.
pub fn apply_delta(before: impl AsRef<Path>, delta: impl AsRef<Path>, after: impl AsRef<Path>) -> Result<()> {
    apply_delta_with(before, delta, after, &CopyOptions::new())
}

/// Applies a delta with options.  With `replace(true)`, `after` may be `before` itself.
///
/// # Errors
/// As [`apply_delta`].
pub fn apply_delta_with(
    before: impl AsRef<Path>,
    delta: impl AsRef<Path>,
    after: impl AsRef<Path>,
    options: &CopyOptions,
) -> Result<()> {
    of_paths([before.as_ref(), delta.as_ref(), after.as_ref()], options, sys::bfs_apply_delta)
}

/// A function of the library that makes a file of two others.
type OfPaths = unsafe extern "C" fn(
    *const c_char,
    *const c_char,
    *const c_char,
    u64,
    *const sys::bfs_options,
    *mut sys::bfs_error,
) -> i32;

fn of_paths(paths: [&Path; 3], options: &CopyOptions, make: OfPaths) -> Result<()> {
    let (first, second, third) = (c_path(paths[0])?, c_path(paths[1])?, c_path(paths[2])?);
    options.with_raw(|flags, raw| {
        // SAFETY: paths and options live until the call returns.
        call(|error| unsafe { make(first.as_ptr(), second.as_ptr(), third.as_ptr(), flags, raw, error) }).map(drop)
    })
}

/// A function of the library that makes a file of several filters.
type MakeOf = unsafe extern "C" fn(
    *const *const sys::bfs_filter,
    usize,
    *const c_char,
    u64,
    *const sys::bfs_options,
    *mut sys::bfs_error,
) -> i32;

fn made_of(filters: &[&Filter], path: &Path, options: &CopyOptions, make: MakeOf) -> Result<()> {
    let path = c_path(path)?;
    let filters = raw_of(filters);
    options.with_raw(|flags, raw| {
        let (first, count) = (filters.as_ptr(), filters.len());
        // SAFETY: the filters are borrowed, and path and options live, until the call returns.
        call(|error| unsafe { make(first, count, path.as_ptr(), flags, raw, error) }).map(drop)
    })
}

//! Bare filters without a handle: for an engine whose tables have a small filter in each block.

use bfstore_sys as sys;

use crate::error::checked;
use crate::{AsKey, Hash, Keys, Layout, Result};

/// Returns `false` if the bare filter in `buffer` was certainly built without the key.  Returns `true` for every doubt,
/// also if the buffer is not a bare filter.
#[inline]
pub fn contains(buffer: &[u8], key: impl AsKey) -> bool {
    let (data, bytes) = (buffer.as_ptr().cast(), buffer.len() as u64);
    // SAFETY: buffer and key are borrowed until the call returns.
    key.with_key(|key| unsafe { sys::bfs_bare_contains(data, bytes, key.as_ptr().cast(), key.len()) != 0 })
}

/// Answers as [`contains`] for a key's digest: XXH3-64 with seed 0, or the program's own with [`Hash::External`].
#[inline]
pub fn contains_digest(buffer: &[u8], digest: u64) -> bool {
    // SAFETY: the buffer is borrowed until the call returns.
    unsafe { sys::bfs_bare_contains_digest(buffer.as_ptr().cast(), buffer.len() as u64, digest) != 0 }
}

/// Returns the bytes of a bare filter for this number of keys; `None` if no such filter exists.
pub fn bytes(num_keys: u64, bits_per_key: f64, layout: Layout) -> Option<u64> {
    // SAFETY: only numbers.
    match unsafe { sys::bfs_bare_bytes(num_keys, bits_per_key, layout.number()) } {
        0 => None,
        bytes => Some(bytes),
    }
}

/// Overwrites the buffer with a bare filter of these keys, which has the buffer's length: see [`bytes`].  The hash is
/// [`Hash::Xxh3`], or [`Hash::External`] with digests ([`Keys::digests`]).
///
/// # Errors
/// [`Error::Invalid`](crate::Error::Invalid): no filter of the layout has this length, the hash is not for bare filters,
/// or something is wrong with the keys.  [`Error::KindOfKey`](crate::Error::KindOfKey): keys instead of digests.  The
/// buffer is unchanged.
pub fn build<'k>(buffer: &mut [u8], layout: Layout, hash: Hash, keys: impl Into<Keys<'k>>) -> Result<()> {
    let keys = keys.into();
    let (data, bytes) = (buffer.as_mut_ptr().cast(), buffer.len() as u64);
    // SAFETY: buffer and keys are borrowed until the call returns.
    let code = unsafe { sys::bfs_bare_build(data, bytes, layout.number(), hash.number(), &keys.form()) };
    checked(code, "the bare filter").map(drop)
}

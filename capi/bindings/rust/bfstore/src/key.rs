//! One key, as bytes.

use std::borrow::Cow;

/// A type that can be a key.  Its bytes are the same in every language that bfstore supports.
///
/// - Bytes (`[u8]`, `[u8; N]`, `Vec<u8>`) are themselves.
/// - Text (`str`, `String`) is its UTF-8, without a terminator and without normalization.
/// - An integer of 16, 32 or 64 bits is 8 bytes, little-endian; a negative one its two's complement.  `5u16`, `5i32`
///   and `5u64` are one key.  A single byte (`u8`) is not a key: an iteration over `b"abc"` would make three integers
///   of it.
/// - No floats, no `bool`, no integers of more than 64 bits, no `char`:
///
/// ```compile_fail
/// let filter = bfstore::Filter::open("users.bf").unwrap();
/// filter.contains(1u128);
/// ```
///
/// Your own type can be a key, if it defines its bytes:
///
/// ```
/// struct UserId(u64);
///
/// impl bfstore::AsKey for UserId {
///     fn with_key<R>(&self, use_key: impl FnOnce(&[u8]) -> R) -> R {
///         self.0.with_key(use_key)
///     }
/// }
/// bfstore::AsKey::with_key(&UserId(1), |key| assert_eq!(key, [1, 0, 0, 0, 0, 0, 0, 0]));
/// ```
pub trait AsKey {
    /// Calls the function with the bytes of the key.
    fn with_key<R>(&self, use_key: impl FnOnce(&[u8]) -> R) -> R;
}

impl<K: AsKey + ?Sized> AsKey for &K {
    #[inline]
    fn with_key<R>(&self, use_key: impl FnOnce(&[u8]) -> R) -> R {
        (**self).with_key(use_key)
    }
}

impl<K: AsKey + ?Sized> AsKey for Box<K> {
    #[inline]
    fn with_key<R>(&self, use_key: impl FnOnce(&[u8]) -> R) -> R {
        (**self).with_key(use_key)
    }
}

macro_rules! bytes {
    ($($kind:ty)*) => {$(
        impl AsKey for $kind {
            #[inline]
            fn with_key<R>(&self, use_key: impl FnOnce(&[u8]) -> R) -> R {
                use_key(self.as_ref())
            }
        }
    )*};
}
bytes! { [u8] Vec<u8> str String }

impl<const N: usize> AsKey for [u8; N] {
    #[inline]
    fn with_key<R>(&self, use_key: impl FnOnce(&[u8]) -> R) -> R {
        use_key(self)
    }
}

impl<K: AsKey + ToOwned + ?Sized> AsKey for Cow<'_, K> {
    #[inline]
    fn with_key<R>(&self, use_key: impl FnOnce(&[u8]) -> R) -> R {
        (**self).with_key(use_key)
    }
}

macro_rules! integers {
    ($($kind:ty as $wide:ty),*) => {$(
        impl AsKey for $kind {
            #[inline]
            fn with_key<R>(&self, use_key: impl FnOnce(&[u8]) -> R) -> R {
                use_key(&(*self as $wide).to_le_bytes())
            }
        }
    )*};
}
integers! { u16 as u64, u32 as u64, u64 as u64, usize as u64, i16 as i64, i32 as i64, i64 as i64, isize as i64 }

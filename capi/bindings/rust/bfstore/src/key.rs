//! One key, as bytes.

use std::borrow::Cow;
use std::mem::size_of;
use std::rc::Rc;
use std::sync::Arc;

use crate::Keys;

/// A type that can be a key.  Its bytes are the same in every language that bfstore supports.
///
/// - Bytes (`[u8]`, `[u8; N]`, `Vec<u8>`) are themselves.
/// - Text (`str`, `String`) is its UTF-8, without a terminator and without normalization.
/// - An integer of 16, 32 or 64 bits is 8 bytes, little-endian; a negative one its two's complement.  `5u16`, `5i32`
///   and `5u64` are one key.  A single `u8` is not a key: what yields bytes, such as `b"abc".iter()`, is nearly always one
///   key and not many, and `add_iter` would take each byte for an integer.  Where a byte is meant as an integer, cast it
///   (`u64::from(byte)`); where it is a key of one byte, pass `[byte]`.
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

    /// Returns the bytes of the key, if they are in memory already.
    #[doc(hidden)]
    fn key_in_memory(&self) -> Option<&[u8]> {
        None
    }

    /// Returns many keys: the fastest way that the type has.
    #[doc(hidden)]
    fn many(keys: &[Self]) -> Keys<'_>
    where
        Self: Sized,
    {
        Keys::gathered(keys)
    }

    /// Returns many keys, by their references.
    #[doc(hidden)]
    fn many_refs<'a>(keys: &'a [&'a Self]) -> Keys<'a> {
        Keys::gathered(keys)
    }
}

impl<K: AsKey + ?Sized> AsKey for &K {
    #[inline]
    fn with_key<R>(&self, use_key: impl FnOnce(&[u8]) -> R) -> R {
        (**self).with_key(use_key)
    }

    fn key_in_memory(&self) -> Option<&[u8]> {
        (**self).key_in_memory()
    }

    fn many(keys: &[Self]) -> Keys<'_> {
        K::many_refs(keys)
    }
}

macro_rules! owners {
    ($($owner:ident)*) => {$(
        impl<K: AsKey + ?Sized> AsKey for $owner<K> {
            #[inline]
            fn with_key<R>(&self, use_key: impl FnOnce(&[u8]) -> R) -> R {
                (**self).with_key(use_key)
            }

            fn key_in_memory(&self) -> Option<&[u8]> {
                (**self).key_in_memory()
            }
        }
    )*};
}
owners! { Box Rc Arc }

impl<K: AsKey + ToOwned + ?Sized> AsKey for Cow<'_, K> {
    #[inline]
    fn with_key<R>(&self, use_key: impl FnOnce(&[u8]) -> R) -> R {
        (**self).with_key(use_key)
    }

    fn key_in_memory(&self) -> Option<&[u8]> {
        (**self).key_in_memory()
    }
}

macro_rules! bytes {
    ($([$($parameter:tt)*] $kind:ty { $($more:item)* })*) => {$(
        impl<$($parameter)*> AsKey for $kind {
            #[inline]
            fn with_key<R>(&self, use_key: impl FnOnce(&[u8]) -> R) -> R {
                use_key(self.as_ref())
            }

            fn key_in_memory(&self) -> Option<&[u8]> {
                Some(self.as_ref())
            }

            $($more)*
        }
    )*};
}
bytes! {
    [] Vec<u8> {}
    [] String {}
    [] [u8] {
        fn many_refs<'a>(keys: &'a [&'a Self]) -> Keys<'a> {
            Keys::pairs(keys)
        }
    }
    [] str {
        fn many_refs<'a>(keys: &'a [&'a Self]) -> Keys<'a> {
            Keys::pairs(keys)
        }
    }
    [const N: usize] [u8; N] {
        fn many(keys: &[Self]) -> Keys<'_> {
            Keys::rows(keys)
        }
    }
}

macro_rules! integers {
    ($($kind:ty as $wide:ty),*) => {$(
        impl AsKey for $kind {
            #[inline]
            fn with_key<R>(&self, use_key: impl FnOnce(&[u8]) -> R) -> R {
                use_key(&(*self as $wide).to_le_bytes())
            }

            fn many(keys: &[Self]) -> Keys<'_> {
                if cfg!(target_endian = "little") && size_of::<Self>() == 8 {
                    return Keys::words(keys);
                }
                Keys::integers(keys.iter().map(|key| (*key as $wide).to_le_bytes()))
            }
        }
    )*};
}
integers! { u16 as u64, u32 as u64, u64 as u64, usize as u64, i16 as i64, i32 as i64, i64 as i64, isize as i64 }

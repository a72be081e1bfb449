//! Memory at a multiple of 64, for filters in buffers.

use std::fmt;
use std::ops::{Deref, DerefMut};

#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Line([u8; 64]);

/// Bytes at an address that is a multiple of 64: for [`CreateOptions::format`](crate::CreateOptions::format) and
/// [`OpenOptions::wrap`](crate::OpenOptions::wrap).
#[derive(Clone, Default)]
pub struct AlignedBytes {
    lines: Vec<Line>,
    length: usize,
}

impl AlignedBytes {
    /// Makes this number of zeros.
    pub fn zeroed(length: usize) -> AlignedBytes {
        let lines = length / 64 + usize::from(length % 64 != 0);
        AlignedBytes { lines: vec![Line([0; 64]); lines], length }
    }
}

impl From<&[u8]> for AlignedBytes {
    fn from(bytes: &[u8]) -> AlignedBytes {
        let mut copy = AlignedBytes::zeroed(bytes.len());
        copy.copy_from_slice(bytes);
        copy
    }
}

impl Deref for AlignedBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: `length` bytes of lines without gaps.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.length) }
    }
}

impl DerefMut for AlignedBytes {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.length) }
    }
}

impl fmt::Debug for AlignedBytes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "AlignedBytes({} bytes)", self.length)
    }
}

#![doc = include_str!("../README.md")]
#![deny(missing_docs)]
#![warn(unsafe_op_in_unsafe_fn, missing_debug_implementations)]

pub mod bare;
mod buffer;
mod error;
mod facts;
mod files;
mod filter;
mod foreign;
mod key;
mod keys;
mod options;
mod words;

pub use bfstore_sys as sys;
pub use buffer::AlignedBytes;
pub use error::{strerror, Error, Failure, Result};
pub use facts::{
    Abilities, BitOrder, Comparison, Differences, Fill, Foreign, ForeignNeeds, Hash, Interval, Layout, LogPosition,
    Mark, Measure, Memory, Plan, PlanRequest, Statistics,
};
pub use files::{
    apply_delta, apply_delta_with, contains_any, intersect, intersect_with, join, join_with, make_delta, make_delta_with,
    verify, verify_nofollow, which,
};
pub use filter::{BufferFilter, Filter, SelectIter};
pub use foreign::{foreign_formats, inspect_foreign, recognize_foreign, recognize_foreign_nofollow, ForeignForm};
pub use key::AsKey;
pub use keys::Keys;
pub use options::{CopyOptions, CreateOptions, DumpOptions, OpenOptions};

/// Returns "1.2.3", the version of the running library.
pub fn version() -> &'static str {
    // SAFETY: no arguments; the text is static.
    error::static_text(unsafe { sys::bfs_version() })
}

//! bfstore's C ABI, as it is: constants, structs and functions of its headers, with their names. Programs use the crate
//! `bfstore`, which is safe; this one is for other bindings of the kind, and for what is not in `bfstore`.
//!
//! What each item means, its threads, its errors, and what a crash does, the headers say once, for all languages:
//!
//! ```c
#![doc = include_str!("../vendor/capi/bfstore.h")]
#![doc = include_str!("../vendor/capi/bfstore_interop.h")]
//! ```
#![allow(non_camel_case_types)]

mod abi;

pub use abi::*;

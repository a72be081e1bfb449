//! bfstore's C ABI, unchanged: constants, structs and functions of its headers, with their names. Programs use the
//! crate `bfstore`, which is safe; this crate is for other bindings, and for functions that `bfstore` lacks.
//!
//! The headers define once, for all languages, what each item means, its threads, its errors, and what a crash does:
//!
//! ```c
#![doc = include_str!("../vendor/capi/bfstore_codes.h")]
#![doc = include_str!("../vendor/capi/bfstore.h")]
#![doc = include_str!("../vendor/capi/bfstore_engine.h")]
#![doc = include_str!("../vendor/capi/bfstore_sets.h")]
#![doc = include_str!("../vendor/capi/bfstore_memory.h")]
#![doc = include_str!("../vendor/capi/bfstore_interop.h")]
//! ```
#![allow(non_camel_case_types)]

mod abi;

pub use abi::*;

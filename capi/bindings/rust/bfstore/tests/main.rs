//! All tests in one program: cargo would link each file separately.

mod batches;
mod errors;
mod files;
mod header;
mod keys;
mod life;
mod package;
mod support;
mod windows;

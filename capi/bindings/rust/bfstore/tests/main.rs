//! The tests, as one program: cargo links each file of its own anew.

mod batches;
mod errors;
mod files;
mod header;
mod keys;
mod life;
mod package;
mod support;

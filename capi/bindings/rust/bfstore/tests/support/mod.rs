//! The common part of the tests: a folder for each test, the repository's files, and a JSON reader.

pub mod json;

use std::env;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::sync::atomic::{AtomicU32, Ordering};

use bfstore::{CreateOptions, Error, Filter, Result};

static FOLDERS: AtomicU32 = AtomicU32::new(0);

/// An empty folder that is removed with the test.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Folder {
        loop {
            let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
            let path = env::temp_dir().join(format!("bfstore-rust-{}-{number}", process::id()));
            match fs::create_dir(&path) {
                Ok(()) => return Folder(path),
                // A killed process left it, which had the number of this one.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                Err(error) => panic!("{}: {error}", path.display()),
            }
        }
    }

    pub fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.join(name)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Returns the path of the one filter that most tests have.
    pub fn filter(&self) -> PathBuf {
        self.join("filter.bf")
    }

    /// Makes a filter for 10,000 keys at filter(), open for writing.
    pub fn create(&self) -> Filter {
        small().create(self.filter()).unwrap()
    }

    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(&self.0)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Returns the options of a filter for 10,000 keys.  The seed is fixed: no absent key is there by chance.
pub fn small<'a>() -> CreateOptions<'a> {
    let mut options = unseeded();
    options.seed(1);
    options
}

/// As small(), for the hashes that take no seed.
pub fn unseeded<'a>() -> CreateOptions<'a> {
    let mut options = Filter::options_to_create();
    options.capacity(10_000);
    options
}

/// Returns the path of a file of the repository.
pub fn repository(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../..").join(name)
}

pub fn read(path: impl AsRef<Path>) -> String {
    let path = path.as_ref();
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the error of a call that must fail.  Each error has words.
#[track_caller]
pub fn failed<T>(result: Result<T>) -> Error {
    match result {
        Ok(_) => panic!("no error"),
        Err(error) => {
            assert!(error.to_string().len() > 10, "{error:?} has no words");
            error
        }
    }
}

#[track_caller]
pub fn failed_with<T>(result: Result<T>, code_name: &str) -> Error {
    let error = failed(result);
    assert_eq!(error.code_name(), code_name, "{error}");
    error
}

/// Counts the set bits of a filter.
pub fn set_bits(filter: &Filter) -> u64 {
    let measured = filter.stats_with(bfstore::Measure { fill: true, memory: false }).unwrap();
    measured.fill.unwrap().set_bits
}

/// Returns a command that runs one otherwise ignored test in a process of its own.
pub fn child(name: &str) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args([name, "--exact", "--ignored", "--nocapture", "--test-threads=1"]);
    command
}

/// Runs the command, which must succeed with that one test.  Returns its standard error.
#[track_caller]
pub fn succeeds(command: &mut Command) -> String {
    let done = command.output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success() && out.contains("1 passed"), "{:?}\n{out}\n{err}", done.status);
    err.into_owned()
}

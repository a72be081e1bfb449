//! Errors: variants by which a program decides, each with the library's code, errno and message.

use std::ffi::CStr;
use std::fmt;
use std::io;
use std::os::raw::c_char;

use bfstore_sys as sys;

use crate::words;

/// A failure: the code, the errno, and a sentence that names the thing and the way out.
#[derive(Clone, PartialEq, Eq)]
pub struct Failure {
    code: i32,
    os_errno: i32,
    rule: u32,
    message: String,
}

/// The result of a function of this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

macro_rules! errors {
    ($($(#[$words:meta])* $name:ident: $($code:ident)*;)*) => {
        /// Any error of bfstore.  Its text says what failed, on what, and what to do.
        ///
        /// A program decides by the variant.  [`code`](Error::code) is finer: `BFS_ESUPERSEDED` means that the path has
        /// another file now.
        ///
        /// ```
        /// use bfstore::{Error, Filter};
        /// let error = Filter::open("/no/such/file.bf").unwrap_err();
        /// assert!(matches!(error, Error::NotFound(_)));
        /// assert_eq!((error.code(), error.os_errno()), (bfstore::sys::BFS_ENOENT, 2));
        /// assert_eq!(std::io::Error::from(error).kind(), std::io::ErrorKind::NotFound);
        /// ```
        #[non_exhaustive]
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum Error {
            $($(#[$words])* $name(Failure),)*
        }

        impl Error {
            /// Returns the failure, whatever the variant.
            pub fn failure(&self) -> &Failure {
                match self {
                    $(Error::$name(failure) => failure,)*
                }
            }

            /// Treats a code that this release does not know as its range: see `BFS_IS_CALL_ERROR`.
            fn of_failure(failure: Failure) -> Error {
                match failure.code {
                    $($(sys::$code => Error::$name(failure),)*)*
                    -99..=-1 => Error::Call(failure),
                    -199..=-100 => Error::State(failure),
                    -299..=-200 => Error::Malformed(failure),
                    _ => Error::Other(failure),
                }
            }
        }
    };
}

errors! {
    /// An argument is out of range, or contradicts another, or no filter can have this shape.
    Invalid: BFS_EINVAL BFS_ESIZING;
    /// Out of memory.
    MemoryShort: BFS_ENOMEM;
    /// A system call failed: [`os_errno`](Error::os_errno) says why.
    SystemFailed: BFS_ESYSTEM;
    /// Another user of the file excludes this for now: try again later.
    Busy: BFS_EBUSY;
    /// The file exists.
    Exists: BFS_EEXIST;
    /// The file does not exist.
    NotFound: BFS_ENOENT;
    /// Permission denied.
    NoPermission: BFS_EACCES;
    /// The filter was opened for reading.
    ReadOnly: BFS_EREADONLY;
    /// The disk, the quota or the file size limit is full.
    NoSpace: BFS_ENOSPC;
    /// The file takes only digests, or only keys.
    KindOfKey: BFS_EDIGESTONLY BFS_EKEYONLY;
    /// The filter's layout cannot do this.
    Unsupported: BFS_EUNSUPPORTED;
    /// The filter was opened before a fork, and this is the child: open the path again.
    Forked: BFS_EFORKED;
    /// On a network filesystem or a read-only overlay, which may show readers an older file: see `any_filesystem`.
    Filesystem: BFS_EFILESYSTEM;
    /// The secret is missing, is another one, or the filter has none.
    Secret: BFS_ESECRET;
    /// [`Filter::shut`](crate::Filter::shut) ended the filter's work.
    Shut: BFS_ESHUT;
    /// The key belongs to another part of the whole filter than this one.
    Part: BFS_EPART;
    /// Two filters differ in what must be equal.
    Mismatch: BFS_EMISMATCH;
    /// Not closed cleanly before a crash, poisoned, or being recovered: open it with `recover(true)`.
    Recovery: BFS_EUNCLEAN BFS_EPOISONED BFS_ERECOVERING;
    /// Lost, superseded or unreadable: every answer is "maybe".  Open the path again.
    Doubt: BFS_ELOST BFS_ESUPERSEDED BFS_EFAULT;
    /// The filter knows 64 owners of marks, and no more fit: drop an owner.
    Owners: BFS_EOWNERS;
    /// The filter has a limit, and is at its capacity.
    Full: BFS_EFULL;
    /// The file is sealed, and takes no key; or it is not, and has no checksums.
    Sealed: BFS_ESEALED BFS_ENOTSEALED;
    /// A sealed file has other bytes than when it was sealed.
    Damaged: BFS_EDAMAGED;
    /// Not every key was added yet: every answer is "maybe".
    Filling: BFS_EFILLING;
    /// What is at the path is not a good filter file.  [`rule`](Error::rule) is the broken rule of the format.
    Malformed: BFS_ENOTREGULAR BFS_ESYMLINK BFS_EMALFORMED;
    /// The file needs a later version of the library: it has another major version of the format, or a feature, layout,
    /// hash or state that this library does not know.
    TooNew: BFS_EVERSION BFS_EFEATURE BFS_ELATER;
    /// A bug in bfstore.
    Internal: BFS_EINTERNAL;
    /// Another error of the call, or of the system.
    Call: ;
    /// Another state of a good file that forbids this.
    State: ;
    /// A code outside of the ranges that this release knows.
    Other: ;
}

/// The sentence, as that of the [`Error`].
impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

/// What a `main` prints that returns the error: the sentence first.
impl fmt::Debug for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}, {}", self.message, code_name(self.code))?;
        match (self.os_errno, self.rule) {
            (0, 0) => Ok(()),
            (errno, 0) => write!(formatter, ", errno {errno}"),
            (_, rule) => write!(formatter, ", rule {rule}"),
        }
    }
}

impl Error {
    /// Returns the `BFS_E` code, as in [`sys`](crate::sys).
    pub fn code(&self) -> i32 {
        self.failure().code
    }

    /// Returns the name of the code: `"BFS_EUNCLEAN"`.
    pub fn code_name(&self) -> &'static str {
        code_name(self.code())
    }

    /// Returns errno of the failed system call, or the one that means the same as the code; 0: none.
    pub fn os_errno(&self) -> i32 {
        self.failure().os_errno
    }

    /// Returns the number of the rule in FORMAT.md, "A reader's checklist", that a file with the code `BFS_EMALFORMED` breaks; 0: none.
    pub fn rule(&self) -> u32 {
        self.failure().rule
    }

    /// Returns the matching kind of `std::io`.
    pub fn kind(&self) -> io::ErrorKind {
        match self {
            Error::Invalid(_) | Error::KindOfKey(_) | Error::Mismatch(_) => io::ErrorKind::InvalidInput,
            Error::MemoryShort(_) => io::ErrorKind::OutOfMemory,
            Error::Busy(_) => io::ErrorKind::WouldBlock,
            Error::Exists(_) => io::ErrorKind::AlreadyExists,
            Error::NotFound(_) => io::ErrorKind::NotFound,
            Error::NoPermission(_) | Error::ReadOnly(_) => io::ErrorKind::PermissionDenied,
            Error::Unsupported(_) | Error::TooNew(_) => io::ErrorKind::Unsupported,
            Error::Damaged(_) | Error::Malformed(_) => io::ErrorKind::InvalidData,
            Error::SystemFailed(_) | Error::NoSpace(_) if self.os_errno() != 0 => {
                io::Error::from_raw_os_error(self.os_errno()).kind()
            }
            _ => io::ErrorKind::Other,
        }
    }

    /// Makes the error of a code without a `bfs_error`.  `name` names the thing that failed.
    #[cold]
    pub(crate) fn of_code(code: i32, name: &str) -> Error {
        Error::of_failure(Failure {
            code,
            os_errno: 0,
            rule: 0,
            message: format!("{name}: {}", in_rust(strerror(code))),
        })
    }

    /// Makes an error that the binding itself finds, before it calls the library.
    pub(crate) fn invalid(message: impl Into<String>) -> Error {
        Error::Invalid(Failure { code: sys::BFS_EINVAL, os_errno: 0, rule: 0, message: message.into() })
    }

    /// Makes the error of a build of more keys than the capacity, as `bfs_build` does.
    pub(crate) fn too_many_keys(name: &str, capacity: u64) -> Error {
        let message = format!(
            "{name}: not built, for there are more keys than its capacity, {capacity}. Give a greater one, or none."
        );
        Error::Full(Failure { code: sys::BFS_EFULL, os_errno: 0, rule: 0, message })
    }

    fn of_record(code: i32, record: &sys::bfs_error) -> Error {
        let message = match text(&record.message) {
            words if words.is_empty() => in_rust(strerror(code)),
            words => in_rust(&words),
        };
        Error::of_failure(Failure { code, os_errno: record.os_errno, rule: record.rule, message })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.failure(), formatter)
    }
}

impl std::error::Error for Error {}

impl From<Error> for io::Error {
    fn from(error: Error) -> io::Error {
        io::Error::new(error.kind(), error)
    }
}

/// Returns the library's words with what options and calls are called here.  A path stays as it is.
fn in_rust(message: &str) -> String {
    let called = words::FUNCTIONS.iter().find_map(|(theirs, own)| {
        let rest = message.strip_prefix(theirs).filter(|rest| rest.starts_with([':', ' ']))?;
        Some(format!("{own}{rest}"))
    });
    let qualified = called.is_some() || message.starts_with("bfs_options.");
    let mut text = called.unwrap_or_else(|| message.to_string());
    for (theirs, own) in words::PHRASES {
        text = text.replace(theirs, own);
    }
    let names = || words::NAMES.iter().chain(words::QUALIFIED.iter().filter(|_| qualified));
    let in_own = |word: &str| {
        // What is between two spaces, so that a path is none.
        let bare = word.trim_end_matches([',', '.', ';', ')']).trim_start_matches('(');
        match names().find(|(theirs, _)| bare == *theirs) {
            Some((theirs, own)) => word.replacen(theirs, own, 1),
            None => word.to_string(),
        }
    };
    text.split(' ').map(in_own).collect::<Vec<_>>().join(" ")
}

/// Returns one sentence for a `BFS_E` code.
pub fn strerror(code: i32) -> &'static str {
    // SAFETY: any number is allowed; the text is static and ends with a zero.
    static_text(unsafe { sys::bfs_strerror(code) })
}

pub(crate) fn code_name(code: i32) -> &'static str {
    // SAFETY: as above.
    static_text(unsafe { sys::bfs_code_name(code) })
}

pub(crate) fn static_text(text: *const c_char) -> &'static str {
    // SAFETY: the library's texts are static and end with a zero; the caller has checked a text that may be NULL.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap_or("?")
}

/// Returns the text in an array of the library, up to its zero.
pub(crate) fn text(array: &[c_char]) -> String {
    let bytes: Vec<u8> = array.iter().take_while(|&&unit| unit != 0).map(|&unit| unit as u8).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Calls a function of the library with a record for its error.  Returns the function's result if that is not a code.
pub(crate) fn call<T: Into<i64>>(function: impl FnOnce(*mut sys::bfs_error) -> T) -> Result<u64> {
    let mut record = sys::bfs_error::default();
    let returned = function(&mut record).into();
    u64::try_from(returned).map_err(|_| Error::of_record(returned as i32, &record))
}

/// Checks the result of a function without a record for its error.
#[inline]
pub(crate) fn checked(returned: impl Into<i64>, name: &str) -> Result<u64> {
    let returned = returned.into();
    u64::try_from(returned).map_err(|_| Error::of_code(returned as i32, name))
}

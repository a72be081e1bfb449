//! Finds libbfstore: BFSTORE_ARCHIVE (the path of a libbfstore.a), or that of the clone's build-release, or pkg-config's
//! bfstore of this version, or the sources in vendor/, which meson builds (it needs meson, ninja, a C++20 compiler,
//! pkg-config, and the headers of Boost and xxHash).  BFSTORE_VENDORED=1 builds them in any case.  BFSTORE_STATIC_LIBSTDCXX=1 puts libstdc++ into the program, as does
//! -C target-feature=+crt-static, with which nothing may be shared.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{self, Command};

const ASKED: [&str; 6] =
    ["BFSTORE_ARCHIVE", "BFSTORE_VENDORED", "BFSTORE_STATIC_LIBSTDCXX", "PKG_CONFIG_PATH", "PKG_CONFIG_LIBDIR", "CXX"];

fn main() {
    for name in ASKED {
        println!("cargo:rerun-if-env-changed={name}");
    }
    if env::var_os("DOCS_RS").is_some() {
        return; // documentation links nothing, and its builder has no network
    }
    if let Some(archive) = env::var_os("BFSTORE_ARCHIVE") {
        link_archive(Path::new(&archive));
    } else if env::var_os("BFSTORE_VENDORED").is_some() {
        link_archive(&build_vendored());
    } else if let Some(archive) = built() {
        link_archive(&archive);
    } else if is_static() || !link_installed() {
        println!(
            "cargo:warning=no libbfstore {} was built in the clone or installed, so its sources are compiled, which takes \
             minutes; BFSTORE_ARCHIVE names the path of one that was built",
            env!("CARGO_PKG_VERSION")
        );
        link_archive(&build_vendored());
    }
}

/// Ends the build with a message that cargo shows.
fn fail(words: &str) -> ! {
    eprintln!("bfstore-sys: {words}");
    process::exit(1)
}

/// Links the archive and its libraries, so that the program needs no libbfstore.so.
fn link_archive(archive: &Path) {
    if !archive.is_file() {
        fail(&format!("{} is no file: BFSTORE_ARCHIVE is the path of libbfstore.a", archive.display()));
    }
    println!("cargo:rerun-if-changed={}", archive.display());
    println!("cargo:rustc-link-search=native={}", folder_of(archive).display());
    println!("cargo:rustc-link-lib=static=bfstore");
    if is_static() || env::var_os("BFSTORE_STATIC_LIBSTDCXX").is_some() {
        println!("cargo:rustc-link-search=native={}", folder_of_libstdcxx().display());
        println!("cargo:rustc-link-lib=static:-bundle=stdc++");
    } else {
        println!("cargo:rustc-link-lib=dylib=stdc++");
    }
    for library in ["m", "pthread"] {
        println!("cargo:rustc-link-lib={}={library}", if is_static() { "static:-bundle" } else { "dylib" });
    }
}

/// Returns a folder in which the archive is libbfstore.a, the one name that the linker looks for.
fn folder_of(archive: &Path) -> PathBuf {
    const NAME: &str = "libbfstore.a";
    let linked = || -> std::io::Result<PathBuf> {
        let whole = archive.canonicalize()?;
        if archive.file_name() == Some(NAME.as_ref()) {
            return Ok(archive.parent().unwrap_or(&whole).to_path_buf());
        }
        let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("archive");
        std::fs::create_dir_all(&folder)?;
        let _ = std::fs::remove_file(folder.join(NAME)); // of the last build
        std::os::unix::fs::symlink(whole, folder.join(NAME))?;
        Ok(folder)
    };
    linked().unwrap_or_else(|error| fail(&format!("{}: {error}", archive.display())))
}

/// Whether the program has no shared library at all.  With one, even libstdc++, it would crash as soon as it starts.
fn is_static() -> bool {
    env::var("CARGO_CFG_TARGET_FEATURE").map_or(false, |all| all.split(',').any(|one| one == "crt-static"))
}

/// Asks the C++ compiler for the folder of its libstdc++.a, which is in none that the linker searches for rustc.
fn folder_of_libstdcxx() -> PathBuf {
    let compiler = env::var_os("CXX").unwrap_or_else(|| "c++".into());
    let asked = Command::new(&compiler).arg("-print-file-name=libstdc++.a").output();
    let archive =
        PathBuf::from(asked.map_or(String::new(), |said| String::from_utf8_lossy(&said.stdout).trim().to_string()));
    match archive.parent() {
        Some(folder) if archive.is_file() => folder.to_path_buf(),
        _ => fail(&format!(
            "{compiler:?} has no libstdc++.a, which a program without libstdc++.so.6 needs (Debian: apt install g++)"
        )),
    }
}

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("vendor")
}

/// Returns the path of the archive in the build directory of tools/demo and tools/test, where ninja brings it up to date.
/// A clone has links in vendor/: a package has files, and no such directory beside them.
fn built() -> Option<PathBuf> {
    let root = sources().join("meson.build").canonicalize().ok()?.parent()?.to_path_buf();
    let folder = root.join("build-release");
    if !folder.join("build.ninja").is_file() {
        return None;
    }
    println!("cargo:rerun-if-changed={}", sources().display());
    let made = Command::new("ninja").arg("-C").arg(&folder).arg("capi/libbfstore.a").status();
    made.ok()?.success().then(|| folder.join("capi").join("libbfstore.a"))
}

/// Links an installed library of exactly this version: before 1.0 each release may change the ABI.  Returns whether it
/// exists.
fn link_installed() -> bool {
    let wanted = format!("bfstore = {}", env!("CARGO_PKG_VERSION"));
    let pkg_config = env::var_os("PKG_CONFIG").unwrap_or_else(|| "pkg-config".into());
    let asked = match Command::new(pkg_config).args(["--libs", &wanted]).output() {
        Ok(asked) if asked.status.success() => asked,
        _ => return false,
    };
    for word in String::from_utf8_lossy(&asked.stdout).split_whitespace() {
        if let Some(folder) = word.strip_prefix("-L") {
            println!("cargo:rustc-link-search=native={folder}");
        } else if let Some(library) = word.strip_prefix("-l") {
            println!("cargo:rustc-link-lib=dylib={library}");
        }
    }
    true
}

/// Builds libbfstore.a in cargo's folder: nothing is written next to the sources.
fn build_vendored() -> PathBuf {
    let sources = sources();
    println!("cargo:rerun-if-changed={}", sources.display());
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("library");
    if !folder.join("build.ninja").is_file() {
        run(Command::new("meson").args(["setup", "-Dtools=false", "-Db_pch=false"]).arg(&folder).arg(&sources));
    }
    let mut ninja = Command::new("ninja");
    if let Some(jobs) = env::var_os("NUM_JOBS") {
        ninja.arg("-j").arg(jobs); // as many as cargo may run
    }
    run(ninja.arg("-C").arg(&folder).arg("capi/libbfstore.a"));
    folder.join("capi").join("libbfstore.a")
}

fn run(command: &mut Command) {
    match command.status() {
        Ok(status) if status.success() => (),
        Ok(status) => fail(&format!("{command:?} failed ({status})")),
        Err(error) => fail(&format!(
            "{command:?}: {error}.  The library is built by meson and ninja, with a C++20 compiler, pkg-config, and the \
             headers of Boost and xxHash (Debian: apt install g++ meson pkg-config libboost-dev libxxhash-dev).  Or set \
             BFSTORE_ARCHIVE to a libbfstore.a, or install bfstore {}.",
            env!("CARGO_PKG_VERSION")
        )),
    }
}

//! Both crates are documented, packaged without a network, unpacked into an empty place, used by README's program, and
//! removed.

use std::env;
use std::fs;
use std::os::unix::fs::{symlink, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use crate::support::{read, repository, Folder};

fn cargo(folder: &Path) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .current_dir(folder)
        .env("CARGO_HOME", folder.join("cargo-home"))
        .env("CARGO_TARGET_DIR", folder.join("target"));
    command
}

#[track_caller]
fn run(command: &mut Command) -> String {
    let done = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let out = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success(), "{command:?}\n{out}\n{}", String::from_utf8_lossy(&done.stderr));
    out
}

/// An empty place with a registry in a folder, as `cargo vendor` makes one, instead of the network's registry.
struct Place {
    folder: Folder,
    packages: PathBuf,
}

impl Place {
    fn new() -> Place {
        let folder = Folder::new();
        let packages = folder.join("registry");
        fs::create_dir(&packages).unwrap();
        let config = "[source.crates-io]\nreplace-with = \"here\"\n[source.here]\ndirectory = \"registry\"\n";
        fs::create_dir(folder.join(".cargo")).unwrap();
        fs::write(folder.join(".cargo/config.toml"), config).unwrap();
        Place { folder, packages }
    }

    /// Packages a crate of the tree, and unpacks it into the registry.
    fn install(&self, name: &str) -> PathBuf {
        let manifest = repository("capi/bindings/rust").join(name).join("Cargo.toml");
        let mut package = cargo(self.folder.path());
        run(package.args(["package", "--offline", "--no-verify", "--allow-dirty", "--manifest-path"]).arg(manifest));
        let name = format!("{name}-{}", bfstore::version());
        let archive = self.folder.join("target/package").join(format!("{name}.crate"));
        run(Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(&self.packages));
        let unpacked = self.packages.join(name);
        fs::write(unpacked.join(".cargo-checksum.json"), "{\"files\": {}}").unwrap();
        unpacked
    }

    /// Writes README's program, with the crate as its only dependency.
    fn write_program(&self) -> PathBuf {
        let readme = read(repository("capi/bindings/rust/README.md"));
        let program = readme.split("```rust,no_run\n").nth(1).unwrap().split("```").next().unwrap();
        let folder = self.folder.join("program");
        fs::create_dir_all(folder.join("src")).unwrap();
        let dependency = format!("bfstore = \"{}\"", bfstore::version());
        let manifest = format!(
            "[package]\nname = \"program\"\nversion = \"1.0.0\"\nedition = \"2021\"\n[dependencies]\n{dependency}\n"
        );
        fs::write(folder.join("Cargo.toml"), manifest).unwrap();
        fs::write(folder.join("src/main.rs"), program).unwrap();
        folder
    }

    fn build(&self) -> Command {
        let manifest = self.write_program().join("Cargo.toml");
        let mut build = cargo(self.folder.path());
        build.args(["build", "--offline", "--manifest-path"]).arg(manifest);
        build
    }

    fn program(&self) -> Command {
        let mut program = Command::new(self.folder.join("target/debug/program"));
        program.current_dir(self.folder.path());
        program
    }
}

const SAID: &str = "true false\n[true, false]\n";

#[test]
fn packages_are_made_used_and_removed() {
    let place = Place::new();
    place.install("bfstore-sys");
    let package = place.install("bfstore");
    a_path_of_no_archive_is_an_error_with_words(&place);
    a_library_that_must_be_compiled_is_announced(&place);
    an_archive_may_have_another_name(&place);
    run(&mut place.build());
    for _ in 0..2 {
        assert_eq!(run(&mut place.program()), SAID);
    }
    processes_that_run_it_at_once_all_succeed(&place);
    a_program_may_have_libstdcxx_in_it(&place);
    an_installed_library_is_linked(&place);
    fs::remove_dir_all(package).unwrap();
    fs::remove_file(place.folder.join("program/Cargo.lock")).unwrap();
    assert!(!place.build().output().unwrap().status.success());
}

/// Each round has a folder without the file, so that its processes compete to make it.
fn processes_that_run_it_at_once_all_succeed(place: &Place) {
    const ROUNDS: usize = 40;
    const PROCESSES: usize = 4;
    let mut succeeded = 0;
    for _ in 0..ROUNDS {
        let folder = Folder::new();
        let start = || place.program().current_dir(folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let processes: Vec<Child> = (0..PROCESSES).map(|_| start().unwrap()).collect();
        for process in processes {
            let done = process.wait_with_output().unwrap();
            assert!(done.status.success() && done.stdout == SAID.as_bytes(), "{succeeded} succeeded, then: {done:?}");
            succeeded += 1;
        }
        assert_eq!(folder.names(), ["users.bf"]);
    }
    assert_eq!(succeeded, ROUNDS * PROCESSES);
}

fn a_path_of_no_archive_is_an_error_with_words(place: &Place) {
    let done = place.build().env("BFSTORE_ARCHIVE", "/no/libbfstore.a").output().unwrap();
    assert!(!done.status.success());
    assert!(String::from_utf8_lossy(&done.stderr).contains("BFSTORE_ARCHIVE is the path of libbfstore.a"), "{done:?}");
}

fn archive() -> PathBuf {
    PathBuf::from(env::var_os("BFSTORE_ARCHIVE").expect("run by tests/bindings/run.py"))
}

/// The linker took the library that is named libbfstore.a, or found none.
fn an_archive_may_have_another_name(place: &Place) {
    let other = place.folder.join("mine-1.0.a");
    symlink(archive(), &other).unwrap();
    run(place.build().env("BFSTORE_ARCHIVE", &other));
    assert_eq!(run(&mut place.program()), SAID);
    fs::remove_file(place.folder.join("users.bf")).unwrap();
}

/// Cargo shows these lines of a crate at a path; -vv shows those of every crate.  Two scripts stand for meson and ninja.
fn a_library_that_must_be_compiled_is_announced(place: &Place) {
    let tools = place.folder.join("tools");
    fs::create_dir(&tools).unwrap();
    for (name, does) in [("meson", "mkdir -p \"$4\" && : > \"$4/build.ninja\""), ("ninja", NINJA)] {
        fs::write(tools.join(name), format!("#!/bin/sh\n{does}\n")).unwrap();
        fs::set_permissions(tools.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:{}", tools.display(), env::var("PATH").unwrap());
    let mut build = place.build();
    build.arg("-vv").env("PATH", path).env("PKG_CONFIG", "false").env("MADE", archive()).env_remove("BFSTORE_ARCHIVE");
    let done = build.output().unwrap();
    let said = both(&done);
    assert!(done.status.success() && said.contains("cargo:warning=no libbfstore "), "{said}");
    let linked = place.build().arg("-vv").output().unwrap();
    let said = both(&linked);
    assert!(linked.status.success() && !said.contains("cargo:warning"), "{said}");
}

fn both(done: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr))
}

/// As `ninja -j N -C FOLDER capi/libbfstore.a`.
const NINJA: &str =
    "while [ \"$1\" != -C ]; do shift; done; mkdir -p \"$2/capi\" && cp \"$MADE\" \"$2/capi/libbfstore.a\"";

/// With crt-static the program crashed as soon as it started: libstdc++ was shared.
fn a_program_may_have_libstdcxx_in_it(place: &Place) {
    let target = format!("{}-unknown-linux-gnu", env::consts::ARCH);
    let debug = place.folder.join("target").join(&target).join("debug/program");
    for (name, value, all) in
        [("BFSTORE_STATIC_LIBSTDCXX", "1", false), ("RUSTFLAGS", "-C target-feature=+crt-static", true)]
    {
        run(place.build().args(["--target", &target]).env(name, value));
        assert_eq!(run(Command::new(&debug).current_dir(place.folder.path())), SAID);
        let needs = run(Command::new("readelf").arg("-dW").arg(&debug));
        assert!(!needs.contains(if all { "(NEEDED)" } else { "libstdc++" }), "{needs}");
    }
}

/// Links pkg-config's library, which is shared.
fn an_installed_library_is_linked(place: &Place) {
    let library = PathBuf::from(env::var_os("BFSTORE_LIBRARY").expect("run by tests/bindings/run.py"));
    let lib = place.folder.join("lib");
    fs::create_dir(&lib).unwrap();
    for name in ["libbfstore.so", "libbfstore.so.0"] {
        symlink(&library, lib.join(name)).unwrap();
    }
    let version = bfstore::version();
    let text = format!("Name: bfstore\nDescription: x\nVersion: {version}\nLibs: -L{} -lbfstore\n", lib.display());
    fs::write(lib.join("bfstore.pc"), text).unwrap();
    run(place.build().env_remove("BFSTORE_ARCHIVE").env("PKG_CONFIG_LIBDIR", &lib));
    assert_eq!(run(place.program().env("LD_LIBRARY_PATH", &lib)), SAID);
    let needs = run(Command::new("readelf").arg("-dW").arg(place.folder.join("target/debug/program")));
    assert!(needs.contains("libbfstore.so.0"), "{needs}");
}

fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_below(&path, found);
        } else {
            found.push(path);
        }
    }
}

#[test]
fn the_package_has_every_source_of_the_library() {
    let place = Place::new();
    let vendor = place.install("bfstore-sys").join("vendor");
    let mut wanted = Vec::new();
    for folder in ["src", "include"] {
        files_below(&repository(folder), &mut wanted);
    }
    wanted.extend(
        fs::read_dir(repository("capi"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.is_file() && path.extension() != Some("md".as_ref())),
    );
    for header in ["codes", "engine", "sets", "memory", "interop"] {
        assert!(wanted.contains(&repository(&format!("capi/bfstore_{header}.h"))), "{header}");
    }
    wanted.extend(["meson.build", "meson_options.txt", "LICENSE"].map(repository));
    assert!(wanted.len() > 100);
    for path in &wanted {
        let copy = vendor.join(path.strip_prefix(repository("")).unwrap());
        let is_same =
            fs::read(&copy).ok() == fs::read(path).ok() && !copy.symlink_metadata().unwrap().file_type().is_symlink();
        assert!(is_same, "{}", copy.display());
    }
    let mut packaged = Vec::new();
    files_below(&vendor, &mut packaged);
    assert_eq!(packaged.len(), wanted.len());
    // A missing source is an error here; a real build takes a minute.
    let build = place.folder.join("build");
    run(Command::new("meson").args(["setup", "-Dtools=false", "-Db_pch=false"]).arg(&build).arg(&vendor));
    run(Command::new("ninja").arg("-C").arg(&build).args(["-n", "capi/libbfstore.a"]));
}

#[test]
fn every_link_of_the_documentation_leads_somewhere() {
    let place = Folder::new();
    let manifest = repository("capi/bindings/rust/Cargo.toml");
    let mut doc = cargo(place.path());
    run(doc
        .args(["doc", "--offline", "--locked", "--no-deps", "--manifest-path"])
        .arg(manifest)
        .env("RUSTDOCFLAGS", "-Dwarnings"));
    assert!(place.join("target/doc/bfstore/struct.Filter.html").exists());
}

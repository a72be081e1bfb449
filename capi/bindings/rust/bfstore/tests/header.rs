//! The crate has everything that the header declares, and the library's version.

use std::collections::BTreeSet;
use std::env;
use std::path::Path;

use bfstore::sys::*;

use crate::support::json::{self, Json};
use crate::support::{read, repository};

/// The names and numbers of the ABI: tests/bindings/run.py makes the file.
fn abi() -> Json {
    let path = env::var_os("BFSTORE_ABI").expect("BFSTORE_ABI: these tests are run by tests/bindings/run.py rust");
    json::parse(&read(path))
}

fn sources(folder: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut files: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    // words.rs has all names, and uses none.
    files.into_iter().filter(|path| path.is_file() && !path.ends_with("words.rs")).map(read).collect()
}

#[test]
fn every_function_and_flag_is_used() {
    let text = sources("src");
    let abi = abi();
    let functions: Vec<_> = abi.map()["functions"].list().iter().map(Json::text).collect();
    assert!(functions.len() > 40);
    let words: BTreeSet<_> = text.split(|unit: char| !unit.is_alphanumeric() && unit != '_').collect();
    let unused: BTreeSet<_> = functions.into_iter().filter(|name| !words.contains(name)).collect();
    assert_eq!(unused, BTreeSet::new());
    // Codes too; without the numbers of the version, and a form of many keys that no Rust program has.
    let others = BTreeSet::from(["BFS_KEYS_POINTERS"]);
    let is_wanted = |name: &&str| !name.starts_with("BFS_VERSION_");
    let constants: Vec<_> = abi.map()["constants"].map().keys().map(String::as_str).filter(is_wanted).collect();
    assert!(constants.len() > 100);
    let unused: BTreeSet<_> = constants.into_iter().filter(|name| !words.contains(name)).collect();
    assert_eq!(unused, others);
}

#[test]
fn the_versions_are_one() {
    let build = read(repository("meson.build"));
    let wanted = build.split("version: '").nth(1).unwrap().split('\'').next().unwrap();
    for manifest in ["bfstore", "bfstore-sys"] {
        let text = read(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(manifest).join("Cargo.toml"));
        assert!(text.contains(&format!("\nversion = \"{wanted}\"")), "{manifest}");
    }
    assert_eq!(bfstore::version(), wanted);
    assert_eq!(format!("{BFS_VERSION_MAJOR}.{BFS_VERSION_MINOR}.{BFS_VERSION_PATCH}"), wanted);
}

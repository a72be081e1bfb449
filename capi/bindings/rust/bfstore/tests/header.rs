//! bfstore-sys is written by hand: every number, every offset, every parameter against the header.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::mem::{size_of, MaybeUninit};
use std::path::Path;

use bfstore::sys::*;

use crate::support::json::{self, Json};
use crate::support::{read, repository};

/// The ABI as the C compiler sees it: tests/bindings/run.py makes the file.
fn abi() -> Json {
    let path = env::var_os("BFSTORE_ABI").expect("BFSTORE_ABI: these tests are run by tests/bindings/run.py rust");
    json::parse(&read(path))
}

fn sources(folder: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut files: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.into_iter().filter(|path| path.is_file()).map(read).collect()
}

#[test]
fn every_constant_is_the_headers() {
    let text = sources("../bfstore-sys/src");
    let mut written = BTreeMap::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("pub const ")) {
        let (name, rest) = line.split_once(": ").unwrap();
        let (_, value) = rest.split_once(" = ").unwrap();
        let value = value.trim_end_matches(';');
        let number = match value.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).unwrap() as f64,
            None => value.parse().unwrap(),
        };
        written.insert(name.to_string(), number);
    }
    let abi = abi();
    let header: BTreeMap<_, _> =
        abi.map()["constants"].map().iter().map(|(name, value)| (name.clone(), value.number())).collect();
    assert!(header.len() > 100);
    assert_eq!(written, header);
}

/// (name, offset, bytes) of every field, as rustc lays them out.
macro_rules! layout {
    ($($name:ident { $($field:ident)* })*) => {
        [$({
            let place = MaybeUninit::<$name>::uninit();
            let start = place.as_ptr();
            let fields: Vec<(&str, usize, usize)> = vec![$({
                // SAFETY: addresses alone; nothing is read.
                let field = unsafe { std::ptr::addr_of!((*start).$field) };
                (stringify!($field), field as usize - start as usize, bytes_at(field))
            }),*];
            (stringify!($name), size_of::<$name>(), fields)
        }),*]
    };
}

fn bytes_at<T>(_: *const T) -> usize {
    size_of::<T>()
}

#[test]
fn every_struct_has_the_layout_of_c() {
    let written = layout! {
        bfs_error { struct_bytes code os_errno reserved message }
        bfs_options { struct_bytes mode flags capacity fpr bits_per_key max_bytes num_bits num_probes layout hash reserved seed
            like note note_bytes key key_bytes lock_timeout_ms writeback_check_ms file_id seeds num_seeds }
        bfs_open_options { struct_bytes fd flags key key_bytes offset max_bytes lock_timeout_ms writeback_check_ms }
        bfs_copy_options { struct_bytes mode flags lock_timeout_ms reserved fpr }
        bfs_statistics { struct_bytes layout hash num_probes num_bits capacity fpr seed body_bytes keys_added health saturated
            has_fill has_memory set_bits fill_ratio estimated_keys estimated_keys_low estimated_keys_high estimated_fpr
            huge_page_bytes resident_bytes isa file_id keys_removed counters_at_15 }
        bfs_interval { estimate low high }
        bfs_comparison { struct_bytes differs comparable equal a_in_b b_in_a some_in_both reserved num_bits set_bits_a
            set_bits_b set_bits_both keys_a keys_b keys_either keys_both jaccard }
        bfs_range { offset bytes }
        bfs_key { data bytes }
        bfs_keys { struct_bytes kind count data data_bytes lengths offsets key_bytes stride validity validity_offset }
        bfs_plan_request { struct_bytes layout capacity fpr bits_per_key max_bytes num_bits num_probes reserved }
        bfs_plan_result { struct_bytes layout num_probes abilities num_bits capacity fpr bits_per_key body_bytes file_bytes
            fill_ratio bloom_fpr cache_lines page_faults }
        bfs_owner_mark { owner mark epoch recovered reserved }
    };
    let abi = abi();
    let header = abi.map()["structs"].map();
    assert_eq!(
        written.iter().map(|(name, ..)| *name).collect::<BTreeSet<_>>(),
        header.keys().map(String::as_str).collect()
    );
    for (name, bytes, fields) in written {
        let c = header[name].map();
        assert_eq!(bytes as f64, c["bytes"].number(), "{name}");
        let rust: BTreeMap<_, _> =
            fields.iter().map(|(field, at, bytes)| (field.to_string(), vec![*at as f64, *bytes as f64])).collect();
        let c: BTreeMap<_, _> = c["fields"]
            .map()
            .iter()
            .map(|(field, place)| (field.clone(), place.list().iter().map(Json::number).collect::<Vec<_>>()))
            .collect();
        assert_eq!(rust, c, "{name}");
    }
}

/// "const char* path" of C is "path: *const c_char" of Rust.
fn in_rust(declared: &str) -> String {
    let spaced = declared.replace('*', " * ");
    let mut words: Vec<&str> = spaced.split_whitespace().collect();
    let name = words.pop().unwrap();
    let mut is_const = words[0] == "const";
    let mut words = words.into_iter().skip(usize::from(is_const));
    let mut kind = match words.next().unwrap() {
        "int32_t" => "i32".to_string(),
        "uint32_t" => "u32".to_string(),
        "int64_t" => "i64".to_string(),
        "uint64_t" => "u64".to_string(),
        "uint8_t" => "u8".to_string(),
        "size_t" => "usize".to_string(),
        "double" => "f64".to_string(),
        "char" => "c_char".to_string(),
        "void" => "c_void".to_string(),
        other => other.to_string(),
    };
    for word in words {
        match word {
            "*" => {
                kind = format!("{} {kind}", if is_const { "*const" } else { "*mut" });
                is_const = false;
            }
            "const" => is_const = true,
            other => panic!("{declared}: {other}"),
        }
    }
    format!("{name}: {kind}")
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn without_comments(text: &str) -> String {
    let mut parts = text.split("/*");
    let first = parts.next().unwrap().to_string();
    parts.fold(first, |code, part| code + part.split_once("*/").unwrap().1)
}

/// {name: "(filter: *const bfs_filter) -> i32"} of the header's declarations.
fn declared() -> BTreeMap<String, String> {
    let header = without_comments(&read(repository("capi/bfstore.h")));
    let mut found = BTreeMap::new();
    for declaration in header.split("\nBFS_API ").skip(1) {
        let declaration = squeezed(declaration.split(';').next().unwrap()).replace("BFS_CHECK ", "");
        let (result, parameters) = declaration.split_once('(').unwrap_or_else(|| panic!("{declaration}"));
        let result = in_rust(result);
        let (name, result) = result.split_once(": ").unwrap();
        let parameters: Vec<String> = parameters
            .trim_end_matches(')')
            .split(',')
            .map(str::trim)
            .filter(|parameter| *parameter != "void")
            .map(in_rust)
            .collect();
        let result = if result == "c_void" { String::new() } else { format!(" -> {result}") };
        found.insert(name.to_string(), format!("({}){result}", parameters.join(", ")));
    }
    found
}

#[test]
fn every_function_has_the_headers_parameters() {
    let text = sources("../bfstore-sys/src");
    let mut written = BTreeMap::new();
    for declaration in text.split("pub fn ").skip(1).map(|text| squeezed(text.split(';').next().unwrap())) {
        let (name, rest) = declaration.split_once('(').unwrap();
        let rest = format!("({rest}").replace("( ", "(").replace(", )", ")").replace(" )", ")");
        written.insert(name.to_string(), rest);
    }
    assert_eq!(written, declared());
    let abi = abi();
    let names: BTreeSet<_> = abi.map()["functions"].list().iter().map(Json::text).collect();
    assert!(names.len() > 50);
    assert_eq!(written.keys().map(String::as_str).collect::<BTreeSet<_>>(), names);
}

#[test]
fn every_function_and_flag_is_used() {
    let text = sources("src");
    // Others in another form: open_with and wrap_with; and the number of the version.
    let same = BTreeSet::from(["bfs_open", "bfs_wrap", "bfs_version_number"]);
    let functions = declared();
    assert_eq!(
        functions
            .keys()
            .map(String::as_str)
            .filter(|name| !text.contains(&format!("{name}(")))
            .collect::<BTreeSet<_>>(),
        same
    );
    let abi = abi();
    let is_choice = |name: &&str| {
        ["OPEN", "OPTION", "STATS", "LAYOUT", "HASH", "CAN", "DIFFERS", "BITS", "LOCK", "WRITEBACK"]
            .iter()
            .any(|kind| name.starts_with(&format!("BFS_{kind}_")))
    };
    let choices: Vec<_> = abi.map()["constants"].map().keys().map(String::as_str).filter(is_choice).collect();
    assert!(choices.len() > 50);
    let unused: Vec<_> = choices.into_iter().filter(|name| !text.contains(*name)).collect();
    assert_eq!(unused, Vec::<&str>::new());
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
    let number = unsafe { bfs_version_number() };
    assert_eq!(number, BFS_VERSION_MAJOR * 1_000_000 + BFS_VERSION_MINOR * 1_000 + BFS_VERSION_PATCH);
}

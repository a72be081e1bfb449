// Which of these Parquet files must a query read? Prints those that may have a row with the value; the others certainly have none.
//
//     cargo run -- TYPE COLUMN VALUE FILE...    in a package with bfstore = { path = ".../capi/bindings/rust/bfstore" }
//
// TYPE is the column's: text, int32 or int64. With another one every file would be left out. The Bloom filters, which DuckDB and Arrow
// write, are asked where they are: no row is read. A file that cannot be asked, because a row group has no filter for instance, may
// have the value: it is printed, too. Then the reason is on standard error, and the exit code is 1.
use bfstore::{Filter, ForeignForm};
use std::error::Error;
use std::process::ExitCode;

/// Returns the value in Parquet's plain encoding.
fn plain(kind: &str, value: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    match kind {
        "text" => Ok(value.into()),
        "int32" => Ok(value.parse::<i32>()?.to_le_bytes().into()),
        "int64" => Ok(value.parse::<i64>()?.to_le_bytes().into()),
        _ => Err("not text, int32 or int64".into()),
    }
}

/// Prints the files that may have the key. Returns whether all could be asked.
fn print_files(column: &str, key: &[u8], files: &[String]) -> bool {
    let mut all_asked = true;
    for path in files {
        let opened = Filter::options_to_create().open_foreign(path, ForeignForm::new("parquet").column(column));
        if let Err(error) = &opened {
            eprintln!("{error}");
            all_asked = false;
        }
        if opened.map_or(true, |filters| filters.contains(key)) {
            println!("{path}");
        }
    }
    all_asked
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let all_asked = match words.as_slice() {
        [kind, column, value, files @ ..] => match plain(kind, value) {
            Ok(key) => print_files(column, &key, files),
            Err(error) => {
                eprintln!("{kind} {value}: {error}");
                false
            }
        },
        _ => {
            eprintln!("usage: parquet_files TYPE COLUMN VALUE FILE...");
            false
        }
    };
    ExitCode::from(u8::from(!all_asked))
}

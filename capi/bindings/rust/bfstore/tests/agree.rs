//! The program that tests/bindings/ runs for this language: languages.py there has its interface.

use std::env;
use std::error::Error;
use std::process;

use bfstore::Filter;

type Done = Result<(), Box<dyn Error>>;

fn keys(prefix: &str, count: &str) -> Result<Vec<String>, Box<dyn Error>> {
    let count: u64 = count.parse()?;
    Ok((0..count).map(|number| format!("{prefix}-{number}")).collect())
}

fn create(path: &str, capacity: &str) -> Done {
    Ok(Filter::options_to_create().capacity(capacity.parse()?).fpr(0.01).create(path)?.close()?)
}

fn add(path: &str, prefix: &str, count: &str) -> Done {
    let filter = Filter::options().write(true).open(path)?;
    let keys = keys(prefix, count)?;
    for key in keys.iter().step_by(2) {
        filter.add(key)?;
    }
    let odd: Vec<&String> = keys.iter().skip(1).step_by(2).collect();
    filter.add_many(&odd)?;
    Ok(filter.close()?)
}

fn ask(path: &str, prefix: &str, count: &str) -> Done {
    let filter = Filter::open(path)?;
    let keys = keys(prefix, count)?;
    let single: Vec<bool> = keys.iter().map(|key| filter.contains(key)).collect();
    if single != filter.contains_many(&keys)? {
        return Err("one by one and as a batch are not the same".into());
    }
    println!("{}", single.iter().map(|maybe| if *maybe { '1' } else { '0' }).collect::<String>());
    Ok(())
}

/// Prints the variant's name, "NotFound", as the class.
fn fail(path: &str) -> Done {
    let error = Filter::open(path).err().ok_or("opened")?;
    let shown = format!("{error:?}");
    let variant = shown.split('(').next().unwrap_or_default();
    println!("{} {} {variant}", error.code(), error.os_errno());
    Ok(())
}

fn main() {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["create", path, capacity] => create(path, capacity),
        ["add", path, prefix, count] => add(path, prefix, count),
        ["ask", path, prefix, count] => ask(path, prefix, count),
        ["fail", path] => fail(path),
        _ => Err("usage: see tests/bindings/languages.py".into()),
    };
    if let Err(error) = done {
        eprintln!("agree: {error}");
        process::exit(1);
    }
}

//! Measures the cost of a lookup, for bench/bindings.py of the repository: `times FOLDER`. Prints the lines of
//! bench/bindings/c.c.

use bfstore::{Filter, Keys};
use std::fs;
use std::os::raw::{c_int, c_long};
use std::path::Path;

const KEY_BYTES: usize = 16;
const PASSES: usize = 5;

#[repr(C)]
struct TimeSpec {
    seconds: c_long,
    nanoseconds: c_long,
}

extern "C" {
    fn clock_gettime(clock: c_int, time: *mut TimeSpec) -> c_int;
}

/// Returns the seconds of CPU time of this process: std has no clock for that.
fn cpu_seconds() -> f64 {
    const CLOCK_PROCESS_CPUTIME_ID: c_int = 2;
    let mut now = TimeSpec { seconds: 0, nanoseconds: 0 };
    // SAFETY: the struct is that of 64-bit Linux, and lives until the call returns.
    assert_eq!(unsafe { clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &mut now) }, 0);
    now.seconds as f64 + now.nanoseconds as f64 * 1e-9
}

fn time(layout: &str, way: &str, count: usize, mut ask: impl FnMut() -> usize) {
    let (mut best, mut maybes) = (f64::MAX, 0);
    for _ in 0..PASSES {
        let begin = cpu_seconds();
        maybes = ask();
        best = best.min(cpu_seconds() - begin);
    }
    println!("{} {} {:.3} {}", layout, way, best * 1e9 / count as f64, maybes);
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: times FOLDER")?;
    let column = fs::read(Path::new(&folder).join("keys"))?;
    let keys: Vec<&[u8]> = column.chunks_exact(KEY_BYTES).collect();
    let mut answers = vec![false; keys.len()];
    for layout in ["blocked", "classic"] {
        let filter = Filter::open(Path::new(&folder).join(format!("{}.bf", layout)))?;
        time(layout, "one", keys.len(), || keys.iter().filter(|key| filter.contains(**key)).count());
        time(layout, "objects", keys.len(), || filter.contains_into(&keys[..], &mut answers).unwrap());
        time(layout, "column", keys.len(), || {
            filter.contains_into(Keys::fixed(&column, KEY_BYTES).unwrap(), &mut answers).unwrap()
        });
        filter.close()?;
    }
    Ok(())
}

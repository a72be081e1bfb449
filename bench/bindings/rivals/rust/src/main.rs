//! The rival of the binding for Rust, for bench/bindings.py: fastbloom, which has every second key. `rival FOLDER` prints a line of
//! the form of c.c.

use fastbloom::BloomFilter;
use std::fs;
use std::os::raw::{c_int, c_long};
use std::path::Path;

const KEY_BYTES: usize = 16;
const PASSES: usize = 5;
const BITS_PER_KEY: usize = 10;
const NUM_PROBES: u32 = 7;

#[repr(C)]
struct TimeSpec {
    seconds: c_long,
    nanoseconds: c_long,
}

extern "C" {
    fn clock_gettime(clock: c_int, time: *mut TimeSpec) -> c_int;
}

/// Seconds of CPU time of this process: std has no clock for that.
fn cpu_seconds() -> f64 {
    const CLOCK_PROCESS_CPUTIME_ID: c_int = 2;
    let mut now = TimeSpec { seconds: 0, nanoseconds: 0 };
    // SAFETY: the struct is that of Linux with 64 bits, and lives until the call returns.
    assert_eq!(unsafe { clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &mut now) }, 0);
    now.seconds as f64 + now.nanoseconds as f64 * 1e-9
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: rival FOLDER")?;
    let column = fs::read(Path::new(&folder).join("keys"))?;
    let keys: Vec<&[u8]> = column.chunks_exact(KEY_BYTES).collect();
    let mut filter = BloomFilter::with_num_bits(keys.len() / 2 * BITS_PER_KEY).hashes(NUM_PROBES);
    for key in keys.iter().step_by(2) {
        filter.insert(*key);
    }
    let (mut best, mut maybes) = (f64::MAX, 0);
    for _ in 0..PASSES {
        let begin = cpu_seconds();
        maybes = keys.iter().filter(|key| filter.contains(**key)).count();
        best = best.min(cpu_seconds() - begin);
    }
    println!("rival fastbloom {:.3} {}", best * 1e9 / keys.len() as f64, maybes);
    Ok(())
}

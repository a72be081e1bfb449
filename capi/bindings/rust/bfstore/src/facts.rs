//! Properties of filters: layouts, hashes, statistics, plans, comparisons, marks.

use std::ffi::CString;
use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime};

use bfstore_sys as sys;

use crate::error::{call, checked, static_text, text};
use crate::options::given;
use crate::{Error, Result};

/// An enum of the library's numbers.  A file may have one that only a later library knows.
macro_rules! numbers {
    ($(#[$words:meta])* $name:ident ($name_of:ident, $named:ident) {
        $($(#[$item_words:meta])* $item:ident = $number:ident,)*
    }) => {
        $(#[$words])*
        #[non_exhaustive]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$item_words])* $item,)*
            /// A number that this release does not know.
            Unknown(u32),
        }

        impl $name {
            pub(crate) fn number(self) -> u32 {
                match self {
                    $($name::$item => sys::$number,)*
                    $name::Unknown(number) => number,
                }
            }

            pub(crate) fn of_number(number: u32) -> $name {
                match number {
                    $(sys::$number => $name::$item,)*
                    other => $name::Unknown(other),
                }
            }
        }

        /// Writes the name that all tools and languages use, or the number if the library does not know it.
        impl fmt::Display for $name {
            fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                // SAFETY: a static text, or NULL.
                match unsafe { sys::$name_of(self.number()) } {
                    none if none.is_null() => self.number().fmt(to),
                    name => static_text(name).fmt(to),
                }
            }
        }

        /// Reads the name that all tools and languages use.
        impl FromStr for $name {
            type Err = Error;

            fn from_str(name: &str) -> Result<Self> {
                let text = CString::new(name).unwrap_or_default(); // no name has a NUL, or is empty
                // SAFETY: the text ends with a zero.
                let number = checked(unsafe { sys::$named(text.as_ptr()) }, name)?;
                Ok($name::of_number(number as u32))
            }
        }
    };
}

numbers! {
    /// The place of a key's bits.
    Layout (bfs_layout_name, bfs_layout_named) {
        /// One line of 64 bytes a key, so a lookup costs one cache miss.  The default.
        Blocked = BFS_LAYOUT_BLOCKED,
        /// Bits anywhere: the lowest false-positive rate, and a cache miss for each bit.
        Classic = BFS_LAYOUT_CLASSIC,
        /// Counters in one line of 64 bytes a key: keys can be removed, at about four times the size.
        Counting = BFS_LAYOUT_COUNTING,
        /// Built once, from all keys, and sealed: the smallest files.  No key is added later.
        Static = BFS_LAYOUT_STATIC,
        /// Keys expire, in 8 epochs: kept for a seventh of the [`window`](crate::CreateOptions::window) longer at most, plus
        /// the lateness of 8 turns.
        Window = BFS_LAYOUT_WINDOW,
        /// Keys expire, in 4 epochs: for a third longer.  The smallest one for a rate of 1 %.
        Window4 = BFS_LAYOUT_WINDOW_4,
        /// Keys expire, in 2 epochs: for the window once more.
        Window2 = BFS_LAYOUT_WINDOW_2,
        /// Grows from [`capacity`](crate::CreateOptions::capacity) to
        /// [`capacity_at_most`](crate::CreateOptions::capacity_at_most) keys, in up to 5 slices of one file.
        Growing = BFS_LAYOUT_GROWING,
    }
}

numbers! {
    /// The function that computes a key's bits.
    Hash (bfs_hash_name, bfs_hash_named) {
        /// XXH3-64 with the file's seed.  The default.
        Xxh3 = BFS_HASH_XXH3,
        /// The program passes its own digests, which must be well mixed.
        External = BFS_HASH_EXTERNAL,
        /// SipHash-2-4 with a secret, for keys that strangers choose.
        SipHash = BFS_HASH_SIPHASH,
        /// The hash of Python's `mmh3.hash(key, seed) % m`.
        Murmur3 = BFS_HASH_MURMUR3,
        /// The hash of Python's `mmh3.hash(key, seed, signed=False) % m`.
        Murmur3Unsigned = BFS_HASH_MURMUR3_UNSIGNED,
        /// The hash of tutorials in Java: its seeds must be given.
        JavaPolynomial = BFS_HASH_JAVA_POLYNOMIAL,
        /// The hash of Jay Baird's python-bloomfilter.
        Jaybird = BFS_HASH_JAYBIRD,
        /// The hash of pybloom-live 4 or later.
        PybloomLive = BFS_HASH_PYBLOOM_LIVE,
        /// That of DCSO's bloom, flor, fleur and poppy: FNV-1 and a generator.
        Dcso = BFS_HASH_DCSO,
        /// That of Guava's BloomFilter (MURMUR128_MITZ_64).
        Guava = BFS_HASH_GUAVA,
        /// That of Guava's older strategy (MURMUR128_MITZ_32).
        Guava32 = BFS_HASH_GUAVA_32,
        /// That of RedisBloom's BF commands (MurmurHash64A twice).
        RedisBloom = BFS_HASH_REDISBLOOM,
        /// That of pybloomfiltermmap3 (MurmurHash3_x64_128 with listed seeds).
        Pybloomfilter = BFS_HASH_PYBLOOMFILTER,
        /// That of LevelDB's built-in filter.
        LevelDb = BFS_HASH_LEVELDB,
        /// That of RocksDB's filter of format_version 5: XXPH3 and one cache line.
        RocksDb = BFS_HASH_ROCKSDB,
        /// That of Parquet's split-block filter: XXH64 and one block of 32 bytes.
        Parquet = BFS_HASH_PARQUET,
        /// That of the Go module bits-and-blooms/bloom.
        BitsAndBlooms = BFS_HASH_BITS_AND_BLOOMS,
        /// That of the C library libbloom (murmurhash2).
        Libbloom = BFS_HASH_LIBBLOOM,
        /// That of rbloom with the hash function of its documentation (SHA-256).
        Rbloom = BFS_HASH_RBLOOM,
        /// That of ByteBufferBloomFilter of tutorials in Java.
        JavaBytes = BFS_HASH_JAVA_BYTES,
    }
}

/// The bit of a byte that comes first in a bit array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BitOrder {
    /// The lowest: most programs in C, Java's `BitSet`, Python's `bitarray(endian="little")`.
    Little,
    /// The highest: Python's `bitarray` by default.
    Big,
}

impl BitOrder {
    pub(crate) fn number(self) -> u32 {
        match self {
            BitOrder::Little => sys::BFS_BITS_LITTLE,
            BitOrder::Big => sys::BFS_BITS_BIG,
        }
    }
}

/// A set of the library's bits, with a method for each.
macro_rules! bits {
    ($(#[$words:meta])* $name:ident { $($(#[$item_words:meta])* $item:ident = $bit:ident,)* }) => {
        $(#[$words])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
        pub struct $name(u32);

        impl $name {
            /// Returns the bits, as in `bfstore.h`.
            pub fn bits(self) -> u32 {
                self.0
            }

            $($(#[$item_words])*
            pub fn $item(self) -> bool {
                self.0 & sys::$bit != 0
            })*
        }
    };
}

bits! {
    /// The abilities of a layout's filters.
    Abilities {
        /// True if keys can be added, by any number of processes at once.
        add = BFS_CAN_ADD,
        /// True if keys can be removed.
        remove = BFS_CAN_REMOVE,
        /// True if it can take the keys of another filter.
        merge = BFS_CAN_MERGE,
        /// True if it can be folded into a smaller filter.
        fold = BFS_CAN_FOLD,
        /// True if it can grow beyond its first size.
        grow = BFS_CAN_GROW,
        /// True if keys expire by their age.
        expire = BFS_CAN_EXPIRE,
        /// True if it can be intersected with another filter, into a new one.
        intersect = BFS_CAN_INTERSECT,
        /// True if it is built once, from all keys, and takes no key later.
        build = BFS_CAN_BUILD,
    }
}

bits! {
    /// The differences of two filters in the values that decide the places of a key's bits.
    Differences {
        /// True if the layouts differ.
        layout = BFS_DIFFERS_LAYOUT,
        /// True if the hashes differ.
        hash = BFS_DIFFERS_HASH,
        /// True if the seeds differ, or the lists of seeds.
        seed = BFS_DIFFERS_SEED,
        /// True if the secrets differ.
        secret = BFS_DIFFERS_SECRET,
        /// True if the numbers of bits for a key differ.
        num_probes = BFS_DIFFERS_NUM_PROBES,
        /// True if the numbers of bits of the filters differ.
        num_bits = BFS_DIFFERS_NUM_BITS,
        /// True if they are different parts of a whole filter, or of different numbers of parts.
        part = BFS_DIFFERS_PART,
    }
}

bits! {
    /// Facts that the bytes of another program's filter lack, so that the caller has to give them.
    ForeignNeeds {
        /// m and k: [`num_bits`](crate::CreateOptions::num_bits) and [`num_probes`](crate::CreateOptions::num_probes),
        /// or another way to give them.
        size = BFS_FOREIGN_NEEDS_SIZE,
        /// [`ForeignForm::order`](crate::ForeignForm::order).
        order = BFS_FOREIGN_NEEDS_ORDER,
        /// [`hash`](crate::CreateOptions::hash), and its seed or seeds.
        hash = BFS_FOREIGN_NEEDS_HASH,
        /// [`ForeignForm::column`](crate::ForeignForm::column).
        column = BFS_FOREIGN_NEEDS_COLUMN,
        /// All of the bytes, to inspect them: the first ones do not tell what they are.
        all = BFS_FOREIGN_NEEDS_ALL,
    }
}

/// An estimated number, and the interval that has it in 95 of 100 cases.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Interval {
    /// The best estimate.
    pub estimate: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end; infinite if the bits set no bound.
    pub high: f64,
}

impl Interval {
    fn new(interval: sys::bfs_interval) -> Interval {
        Interval { estimate: interval.estimate, low: interval.low, high: interval.high }
    }
}

/// A position in the log of an owner, a program that has a log of its keys: every key of the log `epoch` up to `mark` was
/// added.  For [`Filter::sync_mark`](crate::Filter::sync_mark).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct LogPosition {
    /// A number of the owner's choice.
    pub owner: u64,
    /// The log: a new number of the owner's choice whenever positions begin anew.
    pub epoch: u64,
    /// The position; 0: none yet.
    pub mark: u64,
}

/// A mark for an owner, a program that has a log of its keys: every key of the log `epoch` up to the position `mark` is
/// durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Mark {
    /// A number of the owner's choice.
    pub owner: u64,
    /// The position; 0: none yet.
    pub mark: u64,
    /// The log: a new number whenever positions begin anew.
    pub epoch: u64,
    /// In a recovery: the owner has finished it.
    pub recovered: bool,
}

impl Mark {
    pub(crate) fn new(mark: &sys::bfs_owner_mark) -> Mark {
        Mark { owner: mark.owner, mark: mark.mark, epoch: mark.epoch, recovered: mark.recovered != 0 }
    }
}

/// Further facts for [`Filter::stats_with`](crate::Filter::stats_with), which cost time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Measure {
    /// Counts the bits: reads the whole filter.
    pub fill: bool,
    /// Asks the kernel which pages are in memory: its time grows with the file.
    pub memory: bool,
}

impl Measure {
    pub(crate) fn flags(self) -> u64 {
        let fill = if self.fill { sys::BFS_STATS_FILL } else { 0 };
        fill | if self.memory { sys::BFS_STATS_MEMORY } else { 0 }
    }
}

/// Facts about an open filter.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Statistics {
    /// The place of a key's bits.
    pub layout: Layout,
    /// The function that computes them.
    pub hash: Hash,
    /// k: the bits that one key sets.
    pub num_probes: u32,
    /// m: the bits of the filter; counting: its counters.
    pub num_bits: u64,
    /// n: the keys that it is sized for; 0 in the bare form.
    pub capacity: u64,
    /// p: the promised rate at n keys; 0 in the bare form.
    pub fpr: f64,
    /// The seed of the hash.
    pub seed: u64,
    /// The bytes of the body: only the bits.
    pub body_bytes: u64,
    /// Adds that changed a bit; counting layout: all adds.  0 in buffers.
    pub keys_added: u64,
    /// Counting: removes that returned `true`.
    pub keys_removed: u64,
    /// What [`Filter::health`](crate::Filter::health) returns: `Ok`, or why every answer is "maybe".
    pub health: Result<()>,
    /// True if more keys were added (less those removed) than `capacity`: the rate is above the promise.
    pub saturated: bool,
    /// The instruction set of the kernel in use: "avx512", "avx2", "neon" or "scalar".
    pub isa: String,
    /// The identity of the filter; zeros in the bare form, and in a set of parts.
    pub file_id: [u8; 16],
    /// Which part of a whole filter this is, from 0 on; 0 for a whole filter.
    pub part: u32,
    /// The number of parts; 1 for a whole filter.
    pub num_parts: u32,
    /// The seeds of the hash, if it takes a list of them: one for each of the k bits.
    pub seeds: Vec<u32>,
    /// The note that the filter was made with.
    pub note: Vec<u8>,
    /// With [`Measure::fill`]: the counts.
    pub fill: Option<Fill>,
    /// With [`Measure::memory`], for a file: the kernel's answer.
    pub memory: Option<Memory>,
    /// The epochs whose keys the filter has: 8, 4 or 2; 0 if its keys do not expire.
    pub epochs: u32,
    /// The current epoch, from 0.
    pub epoch: u64,
    /// When that epoch began; `None` if keys do not expire.
    pub turned_at: Option<SystemTime>,
    /// For how long a key is kept after its last add, at least; `None` if keys do not expire.
    pub window: Option<Duration>,
    /// True if that epoch has lasted for its time: [`Filter::turn`](crate::Filter::turn) would end it.
    pub turn_due: bool,
    /// With [`Measure::fill`]: the estimated keys that were added in each epoch, the current one first.
    pub keys_of_epochs: Vec<f64>,
}

/// Facts from counting the bits.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Fill {
    /// Bits that are 1; counting: counters that are not 0.
    pub set_bits: u64,
    /// `set_bits` / m.
    pub ratio: f64,
    /// The number of keys in the filter.
    pub estimated_keys: Interval,
    /// The false-positive rate now.
    pub estimated_fpr: f64,
    /// Counting: counters that no remove lowers any more.
    pub counters_at_15: u64,
}

/// The amount of the mapped file that is in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Memory {
    /// Bytes in huge pages.
    pub huge_page_bytes: u64,
    /// Bytes in memory; `None` if the kernel does not tell: it tells only the owner of the file, and a process that may
    /// write to it.
    pub resident_bytes: Option<u64>,
}

impl Statistics {
    pub(crate) fn new(facts: &sys::bfs_statistics, name: &str) -> Statistics {
        Statistics {
            layout: Layout::of_number(facts.layout),
            hash: Hash::of_number(facts.hash),
            num_probes: facts.num_probes,
            num_bits: facts.num_bits,
            capacity: facts.capacity,
            fpr: facts.fpr,
            seed: facts.seed,
            body_bytes: facts.body_bytes,
            keys_added: facts.keys_added,
            keys_removed: facts.keys_removed,
            health: health(facts.health, name),
            saturated: facts.saturated != 0,
            isa: text(&facts.isa),
            file_id: facts.file_id,
            part: facts.part,
            num_parts: facts.num_parts,
            seeds: facts.seeds.iter().copied().take(facts.num_seeds as usize).collect(),
            note: facts.note.iter().copied().take(facts.note_bytes as usize).collect(),
            fill: if facts.has_fill != 0 { Some(Fill::new(facts)) } else { None },
            memory: if facts.has_memory != 0 { Some(Memory::new(facts)) } else { None },
            epochs: facts.epochs,
            epoch: facts.epoch,
            turned_at: said(facts.turned_at).map(|at| SystemTime::UNIX_EPOCH + Duration::from_nanos(at)),
            window: said(facts.window_ms).map(Duration::from_millis),
            turn_due: facts.turn_due != 0,
            keys_of_epochs: if facts.has_fill != 0 { keys_of_epochs(facts) } else { Vec::new() },
        }
    }
}

fn keys_of_epochs(facts: &sys::bfs_statistics) -> Vec<f64> {
    facts.keys_of_epochs.iter().copied().take(facts.epochs as usize).collect()
}

impl Fill {
    fn new(facts: &sys::bfs_statistics) -> Fill {
        Fill {
            set_bits: facts.set_bits,
            ratio: facts.fill_ratio,
            estimated_keys: Interval {
                estimate: facts.estimated_keys,
                low: facts.estimated_keys_low,
                high: facts.estimated_keys_high,
            },
            estimated_fpr: facts.estimated_fpr,
            counters_at_15: facts.counters_at_15,
        }
    }
}

impl Memory {
    fn new(facts: &sys::bfs_statistics) -> Memory {
        let told = facts.resident_bytes != u64::MAX;
        Memory {
            huge_page_bytes: facts.huge_page_bytes,
            resident_bytes: if told { Some(facts.resident_bytes) } else { None },
        }
    }
}

/// A comparison of two filters, A and B: see [`Filter::compare`](crate::Filter::compare).  If their sizes differ, the
/// larger one counts as folded to the size of the smaller one.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Comparison {
    /// The values in which they differ.
    pub differs: Differences,
    /// True if they can be compared.  If not, only `keys_a` and `keys_b` are known.
    pub comparable: bool,
    /// True if both give every key the same answer.
    pub equal: bool,
    /// True if nothing shows that A has a key that B lacks.
    pub a_in_b: bool,
    /// True if nothing shows that B has a key that A lacks.
    pub b_in_a: bool,
    /// True if `keys_both` is more than 3 of its standard deviations above 0.
    pub some_in_both: bool,
    /// m of the smaller filter.
    pub num_bits: u64,
    /// Bits that are 1 in A.
    pub set_bits_a: u64,
    /// Bits that are 1 in B.
    pub set_bits_b: u64,
    /// Bits that are 1 in both; 0: certainly no key is in both.
    pub set_bits_both: u64,
    /// The number of keys in A.
    pub keys_a: Interval,
    /// The number of keys in B.
    pub keys_b: Interval,
    /// The number of keys in at least one of them.
    pub keys_either: Interval,
    /// The number of keys in both.
    pub keys_both: Interval,
    /// `keys_both` / `keys_either`.
    pub jaccard: Interval,
}

impl Comparison {
    pub(crate) fn new(found: &sys::bfs_comparison) -> Comparison {
        Comparison {
            differs: Differences(found.differs),
            comparable: found.comparable != 0,
            equal: found.equal != 0,
            a_in_b: found.a_in_b != 0,
            b_in_a: found.b_in_a != 0,
            some_in_both: found.some_in_both != 0,
            num_bits: found.num_bits,
            set_bits_a: found.set_bits_a,
            set_bits_b: found.set_bits_b,
            set_bits_both: found.set_bits_both,
            keys_a: Interval::new(found.keys_a),
            keys_b: Interval::new(found.keys_b),
            keys_either: Interval::new(found.keys_either),
            keys_both: Interval::new(found.keys_both),
            jaccard: Interval::new(found.jaccard),
        }
    }
}

/// Facts in the bytes of another program's filter: see [`inspect_foreign`](crate::inspect_foreign).  `None`: the bytes
/// do not tell it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Foreign {
    /// Facts that the bytes lack, and an import needs, whatever the options are.
    pub needs: ForeignNeeds,
    /// The layout of every filter of the format.
    pub layout: Layout,
    /// The function that computes a key's bits.
    pub hash: Option<Hash>,
    /// k: the bits that one key sets.
    pub num_probes: Option<u32>,
    /// m: the bits of the filter.
    pub num_bits: Option<u64>,
    /// n: the keys that it is sized for.
    pub capacity: Option<u64>,
    /// p: the rate at n keys.
    pub fpr: Option<f64>,
    /// The number of keys that the other program counted.
    pub keys: Option<u64>,
    /// The length that all of the bytes must have.  `None` also in a format of several filters.
    pub bytes: Option<u64>,
    /// The number of filters in the bytes.  The other fields are those of the first one.
    pub filters: u32,
}

/// Converts the library's 0, which means "not told".
fn said<T: PartialEq + Default>(number: T) -> Option<T> {
    Some(number).filter(|number| *number != T::default())
}

impl Foreign {
    pub(crate) fn new(found: &sys::bfs_foreign) -> Foreign {
        Foreign {
            needs: ForeignNeeds(found.needs),
            layout: Layout::of_number(found.layout),
            hash: said(found.hash).map(Hash::of_number),
            num_probes: said(found.num_probes),
            num_bits: said(found.num_bits),
            capacity: said(found.capacity),
            fpr: said(found.fpr),
            keys: if found.has_keys != 0 { Some(found.keys) } else { None },
            bytes: said(found.bytes),
            filters: found.filters,
        }
    }
}

/// The known numbers of a planned filter.  [`plan`](PlanRequest::plan) finds the others from them.
///
/// ```
/// let plan = bfstore::PlanRequest::new().capacity(1_000_000).fpr(0.01).plan()?;
/// assert!(plan.fpr <= 0.01 && plan.file_bytes > 1_000_000);
/// # Ok::<(), bfstore::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct PlanRequest(sys::bfs_plan_request);

impl Default for PlanRequest {
    fn default() -> PlanRequest {
        PlanRequest::new()
    }
}

impl PlanRequest {
    /// Makes a request without numbers.
    pub fn new() -> PlanRequest {
        PlanRequest(sys::bfs_plan_request::default())
    }

    /// Sets the layout.
    pub fn layout(&mut self, layout: Layout) -> &mut PlanRequest {
        self.0.layout = layout.number();
        self
    }

    /// Sets n: distinct keys.
    pub fn capacity(&mut self, capacity: u64) -> &mut PlanRequest {
        self.0.capacity = capacity;
        self
    }

    /// Sets p: the highest false-positive rate at n keys.  1 in 100 if only n is given.
    pub fn fpr(&mut self, fpr: f64) -> &mut PlanRequest {
        self.0.fpr = given(fpr);
        self
    }

    /// Sets the bits of the body for each of the n keys.
    pub fn bits_per_key(&mut self, bits_per_key: f64) -> &mut PlanRequest {
        self.0.bits_per_key = given(bits_per_key);
        self
    }

    /// Sets the bytes of the whole file.
    pub fn max_bytes(&mut self, max_bytes: u64) -> &mut PlanRequest {
        self.0.max_bytes = max_bytes;
        self
    }

    /// Sets m: 1 to 2^48.
    pub fn num_bits(&mut self, num_bits: u64) -> &mut PlanRequest {
        self.0.num_bits = num_bits;
        self
    }

    /// Sets k: 1 to 64.
    pub fn num_probes(&mut self, num_probes: u32) -> &mut PlanRequest {
        self.0.num_probes = num_probes;
        self
    }

    /// Computes the filter that these numbers describe, without making it.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid): a number is missing, out of range, or one too many.
    pub fn plan(&self) -> Result<Plan> {
        let mut out = sys::bfs_plan_result::default();
        // SAFETY: both structs know their size, and live until the call returns.
        call(|error| unsafe { sys::bfs_plan(&self.0, &mut out, error) })?;
        Ok(Plan::new(&out))
    }
}

/// A planned filter.  Its `num_bits`, `num_probes` and `capacity` make it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// The place of a key's bits.
    pub layout: Layout,
    /// k: the bits that one key sets.
    pub num_probes: u32,
    /// The abilities of the layout's filters.
    pub abilities: Abilities,
    /// m: a size that the layout can have.
    pub num_bits: u64,
    /// n: distinct keys.
    pub capacity: u64,
    /// The false-positive rate at n keys.
    pub fpr: f64,
    /// Bits of the body / n.
    pub bits_per_key: f64,
    /// The bytes of the body: only the bits.
    pub body_bytes: u64,
    /// The bytes of the file.
    pub file_bytes: u64,
    /// The expected share of m that is set at n keys.
    pub fill_ratio: f64,
    /// The rate of Bloom's formula, nearly equal to `fpr` for large filters of the classic layout.
    pub bloom_fpr: f64,
    /// Lines of 64 bytes that a lookup of a present key reads, on average.
    pub cache_lines: f64,
    /// Pages of 4 KiB that this lookup reads from a file that is not in memory, on average.
    pub page_faults: f64,
}

impl Plan {
    fn new(plan: &sys::bfs_plan_result) -> Plan {
        Plan {
            layout: Layout::of_number(plan.layout),
            num_probes: plan.num_probes,
            abilities: Abilities(plan.abilities),
            num_bits: plan.num_bits,
            capacity: plan.capacity,
            fpr: plan.fpr,
            bits_per_key: plan.bits_per_key,
            body_bytes: plan.body_bytes,
            file_bytes: plan.file_bytes,
            fill_ratio: plan.fill_ratio,
            bloom_fpr: plan.bloom_fpr,
            cache_lines: plan.cache_lines,
            page_faults: plan.page_faults,
        }
    }
}

/// Returns Ok for 0, or else the error of the code.
pub(crate) fn health(code: i32, name: &str) -> Result<()> {
    checked(code, name).map(drop)
}

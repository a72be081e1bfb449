//! What filters are like: layouts, hashes, statistics, plans, comparisons, marks.

use std::ffi::CString;
use std::fmt;
use std::str::FromStr;

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

        /// The name that all tools and languages write, or the number that the library does not know.
        impl fmt::Display for $name {
            fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                // SAFETY: a static text, or NULL.
                match unsafe { sys::$name_of(self.number()) } {
                    none if none.is_null() => self.number().fmt(to),
                    name => static_text(name).fmt(to),
                }
            }
        }

        /// From the name that all tools and languages write.
        impl FromStr for $name {
            type Err = Error;

            fn from_str(name: &str) -> Result<Self> {
                let text = CString::new(name).unwrap_or_default(); // no name has a NUL, or is empty
                // SAFETY: a text that ends with a zero.
                let number = checked(unsafe { sys::$named(text.as_ptr()) }, name)?;
                Ok($name::of_number(number as u32))
            }
        }
    };
}

numbers! {
    /// Where the bits of a key are.
    Layout (bfs_layout_name, bfs_layout_named) {
        /// One line of 64 bytes a key, so a lookup costs one cache miss.  The default.
        Blocked = BFS_LAYOUT_BLOCKED,
        /// Bits anywhere: the lowest false-positive rate, and a cache miss for each bit.
        Classic = BFS_LAYOUT_CLASSIC,
        /// Counters in one line of 64 bytes a key: keys can be removed, at about four times the size.
        Counting = BFS_LAYOUT_COUNTING,
    }
}

numbers! {
    /// What a key's bits are computed from.
    Hash (bfs_hash_name, bfs_hash_named) {
        /// XXH3-64 with the file's seed.  The default.
        Xxh3 = BFS_HASH_XXH3,
        /// The program passes digests of its own, well mixed hash.
        External = BFS_HASH_EXTERNAL,
        /// SipHash-2-4 with a secret, for keys that strangers choose.
        SipHash = BFS_HASH_SIPHASH,
        /// That of Python's `mmh3.hash(key, seed) % m`.
        Murmur3 = BFS_HASH_MURMUR3,
        /// That of Python's `mmh3.hash(key, seed, signed=False) % m`.
        Murmur3Unsigned = BFS_HASH_MURMUR3_UNSIGNED,
        /// That of tutorials in Java: its seeds have to be given.
        JavaPolynomial = BFS_HASH_JAVA_POLYNOMIAL,
        /// That of Jay Baird's python-bloomfilter.
        Jaybird = BFS_HASH_JAYBIRD,
        /// That of pybloom-live 4 or later.
        PybloomLive = BFS_HASH_PYBLOOM_LIVE,
    }
}

/// Which bit of a byte comes first in a bit array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BitOrder {
    /// The lowest: most programs in C, Java's `BitSet`, Python's `bitarray(endian="little")`.
    Little,
    /// The highest: Python's `bitarray`, unless it is told otherwise.
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

/// A set of the library's bits, each with a question of its own.
macro_rules! bits {
    ($(#[$words:meta])* $name:ident { $($(#[$item_words:meta])* $item:ident = $bit:ident,)* }) => {
        $(#[$words])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
        pub struct $name(u32);

        impl $name {
            /// The bits, as in `bfstore.h`.
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
    /// What a filter of a layout can do.
    Abilities {
        /// Keys are added, by any number of processes at once.
        add = BFS_CAN_ADD,
        /// Keys are removed.
        remove = BFS_CAN_REMOVE,
        /// It takes the keys of another filter.
        merge = BFS_CAN_MERGE,
        /// It is folded into a smaller one.
        fold = BFS_CAN_FOLD,
        /// It grows beyond the size that it was made with.
        grow = BFS_CAN_GROW,
        /// Keys expire by their age.
        expire = BFS_CAN_EXPIRE,
        /// It is intersected with another filter, into a new one.
        intersect = BFS_CAN_INTERSECT,
    }
}

bits! {
    /// In which of the values that decide where the bits of a key are two filters differ.
    Differences {
        /// In the layout.
        layout = BFS_DIFFERS_LAYOUT,
        /// In the hash.
        hash = BFS_DIFFERS_HASH,
        /// In the seed, or the list of seeds.
        seed = BFS_DIFFERS_SEED,
        /// In the secret.
        secret = BFS_DIFFERS_KEY,
        /// In the number of bits of a key.
        num_probes = BFS_DIFFERS_NUM_PROBES,
        /// In the number of bits of the filter.
        num_bits = BFS_DIFFERS_NUM_BITS,
        /// In which part of a whole filter they are, or of how many.
        part = BFS_DIFFERS_PART,
    }
}

bits! {
    /// What the bytes of another program's filter do not say, so that an import needs it from its caller.
    ForeignNeeds {
        /// m and k: [`num_bits`](crate::CreateOptions::num_bits) and [`num_probes`](crate::CreateOptions::num_probes),
        /// or another way to give them.
        size = BFS_FOREIGN_NEEDS_SIZE,
        /// [`ForeignForm::order`](crate::ForeignForm::order).
        order = BFS_FOREIGN_NEEDS_ORDER,
        /// [`hash`](crate::CreateOptions::hash), and its seed or seeds.
        hash = BFS_FOREIGN_NEEDS_HASH,
    }
}

/// A number that is estimated, and the interval that has it in 95 of 100 cases.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Interval {
    /// The best estimate.
    pub estimate: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end; infinite where the bits set no bound.
    pub high: f64,
}

impl Interval {
    fn new(interval: sys::bfs_interval) -> Interval {
        Interval { estimate: interval.estimate, low: interval.low, high: interval.high }
    }
}

/// What a filter keeps for an owner, a program that has a log of its keys: every key of the log `epoch` up to the
/// position `mark` is durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Mark {
    /// A number of the owner's choice.
    pub owner: u64,
    /// The position; 0: none yet.
    pub mark: u64,
    /// Which log: a new number whenever positions begin anew.
    pub epoch: u64,
    /// In a recovery: the owner has finished it.
    pub recovered: bool,
}

impl Mark {
    pub(crate) fn new(mark: &sys::bfs_owner_mark) -> Mark {
        Mark { owner: mark.owner, mark: mark.mark, epoch: mark.epoch, recovered: mark.recovered != 0 }
    }
}

/// What [`Filter::stats_with`](crate::Filter::stats_with) finds out besides what costs nothing.
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
    /// Where the bits of a key are.
    pub layout: Layout,
    /// What they are computed from.
    pub hash: Hash,
    /// k: the bits that one key sets.
    pub num_probes: u32,
    /// m: the bits of the filter; counting: its counters.
    pub num_bits: u64,
    /// n: the keys that it is sized for; 0 in the bare form.
    pub capacity: u64,
    /// p: the rate that is promised at n keys; 0 in the bare form.
    pub fpr: f64,
    /// The seed of the hash.
    pub seed: u64,
    /// The bytes of the bits alone.
    pub body_bytes: u64,
    /// Adds that changed a bit; of the counting layout: all adds.  0 in buffers.
    pub keys_added: u64,
    /// Counting: removes that returned `true`.
    pub keys_removed: u64,
    /// 0, or the code of [`Filter::health`](crate::Filter::health).
    pub health: i32,
    /// Whether more keys were added (less those removed) than `capacity`: the rate is above the promise.
    pub saturated: bool,
    /// Of the kernel that answers: "avx512", "avx2", "neon" or "scalar".
    pub isa: String,
    /// What tells the filter from every other one; zeros in the bare form.
    pub file_id: [u8; 16],
    /// With [`Measure::fill`]: what was counted.
    pub fill: Option<Fill>,
    /// With [`Measure::memory`], of a file: what the kernel says.
    pub memory: Option<Memory>,
}

/// What counting the bits tells.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Fill {
    /// Bits that are 1; counting: counters that are not 0.
    pub set_bits: u64,
    /// `set_bits` / m.
    pub ratio: f64,
    /// How many keys are in the filter.
    pub estimated_keys: Interval,
    /// The false-positive rate now.
    pub estimated_fpr: f64,
    /// Counting: counters that no remove lowers any more.
    pub counters_at_15: u64,
}

/// How much of the mapped file is in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Memory {
    /// In huge pages.
    pub huge_page_bytes: u64,
    /// In memory at all; `None` where the kernel does not tell: it tells the owner of the file, and a process that may
    /// write to it.
    pub resident_bytes: Option<u64>,
}

impl Statistics {
    pub(crate) fn new(facts: &sys::bfs_statistics) -> Statistics {
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
            health: facts.health,
            saturated: facts.saturated != 0,
            isa: text(&facts.isa),
            file_id: facts.file_id,
            fill: if facts.has_fill != 0 { Some(Fill::new(facts)) } else { None },
            memory: if facts.has_memory != 0 { Some(Memory::new(facts)) } else { None },
        }
    }
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

/// What two filters, A and B, have in common: see [`Filter::compare`](crate::Filter::compare).  Where their sizes
/// differ, the larger one counts as folded to the size of the smaller one.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Comparison {
    /// In what they differ.
    pub differs: Differences,
    /// Whether they can be compared.  If not, only `keys_a` and `keys_b` are known.
    pub comparable: bool,
    /// Whether both give every key the same answer.
    pub equal: bool,
    /// Nothing shows that A has a key that B lacks.
    pub a_in_b: bool,
    /// Nothing shows that B has a key that A lacks.
    pub b_in_a: bool,
    /// `keys_both` is more than 3 of its standard deviations above 0.
    pub some_in_both: bool,
    /// m of the smaller one.
    pub num_bits: u64,
    /// Bits that are 1 in A.
    pub set_bits_a: u64,
    /// Bits that are 1 in B.
    pub set_bits_b: u64,
    /// Bits that are 1 in both; 0: certainly no key is in both.
    pub set_bits_both: u64,
    /// How many keys A has.
    pub keys_a: Interval,
    /// How many keys B has.
    pub keys_b: Interval,
    /// How many keys are in one of them at least.
    pub keys_either: Interval,
    /// How many keys are in both.
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

/// What the bytes of another program's filter say: see [`inspect_foreign`](crate::inspect_foreign).  `None`: they do not
/// say it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Foreign {
    /// What they do not say, and an import needs, whatever the options are.
    pub needs: ForeignNeeds,
    /// The layout of every filter of the format.
    pub layout: Layout,
    /// What the bits of a key are computed from.
    pub hash: Option<Hash>,
    /// k: the bits that one key sets.
    pub num_probes: Option<u32>,
    /// m: the bits of the filter.
    pub num_bits: Option<u64>,
    /// n: the keys that it is sized for.
    pub capacity: Option<u64>,
    /// p: the rate at n keys.
    pub fpr: Option<f64>,
    /// How many keys the other program counted.
    pub keys: Option<u64>,
    /// How long all of the bytes have to be.
    pub bytes: Option<u64>,
}

/// In these facts the library says 0 for "not said".
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
        }
    }
}

/// What is known of a filter that is not made yet.  From these numbers [`plan`](PlanRequest::plan) finds the others.
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
    /// Nothing is known.
    pub fn new() -> PlanRequest {
        PlanRequest(sys::bfs_plan_request::default())
    }

    /// The layout.
    pub fn layout(&mut self, layout: Layout) -> &mut PlanRequest {
        self.0.layout = layout.number();
        self
    }

    /// n: distinct keys.
    pub fn capacity(&mut self, capacity: u64) -> &mut PlanRequest {
        self.0.capacity = capacity;
        self
    }

    /// p: the highest false-positive rate at n keys.  1 in 100 if n alone is given.
    pub fn fpr(&mut self, fpr: f64) -> &mut PlanRequest {
        self.0.fpr = given(fpr);
        self
    }

    /// Bits of the body for each of the n keys.
    pub fn bits_per_key(&mut self, bits_per_key: f64) -> &mut PlanRequest {
        self.0.bits_per_key = given(bits_per_key);
        self
    }

    /// Bytes of the whole file.
    pub fn max_bytes(&mut self, max_bytes: u64) -> &mut PlanRequest {
        self.0.max_bytes = max_bytes;
        self
    }

    /// m: 1 to 2^48.
    pub fn num_bits(&mut self, num_bits: u64) -> &mut PlanRequest {
        self.0.num_bits = num_bits;
        self
    }

    /// k: 1 to 64.
    pub fn num_probes(&mut self, num_probes: u32) -> &mut PlanRequest {
        self.0.num_probes = num_probes;
        self
    }

    /// The filter that these numbers make, without making it.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid): what is missing, out of range, or one too many.
    pub fn plan(&self) -> Result<Plan> {
        let mut out = sys::bfs_plan_result::default();
        // SAFETY: both structs know their size, and live until the call returns.
        call(|error| unsafe { sys::bfs_plan(&self.0, &mut out, error) })?;
        Ok(Plan::new(&out))
    }
}

/// What a filter will be like.  Its `num_bits`, `num_probes` and `capacity` make it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// Where the bits of a key are.
    pub layout: Layout,
    /// k: the bits that one key sets.
    pub num_probes: u32,
    /// What a filter of the layout can do.
    pub abilities: Abilities,
    /// m: a size that the layout can have.
    pub num_bits: u64,
    /// n: distinct keys.
    pub capacity: u64,
    /// The false-positive rate at n keys.
    pub fpr: f64,
    /// Bits of the body / n.
    pub bits_per_key: f64,
    /// The bytes of the bits alone.
    pub body_bytes: u64,
    /// The bytes of the file.
    pub file_bytes: u64,
    /// The expected share of m that is set at n keys.
    pub fill_ratio: f64,
    /// The rate of Bloom's formula, which agrees with `fpr` in large filters of the classic layout.
    pub bloom_fpr: f64,
    /// Lines of 64 bytes that a lookup of a present key reads, on average.
    pub cache_lines: f64,
    /// Pages of 4 KiB that it reads from a file that is not in memory, on average.
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

/// 0 or why not, as a `Result`.
pub(crate) fn health(code: i32, name: &str) -> Result<()> {
    checked(code, name).map(drop)
}

/* The library's results in structs, as objects. Counts are numbers, exact up to 2^53; seeds, digests and marks, which
 * use every bit, are bigints. */
import {lib} from "./library.js";
import {numbersUnder} from "./options.js";
import {Struct} from "./struct.js";

/** An estimated number, and the interval that has it in 95 of 100 cases; high is Infinity if there is no bound.
 * @typedef {Readonly<{estimate: number, low: number, high: number}>} Interval */
/** A range of bytes in a file. @typedef {Readonly<{offset: number, bytes: number}>} Range */
/** Every key of the owner's log `epoch` up to the position `mark` is durable.
 * @typedef {Readonly<{owner: bigint, mark: bigint, epoch: bigint, recovered: boolean}>} Mark */

/** "ok", or why every answer is "maybe" now.
 * @typedef {"ok" | "poisoned" | "lost" | "superseded" | "recovering" | "filling" | "fault" | "shut" | (string & {})} Health */

/** A planned filter.
 * @typedef {object} Plan
 * @property {string} layout
 * @property {number} numProbes  k
 * @property {ReadonlySet<string>} abilities  "add", "remove", "merge", "fold", "grow", "expire", "intersect",
 *   "build"
 * @property {number} numBits  m
 * @property {number} capacity  n
 * @property {number} fpr  the false-positive rate at n keys
 * @property {number} bitsPerKey
 * @property {number} bodyBytes
 * @property {number} fileBytes
 * @property {number} fillRatio  the expected share of m that is set at n keys
 * @property {number} bloomFpr  Bloom's formula
 * @property {number} cacheLines  read by a lookup of a present key, on average
 * @property {number} pageFaults  of such a lookup in a file that is not in memory, on average
 */

/** Facts about an open filter. undefined: not requested (see Filter.stats), or the kernel does not tell.
 * @typedef {object} Statistics
 * @property {string} layout
 * @property {string} hash
 * @property {number} numProbes  k
 * @property {number} numBits  m
 * @property {number} capacity  n
 * @property {number} fpr  promised at n keys
 * @property {bigint} seed
 * @property {number} bodyBytes
 * @property {number} keysAdded  adds that changed a bit
 * @property {number} keysRemoved
 * @property {Health} health
 * @property {boolean} saturated  more keys than `capacity` were added
 * @property {string} isa  the instruction set of the kernel in use
 * @property {Uint8Array} fileId
 * @property {number} part  which part of a whole filter this is, from 0; a whole filter is part 0 of 1
 * @property {number} numParts
 * @property {Uint8Array} note  of the owner; empty if there is none
 * @property {Uint32Array} seeds  of a hash that takes a list of them; otherwise empty
 * @property {number} [setBits]
 * @property {number} [fillRatio]
 * @property {Interval} [estimatedKeys]
 * @property {number} [estimatedFpr]  the rate now
 * @property {number} [countersAt15]
 * @property {number} [hugePageBytes]
 * @property {number} [residentBytes]
 * @property {number} epochs  the number that the filter keeps if its keys expire; otherwise 0, and the facts below are undefined
 * @property {number} [epoch]  the number of the current one, from 0
 * @property {Date} [turnedAt]  when it began
 * @property {number} [window]  milliseconds
 * @property {boolean} [turnDue]  turn() would end it
 * @property {readonly number[]} [keysOfEpochs]  estimated, of the current epoch, of the one before it, and so on; with `fill`
 */

/** A comparison of two filters, A and B.
 * @typedef {object} Comparison
 * @property {ReadonlySet<string>} differs  "layout", "hash", "seed", "secret", "num-probes", "num-bits", "part"
 * @property {boolean} comparable  false: only keysA and keysB are known
 * @property {boolean} equal
 * @property {boolean} aInB  nothing shows that A has a key that B lacks
 * @property {boolean} bInA
 * @property {boolean} someInBoth
 * @property {number} numBits
 * @property {number} setBitsA
 * @property {number} setBitsB
 * @property {number} setBitsBoth  0: certainly no key is in both
 * @property {Interval} keysA
 * @property {Interval} keysB
 * @property {Interval} keysEither
 * @property {Interval} keysBoth
 * @property {Interval} jaccard
 */

/** Facts in the bytes of another program's filter: see inspectForeign(). undefined: the bytes do not tell it.
 * @typedef {object} Foreign
 * @property {string} layout
 * @property {string} [hash]
 * @property {number} [numProbes]  k
 * @property {number} [numBits]  m
 * @property {number} [capacity]  n
 * @property {number} [fpr]  at n keys
 * @property {number} [keys]  the number that the other program counted
 * @property {number} [bytes]  the length that all of the bytes must have; undefined also in a format of several filters
 * @property {number} filters  how many the bytes have; the other facts are those of the first one
 * @property {ReadonlySet<string>} needs  facts that importForeign() and openForeign() need besides the bytes: "size"
 *   (numBits and numProbes, or another way), "order", "hash" (and its seed or seeds), "column"
 */

const inWords = (/** @type {number} */ _, /** @type {string} */ name) => name.toLowerCase().replaceAll("_", "-");
const ABILITIES = numbersUnder("CAN_", inWords);
const DIFFERENCES = numbersUnder("DIFFERS_", inWords);
const NEEDS = numbersUnder("FOREIGN_NEEDS_", inWords);
const UNKNOWN_BYTES = 2n ** 64n - 1n;

/** Returns the name of a number, or the number as text if the library does not know it.
 * @param {(number: number) => string | null} nameOf @param {number} number */
const nameBy = (nameOf, number) => nameOf(number) ?? String(number);

/** @param {Readonly<Record<string, number>>} names @param {number} bits @returns {ReadonlySet<string>} */
const namesIn = (names, bits) => new Set(Object.keys(names).filter((name) => bits & names[name]));

/** @param {number} code @returns {Health} */
export const healthOf = (code) => code === 0 ? "ok" : lib.bfs_code_name(code).replace(/^BFS_E/, "").toLowerCase();

/** @param {Struct} found @returns {Interval} */
const intervalOf = (found) =>
  Object.freeze({estimate: found.number("estimate"), low: found.number("low"), high: found.number("high")});

/** @param {Struct} facts @returns {Partial<Statistics>} */
function fillOf(facts) {
  return {
    setBits: facts.number("set_bits"),
    fillRatio: facts.number("fill_ratio"),
    estimatedKeys: Object.freeze({
      estimate: facts.number("estimated_keys"), low: facts.number("estimated_keys_low"), high: facts.number("estimated_keys_high"),
    }),
    estimatedFpr: facts.number("estimated_fpr"),
    countersAt15: facts.number("counters_at_15"),
  };
}

/** @param {Struct} facts @returns {Partial<Statistics>} */
function epochsOf(facts) {
  const keys = new Float64Array(facts.array("keys_of_epochs").buffer).slice(0, facts.number("epochs"));
  return {
    epoch: facts.number("epoch"),
    turnedAt: new Date(facts.number("turned_at") / 1e6),
    window: facts.number("window_ms"),
    turnDue: facts.number("turn_due") !== 0,
    keysOfEpochs: facts.number("has_fill") !== 0 ? Object.freeze([...keys]) : undefined,
  };
}

/** @param {Struct} facts @returns {Partial<Statistics>} */
function memoryOf(facts) {
  const known = facts.bigint("resident_bytes") !== UNKNOWN_BYTES;
  return {hugePageBytes: facts.number("huge_page_bytes"), residentBytes: known ? facts.number("resident_bytes") : undefined};
}

/** @param {Struct} facts @returns {Readonly<Statistics>} */
export function statisticsOf(facts) {
  return Object.freeze({
    layout: nameBy(lib.bfs_layout_name, facts.number("layout")),
    hash: nameBy(lib.bfs_hash_name, facts.number("hash")),
    numProbes: facts.number("num_probes"),
    numBits: facts.number("num_bits"),
    capacity: facts.number("capacity"),
    fpr: facts.number("fpr"),
    seed: facts.bigint("seed"),
    bodyBytes: facts.number("body_bytes"),
    keysAdded: facts.number("keys_added"),
    keysRemoved: facts.number("keys_removed"),
    health: healthOf(facts.number("health")),
    saturated: facts.number("saturated") !== 0,
    isa: facts.text("isa"),
    fileId: facts.array("file_id"),
    part: facts.number("part"),
    numParts: facts.number("num_parts"),
    note: facts.array("note").slice(0, facts.number("note_bytes")),
    seeds: new Uint32Array(facts.array("seeds").buffer).slice(0, facts.number("num_seeds")),
    ...(facts.number("has_fill") !== 0 ? fillOf(facts) : {}),
    ...(facts.number("has_memory") !== 0 ? memoryOf(facts) : {}),
    epochs: facts.number("epochs"),
    ...(facts.number("epochs") !== 0 ? epochsOf(facts) : {}),
  });
}

/** @param {Struct} found @returns {Readonly<Comparison>} */
export function comparisonOf(found) {
  return Object.freeze({
    differs: namesIn(DIFFERENCES, found.number("differs")),
    comparable: found.number("comparable") !== 0,
    equal: found.number("equal") !== 0,
    aInB: found.number("a_in_b") !== 0,
    bInA: found.number("b_in_a") !== 0,
    someInBoth: found.number("some_in_both") !== 0,
    numBits: found.number("num_bits"),
    setBitsA: found.number("set_bits_a"),
    setBitsB: found.number("set_bits_b"),
    setBitsBoth: found.number("set_bits_both"),
    keysA: intervalOf(found.inner("keys_a")),
    keysB: intervalOf(found.inner("keys_b")),
    keysEither: intervalOf(found.inner("keys_either")),
    keysBoth: intervalOf(found.inner("keys_both")),
    jaccard: intervalOf(found.inner("jaccard")),
  });
}

/** @param {Struct} found @returns {Readonly<Plan>} */
export function planOf(found) {
  return Object.freeze({
    layout: nameBy(lib.bfs_layout_name, found.number("layout")),
    numProbes: found.number("num_probes"),
    abilities: namesIn(ABILITIES, found.number("abilities")),
    numBits: found.number("num_bits"),
    capacity: found.number("capacity"),
    fpr: found.number("fpr"),
    bitsPerKey: found.number("bits_per_key"),
    bodyBytes: found.number("body_bytes"),
    fileBytes: found.number("file_bytes"),
    fillRatio: found.number("fill_ratio"),
    bloomFpr: found.number("bloom_fpr"),
    cacheLines: found.number("cache_lines"),
    pageFaults: found.number("page_faults"),
  });
}

/** @param {Struct} found @returns {Readonly<Foreign>} */
export function foreignOf(found) {
  return Object.freeze({
    layout: nameBy(lib.bfs_layout_name, found.number("layout")),
    hash: found.number("hash") === 0 ? undefined : nameBy(lib.bfs_hash_name, found.number("hash")),
    numProbes: found.number("num_probes") || undefined,
    numBits: found.number("num_bits") || undefined,
    capacity: found.number("capacity") || undefined,
    fpr: found.number("fpr") || undefined,
    keys: found.number("has_keys") === 0 ? undefined : found.number("keys"),
    bytes: found.number("bytes") || undefined,
    filters: found.number("filters"),
    needs: namesIn(NEEDS, found.number("needs")),
  });
}

/** @param {Struct} found @returns {Mark} */
export const markOf = (found) => Object.freeze({
  owner: found.bigint("owner"), mark: found.bigint("mark"), epoch: found.bigint("epoch"), recovered: found.number("recovered") !== 0,
});

/** @param {Struct} found @returns {Range} */
export const rangeOf = (found) => Object.freeze({offset: found.number("offset"), bytes: found.number("bytes")});

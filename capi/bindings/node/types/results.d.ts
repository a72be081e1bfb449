/** @param {Struct} facts @returns {Readonly<Statistics>} */
export function statisticsOf(facts: Struct): Readonly<Statistics>;
/** @param {Struct} found @returns {Readonly<Comparison>} */
export function comparisonOf(found: Struct): Readonly<Comparison>;
/** @param {Struct} found @returns {Readonly<Plan>} */
export function planOf(found: Struct): Readonly<Plan>;
/** @param {Struct} found @returns {Readonly<Foreign>} */
export function foreignOf(found: Struct): Readonly<Foreign>;
export function healthOf(code: number): Health;
export function markOf(found: Struct): Mark;
export function rangeOf(found: Struct): Range;
/**
 * An estimated number, and the interval that has it in 95 of 100 cases; high is Infinity if there is no bound.
 */
export type Interval = Readonly<{
    estimate: number;
    low: number;
    high: number;
}>;
/**
 * A range of bytes in a file.
 */
export type Range = Readonly<{
    offset: number;
    bytes: number;
}>;
/**
 * Every key of the owner's log `epoch` up to the position `mark` is durable.
 */
export type Mark = Readonly<{
    owner: bigint;
    mark: bigint;
    epoch: bigint;
    recovered: boolean;
}>;
/**
 * "ok", or why every answer is "maybe" now.
 */
export type Health = "ok" | "poisoned" | "lost" | "superseded" | "recovering" | "filling" | "fault" | "shut" | (string & {});
/**
 * A planned filter.
 */
export type Plan = {
    layout: string;
    /**
     * k
     */
    numProbes: number;
    /**
     * "add", "remove", "merge", "fold", "grow", "expire", "intersect",
     * "build"
     */
    abilities: ReadonlySet<string>;
    /**
     * m
     */
    numBits: number;
    /**
     * n
     */
    capacity: number;
    /**
     * the false-positive rate at n keys
     */
    fpr: number;
    bitsPerKey: number;
    bodyBytes: number;
    fileBytes: number;
    /**
     * the expected share of m that is set at n keys
     */
    fillRatio: number;
    /**
     * Bloom's formula
     */
    bloomFpr: number;
    /**
     * read by a lookup of a present key, on average
     */
    cacheLines: number;
    /**
     * of such a lookup in a file that is not in memory, on average
     */
    pageFaults: number;
};
/**
 * Facts about an open filter. undefined: not requested (see Filter.stats), or the kernel does not tell.
 */
export type Statistics = {
    layout: string;
    hash: string;
    /**
     * k
     */
    numProbes: number;
    /**
     * m
     */
    numBits: number;
    /**
     * n
     */
    capacity: number;
    /**
     * promised at n keys
     */
    fpr: number;
    seed: bigint;
    bodyBytes: number;
    /**
     * adds that changed a bit
     */
    keysAdded: number;
    keysRemoved: number;
    health: Health;
    /**
     * more keys than `capacity` were added
     */
    saturated: boolean;
    /**
     * the instruction set of the kernel in use
     */
    isa: string;
    fileId: Uint8Array;
    /**
     * which part of a whole filter this is, from 0; a whole filter is part 0 of 1
     */
    part: number;
    numParts: number;
    /**
     * of the owner; empty if there is none
     */
    note: Uint8Array;
    /**
     * of a hash that takes a list of them; otherwise empty
     */
    seeds: Uint32Array;
    setBits?: number | undefined;
    fillRatio?: number | undefined;
    estimatedKeys?: Readonly<{
        estimate: number;
        low: number;
        high: number;
    }> | undefined;
    /**
     * the rate now
     */
    estimatedFpr?: number | undefined;
    countersAt15?: number | undefined;
    hugePageBytes?: number | undefined;
    residentBytes?: number | undefined;
    /**
     * the number that the filter keeps if its keys expire; otherwise 0, and the facts below are undefined
     */
    epochs: number;
    /**
     * the number of the current one, from 0
     */
    epoch?: number | undefined;
    /**
     * when it began
     */
    turnedAt?: Date | undefined;
    /**
     * milliseconds
     */
    window?: number | undefined;
    /**
     * turn() would end it
     */
    turnDue?: boolean | undefined;
    /**
     * estimated, of the current epoch, of the one before it, and so on; with `fill`
     */
    keysOfEpochs?: readonly number[] | undefined;
};
/**
 * A comparison of two filters, A and B.
 */
export type Comparison = {
    /**
     * "layout", "hash", "seed", "secret", "num-probes", "num-bits", "part"
     */
    differs: ReadonlySet<string>;
    /**
     * false: only keysA and keysB are known
     */
    comparable: boolean;
    equal: boolean;
    /**
     * nothing shows that A has a key that B lacks
     */
    aInB: boolean;
    bInA: boolean;
    someInBoth: boolean;
    numBits: number;
    setBitsA: number;
    setBitsB: number;
    /**
     * 0: certainly no key is in both
     */
    setBitsBoth: number;
    keysA: Interval;
    keysB: Interval;
    keysEither: Interval;
    keysBoth: Interval;
    jaccard: Interval;
};
/**
 * Facts in the bytes of another program's filter: see inspectForeign(). undefined: the bytes do not tell it.
 */
export type Foreign = {
    layout: string;
    hash?: string | undefined;
    /**
     * k
     */
    numProbes?: number | undefined;
    /**
     * m
     */
    numBits?: number | undefined;
    /**
     * n
     */
    capacity?: number | undefined;
    /**
     * at n keys
     */
    fpr?: number | undefined;
    /**
     * the number that the other program counted
     */
    keys?: number | undefined;
    /**
     * the length that all of the bytes must have; undefined also in a format of several filters
     */
    bytes?: number | undefined;
    /**
     * how many the bytes have; the other facts are those of the first one
     */
    filters: number;
    /**
     * facts that importForeign() and openForeign() need besides the bytes: "size"
     * (numBits and numProbes, or another way), "order", "hash" (and its seed or seeds), "column"
     */
    needs: ReadonlySet<string>;
};
import { Struct } from "./struct.js";

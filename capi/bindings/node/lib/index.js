/** Bloom filters in files, which any number of processes and languages share through a memory map.
 *
 * ```js
 * import * as bfstore from "bfstore";
 *
 * const users = bfstore.open("users.bf", "a", {capacity: 1_000_000, fpr: 0.01});
 * users.add("alice");
 * users.contains("alice"); // true: maybe. false would be certain
 * users.close();
 * ```
 *
 * @module */
export {BfstoreError, strerror} from "./errors.js";
export {
  alignedBuffer, applyDelta, applyDeltaAsync, bareBuild, bareBuildDigests, bareBytes, bareContains, bareContainsDigest, build,
  buildAsync, containsAny, create, createAsync, foreignFormats, format, importForeign, importForeignAsync, inspectForeign, intersect,
  intersectAsync, join, joinAsync, load, makeDelta, makeDeltaAsync, open, openAsync, openForeign, openForeignAsync, plan, recognizeForeign, recognizeForeignAsync, requiredBytes, verify,
  verifyAsync, which, wrap,
} from "./files.js";
export {Filter} from "./filter.js";
export {version} from "./library.js";

/** @typedef {import("./keys.js").Key} Key */
/** @typedef {import("./keys.js").Keys} Keys */
/** @typedef {import("./keys.js").Column} Column */
/** @typedef {import("./keys.js").Digests} Digests */
/** @typedef {import("./keys.js").Width} Width */
/** @typedef {import("./options.js").Path} Path */
/** @typedef {import("./options.js").Layout} Layout */
/** @typedef {import("./options.js").Hash} Hash */
/** @typedef {import("./options.js").BitOrder} BitOrder */
/** @typedef {import("./options.js").CreateOptions} CreateOptions */
/** @typedef {import("./options.js").BuildOptions} BuildOptions */
/** @typedef {import("./options.js").OpenOptions} OpenOptions */
/** @typedef {import("./options.js").OpenOrCreateOptions} OpenOrCreateOptions */
/** @typedef {import("./options.js").Mode} Mode */
/** @typedef {import("./options.js").AnyModeOptions} AnyModeOptions */
/** @typedef {import("./options.js").BufferOptions} BufferOptions */
/** @typedef {import("./options.js").MemoryOptions} MemoryOptions */
/** @typedef {import("./options.js").CopyOptions} CopyOptions */
/** @typedef {import("./options.js").DeriveOptions} DeriveOptions */
/** @typedef {import("./options.js").DeltaOptions} DeltaOptions */
/** @typedef {import("./options.js").ForeignOptions} ForeignOptions */
/** @typedef {import("./options.js").OpenForeignOptions} OpenForeignOptions */
/** @typedef {import("./options.js").RecognizeOptions} RecognizeOptions */
/** @typedef {import("./options.js").PlanOptions} PlanOptions */
/** @typedef {import("./filter.js").SyncOptions} SyncOptions */
/** @typedef {import("./filter.js").DumpOptions} DumpOptions */
/** @typedef {import("./errors.js").ErrorCode} ErrorCode */
/** @typedef {import("./errors.js").ErrorKind} ErrorKind */
/** @typedef {import("./results.js").Health} Health */
/** @typedef {import("./results.js").Interval} Interval */
/** @typedef {import("./results.js").Range} Range */
/** @typedef {import("./results.js").Mark} Mark */
/** @typedef {import("./results.js").Plan} Plan */
/** @typedef {import("./results.js").Statistics} Statistics */
/** @typedef {import("./results.js").Comparison} Comparison */
/** @typedef {import("./results.js").Foreign} Foreign */

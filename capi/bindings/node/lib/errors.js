/* The error of this package. As in Node.js itself it is one class, and its `code` says what failed. */
import os from "node:os";
import {BFS} from "./abi.js";
import {lib} from "./library.js";
import {Struct} from "./struct.js";
import {FUNCTIONS, NAMES, PHRASES, QUALIFIED} from "./words.js";
import {wrongType} from "./wrong.js";

/** "EINVAL" and the like: in Node.js the usual names. They stand for the codes of bfstore that say no more than these.
 * @typedef {"EINVAL" | "ENOMEM" | "EBUSY" | "EEXIST" | "ENOENT" | "EACCES" | "ENOSPC" | "ELOOP"} SystemName */
/** The names that a program compares: its editor knows these. A failed system call can have any name of an errno.
 * @typedef {SystemName | import("./abi.js").CodeName | (string & {})} ErrorCode */
/** "call": the call, or the system, is at fault: change the call, or try again. "state": the file is good, but its state
 * forbids this. "malformed": the path does not name a good filter file. A code of a later library has a kind, too.
 * @typedef {"call" | "state" | "malformed" | "other"} ErrorKind */

/** Any error of bfstore. Its message says what failed, on what, and what to do. (A wrong argument is a TypeError or
 * RangeError with the `code` "ERR_INVALID_ARG_TYPE", "ERR_INVALID_ARG_VALUE" or "ERR_OUT_OF_RANGE", as in Node.js.) */
export class BfstoreError extends Error {
  /** As in other errors of Node.js: "ENOENT", "EEXIST", "EACCES", "EBUSY", "ENOSPC" and so on, if a system call has
   * that name for the error. Otherwise `bfsName`: "BFS_EUNCLEAN".
   *
   * "BFS_ESHUT": the filter was closed. "BFS_ELOST", "BFS_ESUPERSEDED", "BFS_EFAULT": every answer is "maybe"; open the
   * path again. "BFS_EUNCLEAN", "BFS_EPOISONED", "BFS_ERECOVERING": keys may be missing; build the file again, or open it
   * with `recover: true`. @readonly @type {ErrorCode} */
  code;

  /** For a code that the program does not know. @readonly @type {ErrorKind} */
  kind;

  /** The code of bfstore_codes.h, below 0. @readonly @type {number} */
  bfsCode;

  /** Its name in bfstore_codes.h: "BFS_EUNCLEAN". @readonly @type {import("./abi.js").CodeName | (string & {})} */
  bfsName;

  /** @param {number} bfsCode @param {number} osErrno @param {string} message @param {number} [rule] @param {string} [path] */
  constructor(bfsCode, osErrno, message, rule = 0, path = undefined) {
    super(message);
    this.bfsCode = bfsCode;
    this.bfsName = lib.bfs_code_name(bfsCode);
    this.kind = kindOf(bfsCode);
    this.code = NATURAL.has(bfsCode) ? ERRNO_NAMES.get(osErrno) ?? NATURAL.get(bfsCode) ?? this.bfsName : this.bfsName;
    /* These are there only if they say something: console.log() shows each property. */
    if (osErrno !== 0) {
      /** As in other errors of Node.js, below 0: from the failed system call, or the one that means the same as the code. Missing if
       * there is none. @readonly @type {number | undefined} */
      this.errno = -osErrno;
    }
    if (path !== undefined) {
      /** As in other errors of Node.js: the path of the file that the error is about. Missing if that is no file, or another one than
       * the call or the filter names. @readonly @type {string | undefined} */
      this.path = path;
    }
    if (rule !== 0) {
      /** With "BFS_EMALFORMED": the number of the broken rule in FORMAT.md. Otherwise missing.
       * @readonly @type {number | undefined} */
      this.rule = rule;
    }
  }
}
Object.defineProperty(BfstoreError.prototype, "name", {value: "BfstoreError", configurable: true, writable: true});

/** @type {Map<number, string>}  EAGAIN is also EWOULDBLOCK: the first name is the usual one */
const ERRNO_NAMES = new Map();
for (const [name, number] of Object.entries(os.constants.errno)) if (!ERRNO_NAMES.has(number)) ERRNO_NAMES.set(number, name);

/* The codes that mean no more than an errno, for calls without a bfs_error. EBADF for "read-only", or EIO for
 * "poisoned", would say less than the code. */
/** @type {Map<number, SystemName | undefined>} */
const NATURAL = new Map([
  [BFS.EINVAL, "EINVAL"], [BFS.ENOMEM, "ENOMEM"], [BFS.ESYSTEM, undefined], [BFS.EBUSY, "EBUSY"], [BFS.EEXIST, "EEXIST"],
  [BFS.ENOENT, "ENOENT"], [BFS.EACCES, "EACCES"], [BFS.ENOSPC, "ENOSPC"], [BFS.ESYMLINK, "ELOOP"],
]);

/** See BFS_IS_CALL_ERROR and its like. @param {number} code @returns {ErrorKind} */
const kindOf = (code) => code > -100 ? "call" : code > -200 ? "state" : code > -300 ? "malformed" : "other";

const OWN_NAMES = new Map(NAMES);
const OWN_QUALIFIED = new Map([...NAMES, ...QUALIFIED]);

/** Returns the library's words with what options and calls are called here. A word is what is between two spaces, so that a path stays
 * as it is. @param {string} message @returns {string} */
function inNode(message) {
  const called = FUNCTIONS.find(([theirs]) => message.startsWith(`${theirs}: `) || message.startsWith(`${theirs} `));
  const names = called || message.startsWith("bfs_options.") ? OWN_QUALIFIED : OWN_NAMES;
  let words = called ? called[1] + message.slice(called[0].length) : message;
  for (const [theirs, own] of PHRASES) words = words.replaceAll(theirs, own);
  return words.replace(/(?<![^\s(])[\w.]+?(?=[,.;)]*(?:\s|$))/g, (word) => names.get(word) ?? word);
}

/** What an error is about: its name in messages, and the path of a file. @typedef {{name: string, path?: string}} Subject */

/** Makes the error of a call without a bfs_error. @param {number} code @param {Subject} subject */
export const errorOfCode = (code, {name, path}) => new BfstoreError(code, 0, `${name}: ${inNode(strerror(code))}`, 0, path);

/** Makes the error of a call with a bfs_error. If the call did not fill it in, a bug, the error still has words.
 * @param {number} code @param {Struct} error @param {Subject} subject */
export function errorOfStruct(code, error, {name, path}) {
  const message = error.text("message");
  if (message === "") return errorOfCode(code, {name, path});
  const begin = message.startsWith(`${name}: `) ? `${name}: ` : ""; // otherwise it is about another file, or an option
  return new BfstoreError(code, error.number("os_errno"), begin + inNode(message.slice(begin.length)), error.number("rule"),
    begin === "" ? undefined : path);
}

/** Returns one sentence for a code of bfstore_codes.h. @param {number} code @returns {string} */
export function strerror(code) {
  if (!Number.isInteger(code)) throw wrongType("a code is an integer");
  return lib.bfs_strerror(code);
}

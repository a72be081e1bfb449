/* The exceptions: a class for each range of codes, and for the codes that programs handle most often. */
import os from "node:os";
import {BFS} from "./abi.js";
import {lib} from "./library.js";
import {Struct} from "./struct.js";

/** Any error of bfstore. Its message says what failed, on what, and what to do. */
export class BfstoreError extends Error {
  /** As in other errors of Node.js: "ENOENT", "EEXIST", "EACCES", "EBUSY", "ENOSPC" and so on, if a system call has
   * that name for the error. Otherwise `bfsName`: "BFS_EUNCLEAN".
   * @readonly @type {string} */
  code;

  /** The code of bfstore.h, below 0. @readonly @type {number} */
  bfsCode;

  /** Its name in bfstore.h: "BFS_EUNCLEAN". @readonly @type {string} */
  bfsName;

  /** As in other errors of Node.js, below 0: from the failed system call, or the one that means the same as the code;
   * 0: none. @readonly @type {number} */
  errno;

  /** @param {number} bfsCode @param {number} osErrno @param {string} message */
  constructor(bfsCode, osErrno, message) {
    super(message);
    this.bfsCode = bfsCode;
    this.bfsName = lib.bfs_code_name(bfsCode);
    this.errno = osErrno === 0 ? 0 : -osErrno;
    this.code = NATURAL.has(bfsCode) ? ERRNO_NAMES.get(osErrno) ?? NATURAL.get(bfsCode) ?? this.bfsName : this.bfsName;
  }
}

/** The call or the system is at fault: change the call, or try again. */
export class CallError extends BfstoreError {}

/** The file is good, but its state forbids this. */
export class StateError extends BfstoreError {}

/** The file at the path is not a good filter file. */
export class MalformedError extends BfstoreError {}

/** The filter was closed. */
export class ClosedError extends CallError {}

/** Lost, superseded or unreadable: every answer is "maybe". Open the path again. */
export class DoubtError extends StateError {}

/** Not closed cleanly before a crash, poisoned, or being recovered: open it with `recover: true`. */
export class RecoveryError extends StateError {}

for (const kind of [BfstoreError, CallError, StateError, MalformedError, ClosedError, DoubtError, RecoveryError])
  Object.defineProperty(kind.prototype, "name", {value: kind.name, configurable: true, writable: true});

/** @type {Map<number, string>}  EAGAIN is also EWOULDBLOCK: the first name is the usual one */
const ERRNO_NAMES = new Map();
for (const [name, number] of Object.entries(os.constants.errno)) if (!ERRNO_NAMES.has(number)) ERRNO_NAMES.set(number, name);

/* The codes that mean no more than an errno, for calls without a bfs_error. EBADF for "read-only", or EIO for
 * "poisoned", would say less than the code. */
/** @type {Map<number, string>} */
const NATURAL = new Map([
  [BFS.EINVAL, "EINVAL"], [BFS.ENOMEM, "ENOMEM"], [BFS.ESYSTEM, ""], [BFS.EBUSY, "EBUSY"], [BFS.EEXIST, "EEXIST"],
  [BFS.ENOENT, "ENOENT"], [BFS.EACCES, "EACCES"], [BFS.ENOSPC, "ENOSPC"], [BFS.ESYMLINK, "ELOOP"],
]);

/** @type {Map<number, typeof BfstoreError>} */
const CLASSES = new Map([
  [BFS.ESHUT, ClosedError], [BFS.ELOST, DoubtError], [BFS.ESUPERSEDED, DoubtError], [BFS.EFAULT, DoubtError],
  [BFS.EUNCLEAN, RecoveryError], [BFS.EPOISONED, RecoveryError], [BFS.ERECOVERING, RecoveryError],
]);

/** Returns the class. A code that this release does not know is treated as its range: see BFS_IS_CALL_ERROR.
 * @param {number} code */
function classOf(code) {
  const byRange = code > -100 ? CallError : code > -200 ? StateError : code > -300 ? MalformedError : BfstoreError;
  return CLASSES.get(code) ?? byRange;
}

/** @param {number} code @param {number} osErrno @param {string} message @returns {BfstoreError} */
export const errorOf = (code, osErrno, message) => new (classOf(code))(code, osErrno, message);

/** Makes the error of a call without a bfs_error. @param {number} code @param {string} name */
export const errorOfCode = (code, name) => errorOf(code, 0, `${name}: ${strerror(code)}`);

/** Makes the error of a call with a bfs_error. If the call did not fill it in, a bug, the error still has words.
 * @param {number} code @param {Struct} error @param {string} name */
export function errorOfStruct(code, error, name) {
  const message = error.text("message");
  return message === "" ? errorOfCode(code, name) : errorOf(code, error.number("os_errno"), message);
}

/** Returns one sentence for a code of bfstore.h. @param {number} code @returns {string} */
export function strerror(code) {
  if (!Number.isInteger(code)) throw new TypeError("a code is an integer");
  return lib.bfs_strerror(code);
}

/** Makes the error of a call with a bfs_error. If the call did not fill it in, a bug, the error still has words.
 * @param {number} code @param {Struct} error @param {string} name */
export function errorOfStruct(code: number, error: Struct, name: string): BfstoreError;
/** Returns one sentence for a code of bfstore_codes.h. @param {number} code @returns {string} */
export function strerror(code: number): string;
/** "EINVAL" and the like: in Node.js the usual names. They stand for the codes of bfstore that say no more than these.
 * @typedef {"EINVAL" | "ENOMEM" | "EBUSY" | "EEXIST" | "ENOENT" | "EACCES" | "ENOSPC" | "ELOOP"} SystemName */
/** The names that a program compares: its editor knows these. A failed system call can have any name of an errno.
 * @typedef {SystemName | import("./abi.js").CodeName | (string & {})} ErrorCode */
/** "call": the call, or the system, is at fault: change the call, or try again. "state": the file is good, but its state
 * forbids this. "malformed": the path does not name a good filter file. A code of a later library has a kind, too.
 * @typedef {"call" | "state" | "malformed" | "other"} ErrorKind */
/** Any error of bfstore. Its message says what failed, on what, and what to do. (A wrong argument is a TypeError or
 * RangeError, as in Node.js.) */
export class BfstoreError extends Error {
    /** @param {number} bfsCode @param {number} osErrno @param {string} message @param {number} [rule] */
    constructor(bfsCode: number, osErrno: number, message: string, rule?: number);
    /** As in other errors of Node.js: "ENOENT", "EEXIST", "EACCES", "EBUSY", "ENOSPC" and so on, if a system call has
     * that name for the error. Otherwise `bfsName`: "BFS_EUNCLEAN".
     *
     * "BFS_ESHUT": the filter was closed. "BFS_ELOST", "BFS_ESUPERSEDED", "BFS_EFAULT": every answer is "maybe"; open the
     * path again. "BFS_EUNCLEAN", "BFS_EPOISONED", "BFS_ERECOVERING": keys may be missing; build the file again, or open it
     * with `recover: true`. @readonly @type {ErrorCode} */
    readonly code: ErrorCode;
    /** For a code that the program does not know. @readonly @type {ErrorKind} */
    readonly kind: ErrorKind;
    /** The code of bfstore_codes.h, below 0. @readonly @type {number} */
    readonly bfsCode: number;
    /** Its name in bfstore_codes.h: "BFS_EUNCLEAN". @readonly @type {import("./abi.js").CodeName | (string & {})} */
    readonly bfsName: import("./abi.js").CodeName | (string & {});
    /** As in other errors of Node.js, below 0: from the failed system call, or the one that means the same as the code;
     * 0: none. @readonly @type {number} */
    readonly errno: number;
    /** With "BFS_EMALFORMED": the number of the broken rule in FORMAT.md; otherwise 0. @readonly @type {number} */
    readonly rule: number;
}
export function errorOfCode(code: number, name: string): BfstoreError;
/**
 * "EINVAL" and the like: in Node.js the usual names. They stand for the codes of bfstore that say no more than these.
 */
export type SystemName = "EINVAL" | "ENOMEM" | "EBUSY" | "EEXIST" | "ENOENT" | "EACCES" | "ENOSPC" | "ELOOP";
/**
 * The names that a program compares: its editor knows these. A failed system call can have any name of an errno.
 */
export type ErrorCode = SystemName | import("./abi.js").CodeName | (string & {});
/**
 * "call": the call, or the system, is at fault: change the call, or try again. "state": the file is good, but its state
 * forbids this. "malformed": the path does not name a good filter file. A code of a later library has a kind, too.
 */
export type ErrorKind = "call" | "state" | "malformed" | "other";
import { Struct } from "./struct.js";

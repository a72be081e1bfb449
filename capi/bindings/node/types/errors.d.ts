/** Makes the error of a call with a bfs_error. If the call did not fill it in, a bug, the error still has words.
 * @param {number} code @param {Struct} error @param {Subject} subject */
export function errorOfStruct(code: number, error: Struct, { name, path }: Subject): BfstoreError;
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
 * RangeError with the `code` "ERR_INVALID_ARG_TYPE", "ERR_INVALID_ARG_VALUE" or "ERR_OUT_OF_RANGE", as in Node.js.) */
export class BfstoreError extends Error {
    /** @param {number} bfsCode @param {number} osErrno @param {string} message @param {number} [rule] @param {string} [path] */
    constructor(bfsCode: number, osErrno: number, message: string, rule?: number, path?: string);
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
    /** As in other errors of Node.js, below 0: from the failed system call, or the one that means the same as the code. Missing if
     * there is none. @readonly @type {number | undefined} */
    readonly errno: number | undefined;
    /** As in other errors of Node.js: the path of the file that the error is about. Missing if that is no file, or another one than
     * the call or the filter names. @readonly @type {string | undefined} */
    readonly path: string | undefined;
    /** With "BFS_EMALFORMED": the number of the broken rule in FORMAT.md. Otherwise missing.
     * @readonly @type {number | undefined} */
    readonly rule: number | undefined;
}
export function errorOfCode(code: number, { name, path }: Subject): BfstoreError;
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
/**
 * What an error is about: its name in messages, and the path of a file.
 */
export type Subject = {
    name: string;
    path?: string;
};
import { Struct } from "./struct.js";

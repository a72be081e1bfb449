/** @param {object} filter @param {Life} life */
export function born(filter: object, life: Life): void;
/** @param {unknown} filter @returns {Life} */
export function lifeOf(filter: unknown): Life;
/** Returns the error for a handle that cannot be used. @param {Life} life */
export function closedError(life: Life): BfstoreError;
/** @param {Life} life @returns {number} */
export function handleOf(life: Life): number;
/** @param {Life} life */
export function begin(life: Life): void;
/** Ends a call. The last one on a shut handle closes it. No caller waits for that, so an error becomes a warning.
 * @param {Life} life */
export function end(life: Life): void;
/** Returns what a close has to do now; null: nothing. While calls run, bfs_shut ends their work, and the last of them
 * frees the handle. @param {Life} life @returns {{fn: "bfs_close" | "bfs_shut", handle: number} | null} */
export function beginClose(life: Life): {
    fn: "bfs_close" | "bfs_shut";
    handle: number;
} | null;
/** Takes the result of bfs_close or bfs_shut. A buffer cannot be shut, since the caller owns its memory: it ends with
 * its last call. @param {Life} life @param {"bfs_close" | "bfs_shut"} fn @param {number} code @param {Struct} error */
export function endClose(life: Life, fn: "bfs_close" | "bfs_shut", code: number, error: Struct): void;
/** @param {Life} life @returns {boolean}  false: calls run, so it has to be closed */
export function abandon(life: Life): boolean;
/** Begins a publish, which needs the handle alone. @param {Life} life @returns {number} */
export function beginPublish(life: Life): number;
/** @param {Life} life @param {number} handle */
export function endPublish(life: Life, handle: number): void;
/** The state of a handle, which a finalizer gets when the filter is gone. All users of the handle ask it. */
export class Life {
    /** @param {number} handle @param {import("./errors.js").Subject} subject @param {unknown} memory  the memory of the handle, or null
     * @param {boolean} reads  takes no keys */
    constructor(handle: number, { name, path }: import("./errors.js").Subject, memory: unknown, reads: boolean);
    reads: boolean;
    handle: number;
    name: string;
    path: string | undefined;
    memory: unknown;
    calls: number;
    ending: number;
    publishing: boolean;
}
import { BfstoreError } from "./errors.js";
import { Struct } from "./struct.js";

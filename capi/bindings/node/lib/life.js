/* The life of a handle: the calls that use it, closing it, and the case that it is not closed. JavaScript runs in one
 * thread, so only the functions ...Async, whose calls run on other threads, can use a handle while it is closed. */
import * as threads from "node:worker_threads";
import {BFS} from "./abi.js";
import {BfstoreError, errorOfStruct} from "./errors.js";
import {lib} from "./library.js";
import {Struct, shown} from "./struct.js";
import {wrongState, wrongType} from "./wrong.js";

/** The state of a handle, which a finalizer gets when the filter is gone. All users of the handle ask it. */
export class Life {
  /** @param {number} handle @param {import("./errors.js").Subject} subject @param {unknown} memory  the memory of the handle, or null
   * @param {boolean} reads  takes no keys */
  constructor(handle, {name, path}, memory, reads) {
    this.reads = reads;
    this.handle = handle; // 0: closed, or being published
    this.name = name;
    this.path = path; // undefined: no file has that name
    this.memory = memory;
    this.calls = 0; // asynchronous calls that run or wait
    this.ending = 0; // a shut handle, which the last call closes
    this.publishing = false;
  }
}

/** @type {WeakMap<object, Life>} */
const lives = new WeakMap();
/** The lives of this thread that have a handle. @type {Set<Life>} */
const open = new Set();

const collected = new FinalizationRegistry((/** @type {Life} */ life) => {
  if (life.handle === 0) return;
  process.emitWarning(
    `${life.name}: a filter was collected that was not closed${life.reads ? "" : "; what was added is not synced"}`,
    {type: "BfstoreWarning", code: "BFSTORE_UNCLOSED", detail: "Call close(), or declare the filter with `using`."});
  abandonHandle(life);
});

/* A worker's memory ends with it, and its process continues: without this its files would stay open and locked. */
if (!threads.isMainThread) process.on("exit", () => {
  for (const life of open) if (life.calls === 0) abandonHandle(life);
});

/* From Node.js 22.10 on. Without it a filter that is posted to another thread arrives there as {}. */
const {markAsUncloneable = (/** @type {object} */ _) => {}} = /** @type {{markAsUncloneable?: (object: object) => void}} */ (threads);

/** @param {object} filter @param {Life} life */
export function born(filter, life) {
  markAsUncloneable(filter);
  lives.set(filter, life);
  open.add(life);
  collected.register(filter, life, life);
}

/** @param {unknown} filter @returns {Life} */
export function lifeOf(filter) {
  const life = typeof filter === "object" && filter !== null ? lives.get(filter) : undefined;
  if (life === undefined) throw wrongType(`a filter is wanted, not ${shown(filter)}`);
  return life;
}

/** Returns the error for a handle that cannot be used. @param {Life} life */
export function closedError(life) {
  const words = life.publishing ? "the filter is being published" : "the filter was closed; open the path again";
  return new BfstoreError(BFS.ESHUT, 0, `${life.name}: ${words}`, 0, life.path);
}

/** @param {Life} life @returns {number} */
export function handleOf(life) {
  if (life.handle === 0) throw closedError(life);
  return life.handle;
}

/** @param {Life} life @returns {number} */
function taken(life) {
  const handle = life.handle;
  life.handle = 0;
  open.delete(life);
  collected.unregister(life);
  return handle;
}

/** Ends a handle without waiting for a lock or the disk, so it does not sync: see bfs_abandon. @param {Life} life */
function abandonHandle(life) {
  lib.bfs_abandon(taken(life));
  life.memory = null;
}

/** @param {Life} life */
export function begin(life) {
  handleOf(life);
  life.calls++;
}

/** Ends a call. The last one on a shut handle closes it. No caller waits for that, so an error becomes a warning.
 * @param {Life} life */
export function end(life) {
  if (--life.calls > 0 || life.ending === 0) return;
  const error = new Struct("bfs_error");
  const code = lib.bfs_close(life.ending, error.bytes);
  life.ending = 0;
  life.memory = null;
  if (code < 0) process.emitWarning(errorOfStruct(code, error, life));
}

/** Returns what a close has to do now; null: nothing. While calls run, bfs_shut ends their work, and the last of them
 * frees the handle. @param {Life} life @returns {{fn: "bfs_close" | "bfs_shut", handle: number} | null} */
export function beginClose(life) {
  if (life.publishing) throw closedError(life);
  const handle = life.handle === 0 ? 0 : taken(life);
  if (handle === 0) return null;
  if (life.calls === 0) return {fn: "bfs_close", handle};
  life.ending = handle;
  life.calls++;
  return {fn: "bfs_shut", handle};
}

/** Takes the result of bfs_close or bfs_shut. A buffer cannot be shut, since the caller owns its memory: it ends with
 * its last call. @param {Life} life @param {"bfs_close" | "bfs_shut"} fn @param {number} code @param {Struct} error */
export function endClose(life, fn, code, error) {
  if (fn === "bfs_shut") end(life);
  else life.memory = null;
  if (code < 0 && !(fn === "bfs_shut" && code === BFS.EINVAL)) throw errorOfStruct(code, error, life);
}

/** @param {Life} life @returns {boolean}  false: calls run, so it has to be closed */
export function abandon(life) {
  if (life.publishing) throw closedError(life);
  if (life.calls > 0) return false;
  if (life.handle !== 0) abandonHandle(life);
  return true;
}

/** Begins a publish, which needs the handle alone. @param {Life} life @returns {number} */
export function beginPublish(life) {
  const handle = handleOf(life);
  if (life.calls > 0) throw wrongState(`${life.name}: other calls use the filter, which publish() needs for itself`);
  life.handle = 0;
  life.publishing = true;
  return handle;
}

/** @param {Life} life @param {number} handle */
export function endPublish(life, handle) {
  life.publishing = false;
  life.handle = handle;
}

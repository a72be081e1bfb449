/* Calls of the library that have a bfs_error: at once, or on another thread, with a promise. */
import {errorOfStruct} from "./errors.js";
import {begin, beginClose, beginPublish, end, endClose, endPublish, handleOf, lifeOf} from "./life.js";
import {lib} from "./library.js";
import {Struct} from "./struct.js";

/** One call. Its arguments do not include bfs_error, which is the last argument of all these functions.
 * @template T
 * @typedef {object} Call
 * @property {string} fn
 * @property {readonly object[]} uses  the filters
 * @property {(...handles: number[]) => unknown[]} args  koffi passes arrays as their memory
 * @property {unknown} [kept]  the object whose memory the arguments only point to
 * @property {string} name  the name of the thing in errors
 * @property {string} [path]  the same if it is a file
 * @property {(result: number) => T} finish
 */

/** Objects that koffi's threads use now, so that they are not collected. @type {Set<unknown>} */
const underWay = new Set();
/** The number of calls that koffi gets at once; it refuses more than 256. @type {number} */
const MOST = 32;
/** @type {(() => void)[]} */
const waiting = [];

/** Keeps the memory of the current call: the collector may free a local variable that is not used again before the
 * call ends.
 * @type {{what: unknown}} */
export const held = {what: null};

/** @template T @param {Call<T>} call @returns {T} */
export function now(call) {
  const error = new Struct("bfs_error");
  const handles = call.uses.map((filter) => handleOf(lifeOf(filter)));
  held.what = call;
  const result = Number(lib[call.fn](...call.args(...handles), error.bytes));
  held.what = null;
  if (result < 0) throw errorOfStruct(result, error, call);
  return call.finish(result);
}

/** Calls koffi's .async, with a promise. @param {string} fn @param {() => unknown[]} args @param {unknown} kept
 * @returns {Promise<number>} */
function onThread(fn, args, kept) {
  return new Promise((resolve, reject) => {
    const run = () => {
      const given = args();
      const token = {given, kept};
      underWay.add(token);
      const done = (/** @type {unknown} */ failed, /** @type {number | bigint} */ result) => {
        underWay.delete(token);
        waiting.shift()?.();
        failed ? reject(failed) : resolve(Number(result));
      };
      try {
        lib[fn].async(...given, done);
      } catch (failed) {
        done(failed, 0);
      }
    };
    underWay.size < MOST ? run() : waiting.push(run);
  });
}

/** @template T @param {Call<T>} call @returns {Promise<T>} */
export async function later(call) {
  const error = new Struct("bfs_error");
  const lives = call.uses.map(lifeOf);
  const handles = lives.map(handleOf);
  for (const life of lives) begin(life);
  try {
    const result = await onThread(call.fn, () => [...call.args(...handles), error.bytes], call);
    if (result < 0) throw errorOfStruct(result, error, call);
    return call.finish(result);
  } finally {
    for (const life of lives) end(life);
  }
}

/** Runs the steps of a generator; each step is a call. @template T @param {Generator<Call<any>, T, any>} steps
 * @returns {T} */
export function stepsNow(steps) {
  let step = steps.next();
  while (!step.done) {
    let result;
    try {
      result = now(step.value);
    } catch (error) {
      step = steps.throw(error);
      continue;
    }
    step = steps.next(result);
  }
  return step.value;
}

/** @template T @param {Generator<Call<any>, T, any>} steps @returns {Promise<T>} */
export async function stepsLater(steps) {
  let step = steps.next();
  while (!step.done) {
    let result;
    try {
      result = await later(step.value);
    } catch (error) {
      step = steps.throw(error);
      continue;
    }
    step = steps.next(result);
  }
  return step.value;
}

/** @param {object} filter */
export function closeNow(filter) {
  const life = lifeOf(filter);
  const todo = beginClose(life);
  if (todo === null) return;
  const error = new Struct("bfs_error");
  endClose(life, todo.fn, lib[todo.fn](todo.handle, error.bytes), error);
}

/** @param {object} filter @returns {Promise<void>} */
export async function closeLater(filter) {
  const life = lifeOf(filter);
  const todo = beginClose(life);
  if (todo === null) return;
  const error = new Struct("bfs_error");
  endClose(life, todo.fn, await onThread(todo.fn, () => [todo.handle, error.bytes], life), error);
}

/** @param {object} filter */
export function publishNow(filter) {
  const life = lifeOf(filter);
  const handle = beginPublish(life);
  const error = new Struct("bfs_error");
  const code = lib.bfs_publish(handle, error.bytes);
  endPublish(life, handle);
  if (code < 0) throw errorOfStruct(code, error, life);
}

/** @param {object} filter @returns {Promise<void>} */
export async function publishLater(filter) {
  const life = lifeOf(filter);
  const handle = beginPublish(life);
  const error = new Struct("bfs_error");
  try {
    const code = await onThread("bfs_publish", () => [handle, error.bytes], filter);
    if (code < 0) throw errorOfStruct(code, error, life);
  } finally {
    endPublish(life, handle);
  }
}

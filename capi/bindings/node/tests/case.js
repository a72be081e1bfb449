/* The common part of the tests: a folder for each test, filters that are closed after it, and programs that run in a
 * process of their own. */
import {spawnSync} from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import {fileURLToPath} from "node:url";
import * as bfstore from "bfstore";

/** The package, as it is assembled for the tests. */
export const PACKAGE = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
/** The repository. */
export const ROOT = process.env.BFSTORE_ROOT;
/** Facts from the C compiler: see tests/bindings/languages.py. */
export const ABI = JSON.parse(fs.readFileSync(process.env.BFSTORE_ABI, "utf8"));

/** Returns the test's folder, and functions that make filters in it. @param {import("node:test").TestContext} t */
export function caseOf(t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "bfstore-node-"));
  const made = [];
  t.after(() => {
    for (const filter of made) {
      try {
        filter.close();
      } catch {
        // a file that the test has damaged
      }
    }
    fs.rmSync(folder, {recursive: true});
  });
  const kept = (filter) => {
    made.push(filter);
    return filter;
  };
  const file = (name) => path.join(folder, name);
  const sized = (options) => ["num_bits", "numBits", "like"].some((name) => name in options) ? options : {capacity: 10_000, ...options};
  // No absent key is there by chance.
  const seeded = (options) => ["hash", "like"].some((name) => name in options) ? options : {seed: 1, ...options};
  return {
    folder, file, path: file("filter.bf"), kept,
    create: (options = {}, name = "filter.bf") => kept(bfstore.create(file(name), seeded(sized(options)))),
    open: (mode = "r", options = {}, name = "filter.bf") => kept(bfstore.open(file(name), mode, options)),
  };
}

/** Runs a program of its own, which may crash: {status, signal, stdout, stderr}. @param {string} program
 * @param {string[]} [words] */
export function run(program, words = [], more = {}) {
  const done = spawnSync(process.execPath, ["--input-type=module", ...(more.flags ?? []), "-e", program, "--", ...words],
    {encoding: "utf8", cwd: PACKAGE, timeout: 600_000, ...more});
  return {status: done.status, signal: done.signal, stdout: done.stdout, stderr: done.stderr};
}

/** Returns the numbers from 0 on. @param {number} count */
export const numbers = (count) => Array.from({length: count}, (_, i) => i);

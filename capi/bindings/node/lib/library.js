/* The library itself, loaded by koffi: each function of the ABI is a JavaScript function, which has .async. */
import fs from "node:fs";
import {endianness} from "node:os";
import path from "node:path";
import {fileURLToPath} from "node:url";
import koffi from "koffi";
import {BFS, FUNCTIONS} from "./abi.js";

/** @typedef {{(...words: any[]): any, async: (...words: any[]) => void}} Native */

/* The file that every program of glibc has mapped. Before 2.34 its name had the version. */
const MAPS = "/proc/self/maps"; // without it glibc is assumed
const isGlibc = !fs.existsSync(MAPS) || /\/libc(\.so\.6|-2\.\d+\.so)$/m.test(fs.readFileSync(MAPS, "latin1"));

const SONAME = "libbfstore.so.0";
const PACKAGE = fileURLToPath(new URL("..", import.meta.url));
const system = `${isGlibc ? "linux" : "linux-musl"}-${process.arch}`;

/** Returns the library that tools/demo or tools/test has built in the clone from which npm has installed this package:
 * npm notes beside it where that is. @returns {string[]} */
function built() {
  const project = path.resolve(PACKAGE, "../..");
  try {
    const {packages} = JSON.parse(fs.readFileSync(path.join(project, "node_modules/.package-lock.json"), "utf8"));
    const [, folder] = /^file:(.*\/capi\/bindings\/node)$/.exec(packages["node_modules/bfstore"].resolved) ?? [];
    return folder ? [path.resolve(project, folder, "../../../build-release/capi", SONAME)] : [];
  } catch {
    return []; // another program has installed the package, or it is a link
  }
}

/** A packed package has its own library. Without one for this processor and C library that of the clone is loaded, or
 * else the system's. */
function load() {
  const clone = built();
  const own = [path.join(PACKAGE, "prebuilt", system, "libbfstore.so"), ...clone];
  const name = own.find((one) => fs.existsSync(one)) ?? SONAME;
  try {
    return koffi.load(name);
  } catch (error) {
    const failed = new Error(`${name} cannot be loaded: install bfstore (ninja -C build install && ldconfig), or run ./tools/demo in the clone` +
      (clone.length === 0 ? " from which npm has installed this package" : `, which makes ${clone[0]}`), {cause: error});
    throw Object.assign(failed, {code: "ERR_BFSTORE_LIBRARY"});
  }
}

const library = load();

/** @type {Record<string, Native>} */
export const lib = Object.fromEntries(
  Object.entries(FUNCTIONS).map(([name, [result, ...parameters]]) => [name, library.func(name, result, parameters)]));

/** The version of the running library: "1.2.3". @type {string} */
export const version = lib.bfs_version();

/* Before 1.0 each minor version may change the layout of structs; and the binding uses typed arrays' numbers
 * unchanged. */
const series = `${BFS.VERSION_MAJOR}.${BFS.VERSION_MINOR}.`;
if (!version.startsWith(series)) throw new Error(`libbfstore ${version} is not of the series that this package is for: ${series}x`);
if (endianness() !== "LE") throw new Error("bfstore for Node.js runs on little-endian machines alone");

/** Returns a pointer as a number, which koffi takes faster than a bigint. Processors have up to 2^48 bytes of addresses
 * for a program, unless the upper bits have tags. @param {bigint} pointer @returns {number} */
export function pointerOf(pointer) {
  const number = Number(pointer);
  if (!Number.isSafeInteger(number)) throw new Error("an address above 2^53: memory tagging is not supported");
  return number;
}

/** Returns the static text at an address that the library returned. @param {number} address @returns {string} */
export const textAt = (address) => koffi.decode(address, "char", -1);

/** Returns the address of a typed array's memory. It stays valid only as long as something holds the array.
 * @param {NodeJS.ArrayBufferView} array @returns {number} */
export const addressOf = (array) => pointerOf(koffi.address(array));

/* The library itself, loaded by koffi: each function of the ABI is a JavaScript function, which has .async. */
import fs from "node:fs";
import {endianness} from "node:os";
import {fileURLToPath} from "node:url";
import koffi from "koffi";
import {BFS, FUNCTIONS} from "./abi.js";

/** @typedef {{(...words: any[]): any, async: (...words: any[]) => void}} Native */

/* The file that every program of glibc has mapped. Before 2.34 its name had the version. */
const MAPS = "/proc/self/maps"; // without it glibc is assumed
const isGlibc = !fs.existsSync(MAPS) || /\/libc(\.so\.6|-2\.\d+\.so)$/m.test(fs.readFileSync(MAPS, "latin1"));

/* The package has its own library. Without one for this processor and C library it uses the system's. */
const system = `${isGlibc ? "linux" : "linux-musl"}-${process.arch}`;
const own = fileURLToPath(new URL(`../prebuilt/${system}/libbfstore.so`, import.meta.url));
const library = koffi.load(fs.existsSync(own) ? own : "libbfstore.so.0");

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

/* The rival of the binding for Node.js, for bench/bindings.py: bloom-filters, which has every second key. `rival.mjs FOLDER
 * MODULES` prints a line of the form of c.c. It is slow: it is asked for a part of the keys, and told as if for all. */
import fs from "node:fs";
import {createRequire} from "node:module";
import path from "node:path";

const KEY_BYTES = 16;
const BITS_PER_KEY = 10;
const NUM_PROBES = 7;
const PART = 20;
const [, , modules, folder] = process.argv;
const {BloomFilter} = createRequire(path.join(modules, "any.js"))("bloom-filters");

const column = fs.readFileSync(path.join(folder, "keys"));
const count = Math.floor(column.length / KEY_BYTES / PART / 2) * 2;
const keys = Array.from({length: count}, (_, i) => column.toString("latin1", i * KEY_BYTES, (i + 1) * KEY_BYTES));
const filter = new BloomFilter((count / 2) * BITS_PER_KEY, NUM_PROBES);
for (let i = 0; i < count; i += 2) filter.add(keys[i]);
const begin = process.cpuUsage();
const maybes = keys.filter((key) => filter.has(key)).length;
const {user, system} = process.cpuUsage(begin);
const all = column.length / KEY_BYTES;
console.log("rival", "bloom-filters", (((user + system) * 1000) / count).toFixed(3), Math.round((maybes / count) * all));

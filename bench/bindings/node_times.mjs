/* The times of Node.js, for bench/bindings.py: `node_times.mjs PACKAGE FOLDER`, PACKAGE being the file of the package that is imported.
 * Its lines are those of c.c. */
import fs from "node:fs";
import path from "node:path";
import {pathToFileURL} from "node:url";

const KEY_BYTES = 16;
const PASSES = 5;
const [, , from, folder] = process.argv;
const bfstore = await import(pathToFileURL(from).href);

/** Prints the least CPU time of some passes. What they return is counted afterwards: C gets the number with the answers. */
function told(layout, way, count, work, counted = (maybes) => maybes) {
  let least = Infinity;
  let answers;
  for (let pass = 0; pass < PASSES; pass++) {
    const begin = process.cpuUsage();
    answers = work();
    const {user, system} = process.cpuUsage(begin);
    least = Math.min(least, user + system);
  }
  console.log(layout, way, ((least * 1000) / count).toFixed(3), counted(answers));
}

function askEach(filter, keys) {
  let maybes = 0;
  for (const key of keys) if (filter.contains(key)) maybes++;
  return maybes;
}

function ones(answers) {
  let sum = 0;
  for (let i = 0; i < answers.length; i++) sum += answers[i];
  return sum;
}

const column = fs.readFileSync(path.join(folder, "keys"));
const count = column.length / KEY_BYTES;
const buffers = Array.from({length: count}, (_, i) => column.subarray(i * KEY_BYTES, (i + 1) * KEY_BYTES));
for (const layout of ["blocked", "classic"]) {
  const opened = bfstore.open(path.join(folder, `${layout}.bf`));
  told(layout, "one", count, () => askEach(opened, buffers));
  told(layout, "objects", count, () => opened.containsMany(buffers), ones);
  told(layout, "column", count, () => opened.containsMany(column, {width: KEY_BYTES}), ones);
  opened.close();
}

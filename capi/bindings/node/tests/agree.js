/* The program that tests/bindings/ runs for this language: languages.py there has its interface. */
import * as bfstore from "bfstore";

const keys = (prefix, count) => Array.from({length: Number(count)}, (_, i) => `${prefix}-${i}`);

const verbs = {
  create(path, capacity) {
    bfstore.create(path, {capacity: Number(capacity), fpr: 0.01}).close();
  },
  add(path, prefix, count) {
    const opened = bfstore.open(path, "r+");
    keys(prefix, count).filter((_, i) => i % 2 === 0).forEach((key) => opened.add(key));
    opened.addMany(keys(prefix, count).filter((_, i) => i % 2 === 1));
    opened.close();
  },
  ask(path, prefix, count) {
    const opened = bfstore.open(path);
    const single = keys(prefix, count).map((key) => Number(opened.contains(key))).join("");
    if (single !== opened.containsMany(keys(prefix, count)).join("")) throw new Error("one by one and as a batch are not the same");
    console.log(single);
    opened.close();
  },
  fail(path) {
    try {
      bfstore.open(path);
    } catch (error) {
      if (!(error instanceof bfstore.BfstoreError)) throw error;
      console.log(error.bfsCode, Math.abs(error.errno ?? 0), error.constructor.name);
      return;
    }
    throw new Error("opened");
  },
};

const [verb, ...words] = process.argv.slice(2);
verbs[verb](...words);

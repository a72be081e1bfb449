/* Jobs of the tests' workers: workerData is [verb, ...words]. */
import {parentPort, workerData} from "node:worker_threads";
import * as bfstore from "bfstore";

const verbs = {
  /** Adds and looks up concurrently with others, and reports the number of keys that it missed. */
  fill(path, name, count) {
    const opened = bfstore.open(path, "r+");
    let missing = 0;
    for (let i = 0; i < count; i++) {
      opened.add(`${name}-${i}`);
      if (!opened.contains(`${name}-${i}`)) missing++;
      if (i % 400 === 0) opened.addMany(BigInt64Array.of(BigInt(i), -1n));
    }
    opened.close();
    parentPort.postMessage(missing);
  },
  wrap(memory) {
    const shared = bfstore.wrap(memory, "r+");
    shared.add("of the worker");
    shared.close();
  },
  /** Ends without a close. */
  leave(path) {
    globalThis.kept = bfstore.open(path, "r+", {exclusive: true});
    globalThis.kept.add("a");
  },
};

const [verb, ...words] = workerData;
verbs[verb](...words);

// Code that tsc --strict accepts, and mistakes that it has to find: @ts-expect-error before a correct line is an error.
import * as bfstore from "bfstore";
import type {AnyModeOptions, Column, ErrorCode, Filter, Foreign, ForeignOptions, Key, Mark, Mode, OpenForeignOptions, Statistics} from "bfstore";

export async function use(path: string): Promise<number> {
  using made = bfstore.create(path, {capacity: 1000, fpr: 0.01, layout: "blocked", seed: 7n, exclusive: true, threads: 2, lockTimeout: 100});
  const keys: Key[] = ["a", Buffer.from("b"), 5, 5n, new Uint8Array(3)];
  const isNew: boolean = made.add(keys[0]);
  const added: number = made.addMany(keys) + made.addMany(new Set(["x"])) + made.addMany(new BigInt64Array(2));
  const column: Column = {data: Buffer.from("ab"), offsets: Int32Array.of(0, 1, 2), validity: Uint8Array.of(3)};
  const answers: Uint8Array = made.containsMany(column);
  const selected: Uint32Array = made.select(Buffer.from("abcd"), {width: 2});
  const digests: BigUint64Array = made.digestMany(keys);
  made.addDigests(digests);
  made.sync({owner: 7, epoch: 1n, mark: 5});
  const marks: Mark[] = made.marks();
  const facts: Readonly<Statistics> = made.stats({fill: true});
  const size: number = made.capacity * made.fpr + made.numBits * made.numProbes;
  const bits: number | undefined = facts.setBits;
  const differs: boolean = made.compare(made).differs.has("layout");
  const options: ForeignOptions = {order: "big", hash: "murmur3", numBits: 8, numProbes: 1, name: "bits"};
  const told: Readonly<Foreign> = bfstore.inspectForeign(new Uint8Array(1), "raw", options);
  using foreign = bfstore.importForeign(`${path}.raw`, new Uint8Array(1), "raw", options);
  const raw: Uint8Array = foreign.exportForeign("raw", {order: "big"});
  const place: OpenForeignOptions = {hash: "murmur3", private: true, followSymlinks: false, column: "id", member: told.filters};
  const some: boolean = bfstore.containsAny([made, foreign], "a") && bfstore.which(new Set([made]), 5n).length === 1;
  const length: number | undefined = told.bytes;
  const formats: string[] = bfstore.foreignFormats();
  try {
    await using opened: Filter = await bfstore.openAsync("/none", "r", {guard: true});
    opened.contains("a");
    await using inPlace: Filter = await bfstore.openForeignAsync("/none", bfstore.recognizeForeign("/none")[0], place);
    inPlace.contains("a");
  } catch (error) {
    if (!(error instanceof bfstore.BfstoreError)) throw error;
    const code: ErrorCode = error.code;
    const kind: "call" | "state" | "malformed" | "other" = error.kind;
    if (code !== "ENOENT" || kind !== "call" || error.bfsCode > 0 || error.rule !== undefined || error.path === undefined || error.errno === undefined) throw error;
  }

  async function* lines(): AsyncGenerator<string> {
    yield "a";
  }
  using shared = bfstore.open(`${path}.a`, "a", {capacity: 1000, fpr: 0.01, recover: true});
  await using again = await bfstore.openAsync(`${path}.a`, "a+", {capacity: 1000});
  if (!shared.created || again.created) throw new Error("made twice");
  using built = bfstore.build(`${path}.built`, keys, {fpr: 0.001, threads: 2});
  (await bfstore.buildAsync(`${path}.lines`, lines(), {capacity: 10})).close();
  built.copy(`${path}.sealed`, {sealed: true});
  using seen = bfstore.create(`${path}.seen`, {capacity: 10, layout: "window-4", window: 86_400_000});
  const {epoch, turnedAt, keysOfEpochs} = seen.stats({fill: true});
  const turned: boolean = seen.turn() || (await seen.turnAsync(7n)) || seen.turn(epoch);
  if (!turned || !(turnedAt instanceof Date) || keysOfEpochs?.length !== 4) throw new Error("not turned");
  const whole: boolean = bfstore.verify(`${path}.sealed`).length === 0 && facts.part === 0 && facts.seeds.length === 0;

  // @ts-expect-error: no fractions of keys, no dates
  made.add(new Date());
  // @ts-expect-error: many keys are no string
  made.addMany("text");
  // @ts-expect-error: no such mode
  bfstore.open(path, "w");
  // A file that is there has a size.
  bfstore.open(path, "a").close();
  (await bfstore.openAsync(path, "a")).close();
  const modes: Mode[] = ["r", "a"];
  const each: AnyModeOptions = {lockTimeout: 100};
  for (const mode of modes) bfstore.open(path, mode, each).close();
  (await bfstore.openAsync(path, modes[0])).close();
  // @ts-expect-error: not every mode makes a file
  bfstore.open(path, modes[0], {capacity: 5});
  // @ts-expect-error: a reader makes no file
  bfstore.open(path, "r", {capacity: 5});
  // @ts-expect-error: keys that have to be awaited
  bfstore.build(path, lines());
  // @ts-expect-error: no such kind
  new bfstore.BfstoreError(-1, 0, "").kind === "doubt";
  // @ts-expect-error: a window is milliseconds
  bfstore.create(path, {capacity: 5, window: "24h"});
  // @ts-expect-error: no such option
  bfstore.create(path, {capcity: 5});
  // @ts-expect-error: no such layout
  bfstore.create(path, {capacity: 5, layout: "other"});
  // @ts-expect-error: no such order
  bfstore.importForeign(path, raw, "raw", {order: "middle"});
  // @ts-expect-error: a file that is asked in place is not replaced
  bfstore.openForeign(path, "raw", {replace: true});
  // @ts-expect-error: no filter
  bfstore.containsAny([made, null], "a");
  // @ts-expect-error: a digest is a bigint
  made.addDigest(5);
  // @ts-expect-error: open() and its like make filters
  new bfstore.Filter();
  // @ts-expect-error: facts are read
  facts.numBits = 5;

  return added + size + (length ?? 0) + raw.length + formats.length + answers.length + selected.length + marks.length + (bits ?? 0) + Number(isNew) + Number(differs) + Number(whole) + Number(some);
}

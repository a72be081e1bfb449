// A sign-up form that says at once whether a name is free: the filter has all names that are taken.
//
//   node user_names.mjs names.bf NAME...    takes each NAME that is free
//
// "free" is certain, and needs no query. "perhaps taken" is a false positive for one name in a thousand: then the form asks the
// database, or the user for another name. Upper and lower case, and the ways to write an accent, are one name.
import * as bfstore from "bfstore";

const [path, ...names] = process.argv.slice(2);
if (names.length === 0) {
  console.error("usage: node user_names.mjs names.bf NAME...");
  process.exit(1);
}
const taken = bfstore.open(path, "a", {capacity: 1_000_000, fpr: 0.001});
for (const name of names) {
  const key = name.normalize("NFKC").toLowerCase();
  // add() says whether the key was certainly new: to look and then to add would let two people take one name.
  console.log(`${name}: ${taken.add(key) ? "free, and now yours" : "perhaps taken"}`);
}
taken.close();

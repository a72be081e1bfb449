/**
 * Bloom filters in files that any number of processes, in any language, share through a memory map.
 *
 * <pre>{@code
 * Path path = Path.of("users.bf");
 * try (Filter users = Filter.openOrCreate(path, new CreateOptions().capacity(1_000_000).fpr(0.01))) {
 *   users.add("alice");                         // while other processes add and ask
 *   if (users.contains("zoe")) lookUp("zoe");   // false is certain, and saves the lookup; true means maybe
 * }
 * }</pre>
 *
 * <ul>
 *   <li>{@link dev.bfstore.Filter} is an open filter: begin there. {@link dev.bfstore.OpenOptions} says how a file is
 *       opened, and {@link dev.bfstore.CreateOptions} what a new one is like; {@link dev.bfstore.PlanRequest} tells its size before.
 *   <li>{@link dev.bfstore.Keys} are many keys at once, of lists, arrays or columns. {@link dev.bfstore.Key} is what a key
 *       is made of.
 *   <li>{@link dev.bfstore.BfstoreException} is every error, unchecked; its nested classes are the kinds of errors.
 *   <li>{@link dev.bfstore.ForeignForm} is for filter files of other programs, and {@link dev.bfstore.Bare} for a small
 *       filter in each block of a table.
 * </ul>
 */
package dev.bfstore;

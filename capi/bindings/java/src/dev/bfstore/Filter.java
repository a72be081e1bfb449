package dev.bfstore;

import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.ReadOnlyBufferException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * An open Bloom filter, in a file that any number of processes and languages share through a memory map.
 *
 * <pre>{@code
 * try (Filter users = Filter.openOrCreate(Path.of("users.bf"), new CreateOptions().capacity(1_000_000))) {
 *   users.add("alice");
 *   users.contains("alice");  // true: maybe. false would be certain.
 * }
 * }</pre>
 *
 * <p>Keys are bytes. A String is its UTF-8, without normalization (a lone surrogate is an
 * {@link BfstoreException.InvalidException}). A long is 8 bytes, little-endian. {@link Key} has other kinds.
 *
 * <p>Numbers of 64 bits (digests, seeds, owners, and the epochs of logs) are unsigned: Long.toUnsignedString shows them,
 * and Long.compareUnsigned compares them. A capacity, a mark and the epoch of {@link #turnFrom} count from 0, and a negative
 * one is refused.
 *
 * <p>Threads: any number may use one filter. close() is safe while others use it: each of their calls gets the right
 * answer, "maybe", or ClosedException. A filter that is not closed is not synced. When it is collected, its memory and
 * descriptors are freed and a warning is logged (System.Logger "dev.bfstore").
 *
 * <p>Every method that looks up or changes keys throws {@link BfstoreException}; once the filter is closed, this is
 * {@link BfstoreException.ClosedException}.
 */
public final class Filter implements AutoCloseable {
  static final Library LIBRARY = Loader.load();

  /** The number of keys in a part of a lookup of keys on the heap, so that they stay in the processor's cache. */
  private static final int ASKED_AT_ONCE = 4096;
  /** The number of keys in a part of an add of keys on the heap. */
  private static final int ADDED_AT_ONCE = 1 << 20;
  /** The number of keys of a stream that are taken before they are added. */
  private static final int TAKEN_AT_ONCE = 1 << 16;

  private static final int MOST_OWNERS = 64;
  private static final int RANGES_AT_FIRST = 100;
  private static final int TRIES_TO_WRITE = 10;
  private static final Cleaner CLEANER = Cleaner.create();

  private final Handle handle;
  private final boolean created;
  private final Cleaner.Cleanable cleanable;

  private Filter(long filter, boolean created, String name, Object memory, boolean mayBlock) {
    handle = new Handle(LIBRARY, filter, name, memory, mayBlock);
    this.created = created;
    cleanable = CLEANER.register(this, handle);
  }

  // --- The library ---------------------------------------------------------------------------------------------------

  /**
   * Returns the version of the running library.
   *
   * @return "1.2.3"
   */
  public static String version() {
    return LIBRARY.text(LIBRARY.bfs_version());
  }

  /**
   * Returns the back end by which this process calls the library.
   *
   * @return "ffm" or "jna"
   */
  public static String backEnd() {
    return LIBRARY.backEnd();
  }

  /**
   * Returns one sentence for a code.
   *
   * @param code a BFS_E number
   */
  public static String strerror(int code) {
    return LIBRARY.text(LIBRARY.bfs_strerror(code));
  }

  static String codeName(int code) {
    return LIBRARY.text(LIBRARY.bfs_code_name(code));
  }

  // --- Making and opening --------------------------------------------------------------------------------------------

  private interface Make {
    /** Returns a code, or 1 if the filter is a new one. */
    int with(long out, long error);
  }

  /** Returns the result of a function that always makes a new filter: a code, or 1. */
  private static int isNew(long result) {
    return result < 0 ? (int) result : 1;
  }

  /**
   * Called at the end of every call that got the address of direct memory: the collector does not see an address, and
   * could free a buffer during the call if no later line names it.
   */
  static void keep(Object... used) {
    for (Object one : used) {
      Reference.reachabilityFence(one);
    }
  }

  private static Filter made(String name, Object memory, boolean mayBlock, Make make) {
    ByteBuffer out = Scratch.direct(8);
    int result;
    try (Scratch scratch = Scratch.take(LIBRARY)) {
      result = BfstoreException.check(make.with(LIBRARY.address(out), scratch.error.address()), scratch.error);
    }
    return new Filter(out.getLong(0), result == 1, name, memory, mayBlock);
  }

  /**
   * Makes a new, empty filter file, open for writing. It appears complete and durable, or not at all.
   *
   * @param options at least a size
   */
  public static Filter create(Path path, CreateOptions options) {
    ByteBuffer bytes = Struct.copyOf(Text.path(path));
    Struct.Value struct = Objects.requireNonNull(options, "options").struct(LIBRARY);
    try {
      return made(path.toString(), null, options.mayBlock, (out, error) ->
          isNew(LIBRARY.bfs_create(LIBRARY.address(bytes), options.flags(), struct.address(), out, error)));
    } finally {
      keep(bytes, struct);
    }
  }

  /**
   * Opens a file for writing, or makes it if there is none: {@link #wasCreated()} tells which. Any number of processes
   * may do so at once, and one of them makes the file. No file is ever replaced. A file that may lack keys after a power
   * cut is RecoveryException, as for open().
   *
   * @param options as in create(). A layout, a hash, a seed, a secret, a part and a window must be those of an existing
   *     file (otherwise MismatchException or SecretException); its size may be another one
   */
  public static Filter openOrCreate(Path path, CreateOptions options) {
    ByteBuffer bytes = Struct.copyOf(Text.path(path));
    Struct.Value struct = Objects.requireNonNull(options, "options").struct(LIBRARY);
    try {
      return made(path.toString(), null, options.mayBlock, (out, error) ->
          LIBRARY.bfs_open(LIBRARY.address(bytes), options.flagsToOpenOrCreate(), struct.address(), out, error));
    } finally {
      keep(bytes, struct);
    }
  }

  /**
   * Makes a filter file of these keys, which appears when it is complete, and is open for reading.
   *
   * @param options as in create(); if no option gives the size, the capacity is the number of keys (of different ones
   *     for the layout static)
   */
  public static Filter build(Path path, Keys keys, CreateOptions options) {
    CreateOptions how = Objects.requireNonNull(options, "options").forBuilding();
    if (!how.hasLimit()) {
      Filter made = builtAtOnce(path, keys, how);
      if (made != null) {
        return made;
      }
    }
    return built(path, how, Math.max(1, keys.count()), made -> made.addMany(keys));
  }

  /** Returns null if the keys are too many for one call. */
  private static Filter builtAtOnce(Path path, Keys keys, CreateOptions how) {
    ByteBuffer bytes = Struct.copyOf(Text.path(path));
    Struct.Value struct = how.struct(LIBRARY);
    try (Scratch scratch = Scratch.take(LIBRARY)) {
      long viewed = keys.view(0, keys.isInPlace() ? keys.count() : ADDED_AT_ONCE, scratch);
      if (viewed == keys.count()) {
        return made(path.toString(), null, how.mayBlock, (out, error) -> isNew(LIBRARY.bfs_build(
            LIBRARY.address(bytes), how.flags(), struct.address(), scratch.keysAddress, out, error)));
      }
      keys.check(viewed);
      return null;
    } catch (BfstoreException.InvalidException refused) {
      throw keys.named(path, refused);
    } finally {
      keep(bytes, struct, keys);
    }
  }

  /**
   * Makes a filter file of these keys, which appears when it is complete, and is open for reading.
   *
   * @param keys as {@link Keys#of(Iterable)} takes them, none of them null
   * @param options as in create(); if no option gives the size, the capacity is the number of keys (of different ones
   *     for the layout static)
   */
  public static Filter build(Path path, Collection<?> keys, CreateOptions options) {
    return build(path, Keys.of(keys), options);
  }

  /**
   * Makes a filter file of the keys of a stream, which appears when it is complete, and is open for reading. The keys
   * are taken part by part, so that they need not fit into memory. After an exception there is no file. More keys than the
   * capacity are a FullException.
   *
   * @param keys as {@link Keys#of(Iterable)} takes them, none of them null. The caller closes the stream
   * @param options as in create(), and at least a size, since a stream does not tell it. The layout static needs none: its
   *     capacity is the number of different keys, each of which needs 8 bytes of memory
   */
  public static Filter build(Path path, Stream<?> keys, CreateOptions options) {
    return built(path, Objects.requireNonNull(options, "options").forBuilding(), 0, made -> {
      long added = 0;
      long first = 0;
      List<Object> taken = new ArrayList<>();
      for (Iterator<?> rest = keys.iterator(); rest.hasNext();) {
        taken.add(rest.next());
        if (taken.size() == TAKEN_AT_ONCE || !rest.hasNext()) {
          added += made.addMany(Keys.from(first, taken));
          first += taken.size();
          taken.clear();
        }
      }
      return added;
    });
  }

  private static Filter built(Path path, CreateOptions how, long keys, ToLongFunction<Filter> addAll) {
    Filter made = create(path, how.forBuildingInParts(keys));
    try {
      boolean noneIsNew = addAll.applyAsLong(made) == 0;
      Statistics facts = made.stats();
      // As of an empty list, which replaces no file. A static filter does not look whether a key is new, and its publish()
      // sees that there is none.
      if (noneIsNew && facts.layout() != Layout.STATIC) {
        made.abandon();
        return builtAtOnce(path, Keys.of(List.of()), how.withoutLimit());
      }
      if (facts.saturated() && how.promisesCapacity()) {
        throw BfstoreException.of(Abi.EFULL, 0, path + ": not built, for there are more keys than its capacity, "
            + facts.capacity() + ". Give a greater one, or none.");
      }
      made.publish();
    } catch (Throwable error) {
      made.abandon();
      throw error;
    }
    return made;
  }

  /**
   * Opens a file for reading. It may also be a text file that lists the parts of one filter: the first line is
   * "bfstore-set 1", and each other one is the path of a part, relative to the file's folder. Such a filter looks each
   * key up in the key's own part. A part that is not listed, or is in doubt, may have each of its keys.
   */
  public static Filter open(Path path) {
    return open(path, new OpenOptions());
  }

  /** Opens a file. A list of parts, as {@link #open(Path)} takes it, opens only for reading. */
  public static Filter open(Path path, OpenOptions options) {
    ByteBuffer bytes = Struct.copyOf(Text.path(path));
    return open(path.toString(), bytes, options, options.struct(LIBRARY));
  }

  /**
   * Opens for reading a file that the process has open.
   *
   * @param descriptor its number; the caller keeps and closes it
   */
  public static Filter openDescriptor(int descriptor, OpenOptions options) {
    return open("descriptor " + descriptor, null, options, options.structOfDescriptor(LIBRARY, descriptor));
  }

  private static Filter open(String name, ByteBuffer path, OpenOptions options, Struct.Value struct) {
    try {
      return made(name, null, options.mayBlock, (out, error) -> LIBRARY.bfs_open(
          path == null ? 0 : LIBRARY.address(path), options.flags(), struct.address(), out, error));
    } finally {
      keep(path, struct);
    }
  }

  /**
   * Returns whether this call made the filter.
   *
   * @return true after create(), build(), format() and importForeign(), and after openOrCreate() if there was no file
   */
  public boolean wasCreated() {
    return created;
  }

  /**
   * Returns the bytes that format() needs.
   *
   * @param options the options for format()
   */
  public static long requiredBytes(CreateOptions options) {
    Struct.Value struct = options.struct(LIBRARY);
    try (Scratch scratch = Scratch.take(LIBRARY)) {
      return BfstoreException.check(
          LIBRARY.bfs_format(0, 0, options.flags(), struct.address(), 0, scratch.error.address()), scratch.error);
    } finally {
      keep(struct);
    }
  }

  /**
   * Makes a new, empty filter in a buffer.
   *
   * @param buffer its remaining bytes are the filter's memory: direct, at a multiple of 64, at least requiredBytes long
   *     (allocateDirect(requiredBytes + 128).alignedSlice(64) is). The filter keeps it until it is closed
   * @param options as in create(); permissions, locks and a part are for files alone
   */
  public static Filter format(ByteBuffer buffer, CreateOptions options) {
    long address = addressIn(buffer, true);
    Struct.Value struct = options.struct(LIBRARY);
    try {
      return made("the filter in a buffer", buffer, options.mayBlock, (out, error) -> isNew(LIBRARY.bfs_format(
          address, buffer.remaining(), options.flags(), struct.address(), out, error)));
    } finally {
      keep(struct);
    }
  }

  /**
   * Opens the filter in a buffer, in place, to ask.
   *
   * @param buffer as in {@link #wrap(ByteBuffer, OpenOptions)}
   */
  public static Filter wrap(ByteBuffer buffer) {
    return wrap(buffer, new OpenOptions());
  }

  /**
   * Opens the filter in a buffer, in place.
   *
   * @param buffer its remaining bytes: direct (also from FileChannel.map), at a multiple of 64. The filter keeps it
   *     until it is closed
   * @param options read or write, secret, bare
   */
  public static Filter wrap(ByteBuffer buffer, OpenOptions options) {
    return inMemory("the filter in a buffer", buffer, buffer, options, 0);
  }

  private static Filter inMemory(String name, Object memory, ByteBuffer buffer, OpenOptions options, long flags) {
    long address = addressIn(buffer, flags == 0 && !Objects.requireNonNull(options, "options").reads());
    Struct.Value struct = options.struct(LIBRARY);
    try {
      return made(name, memory, options.mayBlock, (out, error) -> LIBRARY.bfs_open_memory(
          address, buffer.remaining(), options.flags() | flags, struct.address(), out, error));
    } finally {
      keep(buffer, struct);
    }
  }

  private static long addressIn(ByteBuffer buffer, boolean writes) {
    if (!Objects.requireNonNull(buffer, "buffer").isDirect()) {
      throw BfstoreException.invalid("a filter in a buffer needs a direct one; load() takes bytes from anywhere");
    }
    if (writes && buffer.isReadOnly()) {
      throw new ReadOnlyBufferException();
    }
    return LIBRARY.address(buffer) + buffer.position();
  }

  /**
   * Opens a copy of the filter in bytes from anywhere, to ask.
   *
   * @param bytes the filter
   */
  public static Filter load(byte[] bytes) {
    return load(bytes, new OpenOptions());
  }

  /**
   * Opens a copy of the filter in bytes from anywhere: from dump(), or from a whole file that was closed.
   *
   * @param bytes the filter
   * @param options read or write, secret, bare
   */
  public static Filter load(byte[] bytes, OpenOptions options) {
    return load(Struct.copyOf(Objects.requireNonNull(bytes, "bytes")).limit(bytes.length), options);
  }

  /**
   * Opens a copy of the filter in a buffer, to ask.
   *
   * @param buffer its remaining bytes are the filter
   */
  public static Filter load(ByteBuffer buffer) {
    return load(buffer, new OpenOptions());
  }

  /**
   * Opens a copy of the filter in a buffer.
   *
   * @param buffer its remaining bytes are the filter
   * @param options read or write, secret, bare
   */
  public static Filter load(ByteBuffer buffer, OpenOptions options) {
    if (!Objects.requireNonNull(buffer, "buffer").isDirect()) {
      return load(Text.bytes(buffer), options);
    }
    return inMemory("the loaded filter", Handle.LOADED, buffer, options, Abi.PRIVATE);
  }

  // --- Ending --------------------------------------------------------------------------------------------------------

  /**
   * Closes the filter. The last writer of a file syncs it and marks it clean; if that fails, this throws the reason.
   * Closing again does nothing. If other threads are in calls, the last of them frees the memory.
   */
  @Override
  public void close() {
    try {
      handle.close();
    } finally {
      cleanable.clean(); // Handle.run() finds it closed, and does nothing
    }
  }

  /** Ends the filter as if the process had been killed: no key that was added is lost, and nothing is synced. */
  public void abandon() {
    handle.abandon();
    cleanable.clean();
  }

  /**
   * Returns whether the filter was closed.
   *
   * @return true after close() and abandon()
   */
  public boolean isClosed() {
    return handle.isClosed();
  }

  /**
   * Returns the name of the filter in messages.
   *
   * @return the path, or a description
   */
  public String name() {
    return handle.name;
  }

  /**
   * Returns a description with the name.
   *
   * @return a text for people
   */
  @Override
  public String toString() {
    return "Filter[" + handle.name + (isClosed() ? ", closed]" : "]");
  }

  private interface Call {
    long with(long filter, long error);
  }

  private long call(Call call) {
    int lane = handle.enter();
    try (Scratch scratch = Scratch.take(LIBRARY)) {
      return BfstoreException.check(call.with(handle.filter(), scratch.error.address()), scratch.error);
    } finally {
      handle.leave(lane);
    }
  }

  /**
   * Gives a filter that was created unpublished its name, as the complete, durable file. From then on it only reads.
   * Concurrent calls of other threads throw IllegalStateException.
   *
   * @throws IllegalStateException if another thread uses the filter now
   */
  public void publish() {
    handle.publish();
  }

  /** Supersedes the file that has the name now, before publish(): adds by its writers are refused from now on. */
  public void supersede() {
    call(LIBRARY::bfs_supersede);
  }

  // --- One key -------------------------------------------------------------------------------------------------------

  private interface OneKey {
    int with(long filter, long key, long keyBytes);
  }

  /** Makes a call that may wait for the disk, with a copy of the key. */
  private static int copied(OneKey call, long filter, byte[] key) {
    try (Scratch scratch = Scratch.take(LIBRARY)) {
      scratch.data.grow(key.length).put(0, key);
      return call.with(filter, scratch.data.address(), key.length);
    }
  }

  private long checked(long result) {
    if (result < 0) {
      throw refused((int) result);
    }
    return result;
  }

  private BfstoreException refused(int code) {
    return BfstoreException.of(code, 0, handle.name + ": " + Words.inJava(strerror(code)));
  }

  /**
   * Looks up a key in the filter.
   *
   * @return false if it was certainly never added; true: maybe
   */
  public boolean contains(byte[] key) {
    Objects.requireNonNull(key, "key");
    int lane = handle.enter();
    int answer;
    try {
      answer = handle.mayBlock
          ? copied(LIBRARY::bfs_contains, handle.filter(), key)
          : LIBRARY.bfs_contains(handle.filter(), key, key.length);
    } finally {
      handle.leave(lane);
    }
    return checked(answer) != 0;
  }

  /**
   * Looks up a key in the filter.
   *
   * @param key its UTF-8 is the key
   * @return false if it was certainly never added; true: maybe
   */
  public boolean contains(String key) {
    return contains(Text.utf8(key));
  }

  /**
   * Looks up a key in the filter.
   *
   * @param key 8 bytes, little-endian, are the key. A char is not a key
   * @return false if it was certainly never added; true: maybe
   */
  public boolean contains(long key) {
    return contains(Text.integer(key));
  }

  /**
   * Refuses a char: it may mean its text or its number.
   *
   * @param key cast it to long, or make a String of it
   * @throws BfstoreException.InvalidException always
   */
  public boolean contains(char key) {
    throw Keys.noChars();
  }

  /**
   * Looks up a key in the filter.
   *
   * @param key its remaining bytes are the key; its position stays
   * @return false if it was certainly never added; true: maybe
   */
  public boolean contains(ByteBuffer key) {
    return contains(Text.bytes(key));
  }

  /**
   * Looks up a key in the filter.
   *
   * @param digest the key's digest: see {@link #digest(byte[])}
   * @return false if it was certainly never added; true: maybe
   */
  public boolean containsDigest(long digest) {
    int lane = handle.enter();
    int answer;
    try {
      answer = LIBRARY.bfs_contains_digest(handle.filter(), digest);
    } finally {
      handle.leave(lane);
    }
    return checked(answer) != 0;
  }

  /**
   * Adds a key.
   *
   * @return true if it was certainly new, false if it may have been there
   */
  public boolean add(byte[] key) {
    Objects.requireNonNull(key, "key");
    int lane = handle.enter();
    int answer;
    try {
      answer = handle.mayBlock
          ? copied(LIBRARY::bfs_add, handle.filter(), key)
          : LIBRARY.bfs_add(handle.filter(), key, key.length);
    } finally {
      handle.leave(lane);
    }
    return checked(answer) != 0;
  }

  /**
   * Adds a key.
   *
   * @param key its UTF-8 is the key
   * @return true if it was certainly new, false if it may have been there
   */
  public boolean add(String key) {
    return add(Text.utf8(key));
  }

  /**
   * Adds a key.
   *
   * @param key 8 bytes, little-endian, are the key. A char is not a key
   * @return true if it was certainly new, false if it may have been there
   */
  public boolean add(long key) {
    return add(Text.integer(key));
  }

  /**
   * Refuses a char: it may mean its text or its number.
   *
   * @param key cast it to long, or make a String of it
   * @throws BfstoreException.InvalidException always
   */
  public boolean add(char key) {
    throw Keys.noChars();
  }

  /**
   * Adds a key.
   *
   * @param key its remaining bytes are the key; its position stays
   * @return true if it was certainly new, false if it may have been there
   */
  public boolean add(ByteBuffer key) {
    return add(Text.bytes(key));
  }

  /**
   * Adds a key.
   *
   * @param digest the key's digest: see {@link #digest(byte[])}
   * @return true if it was certainly new, false if it may have been there
   */
  public boolean addDigest(long digest) {
    int lane = handle.enter();
    int answer;
    try {
      answer = LIBRARY.bfs_add_digest(handle.filter(), digest);
    } finally {
      handle.leave(lane);
    }
    return checked(answer) != 0;
  }

  /**
   * Removes a key, in the counting layout. Remove only keys that were added, each at most as often: otherwise the
   * filter can answer no for others. Never repeat a remove that failed.
   *
   * @return false if it was certainly not there
   */
  public boolean remove(byte[] key) {
    Objects.requireNonNull(key, "key");
    int lane = handle.enter();
    int answer;
    try {
      answer = handle.mayBlock
          ? copied(LIBRARY::bfs_remove, handle.filter(), key)
          : LIBRARY.bfs_remove(handle.filter(), key, key.length);
    } finally {
      handle.leave(lane);
    }
    return checked(answer) != 0;
  }

  /**
   * Removes a key, in the counting layout. Remove only keys that were added, each at most as often: otherwise the
   * filter can answer no for others. Never repeat a remove that failed.
   *
   * @param key its UTF-8 is the key
   * @return false if it was certainly not there
   */
  public boolean remove(String key) {
    return remove(Text.utf8(key));
  }

  /**
   * Removes a key, in the counting layout. Remove only keys that were added, each at most as often: otherwise the
   * filter can answer no for others. Never repeat a remove that failed.
   *
   * @param key 8 bytes, little-endian, are the key. A char is not a key
   * @return false if it was certainly not there
   */
  public boolean remove(long key) {
    return remove(Text.integer(key));
  }

  /**
   * Refuses a char: it may mean its text or its number.
   *
   * @param key cast it to long, or make a String of it
   * @throws BfstoreException.InvalidException always
   */
  public boolean remove(char key) {
    throw Keys.noChars();
  }

  /**
   * Removes a key, in the counting layout. Remove only keys that were added, each at most as often: otherwise the
   * filter can answer no for others. Never repeat a remove that failed.
   *
   * @param key its remaining bytes are the key; its position stays
   * @return false if it was certainly not there
   */
  public boolean remove(ByteBuffer key) {
    return remove(Text.bytes(key));
  }

  /**
   * Removes a key, in the counting layout. Remove only keys that were added, each at most as often: otherwise the
   * filter can answer no for others. Never repeat a remove that failed.
   *
   * @param digest the key's digest: see {@link #digest(byte[])}
   * @return false if it was certainly not there
   */
  public boolean removeDigest(long digest) {
    return removeMany(Keys.digests(digest)) != 0;
  }

  /**
   * Counts a key's adds less its removes, in the counting layout.
   *
   * @return an upper bound: 0, a certain no, to 15, which means 15 or more, or doubt
   */
  public int count(byte[] key) {
    return countMany(Keys.of(Objects.requireNonNull(key, "key")))[0];
  }

  /**
   * Counts a key's adds less its removes, in the counting layout.
   *
   * @param key its UTF-8 is the key
   * @return an upper bound: 0, a certain no, to 15, which means 15 or more, or doubt
   */
  public int count(String key) {
    return count(Text.utf8(key));
  }

  /**
   * Counts a key's adds less its removes, in the counting layout.
   *
   * @param key 8 bytes, little-endian, are the key. A char is not a key
   * @return an upper bound: 0, a certain no, to 15, which means 15 or more, or doubt
   */
  public int count(long key) {
    return count(Text.integer(key));
  }

  /**
   * Refuses a char: it may mean its text or its number.
   *
   * @param key cast it to long, or make a String of it
   * @throws BfstoreException.InvalidException always
   */
  public int count(char key) {
    throw Keys.noChars();
  }

  /**
   * Counts a key's adds less its removes, in the counting layout.
   *
   * @param key its remaining bytes are the key; its position stays
   * @return an upper bound: 0, a certain no, to 15, which means 15 or more, or doubt
   */
  public int count(ByteBuffer key) {
    return count(Text.bytes(key));
  }

  /**
   * Counts a key's adds less its removes, in the counting layout.
   *
   * @param digest the key's digest: see {@link #digest(byte[])}
   * @return an upper bound: 0, a certain no, to 15, which means 15 or more, or doubt
   */
  public int countDigest(long digest) {
    return countMany(Keys.digests(digest))[0];
  }

  /**
   * Returns the digest of a key in this file. Files with equal hash and seed (or secret) have equal digests.
   *
   * @return 64 bits
   */
  public long digest(byte[] key) {
    Objects.requireNonNull(key, "key");
    int lane = handle.enter();
    try (Scratch scratch = Scratch.take(LIBRARY)) {
      scratch.data.grow(key.length).put(0, key);
      scratch.answers.grow(8);
      checked(LIBRARY.bfs_digest(handle.filter(), scratch.data.address(), key.length, scratch.answers.address()));
      return scratch.answers.memory().getLong(0);
    } finally {
      handle.leave(lane);
    }
  }

  /**
   * Returns the digest of a key in this file.
   *
   * @param key its UTF-8 is the key
   * @return 64 bits
   */
  public long digest(String key) {
    return digest(Text.utf8(key));
  }

  /**
   * Returns the digest of a key in this file.
   *
   * @param key 8 bytes, little-endian, are the key
   * @return 64 bits
   */
  public long digest(long key) {
    return digest(Text.integer(key));
  }

  /**
   * Refuses a char: it may mean its text or its number.
   *
   * @param key cast it to long, or make a String of it
   * @throws BfstoreException.InvalidException always
   */
  public long digest(char key) {
    throw Keys.noChars();
  }

  /**
   * Returns the digest of a key in this file.
   *
   * @param key its remaining bytes are the key; its position stays
   * @return 64 bits
   */
  public long digest(ByteBuffer key) {
    return digest(Text.bytes(key));
  }

  // --- Many keys -----------------------------------------------------------------------------------------------------

  private interface Change {
    long with(long filter, long keys);
  }

  /** Checks all keys before it adds the first, so that an item that is not a key changes nothing. */
  private long change(Keys keys, Change change) {
    long all = Objects.requireNonNull(keys, "keys").count();
    long atOnce = keys.isInPlace() ? all : ADDED_AT_ONCE;
    int lane = handle.enter();
    try (Scratch scratch = Scratch.take(LIBRARY)) {
      long done = keys.view(0, atOnce, scratch);
      if (done < all) {
        keys.check(done);
      }
      long changed = checked(change.with(handle.filter(), scratch.keysAddress));
      while (done < all) {
        done += keys.view(done, atOnce, scratch);
        changed += checked(change.with(handle.filter(), scratch.keysAddress));
      }
      return changed;
    } catch (BfstoreException.InvalidException refused) {
      throw keys.named(handle.name, refused);
    } finally {
      handle.leave(lane);
      Reference.reachabilityFence(keys);
    }
  }

  /**
   * Adds keys. After an error some of them may have been added, and none counts as added.
   *
   * @return the number of certainly new keys
   */
  public long addMany(Keys keys) {
    return change(keys, LIBRARY::bfs_add_keys);
  }

  /**
   * Adds keys, as {@link Keys#of(Iterable)} takes them.
   *
   * @param keys none of them null
   * @return the number of certainly new keys
   */
  public long addMany(Iterable<?> keys) {
    return addMany(Keys.of(keys));
  }

  /**
   * Removes keys, in the counting layout: see {@link #remove(byte[])}. After an error some of them may have been
   * removed, and it is not known which: do not repeat the call.
   *
   * @return the number of keys that were not certainly absent
   */
  public long removeMany(Keys keys) {
    return change(keys, LIBRARY::bfs_remove_keys);
  }

  /**
   * Removes keys, as {@link Keys#of(Iterable)} takes them.
   *
   * @param keys none of them null
   * @return the number of keys that were not certainly absent
   */
  public long removeMany(Iterable<?> keys) {
    return removeMany(Keys.of(keys));
  }

  private interface Part {
    /** Looks up the keys that the scratch describes; the first one has the number `from`. */
    void with(Scratch scratch, long from, int count);
  }

  private void inParts(Keys keys, int bytesAnAnswer, Part part) {
    long all = keys.count();
    int lane = handle.enter();
    try (Scratch scratch = Scratch.take(LIBRARY)) {
      scratch.answers.grow((long) ASKED_AT_ONCE * bytesAnAnswer);
      for (long done = 0; done < all; ) {
        int count = (int) keys.view(done, ASKED_AT_ONCE, scratch);
        part.with(scratch, done, count);
        done += count;
      }
    } catch (BfstoreException.InvalidException refused) {
      throw keys.named(handle.name, refused);
    } finally {
      handle.leave(lane);
      Reference.reachabilityFence(keys);
    }
  }

  private static int lengthFor(Keys keys) {
    if (Objects.requireNonNull(keys, "keys").count() > Integer.MAX_VALUE - 8) {
      throw BfstoreException.invalid("no array has " + keys.count() + " answers: ask in parts");
    }
    return (int) keys.count();
  }

  private void answer(Scratch scratch) {
    checked(LIBRARY.bfs_contains_keys(handle.filter(), scratch.keysAddress, scratch.answers.address()));
  }

  /**
   * Looks up many keys.
   *
   * @return for each key: false if it is certainly absent, or a null
   */
  public boolean[] containsMany(Keys keys) {
    boolean[] answers = new boolean[lengthFor(keys)];
    byte[] bytes = new byte[ASKED_AT_ONCE];
    inParts(keys, 1, (scratch, from, count) -> {
      answer(scratch);
      scratch.answers.memory().get(0, bytes, 0, count);
      for (int i = 0; i < count; i++) {
        answers[(int) from + i] = bytes[i] != 0;
      }
    });
    return answers;
  }

  /**
   * Looks up many keys, as {@link Keys#of(Iterable)} takes them.
   *
   * @param keys none of them null
   * @return for each key: false if it is certainly absent
   */
  public boolean[] containsMany(Iterable<?> keys) {
    return containsMany(Keys.of(keys));
  }

  /**
   * Looks up many keys.
   *
   * @return the indexes of the keys that may be present
   */
  public BitSet containsBits(Keys keys) {
    BitSet found = new BitSet(lengthFor(keys));
    selectInParts(keys, (indices, from, count) -> {
      for (int i = 0; i < count; i++) {
        found.set((int) from + indices.getInt(4 * i));
      }
    });
    return found;
  }

  /**
   * Looks up many keys, and allocates nothing on the heap.
   *
   * @param keys in any form; keys in direct memory take one call
   * @param answers gets a byte for each key, from its position on, which stays: 0 if the key is certainly absent, or a
   *     null, otherwise 1. After an exception all are 1
   * @return the number of keys that may be present
   */
  public long containsMany(Keys keys, ByteBuffer answers) {
    boolean answered = false;
    try {
      int count = lengthFor(keys);
      if (count > answers.remaining()) {
        throw BfstoreException.invalid(count + " answers do not fit into " + answers.remaining() + " bytes");
      }
      long found = keys.isInPlace() && answers.isDirect()
          ? askInPlace(keys, addressIn(answers, true)) : askInParts(keys, answers);
      answered = true;
      return found;
    } finally {
      for (int i = 0; !answered && i < answers.remaining(); i++) {
        answers.put(answers.position() + i, (byte) 1);
      }
      Reference.reachabilityFence(answers);
    }
  }

  private long askInPlace(Keys keys, long answers) {
    int lane = handle.enter();
    try (Scratch scratch = Scratch.take(LIBRARY)) {
      keys.view(0, keys.count(), scratch);
      ByteBuffer memory = scratch.lendMemory();
      try {
        return checked(LIBRARY.bfs_contains_keys(handle.filter(), scratch.keysAddress, answers));
      } finally {
        scratch.takeMemoryBack();
        Reference.reachabilityFence(memory);
      }
    } catch (BfstoreException.InvalidException refused) {
      throw keys.named(handle.name, refused);
    } finally {
      handle.leave(lane);
      Reference.reachabilityFence(keys);
    }
  }

  private long askInParts(Keys keys, ByteBuffer answers) {
    long[] found = new long[1];
    inParts(keys, 1, (scratch, from, count) -> {
      found[0] += checked(LIBRARY.bfs_contains_keys(handle.filter(), scratch.keysAddress, scratch.answers.address()));
      answers.put(answers.position() + (int) from, scratch.answers.memory(), 0, count);
    });
    return found[0];
  }

  private interface Selected {
    void with(ByteBuffer indices, long from, int count);
  }

  private void selectInParts(Keys keys, Selected selected) {
    inParts(keys, 4, (scratch, from, count) -> {
      long found = checked(
          LIBRARY.bfs_select_keys(handle.filter(), scratch.keysAddress, scratch.answers.address()));
      selected.with(scratch.answers.memory(), from, (int) found);
    });
  }

  /**
   * Returns a selection vector.
   *
   * @return the indexes of the keys that may be present, ascending
   */
  public int[] select(Keys keys) {
    int[] selected = new int[lengthFor(keys)];
    int[] used = new int[1];
    selectInParts(keys, (indices, from, count) -> {
      for (int i = 0; i < count; i++) {
        selected[used[0]++] = (int) from + indices.getInt(4 * i);
      }
    });
    return Arrays.copyOf(selected, used[0]);
  }

  /**
   * Returns a selection vector of keys, as {@link Keys#of(Iterable)} takes them.
   *
   * @param keys none of them null
   * @return the indexes of the keys that may be present, ascending
   */
  public int[] select(Iterable<?> keys) {
    return select(Keys.of(keys));
  }

  /**
   * Returns the digests of many keys: see {@link Keys#digests(long...)}.
   *
   * @return one for each, 0 for a null
   */
  public long[] digestMany(Keys keys) {
    long[] digests = new long[lengthFor(keys)];
    inParts(keys, 8, (scratch, from, count) -> {
      checked(LIBRARY.bfs_digest_keys(handle.filter(), scratch.keysAddress, scratch.answers.address()));
      scratch.answers.memory().duplicate().order(ByteOrder.nativeOrder()).asLongBuffer()
          .get(digests, (int) from, count);
    });
    return digests;
  }

  /**
   * Counts the adds less the removes of many keys, in the counting layout.
   *
   * @return for each key an upper bound: 0, a certain no or a null, to 15, which means 15 or more, or doubt
   */
  public int[] countMany(Keys keys) {
    int[] counts = new int[lengthFor(keys)];
    inParts(keys, 1, (scratch, from, count) -> {
      checked(LIBRARY.bfs_count_keys(handle.filter(), scratch.keysAddress, scratch.answers.address()));
      for (int i = 0; i < count; i++) {
        counts[(int) from + i] = scratch.answers.memory().get(i);
      }
    });
    return counts;
  }

  /**
   * Counts the adds less the removes of many keys, as {@link Keys#of(Iterable)} takes them.
   *
   * @param keys none of them null
   * @return for each key an upper bound: 0, a certain no, to 15, which means 15 or more, or doubt
   */
  public int[] countMany(Iterable<?> keys) {
    return countMany(Keys.of(keys));
  }

  // --- Marks ---------------------------------------------------------------------------------------------------------

  /** Makes all adds before the call durable. */
  public void sync() {
    call((filter, error) -> LIBRARY.bfs_sync(filter, 0, error));
  }

  /**
   * Makes all adds before the call durable, then stores a mark. The caller promises that every key of its log up to the
   * mark has returned from an add.
   *
   * @param owner a number of the caller's choice
   * @param epoch the log: a new number whenever positions begin anew
   * @param mark a position in the log, not negative: read as unsigned, -1 would say that every key is durable
   */
  public void sync(long owner, long epoch, long mark) {
    Struct.Value struct = Structs.OWNER_MARK.make(LIBRARY).put64("owner", owner).put64("epoch", epoch)
        .put64("mark", CreateOptions.notNegative("mark", mark));
    try {
      call((filter, error) -> LIBRARY.bfs_sync(filter, struct.address(), error));
    } finally {
      keep(struct);
    }
  }

  /**
   * Returns the mark of an owner, as of the last sync by any process.
   *
   * @param epoch the epoch of its log
   * @return the position; 0: add the keys of all rows
   */
  public long getMark(long owner, long epoch) {
    int lane = handle.enter();
    try {
      return LIBRARY.bfs_get_mark(handle.filter(), owner, epoch);
    } finally {
      handle.leave(lane);
    }
  }

  /**
   * Returns the marks of all owners that the filter knows.
   *
   * @return the marks, in no order
   */
  public List<Mark> marks() {
    int bytes = Structs.OWNER_MARK.bytes();
    ByteBuffer memory = Scratch.direct(MOST_OWNERS * bytes);
    long count = call((filter, error) ->
        LIBRARY.bfs_list_marks(filter, LIBRARY.address(memory), MOST_OWNERS, error));
    List<Mark> marks = new ArrayList<>();
    for (int i = 0; i < Math.min(count, MOST_OWNERS); i++) {
      Struct.Value one = new Struct.Value(Structs.OWNER_MARK, memory, i * bytes, LIBRARY);
      marks.add(new Mark(one.get64("owner"), one.get64("mark"), one.get64("epoch"), one.getFlag("recovered")));
    }
    return marks;
  }

  /** Forgets an owner of marks, durably. Drop an owner whose rows are gone. */
  public void dropOwner(long owner) {
    call((filter, error) -> LIBRARY.bfs_drop_owner(filter, owner, error));
  }

  /**
   * Promises, for a filter that was opened to recover, that the owner has added again every key of its log after its
   * mark.
   *
   * @return true if the recovery is over, false if the recovery waits for other owners
   */
  public boolean finishRecovery(long owner) {
    return call((filter, error) -> LIBRARY.bfs_finish_recovery(filter, owner, error)) != 0;
  }

  /** Ends an online build: the adds of all keys of the filter have returned. */
  public void finishFilling() {
    call(LIBRARY::bfs_finish_filling);
  }

  // --- Keys that expire ----------------------------------------------------------------------------------------------

  /**
   * Ends the current epoch of a filter whose keys expire ({@link CreateOptions#window}), if it has lasted for its time:
   * forgets the keys of the oldest epoch, and begins the next one. It reads and writes the whole body, and syncs; other
   * handles ask and add meanwhile.
   *
   * <p>No other call ends epochs: so call it again and again, some ten times in an epoch, in one process or in several,
   * which end one epoch together. Without it keys are kept for longer, and more answers are "maybe".
   *
   * @return whether it ended the epoch
   */
  public boolean turn() {
    return turned(Abi.IF_DUE);
  }

  /**
   * Ends the epoch with this number, whatever the time is: for a caller that knows the time itself. If the filter is in
   * another epoch, it changes nothing.
   *
   * @param epoch {@link Statistics#epoch()}, as the caller has read it; not negative
   * @return whether it ended the epoch
   */
  public boolean turnFrom(long epoch) {
    return turned(CreateOptions.notNegative("epoch", epoch)); // -1 is IF_DUE
  }

  private boolean turned(long from) {
    return call((filter, error) -> LIBRARY.bfs_turn(filter, from, error)) != 0;
  }

  // --- Facts ---------------------------------------------------------------------------------------------------------

  /**
   * Returns OK, or why every answer is "maybe" now. It makes no system call.
   *
   * @return SHUT once it was closed
   */
  public Health health() {
    int lane;
    try {
      lane = handle.enter();
    } catch (BfstoreException.ClosedException closed) {
      return Health.SHUT;
    }
    try {
      return Health.of(LIBRARY.bfs_health(handle.filter()));
    } finally {
      handle.leave(lane);
    }
  }

  /**
   * Returns whether the path still names this file, whole. It asks the file system.
   *
   * @return false: open the path again
   */
  public boolean isCurrent() {
    return call(LIBRARY::bfs_is_current) != 0;
  }

  /** Returns the number of distinct keys that the filter is sized for. */
  public long capacity() {
    return stats().capacity();
  }

  /** Returns the false-positive rate that is promised at {@link #capacity()} keys. */
  public double fpr() {
    return stats().fpr();
  }

  /** Returns the facts that cost nothing. */
  public Statistics stats() {
    return stats(0);
  }

  /** Also returns how full the filter is: counts its bits, and so reads all of it. */
  public Statistics statsWithFill() {
    return stats(Abi.STATS_FILL);
  }

  /** Also returns how full the filter is, and how much of it is in memory, which the kernel tells. */
  public Statistics statsWithFillAndMemory() {
    return stats(Abi.STATS_FILL | Abi.STATS_MEMORY);
  }

  Statistics stats(long flags) {
    Struct.Value found = Structs.STATISTICS.make(LIBRARY);
    call((filter, error) -> LIBRARY.bfs_stats(filter, flags, found.address(), error));
    return Statistics.of(found);
  }

  // --- Other forms, and sets -----------------------------------------------------------------------------------------

  /**
   * Makes a new file of the filter, complete and durable, while others may add. {@link CopyOptions#sealed()} gives it
   * checksums, and {@link CopyOptions#fpr(double)} makes it smaller.
   */
  public void copyTo(Path path, CopyOptions options) {
    ByteBuffer bytes = Struct.copyOf(Text.path(path));
    Struct.Value struct = options.struct(LIBRARY);
    try {
      call((filter, error) ->
          LIBRARY.bfs_copy(filter, LIBRARY.address(bytes), options.flags(), struct.address(), error));
    } finally {
      keep(bytes, struct);
    }
  }

  /** Returns the filter as bytes, for load(): an embedded filter. Marks are not in it. */
  public byte[] dump() {
    return dump(0);
  }

  /** Returns the filter in the bare form: a body and a trailer of 8 bytes, for {@link Bare} and for load(). */
  public byte[] dumpBare() {
    return dump(Abi.BARE);
  }

  /** Returns the filter as dump() does, with its file id: for a copy that takes no more keys. */
  public byte[] dumpWithSameFileId() {
    return dump(Abi.SAME_FILE_ID);
  }

  private byte[] dump(long flags) {
    return written("copy it to a file", (filter, memory, room, error) ->
        LIBRARY.bfs_dump(filter, memory, room, flags, error));
  }

  private interface Writing {
    /** Returns the bytes that the call writes, or would write if `memory` is 0. */
    long with(long filter, long memory, long room, long error);
  }

  /** Returns all bytes that a call writes. A filter that follows may need another number of bytes at each call. */
  private byte[] written(String otherwise, Writing writing) {
    for (int tries = 0; tries < TRIES_TO_WRITE; tries++) {
      long room = call((filter, error) -> writing.with(filter, 0, 0, error));
      if (room > Integer.MAX_VALUE - 8) {
        throw BfstoreException.invalid(
            handle.name + ": " + room + " bytes do not fit into an array: " + otherwise);
      }
      ByteBuffer memory = Scratch.direct((int) room);
      try {
        long bytes = call((filter, error) -> writing.with(filter, LIBRARY.address(memory), room, error));
        byte[] written = new byte[(int) bytes];
        memory.get(0, written);
        return written;
      } catch (BfstoreException.InvalidException tooShort) {
        if (call((filter, error) -> writing.with(filter, 0, 0, error)) == room) {
          throw tooShort;
        }
      }
    }
    throw refused(Abi.EBUSY);
  }

  private interface CallOfTwo {
    int with(long mine, long others, long error);
  }

  private void withOther(Filter other, CallOfTwo call) {
    int lane = Objects.requireNonNull(other, "other").handle.enter();
    try {
      call((filter, error) -> call.with(filter, other.handle.filter(), error));
    } finally {
      other.handle.leave(lane);
    }
  }

  /**
   * Adds every key of another filter with the same layout, hash, seed and k. A larger one is folded while it is read.
   *
   * @param other stays unchanged
   */
  public void merge(Filter other) {
    withOther(other, LIBRARY::bfs_merge);
  }

  /**
   * Compares this filter (A) with another (B): their differences, and the number of keys that they share.
   *
   * @param other B
   */
  public Comparison compare(Filter other) {
    Struct.Value found = Structs.COMPARISON.make(LIBRARY);
    withOther(other, (mine, others, error) -> LIBRARY.bfs_compare(mine, others, found.address(), error));
    return Comparison.of(found);
  }

  /**
   * Makes a new file of the keys that each of the filters has.
   *
   * @param filters at least one
   */
  public static void intersect(List<Filter> filters, Path path, CopyOptions options) {
    ofFilters(filters, path, options, LIBRARY::bfs_intersect);
  }

  /**
   * Makes a new file of the whole filter that has these parts.
   *
   * @param parts each part once
   */
  public static void join(List<Filter> parts, Path path, CopyOptions options) {
    ofFilters(parts, path, options, LIBRARY::bfs_join);
  }

  /**
   * Makes a small file of the bits that the file {@code after} has and the file {@code before} lacks.
   *
   * @param before a copy or a sealed file, of the layout blocked or classic
   * @param after the same filter with more keys, in another copy or sealed file
   * @param delta the file to make
   */
  public static void makeDelta(Path before, Path after, Path delta, CopyOptions options) {
    ofPaths(before, after, delta, options, LIBRARY::bfs_make_delta);
  }

  /**
   * Makes the file {@code after} that the delta's maker had.
   *
   * @param before the file from which the delta was made
   * @param delta what makeDelta() made
   * @param after the file to make; it may be {@code before} itself, with replace()
   */
  public static void applyDelta(Path before, Path delta, Path after, CopyOptions options) {
    ofPaths(before, delta, after, options, LIBRARY::bfs_apply_delta);
  }

  private interface OfPaths {
    int call(long first, long second, long third, long flags, long options, long error);
  }

  private static void ofPaths(Path first, Path second, Path third, CopyOptions options, OfPaths function) {
    ByteBuffer[] paths = {Struct.copyOf(Text.path(first)), Struct.copyOf(Text.path(second)), Struct.copyOf(Text.path(third))};
    Struct.Value struct = options.struct(LIBRARY);
    try (Scratch scratch = Scratch.take(LIBRARY)) {
      BfstoreException.check(function.call(LIBRARY.address(paths[0]), LIBRARY.address(paths[1]), LIBRARY.address(paths[2]),
          options.flags(), struct.address(), scratch.error.address()), scratch.error);
    } finally {
      keep(paths[0], paths[1], paths[2], struct);
    }
  }

  private interface OfFilters {
    int call(long filters, long count, long path, long flags, long options, long error);
  }

  private static void ofFilters(List<Filter> filters, Path path, CopyOptions options, OfFilters function) {
    ByteBuffer bytes = Struct.copyOf(Text.path(path));
    Struct.Value struct = options.struct(LIBRARY);
    try (Several several = new Several(filters)) {
      Struct.Value error = several.scratch.error;
      BfstoreException.check(function.call(several.enter(), several.count(), LIBRARY.address(bytes), options.flags(),
          struct.address(), error.address()), error);
    } finally {
      keep(bytes, struct);
    }
  }

  /** The filters of one call, and scratch, whose data are their addresses. */
  private static final class Several implements AutoCloseable {
    private final List<Filter> filters;
    private final int[] lanes;
    private int entered;
    final Scratch scratch = Scratch.take(LIBRARY);

    /** Refuses a null among the filters. */
    Several(List<Filter> filters) {
      for (int i = 0; i < Objects.requireNonNull(filters, "filters").size(); i++) {
        Objects.requireNonNull(filters.get(i), "filters.get(" + i + ")");
      }
      this.filters = List.copyOf(filters);
      lanes = new int[count()];
    }

    int count() {
      return filters.size();
    }

    boolean mayBlock() {
      return filters.stream().anyMatch(one -> one.handle.mayBlock);
    }

    /** Begins a call of each filter, and returns the address of their addresses. */
    long enter() {
      ByteBuffer addresses = scratch.data.grow(count() * 8L);
      for (Filter one : filters) {
        lanes[entered] = one.handle.enter();
        addresses.putLong(entered++ * 8, one.handle.filter());
      }
      return scratch.data.address();
    }

    @Override
    public void close() {
      while (entered > 0) {
        entered--;
        filters.get(entered).handle.leave(lanes[entered]);
      }
      scratch.close();
    }
  }

  /**
   * Asks several filters about one key: lists from several sources, of this library or of other programs ({@link
   * #openForeign}). The key is hashed once for neighbors with the same hash and the same seed or secret.
   *
   * @param key as {@link Keys#of(Iterable)} takes it
   * @return false if it was certainly never added to any of them; true: maybe
   */
  public static boolean containsAny(List<Filter> filters, Object key) {
    try (Several several = new Several(filters)) {
      return ask(several, Text.key(Objects.requireNonNull(key, "key")), 0) != 0;
    }
  }

  /**
   * Asks several filters about one key, as containsAny().
   *
   * @param key as {@link Keys#of(Iterable)} takes it
   * @return the numbers, from 0 and ascending, of the filters that may have the key
   */
  public static int[] which(List<Filter> filters, Object key) {
    try (Several several = new Several(filters)) {
      ByteBuffer answers = several.scratch.answers.grow(several.count());
      ask(several, Text.key(Objects.requireNonNull(key, "key")), several.scratch.answers.address());
      return IntStream.range(0, several.count()).filter(i -> answers.get(i) != 0).toArray();
    }
  }

  private static int ask(Several several, byte[] key, long which) {
    long filters = several.enter();
    int maybes;
    if (several.mayBlock()) {
      several.scratch.offsets.grow(key.length).put(0, key);
      maybes = LIBRARY.bfs_contains_any(filters, several.count(), several.scratch.offsets.address(), key.length, which);
    } else {
      maybes = LIBRARY.bfs_contains_any(filters, several.count(), key, key.length, which);
    }
    if (maybes < 0) {
      throw BfstoreException.of(maybes, 0, "one of several filters: " + strerror(maybes));
    }
    return maybes;
  }

  /**
   * Takes in the bit array of another program, whose m, k, hash and seeds this filter has. An array does not tell
   * whether these are right: look up keys that are known to be in it before you use the filter.
   *
   * @param bits exactly m bits
   * @param order the bit of a byte that comes first
   */
  public void importBits(byte[] bits, BitOrder order) {
    ByteBuffer memory = Struct.copyOf(bits);
    try {
      call((filter, error) ->
          LIBRARY.bfs_import_bits(filter, LIBRARY.address(memory), bits.length, order.number, error));
    } finally {
      keep(memory);
    }
  }

  /**
   * Returns the filter's bits as an array for another program.
   *
   * @param order the bit of a byte that comes first
   * @return exactly m bits
   */
  public byte[] exportBits(BitOrder order) {
    long bytes = (stats().numBits() + 7) / 8;
    if (bytes > Integer.MAX_VALUE - 8) {
      throw BfstoreException.invalid(handle.name + ": " + bytes + " bytes do not fit into an array");
    }
    ByteBuffer memory = Scratch.direct((int) bytes);
    call((filter, error) -> LIBRARY.bfs_export_bits(filter, LIBRARY.address(memory), bytes, order.number, error));
    byte[] bits = new byte[(int) bytes];
    memory.get(0, bits);
    return bits;
  }

  /**
   * Asks a file of another program in place: maps it, shared with every process that has it open, and makes no file. The
   * filter only reads. If the file has several filters, a key is in it if one of them has it.
   *
   * <p>After a change of the file every answer is "maybe", and health() is {@link Health#LOST}. A process that writes
   * through a mapping of its own shows that late or never: with {@link CreateOptions#privateCopy()} the filter asks a
   * copy of its own.
   *
   * @param path the path of the file
   * @param form the form of the bytes
   * @param options those that give the size, layout, hash, seed, seeds, secret or like, if the bytes do not tell them;
   *     populate, random, guard, privateCopy, anyFilesystem, noFollow, tutorialSizing, mayBlock
   * @return the filter
   */
  public static Filter openForeign(Path path, ForeignForm form, CreateOptions options) {
    ByteBuffer bytes = Struct.copyOf(Text.path(path));
    return openForeign(path.toString(), bytes, form, options, options.struct(LIBRARY));
  }

  /**
   * Asks in place a file of another program that the process has open, as openForeign().
   *
   * @param descriptor its number; the caller keeps and closes it
   * @param form the form of the bytes
   * @param options as for openForeign()
   * @return the filter
   */
  public static Filter openForeignDescriptor(int descriptor, ForeignForm form, CreateOptions options) {
    return openForeign("descriptor " + descriptor, null, form, options, options.structOfDescriptor(LIBRARY, descriptor));
  }

  private static Filter openForeign(String name, ByteBuffer path, ForeignForm form, CreateOptions options,
      Struct.Value struct) {
    Struct.Value formed = form.struct(LIBRARY);
    try {
      return made(name, null, options.mayBlock, (out, error) -> LIBRARY.bfs_foreign_open(
          path == null ? 0 : LIBRARY.address(path), formed.address(), options.flags(), struct.address(), out, error));
    } finally {
      keep(path, formed, struct);
    }
  }

  /**
   * Makes a filter file of the bytes of another program's filter, open for reading. It appears complete, or not at all.
   * If the caller's options are wrong, the filter answers no for keys that it has: so import with {@link
   * CreateOptions#unpublished()}, look up keys that are known to be in it, and then call {@link #publish()}.
   *
   * @param path the path of the new file
   * @param bytes all bytes of the filter
   * @param form the form of the bytes
   * @param options those of create(), if the bytes do not tell them
   * @return the filter
   */
  public static Filter importForeign(Path path, byte[] bytes, ForeignForm form, CreateOptions options) {
    return importForeign(path, Struct.copyOf(bytes).limit(bytes.length), form, options);
  }

  /**
   * Makes a filter file of the bytes in a buffer, as for an array. A direct buffer (also from FileChannel.map) is not
   * copied.
   *
   * @param path the path of the new file
   * @param buffer its remaining bytes are the filter
   * @param form the form of the bytes
   * @param options those of create(), if the bytes do not tell them
   * @return the filter
   */
  public static Filter importForeign(Path path, ByteBuffer buffer, ForeignForm form, CreateOptions options) {
    if (!buffer.isDirect()) {
      return importForeign(path, Text.bytes(buffer), form, options);
    }
    long address = addressIn(buffer, false);
    ByteBuffer name = Struct.copyOf(Text.path(path));
    Struct.Value formed = form.struct(LIBRARY);
    Struct.Value struct = options.struct(LIBRARY);
    try {
      return made(path.toString(), null, options.mayBlock, (out, error) -> isNew(LIBRARY.bfs_foreign_import(
          LIBRARY.address(name), formed.address(), address, buffer.remaining(), options.flags(), struct.address(), out,
          error)));
    } finally {
      keep(buffer, name, formed, struct);
    }
  }

  /**
   * Returns the filter in another program's format.
   *
   * @param form the format
   * @return the bytes
   */
  public byte[] exportForeign(ForeignForm form) {
    Struct.Value struct = form.struct(LIBRARY);
    try {
      return written("export it with bf", (filter, memory, room, error) ->
          LIBRARY.bfs_foreign_export(filter, struct.address(), memory, room, error));
    } finally {
      keep(struct);
    }
  }

  // --- Sealed files --------------------------------------------------------------------------------------------------

  /**
   * Reads a sealed file from end to end and compares it with its checksums.
   *
   * @param path the path of the file; a symbolic link is followed
   * @return the damaged ranges, ascending; none if it is unchanged
   */
  public static List<Range> verify(Path path) {
    return verify(path, 0);
  }

  /** Verifies a file like verify(), but refuses a symbolic link as the last part of the path. */
  public static List<Range> verifyNoFollow(Path path) {
    return verify(path, Abi.NOFOLLOW);
  }

  private static List<Range> verify(Path path, long flags) {
    List<Range> ranges = new ArrayList<>();
    long found = verify(path, flags, RANGES_AT_FIRST, ranges);
    if (found > ranges.size()) {
      ranges.clear();
      verify(path, flags, Math.toIntExact(found), ranges);
    }
    return ranges;
  }

  private static long verify(Path path, long flags, int capacity, List<Range> ranges) {
    int bytes = Structs.RANGE.bytes();
    ByteBuffer name = Struct.copyOf(Text.path(path));
    ByteBuffer damaged = Scratch.direct(Math.multiplyExact(capacity, bytes));
    long found;
    try (Scratch scratch = Scratch.take(LIBRARY)) {
      found = BfstoreException.check(LIBRARY.bfs_verify(LIBRARY.address(name), flags, LIBRARY.address(damaged), capacity,
          scratch.error.address()), scratch.error);
    } finally {
      keep(name, damaged);
    }
    for (int i = 0; i < Math.min(found, capacity); i++) {
      Struct.Value one = new Struct.Value(Structs.RANGE, damaged, i * bytes, LIBRARY);
      ranges.add(new Range(one.get64("offset"), one.get64("bytes")));
    }
    return found;
  }
}

package dev.bfstore;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/**
 * The back end for Java 22 and later: java.lang.foreign. It is loaded by its name, since Java 17 cannot read its class.
 *
 * A byte[] is handed over where it is on the heap (Linker.Option.critical), and the collector waits until the call
 * returns. So calls with many keys, and calls that may wait for a lock, take none.
 */
final class FfmLibrary implements Library {
  /** Static, and constant when the handles below are made, since only a constant handle is compiled into its caller. */
  private static final SymbolLookup LOOKUP = Loader.opened(FfmLibrary::lookup);

  private static final MethodHandle VERSION = handle("bfs_version", JAVA_LONG);
  private static final MethodHandle VERSION_NUMBER = handle("bfs_version_number", JAVA_INT);
  private static final MethodHandle STRERROR = handle("bfs_strerror", JAVA_LONG, JAVA_INT);
  private static final MethodHandle CODE_NAME = handle("bfs_code_name", JAVA_LONG, JAVA_INT);
  private static final MethodHandle PLAN = handle("bfs_plan", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle CREATE = handle("bfs_create", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle CREATE_PART = handle("bfs_create_part", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT,
      JAVA_INT, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle GET_PART = handle("bfs_get_part", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG,
      JAVA_LONG);
  private static final MethodHandle JOIN = handle("bfs_join", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG,
      JAVA_LONG);
  private static final MethodHandle OPEN_WITH = handle("bfs_open_with", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG,
      JAVA_LONG);
  private static final MethodHandle OPEN_SET = handle("bfs_open_set", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG,
      JAVA_LONG);
  private static final MethodHandle REQUIRED_BYTES = handle("bfs_required_bytes", JAVA_INT, JAVA_LONG, JAVA_LONG,
      JAVA_LONG);
  private static final MethodHandle FORMAT = handle("bfs_format", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_LONG);
  private static final MethodHandle WRAP_WITH = handle("bfs_wrap_with", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_LONG);
  private static final MethodHandle LOAD = handle("bfs_load", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG,
      JAVA_LONG);
  private static final MethodHandle PUBLISH = handle("bfs_publish", JAVA_INT, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle SUPERSEDE = handle("bfs_supersede", JAVA_INT, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle CLOSE = handle("bfs_close", JAVA_INT, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle SHUT = handle("bfs_shut", JAVA_INT, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle ABANDON = handle("bfs_abandon", null, JAVA_LONG);
  private static final MethodHandle SAVE = handle("bfs_save", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle DUMP = handle("bfs_dump", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_LONG);
  private static final MethodHandle MERGE = handle("bfs_merge", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle INTERSECT = handle("bfs_intersect", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_LONG);
  private static final MethodHandle COMPARE = handle("bfs_compare", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG,
      JAVA_LONG);
  private static final MethodHandle IMPORT_BITS = handle("bfs_import_bits", JAVA_INT, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_INT, JAVA_LONG);
  private static final MethodHandle EXPORT_BITS = handle("bfs_export_bits", JAVA_INT, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_INT, JAVA_LONG);
  private static final MethodHandle SEAL = handle("bfs_seal", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle VERIFY = handle("bfs_verify", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG,
      JAVA_LONG, JAVA_LONG);
  private static final MethodHandle SYNC = handle("bfs_sync", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG,
      JAVA_LONG);
  private static final MethodHandle GET_MARK = handle("bfs_get_mark", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle LIST_MARKS = handle("bfs_list_marks", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG,
      JAVA_LONG);
  private static final MethodHandle DROP_OWNER = handle("bfs_drop_owner", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle FINISH_RECOVERY = handle("bfs_finish_recovery", JAVA_INT, JAVA_LONG, JAVA_LONG,
      JAVA_LONG);
  private static final MethodHandle FINISH_FILLING = handle("bfs_finish_filling", JAVA_INT, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle USE_THREADS = handle("bfs_use_threads", JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG);
  private static final MethodHandle HEALTH = handle("bfs_health", JAVA_INT, JAVA_LONG);
  private static final MethodHandle IS_CURRENT = handle("bfs_is_current", JAVA_INT, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle GET_NOTE = handle("bfs_get_note", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG,
      JAVA_LONG);
  private static final MethodHandle GET_SEEDS = handle("bfs_get_seeds", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG,
      JAVA_LONG);
  private static final MethodHandle STATS = handle("bfs_stats", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle ADD_KEYS = handle("bfs_add_keys", JAVA_LONG, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle REMOVE_KEYS = handle("bfs_remove_keys", JAVA_LONG, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle CONTAINS_KEYS = handle("bfs_contains_keys", JAVA_LONG, JAVA_LONG, JAVA_LONG,
      JAVA_LONG);
  private static final MethodHandle SELECT_KEYS = handle("bfs_select_keys", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle DIGEST_KEYS = handle("bfs_digest_keys", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle ADD = handle("bfs_add", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle REMOVE = handle("bfs_remove", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle COUNT = handle("bfs_count", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle CONTAINS = handle("bfs_contains", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle DIGEST = handle("bfs_digest", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle ADD_DIGEST = handle("bfs_add_digest", JAVA_INT, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle REMOVE_DIGEST = handle("bfs_remove_digest", JAVA_INT, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle COUNT_DIGEST = handle("bfs_count_digest", JAVA_INT, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle CONTAINS_DIGEST = handle("bfs_contains_digest", JAVA_INT, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle ADD_ON_HEAP = critical("bfs_add", JAVA_INT, JAVA_LONG, ADDRESS, JAVA_LONG);
  private static final MethodHandle REMOVE_ON_HEAP = critical("bfs_remove", JAVA_INT, JAVA_LONG, ADDRESS, JAVA_LONG);
  private static final MethodHandle COUNT_ON_HEAP = critical("bfs_count", JAVA_INT, JAVA_LONG, ADDRESS, JAVA_LONG);
  private static final MethodHandle CONTAINS_ON_HEAP = critical("bfs_contains", JAVA_INT, JAVA_LONG, ADDRESS,
      JAVA_LONG);
  private static final MethodHandle BARE_CONTAINS = critical("bfs_bare_contains", JAVA_INT, ADDRESS, JAVA_LONG,
      ADDRESS, JAVA_LONG);
  private static final MethodHandle BARE_CONTAINS_DIGEST = critical("bfs_bare_contains_digest", JAVA_INT, ADDRESS,
      JAVA_LONG, JAVA_LONG);
  private static final MethodHandle BARE_BYTES = handle("bfs_bare_bytes", JAVA_LONG, JAVA_LONG, JAVA_DOUBLE, JAVA_INT);
  private static final MethodHandle BARE_BUILD = handle("bfs_bare_build", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT,
      JAVA_LONG);
  private static final MethodHandle BARE_BUILD_DIGESTS = handle("bfs_bare_build_digests", JAVA_INT, JAVA_LONG,
      JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG);

  private static SymbolLookup lookup(String pathOrName) {
    return pathOrName.indexOf('/') >= 0
        ? SymbolLookup.libraryLookup(Path.of(pathOrName), Arena.global())
        : SymbolLookup.libraryLookup(pathOrName, Arena.global());
  }

  private static MethodHandle handle(String name, MemoryLayout result, MemoryLayout... parameters) {
    return bind(name, result, parameters);
  }

  /** For functions that take a byte[] of the heap. */
  private static MethodHandle critical(String name, MemoryLayout result, MemoryLayout... parameters) {
    return bind(name, result, parameters, Linker.Option.critical(true));
  }

  private static MethodHandle bind(
      String name, MemoryLayout result, MemoryLayout[] parameters, Linker.Option... options) {
    MemorySegment function = LOOKUP.find(name)
        .orElseThrow(() -> new UnsatisfiedLinkError("the library has no function " + name));
    FunctionDescriptor descriptor =
        result == null ? FunctionDescriptor.ofVoid(parameters) : FunctionDescriptor.of(result, parameters);
    return Linker.nativeLinker().downcallHandle(function, descriptor, options);
  }

  /** A handle throws nothing of its own but what the virtual machine throws. */
  private static Error failed(Throwable unexpected) {
    if (unexpected instanceof Error) {
      return (Error) unexpected;
    }
    return new AssertionError(unexpected);
  }

  @Override
  public long bfs_version() {
    try {
      return (long) VERSION.invokeExact();
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_version_number() {
    try {
      return (int) VERSION_NUMBER.invokeExact();
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public long bfs_strerror(int code) {
    try {
      return (long) STRERROR.invokeExact(code);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public long bfs_code_name(int code) {
    try {
      return (long) CODE_NAME.invokeExact(code);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_plan(long request, long out, long error) {
    try {
      return (int) PLAN.invokeExact(request, out, error);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_create_part(long path, long options, int part, int num_parts, long out, long error) {
    try {
      return (int) CREATE_PART.invokeExact(path, options, part, num_parts, out, error);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_get_part(long filter, long part, long num_parts, long error) {
    try {
      return (int) GET_PART.invokeExact(filter, part, num_parts, error);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_join(long parts, long count, long path, long options, long error) {
    try {
      return (int) JOIN.invokeExact(parts, count, path, options, error);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_create(long path, long options, long out, long error) {
    try {
      return (int) CREATE.invokeExact(path, options, out, error);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_open_with(long path, long options, long out, long error) {
    try {
      return (int) OPEN_WITH.invokeExact(path, options, out, error);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_open_set(long manifest, long options, long out, long error) {
    try {
      return (int) OPEN_SET.invokeExact(manifest, options, out, error);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_required_bytes(long options, long outBytes, long error) {
    try {
      return (int) REQUIRED_BYTES.invokeExact(options, outBytes, error);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_format(long buffer, long bufferBytes, long options, long out, long error) {
    try {
      return (int) FORMAT.invokeExact(buffer, bufferBytes, options, out, error);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_wrap_with(long buffer, long bufferBytes, long options, long out, long error) {
    try {
      return (int) WRAP_WITH.invokeExact(buffer, bufferBytes, options, out, error);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_load(long bytes, long numBytes, long options, long out, long error) {
    try {
      return (int) LOAD.invokeExact(bytes, numBytes, options, out, error);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_publish(long filter, long error) {
    try {
      return (int) PUBLISH.invokeExact(filter, error);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_supersede(long filter, long error) {
    try {
      return (int) SUPERSEDE.invokeExact(filter, error);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_close(long filter, long error) {
    try {
      return (int) CLOSE.invokeExact(filter, error);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_shut(long filter, long error) {
    try {
      return (int) SHUT.invokeExact(filter, error);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public void bfs_abandon(long filter) {
    try {
      ABANDON.invokeExact(filter);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_save(long filter, long path, long options, long error) {
    try {
      return (int) SAVE.invokeExact(filter, path, options, error);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_dump(long filter, long buffer, long bufferBytes, long flags, long outBytes, long error) {
    try {
      return (int) DUMP.invokeExact(filter, buffer, bufferBytes, flags, outBytes, error);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_merge(long into, long from, long error) {
    try {
      return (int) MERGE.invokeExact(into, from, error);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_intersect(long filters, long count, long path, long options, long error) {
    try {
      return (int) INTERSECT.invokeExact(filters, count, path, options, error);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_compare(long a, long b, long out, long error) {
    try {
      return (int) COMPARE.invokeExact(a, b, out, error);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_import_bits(long filter, long bits, long numBytes, int order, long error) {
    try {
      return (int) IMPORT_BITS.invokeExact(filter, bits, numBytes, order, error);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_export_bits(long filter, long bits, long numBytes, int order, long error) {
    try {
      return (int) EXPORT_BITS.invokeExact(filter, bits, numBytes, order, error);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_seal(long from, long to, long options, long error) {
    try {
      return (int) SEAL.invokeExact(from, to, options, error);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public long bfs_verify(long path, long flags, long damaged, long capacity, long error) {
    try {
      return (long) VERIFY.invokeExact(path, flags, damaged, capacity, error);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_sync(long filter, long owner, long epoch, long mark, long error) {
    try {
      return (int) SYNC.invokeExact(filter, owner, epoch, mark, error);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public long bfs_get_mark(long filter, long owner, long epoch) {
    try {
      return (long) GET_MARK.invokeExact(filter, owner, epoch);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public long bfs_list_marks(long filter, long marks, long capacity, long error) {
    try {
      return (long) LIST_MARKS.invokeExact(filter, marks, capacity, error);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_drop_owner(long filter, long owner, long error) {
    try {
      return (int) DROP_OWNER.invokeExact(filter, owner, error);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_finish_recovery(long filter, long owner, long error) {
    try {
      return (int) FINISH_RECOVERY.invokeExact(filter, owner, error);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_finish_filling(long filter, long error) {
    try {
      return (int) FINISH_FILLING.invokeExact(filter, error);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_use_threads(long filter, int threads, long error) {
    try {
      return (int) USE_THREADS.invokeExact(filter, threads, error);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_health(long filter) {
    try {
      return (int) HEALTH.invokeExact(filter);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_is_current(long filter, long error) {
    try {
      return (int) IS_CURRENT.invokeExact(filter, error);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public long bfs_get_note(long filter, long buffer, long capacity, long error) {
    try {
      return (long) GET_NOTE.invokeExact(filter, buffer, capacity, error);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public long bfs_get_seeds(long filter, long seeds, long capacity, long error) {
    try {
      return (long) GET_SEEDS.invokeExact(filter, seeds, capacity, error);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_stats(long filter, long flags, long out, long error) {
    try {
      return (int) STATS.invokeExact(filter, flags, out, error);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public long bfs_add_keys(long filter, long keys) {
    try {
      return (long) ADD_KEYS.invokeExact(filter, keys);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public long bfs_remove_keys(long filter, long keys) {
    try {
      return (long) REMOVE_KEYS.invokeExact(filter, keys);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public long bfs_contains_keys(long filter, long keys, long answers) {
    try {
      return (long) CONTAINS_KEYS.invokeExact(filter, keys, answers);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public long bfs_select_keys(long filter, long keys, long indices) {
    try {
      return (long) SELECT_KEYS.invokeExact(filter, keys, indices);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public long bfs_digest_keys(long filter, long keys, long digests) {
    try {
      return (long) DIGEST_KEYS.invokeExact(filter, keys, digests);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_add(long filter, long key, long keyBytes) {
    try {
      return (int) ADD.invokeExact(filter, key, keyBytes);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_remove(long filter, long key, long keyBytes) {
    try {
      return (int) REMOVE.invokeExact(filter, key, keyBytes);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_count(long filter, long key, long keyBytes) {
    try {
      return (int) COUNT.invokeExact(filter, key, keyBytes);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_contains(long filter, long key, long keyBytes) {
    try {
      return (int) CONTAINS.invokeExact(filter, key, keyBytes);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_digest(long filter, long key, long keyBytes, long outDigest) {
    try {
      return (int) DIGEST.invokeExact(filter, key, keyBytes, outDigest);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_add_digest(long filter, long digest) {
    try {
      return (int) ADD_DIGEST.invokeExact(filter, digest);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_remove_digest(long filter, long digest) {
    try {
      return (int) REMOVE_DIGEST.invokeExact(filter, digest);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_count_digest(long filter, long digest) {
    try {
      return (int) COUNT_DIGEST.invokeExact(filter, digest);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_contains_digest(long filter, long digest) {
    try {
      return (int) CONTAINS_DIGEST.invokeExact(filter, digest);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_add(long filter, byte[] key, long keyBytes) {
    try {
      return (int) ADD_ON_HEAP.invokeExact(filter, MemorySegment.ofArray(key), keyBytes);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_remove(long filter, byte[] key, long keyBytes) {
    try {
      return (int) REMOVE_ON_HEAP.invokeExact(filter, MemorySegment.ofArray(key), keyBytes);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_count(long filter, byte[] key, long keyBytes) {
    try {
      return (int) COUNT_ON_HEAP.invokeExact(filter, MemorySegment.ofArray(key), keyBytes);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_contains(long filter, byte[] key, long keyBytes) {
    try {
      return (int) CONTAINS_ON_HEAP.invokeExact(filter, MemorySegment.ofArray(key), keyBytes);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_bare_contains(byte[] buffer, long bytes, byte[] key, long keyBytes) {
    try {
      return (int) BARE_CONTAINS.invokeExact(MemorySegment.ofArray(buffer), bytes, MemorySegment.ofArray(key), keyBytes);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_bare_contains_digest(byte[] buffer, long bytes, long digest) {
    try {
      return (int) BARE_CONTAINS_DIGEST.invokeExact(MemorySegment.ofArray(buffer), bytes, digest);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public long bfs_bare_bytes(long numKeys, double bitsPerKey, int layout) {
    try {
      return (long) BARE_BYTES.invokeExact(numKeys, bitsPerKey, layout);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_bare_build(long buffer, long bytes, int layout, long keys) {
    try {
      return (int) BARE_BUILD.invokeExact(buffer, bytes, layout, keys);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public int bfs_bare_build_digests(long buffer, long bytes, int layout, int hash, long digests, long count) {
    try {
      return (int) BARE_BUILD_DIGESTS.invokeExact(buffer, bytes, layout, hash, digests, count);
    } catch (Throwable unexpected) {
      throw failed(unexpected);
    }
  }

  @Override
  public long address(ByteBuffer direct) {
    return MemorySegment.ofBuffer(direct.duplicate().clear()).address();
  }

  @Override
  public String text(long address) {
    return MemorySegment.ofAddress(address).reinterpret(Integer.MAX_VALUE).getString(0);
  }

  @Override
  public String backEnd() {
    return "ffm";
  }
}

package dev.bfstore;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The structs of capi/bfstore.h: where their fields are. A test compares each with what the C compiler says. */
final class Struct {
  static final Struct ERROR = new Struct("bfs_error")
      .u32("struct_bytes", "code", "os_errno", "reserved").bytes("message", 496);
  static final Struct OPTIONS = new Struct("bfs_options")
      .u32("struct_bytes", "mode").u64("flags", "capacity", "fpr", "bits_per_key", "max_bytes", "num_bits")
      .u32("num_probes", "layout", "hash", "reserved").u64("seed", "like", "note", "note_bytes", "key", "key_bytes")
      .u32("lock_timeout_ms", "writeback_check_ms").bytes("file_id", 16).u64("seeds", "num_seeds");
  static final Struct OPEN_OPTIONS = new Struct("bfs_open_options")
      .u32("struct_bytes", "fd").u64("flags", "key", "key_bytes", "offset", "max_bytes")
      .u32("lock_timeout_ms", "writeback_check_ms");
  static final Struct COPY_OPTIONS = new Struct("bfs_copy_options")
      .u32("struct_bytes", "mode").u64("flags").u32("lock_timeout_ms", "reserved").u64("fpr");
  static final Struct STATISTICS = new Struct("bfs_statistics")
      .u32("struct_bytes", "layout", "hash", "num_probes")
      .u64("num_bits", "capacity", "fpr", "seed", "body_bytes", "keys_added")
      .u32("health", "saturated", "has_fill", "has_memory")
      .u64("set_bits", "fill_ratio", "estimated_keys", "estimated_keys_low", "estimated_keys_high", "estimated_fpr",
          "huge_page_bytes", "resident_bytes")
      .bytes("isa", 16).bytes("file_id", 16).u64("keys_removed", "counters_at_15");
  static final Struct INTERVAL = new Struct("bfs_interval").u64("estimate", "low", "high");
  static final Struct COMPARISON = new Struct("bfs_comparison")
      .u32("struct_bytes", "differs", "comparable", "equal", "a_in_b", "b_in_a", "some_in_both", "reserved")
      .u64("num_bits", "set_bits_a", "set_bits_b", "set_bits_both")
      .structs(INTERVAL, "keys_a", "keys_b", "keys_either", "keys_both", "jaccard");
  static final Struct RANGE = new Struct("bfs_range").u64("offset", "bytes");
  static final Struct KEYS = new Struct("bfs_keys")
      .u32("struct_bytes", "kind").u64("count", "data", "data_bytes", "lengths", "offsets", "key_bytes", "stride",
          "validity", "validity_offset");
  static final Struct PLAN_REQUEST = new Struct("bfs_plan_request")
      .u32("struct_bytes", "layout").u64("capacity", "fpr", "bits_per_key", "max_bytes", "num_bits")
      .u32("num_probes", "reserved");
  static final Struct PLAN_RESULT = new Struct("bfs_plan_result")
      .u32("struct_bytes", "layout", "num_probes", "abilities")
      .u64("num_bits", "capacity", "fpr", "bits_per_key", "body_bytes", "file_bytes", "fill_ratio", "bloom_fpr",
          "cache_lines", "page_faults");
  static final Struct OWNER_MARK = new Struct("bfs_owner_mark")
      .u64("owner", "mark", "epoch").u32("recovered", "reserved");

  final String name;
  private final Map<String, int[]> fields = new LinkedHashMap<>(); // offset, bytes
  private int end;

  private Struct(String name) {
    this.name = name;
  }

  private Struct u32(String... names) {
    return field(4, 4, names);
  }

  /** Also of doubles, sizes and pointers. */
  private Struct u64(String... names) {
    return field(8, 8, names);
  }

  private Struct bytes(String field, int bytes) {
    return field(bytes, 1, field);
  }

  private Struct structs(Struct of, String... names) {
    return field(of.bytes(), 8, names);
  }

  private Struct field(int bytes, int alignment, String... names) {
    for (String field : names) {
      int offset = (end + alignment - 1) / alignment * alignment;
      fields.put(field, new int[] {offset, bytes});
      end = offset + bytes;
    }
    return this;
  }

  /** Every struct of the header has a field of 8 bytes, or a size that is a multiple of 8. */
  int bytes() {
    return (end + 7) / 8 * 8;
  }

  int offset(String field) {
    int[] found = fields.get(field);
    if (found == null) {
      throw new IllegalArgumentException(name + " has no field " + field);
    }
    return found[0];
  }

  int bytes(String field) {
    offset(field);
    return fields.get(field)[1];
  }

  Iterable<String> names() {
    return fields.keySet();
  }

  /** A struct of this kind in memory of its own, all zeros but for its size. */
  Value make(Library library) {
    Value made = new Value(this, ByteBuffer.allocateDirect(bytes()).order(ByteOrder.nativeOrder()), 0, library);
    return fields.containsKey("struct_bytes") ? made.put32("struct_bytes", bytes()) : made;
  }

  /** One struct in a direct buffer. */
  static final class Value {
    private final Struct struct;
    private final ByteBuffer memory;
    private final int start;
    private final Library library;
    private final List<ByteBuffer> pointedTo = new ArrayList<>();

    Value(Struct struct, ByteBuffer memory, int start, Library library) {
      this.struct = struct;
      this.memory = memory;
      this.start = start;
      this.library = library;
    }

    long address() {
      return library.address(memory) + start;
    }

    Value put32(String field, int value) {
      memory.putInt(start + struct.offset(field), value);
      return this;
    }

    Value put64(String field, long value) {
      memory.putLong(start + struct.offset(field), value);
      return this;
    }

    Value put(String field, double value) {
      memory.putDouble(start + struct.offset(field), value);
      return this;
    }

    Value put(String field, byte[] value) {
      memory.put(start + struct.offset(field), value);
      return this;
    }

    /** A pointer to a copy of the bytes, which lives as long as this does. */
    Value point(String field, byte[] to) {
      ByteBuffer copy = copyOf(to);
      pointedTo.add(copy);
      return put64(field, library.address(copy));
    }

    int get32(String field) {
      return memory.getInt(start + struct.offset(field));
    }

    long get64(String field) {
      return memory.getLong(start + struct.offset(field));
    }

    double getDouble(String field) {
      return memory.getDouble(start + struct.offset(field));
    }

    byte[] getBytes(String field) {
      byte[] copy = new byte[struct.bytes(field)];
      memory.get(start + struct.offset(field), copy);
      return copy;
    }

    Value inner(Struct of, String field) {
      return new Value(of, memory, start + struct.offset(field), library);
    }

    boolean getFlag(String field) {
      return get32(field) != 0;
    }
  }

  /** A direct copy; of nothing it has one byte, so that it has an address. */
  static ByteBuffer copyOf(byte[] bytes) {
    return ByteBuffer.allocateDirect(Math.max(1, bytes.length)).order(ByteOrder.nativeOrder()).put(0, bytes);
  }
}

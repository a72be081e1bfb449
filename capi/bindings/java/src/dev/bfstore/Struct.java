package dev.bfstore;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A struct of the C headers: the offsets of its fields. */
final class Struct {
  final String name;
  private final Map<String, int[]> fields = new HashMap<>(); // offset, bytes
  private final int bytes;

  Struct(String name, int bytes) {
    this.name = name;
    this.bytes = bytes;
  }

  Struct field(String field, int offset, int size) {
    fields.put(field, new int[] {offset, size});
    return this;
  }

  int bytes() {
    return bytes;
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

  /** Makes a struct of this kind in new memory: zeros, except for its size. */
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

    /** Stores a pointer to a copy of the bytes, which lives as long as this struct. */
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

    /** Returns the first `count` numbers of an array. */
    int[] getInts(String field, int count) {
      int[] copy = new int[count];
      for (int i = 0; i < count; i++) {
        copy[i] = memory.getInt(start + struct.offset(field) + 4 * i);
      }
      return copy;
    }

    /** Returns the first `count` numbers of an array. */
    double[] getDoubles(String field, int count) {
      double[] copy = new double[count];
      for (int i = 0; i < count; i++) {
        copy[i] = memory.getDouble(start + struct.offset(field) + 8 * i);
      }
      return copy;
    }

    Value inner(Struct of, String field) {
      return new Value(of, memory, start + struct.offset(field), library);
    }

    boolean getFlag(String field) {
      return get32(field) != 0;
    }
  }

  /** Returns a direct copy. It has at least one byte, so that it has an address. */
  static ByteBuffer copyOf(byte[] bytes) {
    return ByteBuffer.allocateDirect(Math.max(1, bytes.length)).order(ByteOrder.nativeOrder()).put(0, bytes);
  }
}

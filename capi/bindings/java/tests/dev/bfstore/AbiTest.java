package dev.bfstore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** What the binding writes down by hand is what the C compiler makes of capi/bfstore.h. */
class AbiTest {
  /** These are the same as others with fewer arguments, or as keys of another kind. */
  private static final Set<String> NOT_CALLED =
      Set.of("bfs_open", "bfs_wrap", "bfs_add_digests", "bfs_contains_digests");
  /** Given by address, or without a handle: neither is a struct that Java fills in. */
  private static final Set<String> NOT_FILLED_IN = Set.of("bfs_key");

  private static JsonObject abi() throws IOException {
    return Case.json(Path.of(System.getenv("BFSTORE_ABI")));
  }

  private static Map<String, Struct> structs() throws IllegalAccessException {
    Map<String, Struct> found = new TreeMap<>();
    for (Field field : Struct.class.getDeclaredFields()) {
      if (Modifier.isStatic(field.getModifiers()) && field.getType() == Struct.class) {
        Struct struct = (Struct) field.get(null);
        found.put(struct.name, struct);
      }
    }
    return found;
  }

  @Test
  void everyStructHasTheCompilersOffsets() throws Exception {
    JsonObject expected = abi().getAsJsonObject("structs");
    Set<String> names = new TreeSet<>(expected.keySet());
    names.removeAll(NOT_FILLED_IN);
    assertEquals(names, structs().keySet());
    for (Struct struct : structs().values()) {
      JsonObject one = expected.getAsJsonObject(struct.name);
      assertEquals(one.get("bytes").getAsInt(), struct.bytes(), struct.name);
      Map<String, JsonElement> fields = one.getAsJsonObject("fields").asMap();
      Set<String> told = new TreeSet<>();
      struct.names().forEach(told::add);
      assertEquals(new TreeSet<>(fields.keySet()), told, struct.name);
      for (String field : told) {
        assertEquals(fields.get(field).toString(), "[" + struct.offset(field) + "," + struct.bytes(field) + "]",
            struct.name + "." + field);
      }
    }
  }

  @Test
  void everyConstantIsTheHeaders() throws Exception {
    Map<String, Long> expected = new TreeMap<>();
    abi().getAsJsonObject("constants").asMap().forEach((name, value) -> {
      if (!name.startsWith("BFS_VERSION_")) {
        expected.put(name.substring(4), value.getAsLong());
      }
    });
    Map<String, Long> told = new TreeMap<>();
    for (Field field : Abi.class.getDeclaredFields()) {
      if (!field.getName().equals("BUILT_FOR")) {
        long value = field.getLong(null);
        boolean unsigned = field.getType() == int.class && expected.getOrDefault(field.getName(), 0L) > Integer.MAX_VALUE;
        told.put(field.getName(), unsigned ? value & 0xffffffffL : value);
      }
    }
    assertTrue(expected.size() > 100);
    assertEquals(expected, told);
  }

  @Test
  void theBindingIsForTheVersionOfTheHeader() throws Exception {
    JsonObject constants = abi().getAsJsonObject("constants");
    int version = 0;
    for (String part : new String[] {"MAJOR", "MINOR", "PATCH"}) {
      version = version * 1000 + constants.get("BFS_VERSION_" + part).getAsInt();
    }
    assertEquals(version, Abi.BUILT_FOR);
    assertEquals(version, Filter.LIBRARY.bfs_version_number());
  }

  @Test
  void everyFunctionIsCalled() throws Exception {
    Set<String> expected = new TreeSet<>();
    abi().getAsJsonArray("functions").forEach(name -> expected.add(name.getAsString()));
    expected.removeAll(NOT_CALLED);
    Set<String> told = new TreeSet<>();
    for (Method method : Library.class.getDeclaredMethods()) {
      if (method.getName().startsWith("bfs_")) {
        told.add(method.getName());
      }
    }
    assertEquals(expected, told);
  }

  @Test
  void theBackEndIsTheOneThatWasAskedFor() {
    assertEquals(System.getProperty("bfstore.backend"), Filter.backEnd());
  }
}

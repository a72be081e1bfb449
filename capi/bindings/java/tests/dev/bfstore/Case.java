package dev.bfstore;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** The common part of the tests: a folder for each test, and filters that are closed at its end. */
abstract class Case {
  static final Path ROOT = Path.of(System.getenv("BFSTORE_ROOT"));

  @TempDir Path folder;
  Path path;
  private final List<Filter> opened = new ArrayList<>();

  @BeforeEach
  void prepare() {
    path = folder.resolve("filter.bf");
  }

  @AfterEach
  void closeAll() {
    opened.forEach(Filter::abandon);
  }

  Filter kept(Filter filter) {
    opened.add(filter);
    return filter;
  }

  /** The seed is fixed: no absent key is there by chance. */
  static CreateOptions options() {
    return unseeded().seed(1);
  }

  /** For the hashes that take no seed. */
  static CreateOptions unseeded() {
    return new CreateOptions().capacity(10_000);
  }

  Filter create() {
    return create(options());
  }

  Filter create(CreateOptions options) {
    return kept(Filter.create(path, options));
  }

  Filter create(String name, CreateOptions options) {
    return kept(Filter.create(folder.resolve(name), options));
  }

  Filter open() {
    return kept(Filter.open(path));
  }

  Filter open(OpenOptions options) {
    return kept(Filter.open(path, options));
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  static byte[] unhex(String digits) {
    byte[] made = new byte[digits.length() / 2];
    for (int i = 0; i < made.length; i++) {
      made[i] = (byte) Integer.parseInt(digits.substring(2 * i, 2 * i + 2), 16);
    }
    return made;
  }

  static JsonObject json(Path file) throws IOException {
    return JsonParser.parseString(Files.readString(file)).getAsJsonObject();
  }
}

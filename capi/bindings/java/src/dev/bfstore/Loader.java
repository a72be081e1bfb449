package dev.bfstore;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Locale;
import java.util.function.Function;
import java.util.regex.Pattern;

/**
 * Finds the native library and the back end, once. The library is the file of -Dbfstore.library, or the one in the jar,
 * or the system's libbfstore.so.0. The back end is that of -Dbfstore.backend ("ffm" or "jna"); by default ffm from Java
 * 22 on.
 */
final class Loader {
  private static final String SYSTEM_LIBRARY = "libbfstore.so.0";
  private static final int FIRST_JAVA_WITH_FFM = 22;
  /** The file that every program of glibc has mapped. Before 2.34 its name had the version. */
  private static final Pattern GLIBC = Pattern.compile("/libc(\\.so\\.6|-2\\.[0-9]+\\.so)$", Pattern.MULTILINE);

  private Loader() {}

  static Library load() {
    Library library = backEnd(System.getProperty("bfstore.backend"));
    String minor = Abi.VERSION_MAJOR + "." + Abi.VERSION_MINOR;
    String version = library.text(library.bfs_version());
    if (!version.startsWith(minor + ".")) {
      throw new UnsatisfiedLinkError("this binding is for bfstore " + minor + ", and the library is " + version);
    }
    return library;
  }

  private static Library backEnd(String asked) {
    boolean ffm = asked == null ? Runtime.version().feature() >= FIRST_JAVA_WITH_FFM : asked.equals("ffm");
    if (!ffm && asked != null && !asked.equals("jna")) {
      throw new UnsatisfiedLinkError("bfstore.backend is ffm or jna, not " + asked);
    }
    return ffm ? loadedByName() : loadedWithJna();
  }

  private static Library loadedWithJna() {
    try {
      return opened(JnaLibrary::new);
    } catch (NoClassDefFoundError error) {
      UnsatisfiedLinkError told = new UnsatisfiedLinkError("the back end jna needs JNA, which is not on the class path."
          + " Add its jar (net.java.dev.jna:jna), or run Java 22 or later, which does not need it: " + error);
      told.initCause(error);
      throw told;
    }
  }

  private static Library loadedByName() {
    try {
      return (Library) Class.forName("dev.bfstore.FfmLibrary").getDeclaredConstructor().newInstance();
    } catch (ReflectiveOperationException | UnsupportedClassVersionError error) {
      UnsatisfiedLinkError told = new UnsatisfiedLinkError("the back end ffm needs Java 22 or later: " + error);
      told.initCause(error);
      throw told;
    }
  }

  /** Opens the library by its path or name. */
  static <T> T opened(Function<String, T> open) {
    String path = System.getProperty("bfstore.library");
    if (path != null) {
      return open.apply(Path.of(path).toAbsolutePath().toString());
    }
    try (InputStream packed = Loader.class.getResourceAsStream("/natives/" + system() + "/libbfstore.so")) {
      return packed == null ? open.apply(SYSTEM_LIBRARY) : extracted(packed, open);
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  /**
   * Opens the packed library. Its file has a name only until it is mapped: so a JVM that is killed later leaves no
   * file.
   */
  private static <T> T extracted(InputStream packed, Function<String, T> open) throws IOException {
    Path file = Files.createTempFile("libbfstore", ".so");
    try {
      Files.copy(packed, file, StandardCopyOption.REPLACE_EXISTING);
      return open.apply(file.toString());
    } finally {
      Files.delete(file);
    }
  }

  /** Returns this system's name in the jar: linux-x86_64, linux-musl-aarch64. */
  private static String system() throws IOException {
    String processor = System.getProperty("os.arch").toLowerCase(Locale.ROOT);
    Path maps = Path.of("/proc/self/maps"); // without it glibc is assumed
    boolean glibc = !Files.isReadable(maps)
        || GLIBC.matcher(Files.readString(maps, StandardCharsets.ISO_8859_1)).find();
    return (glibc ? "linux-" : "linux-musl-") + (processor.equals("amd64") ? "x86_64" : processor);
  }
}

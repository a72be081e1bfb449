package dev.bfstore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The choice of the library and of the back end. */
class LoaderTest {
  private final String backEnd = System.getProperty("bfstore.backend");

  @AfterEach
  void restore() {
    System.setProperty("bfstore.backend", backEnd);
    System.clearProperty("bfstore.library");
  }

  @Test
  void aBackEndThatIsNoneIsRefused() {
    System.setProperty("bfstore.backend", "jni");
    String told = assertThrows(UnsatisfiedLinkError.class, Loader::load).getMessage();
    assertTrue(told.contains("ffm or jna"), told);
  }

  @Test
  void anOldJavaHasOneBackEnd() {
    if (Runtime.version().feature() < 22) {
      System.setProperty("bfstore.backend", "ffm");
      String told = assertThrows(UnsatisfiedLinkError.class, Loader::load).getMessage();
      assertTrue(told.contains("Java 22"), told);
    }
  }

  @Test
  void thePropertyNamesTheLibrary() {
    System.setProperty("bfstore.library", "some/lib.so");
    assertEquals(Path.of("some/lib.so").toAbsolutePath().toString(), Loader.opened(path -> path));
  }

  @Test
  void theJarsLibraryIsAFileUntilItIsMapped() {
    Path[] extracted = new Path[1];
    assertTrue(Loader.opened(path -> {
      extracted[0] = Path.of(path);
      return extracted[0].toFile().length();
    }) > 100_000);
    assertTrue(!extracted[0].toFile().exists());
  }
}

package dev.bfstore;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** The binding and the library have the same version. */
class AbiTest {
  @Test
  void theBindingIsForTheVersionOfTheLibrary() {
    int version = (Abi.VERSION_MAJOR * 1000 + Abi.VERSION_MINOR) * 1000 + Abi.VERSION_PATCH;
    assertEquals(version, Filter.LIBRARY.bfs_version_number());
  }

  @Test
  void theBackEndIsTheOneThatWasAskedFor() {
    assertEquals(System.getProperty("bfstore.backend"), Filter.backEnd());
  }
}

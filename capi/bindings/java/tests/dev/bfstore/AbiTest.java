package dev.bfstore;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** The binding and the library have the same version. */
class AbiTest {
  @Test
  void theBindingIsForTheVersionOfTheLibrary() {
    assertEquals(Abi.VERSION_MAJOR + "." + Abi.VERSION_MINOR + "." + Abi.VERSION_PATCH, Filter.version());
  }

  @Test
  void theBackEndIsTheOneThatWasAskedFor() {
    assertEquals(System.getProperty("bfstore.backend"), Filter.backEnd());
  }
}

package dev.bfstore;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/** Handles of the library's functions. */
final class Downcall {
  private static final SymbolLookup LOOKUP = Loader.opened(Downcall::lookup);

  private Downcall() {}

  private static SymbolLookup lookup(String pathOrName) {
    return pathOrName.indexOf('/') >= 0
        ? SymbolLookup.libraryLookup(Path.of(pathOrName), Arena.global())
        : SymbolLookup.libraryLookup(pathOrName, Arena.global());
  }

  static MethodHandle handle(String name, MemoryLayout result, MemoryLayout... parameters) {
    return bind(name, result, parameters);
  }

  /** Binds functions that take a byte[] of the heap. */
  static MethodHandle critical(String name, MemoryLayout result, MemoryLayout... parameters) {
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

  /** A handle throws only errors of the virtual machine. */
  static Error failed(Throwable unexpected) {
    if (unexpected instanceof Error) {
      return (Error) unexpected;
    }
    return new AssertionError(unexpected);
  }
}

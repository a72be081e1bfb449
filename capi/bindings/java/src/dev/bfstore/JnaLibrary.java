package dev.bfstore;

import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import java.nio.ByteBuffer;

/**
 * The back end for Java 17 to 21: JNA, whose direct mapping binds each native method to the function of its name. It
 * copies a byte[], so that the collector need not wait.
 */
final class JnaLibrary extends JnaCalls {
  JnaLibrary(String pathOrName) {
    Native.register(JnaCalls.class, NativeLibrary.getInstance(pathOrName));
  }

  @Override
  public long address(ByteBuffer direct) {
    return Pointer.nativeValue(Native.getDirectBufferPointer(direct));
  }

  @Override
  public String text(long address) {
    return new Pointer(address).getString(0, "UTF-8");
  }

  @Override
  public String backEnd() {
    return "jna";
  }
}

package dev.bfstore;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The form of the bytes of another program's filter: {@code new ForeignForm("raw").order(BitOrder.LITTLE)}. See {@link
 * Filter#importForeign} and {@link Filter#exportForeign}.
 *
 * <p>"raw" is only the m bits. The caller describes them by {@link CreateOptions#numBits} and {@link
 * CreateOptions#numProbes} (or {@link CreateOptions#like}), the hash and its seed or seeds, and the order. A BitSet
 * leaves out zeros at the end: {@code Arrays.copyOf(bitSet.toByteArray(), (m + 7) / 8)} has all, in the order LITTLE.
 *
 * <p>"jaybird" is the file that BloomFilter.tofile() of python-bloomfilter writes (pybloom, pybloom-live). A small filter
 * needs {@link Hash#JAYBIRD}, or {@link Hash#PYBLOOM_LIVE} if version 4 of pybloom-live or a later one made it.
 */
public final class ForeignForm {
  private final String format;
  private BitOrder order;
  private String name;

  /**
   * Makes a form with this format.
   *
   * @param format one of {@link #formats()}
   */
  public ForeignForm(String format) {
    this.format = format;
  }

  /**
   * Sets the bit of a byte that comes first. Only for the format "raw".
   *
   * @param order the order
   * @return this
   */
  public ForeignForm order(BitOrder order) {
    this.order = order;
    return this;
  }

  /**
   * Sets the name of the bytes in messages.
   *
   * @param name a path, for instance
   * @return this
   */
  public ForeignForm name(String name) {
    this.name = name;
    return this;
  }

  /**
   * Returns the formats that the library knows.
   *
   * @return their names: "raw", "jaybird", and those of a later library
   */
  public static List<String> formats() {
    Library library = Filter.LIBRARY;
    List<String> names = new ArrayList<>();
    for (long name; (name = library.bfs_foreign_name(names.size())) != 0;) {
      names.add(library.text(name));
    }
    return names;
  }

  /**
   * Returns the facts in the bytes of a foreign filter, without importing it.
   *
   * @param first all bytes, or the first ones: 64 KiB suffice
   * @return the facts
   */
  public Foreign inspect(byte[] first) {
    return inspect(first, 0, null);
  }

  /**
   * Describes the filter that {@link Filter#importForeign} would make of the bytes.
   *
   * @param first all bytes, or the first ones: 64 KiB suffice
   * @param options the options of the import
   * @return the facts of that filter
   */
  public Foreign inspect(byte[] first, CreateOptions options) {
    return inspect(first, options.flags(), options.struct(Filter.LIBRARY));
  }

  private Foreign inspect(byte[] first, long flags, Struct.Value options) {
    Library library = Filter.LIBRARY;
    Struct.Value form = struct(library);
    ByteBuffer bytes = Struct.copyOf(first);
    Struct.Value found = Structs.FOREIGN.make(library);
    try (Scratch scratch = Scratch.take(library)) {
      BfstoreException.check(library.bfs_foreign_inspect(form.address(), library.address(bytes), first.length, flags,
          options == null ? 0 : options.address(), found.address(), scratch.error.address()), scratch.error);
    } finally {
      Filter.keep(form, bytes, options);
    }
    return Foreign.of(found);
  }

  Struct.Value struct(Library library) {
    Struct.Value made = Structs.FOREIGN_FORM.make(library).put32("order", order == null ? 0 : order.number)
        .point("format", Text.ended("format", format));
    return name == null ? made : made.point("name", Text.ended("name", name));
  }
}

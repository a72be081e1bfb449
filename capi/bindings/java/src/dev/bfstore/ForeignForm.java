package dev.bfstore;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The form of the bytes of another program's filter: {@code new ForeignForm("raw").order(BitOrder.LITTLE)}. See {@link
 * Filter#openForeign}, {@link Filter#importForeign} and {@link Filter#exportForeign}.
 *
 * <p>{@link #formats()} has the names of all formats, and capi/bfstore_interop.h describes each. A BitSet is "raw". It
 * leaves out zeros at the end: {@code Arrays.copyOf(bitSet.toByteArray(), (m + 7) / 8)} has all, in the order LITTLE.
 */
public final class ForeignForm {
  private final String format;
  private BitOrder order;
  private String name;
  private String column;
  private int member;

  /**
   * Makes a form with this format.
   *
   * @param format one of {@link #formats()}
   */
  public ForeignForm(String format) {
    this.format = format;
  }

  /**
   * Sets the bit of a byte that comes first. Only for a format that needs it: {@link ForeignNeed#ORDER}.
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
   * Sets the column of a file that has filters of several ones. Only for a format that needs it: {@link
   * ForeignNeed#COLUMN}.
   *
   * @param column its name
   * @return this
   */
  public ForeignForm column(String column) {
    this.column = column;
    return this;
  }

  /**
   * Takes only one of several filters. Default: all of them.
   *
   * @param member its number, from 1
   * @return this
   */
  public ForeignForm member(int member) {
    if (member < 1) {
      throw BfstoreException.invalid("the filters of a file have numbers from 1 on, not " + member);
    }
    this.member = member;
    return this;
  }

  /**
   * Returns all formats that the library knows.
   *
   * @return their names
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
   * Returns the formats that all bytes of the file have. A format that needs m and k from its caller is never among
   * them.
   *
   * @param path the path of the file; a symbolic link is followed
   * @return their names: none, or several if the bytes do not tell which
   */
  public static List<String> recognize(Path path) {
    return recognize(path, 0);
  }

  /** Recognizes a file like recognize(), but refuses a symbolic link as the last part of the path. */
  public static List<String> recognizeNoFollow(Path path) {
    return recognize(path, Abi.NOFOLLOW);
  }

  private static List<String> recognize(Path path, long flags) {
    Library library = Filter.LIBRARY;
    ByteBuffer bytes = Struct.copyOf(Text.path(path));
    ByteBuffer name = Scratch.direct(8);
    List<String> names = new ArrayList<>();
    try (Scratch scratch = Scratch.take(library)) {
      while (true) {
        BfstoreException.check(library.bfs_foreign_recognize(library.address(bytes), flags, names.size(),
            library.address(name), scratch.error.address()), scratch.error);
        if (name.getLong(0) == 0) {
          return names;
        }
        names.add(library.text(name.getLong(0)));
      }
    } finally {
      Filter.keep(bytes, name);
    }
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
        .point("format", Text.ended("format", format)).put32("member", member);
    if (name != null) {
      made.point("name", Text.ended("name", name));
    }
    return column == null ? made : made.point("column", Text.ended("column", column));
  }
}

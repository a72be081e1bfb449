package dev.bfstore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Every code is an exception with words, of the class of the code. */
class ErrorsTest extends Case {
  private static void check(Class<? extends BfstoreException> kind, String codeName, int errno, Executable call, String... words) {
    BfstoreException error = assertThrows(kind, call);
    assertEquals(codeName, error.codeName());
    assertEquals(errno, error.errno());
    assertTrue(error.getMessage().length() > 10, error.getMessage());
    for (String word : words) {
      assertTrue(error.getMessage().contains(word), error.getMessage());
    }
  }

  @Test
  void everyCodeIsAnExceptionOfItsRange() throws Exception {
    JsonObject constants = json(Path.of(System.getenv("BFSTORE_ABI"))).getAsJsonObject("constants");
    int codes = 0;
    for (String name : constants.keySet()) {
      if (!name.matches("BFS_E[A-Z]+")) {
        continue;
      }
      int code = constants.get(name).getAsInt();
      if (code >= 0) {
        continue; // BFS_EXCLUSIVE
      }
      BfstoreException error = BfstoreException.of(code, 2, "words: what to do");
      assertEquals(code > -100, error instanceof BfstoreException.CallException, name);
      assertEquals(code <= -100 && code > -200, error instanceof BfstoreException.StateException, name);
      assertEquals(code <= -200, error instanceof BfstoreException.MalformedException, name);
      assertEquals(code, error.code());
      assertEquals(name, error.codeName());
      assertEquals("words: what to do", error.getMessage());
      assertFalse(Filter.strerror(code).isEmpty());
      codes++;
    }
    assertTrue(codes > 35);
  }

  @Test
  void aCodeOfALaterReleaseIsTreatedAsItsRange() {
    assertSame(BfstoreException.CallException.class, BfstoreException.of(-99, 0, "").getClass());
    assertSame(BfstoreException.StateException.class, BfstoreException.of(-199, 0, "").getClass());
    assertSame(BfstoreException.MalformedException.class, BfstoreException.of(-299, 0, "").getClass());
    assertSame(BfstoreException.class, BfstoreException.of(-5000, 0, "").getClass());
  }

  @Test
  void theSameAsCheckedExceptions() {
    assertInstanceOf(NoSuchFileException.class, BfstoreException.of(Abi.ENOENT, 2, "words").toIOException());
    assertInstanceOf(FileAlreadyExistsException.class, BfstoreException.of(Abi.EEXIST, 17, "words").toIOException());
    assertInstanceOf(AccessDeniedException.class, BfstoreException.of(Abi.EACCES, 13, "words").toIOException());
    BfstoreException error = BfstoreException.of(Abi.EUNCLEAN, 0, "words");
    IOException checked = error.toIOException();
    assertInstanceOf(FileSystemException.class, checked);
    assertEquals("words", checked.getMessage());
    assertSame(error, checked.getCause());
  }

  @Test
  void anExceptionIsSerialized() throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    new ObjectOutputStream(bytes).writeObject(BfstoreException.of(Abi.EBUSY, 16, "words"));
    Object again = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray())).readObject();
    BfstoreException error = assertInstanceOf(BfstoreException.BusyException.class, again);
    assertEquals("words -4 16", error.getMessage() + " " + error.code() + " " + error.errno());
    bytes.reset();
    new ObjectOutputStream(bytes).writeObject(new BfstoreException.MalformedException(Abi.EMALFORMED, 0, 7, "words"));
    again = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray())).readObject();
    assertEquals(7, assertInstanceOf(BfstoreException.MalformedException.class, again).rule());
  }

  @Test
  void filesThatAreThereOrNot() throws IOException {
    String name = path.toString();
    check(BfstoreException.NotFoundException.class, "BFS_ENOENT", 2, this::open, name);
    create();
    check(BfstoreException.ExistsException.class, "BFS_EEXIST", 17, this::create, name);
    check(BfstoreException.MalformedException.class, "BFS_ENOTREGULAR", 0, () -> Filter.open(folder), folder.toString());
    Files.writeString(folder.resolve("text"), "no filter ".repeat(9999));
    check(BfstoreException.MalformedException.class, "BFS_EMALFORMED", 0, () -> Filter.open(folder.resolve("text")), "text");
  }

  private int ruleOf(byte[] data) throws IOException {
    Files.write(folder.resolve("broken"), data);
    return assertThrows(BfstoreException.MalformedException.class, () -> Filter.open(folder.resolve("broken"))).rule();
  }

  /** The numbers are those of FORMAT.md, "A reader's checklist". */
  @Test
  void aMalformedFileTellsTheRuleThatItBreaks() throws IOException {
    create().close();
    byte[] good = Files.readAllBytes(path);
    assertEquals(2, ruleOf(new byte[100]));
    byte[] data = good.clone();
    data[0] ^= 1;
    assertEquals(3, ruleOf(data)); // magic
    data = good.clone();
    data[88] ^= 1; // a byte of the seed
    assertEquals(7, ruleOf(data)); // checksum
    BfstoreException.MalformedException folderIsNoFile =
        assertThrows(BfstoreException.MalformedException.class, () -> Filter.open(folder));
    assertEquals(0, folderIsNoFile.rule());
  }

  @Test
  void aSecondExclusiveWriter() {
    create(options().exclusive());
    check(BfstoreException.BusyException.class, "BFS_EBUSY", 16,
        () -> open(new OpenOptions().write().lockTimeout(Duration.ZERO)), String.valueOf(ProcessHandle.current().pid()));
  }

  @Test
  void aReaderThatAdds() {
    create().close();
    Filter reader = open();
    for (Executable call : List.<Executable>of(() -> reader.add("a"), () -> reader.addMany(List.of("a")),
        () -> reader.addDigest(1))) {
      check(BfstoreException.ReadOnlyException.class, "BFS_EREADONLY", 0, call, path.toString());
    }
    assertThrows(BfstoreException.ReadOnlyException.class, reader::sync);
  }

  @Test
  void aFullFilter() {
    Filter filter = create(new CreateOptions().capacity(100).limit());
    check(BfstoreException.FullException.class, "BFS_EFULL", 0, () -> {
      for (int i = 0; i < 10_000; i++) {
        filter.add(i);
      }
    }, path.toString());
  }

  /** A struct without its size would leave the message empty: each failing function must have its own words. */
  @Test
  void eachCallThatCanFailHasWordsOfTheLibrary() {
    Filter filter = create();
    Path no = folder.resolve("no/such");
    CopyOptions plain = new CopyOptions();
    byte[] wrong = new byte[64];
    Filter reader = open();
    Filter filling = create("filling", options().filling());
    Filter inBuffer = kept(Filter.load(filter.dump(), new OpenOptions().write()));
    List<Executable> calls = List.of(
        () -> Filter.create(no, options()), () -> Filter.open(no), () -> Filter.openDescriptor(12345, new OpenOptions()),
        () -> Filter.build(no, Keys.of("a"), new CreateOptions()), () -> Filter.openOrCreate(no, options()),
        () -> Filter.build(no, Stream.of("a"), options()), () -> Filter.load(wrong, new OpenOptions()),
        () -> Filter.wrap(ByteBuffer.allocateDirect(256).alignedSlice(64), new OpenOptions()),
        () -> Filter.format(ByteBuffer.allocateDirect(256).alignedSlice(64), options()),
        () -> Filter.requiredBytes(new CreateOptions()), () -> new PlanRequest().plan(),
        () -> Filter.verify(no), () -> Filter.verify(path), () -> filter.copyTo(no, plain),
        () -> filter.copyTo(no, new CopyOptions().sealed()), () -> Filter.join(List.of(filter), no, plain),
        () -> Filter.intersect(List.of(), no, plain), filter::publish, filter::supersede, filter::dumpBare,
        () -> filter.merge(create("seed", options().seed(8))), () -> filter.importBits(wrong, BitOrder.BIG),
        () -> filter.exportBits(BitOrder.BIG), () -> reader.finishRecovery(1), () -> reader.dropOwner(1),
        reader::sync, reader::finishFilling, () -> reader.merge(filter), inBuffer::marks, inBuffer::isCurrent,
        () -> filter.compare(filling), filling::dump, () -> Filter.openOrCreate(path, options().replace()),
        () -> filter.stats(1), () -> new ForeignForm("jaybird").inspect(wrong),
        () -> Filter.importForeign(no, wrong, new ForeignForm("jaybird"), new CreateOptions()),
        () -> Filter.openForeign(no, new ForeignForm("jaybird"), new CreateOptions()), () -> ForeignForm.recognize(no),
        () -> filter.exportForeign(new ForeignForm("jaybird")));
    for (int i = 0; i < calls.size(); i++) {
      BfstoreException error = assertThrows(BfstoreException.class, calls.get(i), "call " + i);
      assertTrue(error.getMessage().length() > 15, error.getMessage());
      assertFalse(error.getMessage().equals(Filter.strerror(error.code())), i + ": " + error.getMessage());
    }
  }

  @Test
  void argumentsOutOfRange() {
    check(BfstoreException.InvalidException.class, "BFS_EINVAL", 22, () -> options().fpr(2), "false-positive rate 2");
    check(BfstoreException.InvalidException.class, "BFS_EINVAL", 22, () -> options().fpr(0), "false-positive rate 0");
    check(BfstoreException.InvalidException.class, "BFS_EINVAL", 22, () -> create(options().bitsPerKey(0)), "bits per key 0");
    check(BfstoreException.InvalidException.class, "BFS_EINVAL", 22, () -> create(unseeded().hash(Hash.SIPHASH).secret(new byte[15])),
        "the secret has 15 bytes, and not 16");
    check(BfstoreException.InvalidException.class, "BFS_ESIZING", 0, () -> create(options().fpr(1e-12)));
    Class<BfstoreException.InvalidException> wrong = BfstoreException.InvalidException.class;
    assertEquals("lockTimeout is 0 to 4,000,000 seconds, not PT-0.001S",
        assertThrows(wrong, () -> new OpenOptions().lockTimeout(Duration.ofMillis(-1))).getMessage());
    assertThrows(wrong, () -> new OpenOptions().lockTimeout(Duration.ofDays(1000)));
    assertThrows(wrong, () -> new CreateOptions().fileId(new byte[15]));
    assertEquals("capacity is negative: -1", assertThrows(wrong, () -> new CreateOptions().capacity(-1)).getMessage());
    assertThrows(wrong, () -> new CreateOptions().part(-1, 2));
    assertThrows(wrong, () -> new CreateOptions().threads(0));
    assertThrows(wrong, () -> new OpenOptions().threads(65));
    assertThrows(wrong, () -> new PlanRequest().numProbes(-1));
    assertThrows(wrong, () -> new OpenOptions().range(-64, 0));
    assertThrows(wrong, () -> new CreateOptions().permissions(Set.of()));
    assertThrows(InvalidPathException.class, () -> Filter.open(Path.of("a\0b")));
    assertThrows(NullPointerException.class, () -> Filter.open(null));
    assertThrows(wrong, () -> create().sync(0, 0, -1)); // unsigned, it would say that every key is durable
    assertTrue(path.toFile().delete());
    assertEquals(1, OpenOptions.milliseconds("x", Duration.ofNanos(1), 7));
    assertEquals(7, OpenOptions.milliseconds("x", Duration.ZERO, 7));
    assertEquals(1500, OpenOptions.milliseconds("x", Duration.ofMillis(1500), 7));
    assertFalse(Files.exists(path));
  }

  /** layout(null) was the default layout. */
  @Test
  void nullIsRefusedByTheNameOfTheParameter() {
    CreateOptions options = new CreateOptions();
    Map<String, Executable> calls = Map.ofEntries(Map.entry("layout", () -> options.layout(null)),
        Map.entry("hash", () -> options.hash(null)), Map.entry("like", () -> options.like(null)),
        Map.entry("note", () -> options.note(null)), Map.entry("secret", () -> options.secret(null)),
        Map.entry("fileId", () -> options.fileId(null)), Map.entry("seeds", () -> options.seeds((int[]) null)),
        Map.entry("window", () -> options.window(null)), Map.entry("permissions", () -> options.permissions(null)),
        Map.entry("lockTimeout", () -> options.lockTimeout(null)), Map.entry("path", () -> Filter.open(null)),
        Map.entry("filters", () -> Filter.containsAny(null, "a")), Map.entry("options", () -> Filter.openOrCreate(path, null)),
        Map.entry("bytes", () -> Filter.load((byte[]) null)), Map.entry("buffer", () -> Filter.wrap(null)));
    calls.forEach((name, call) -> assertEquals(name, assertThrows(NullPointerException.class, call, name).getMessage()));
    Filter asked = create("asked", options());
    for (Executable call : List.<Executable>of(() -> asked.contains((byte[]) null), () -> asked.contains((String) null),
        () -> asked.contains((ByteBuffer) null), () -> asked.add((byte[]) null), () -> asked.add((String) null), () -> asked.remove((byte[]) null),
        () -> asked.count((byte[]) null), () -> asked.digest((byte[]) null), () -> asked.digest((String) null), () -> Key.of((String) null),
        () -> Filter.which(List.of(asked), null), () -> Filter.containsAny(List.of(asked), null))) {
      assertEquals("key", assertThrows(NullPointerException.class, call).getMessage());
    }
    for (Executable call : List.<Executable>of(() -> Filter.create(null, options()), () -> Filter.openOrCreate(null, options()),
        () -> Filter.build(null, List.of("a"), options()), () -> Filter.verify(null), () -> create("x", options()).copyTo(null, new CopyOptions()))) {
      assertEquals("path", assertThrows(NullPointerException.class, call).getMessage());
    }
    for (Executable call : List.<Executable>of(() -> asked.addMany((List<?>) null), () -> asked.addMany((Keys) null),
        () -> asked.containsMany((Keys) null), () -> Filter.build(path, (List<?>) null, options()))) {
      assertEquals("keys", assertThrows(NullPointerException.class, call).getMessage());
    }
    assertEquals(asked.capacity(), kept(Filter.load(asked.dump())).capacity());
    assertEquals(asked.capacity(), kept(Filter.load(ByteBuffer.wrap(asked.dump()))).capacity());
    assertEquals("other", assertThrows(NullPointerException.class, () -> asked.merge(null)).getMessage());
    assertEquals("layout", assertThrows(NullPointerException.class, () -> new PlanRequest().layout(null)).getMessage());
    assertEquals("secret", assertThrows(NullPointerException.class, () -> new OpenOptions().secret(null)).getMessage());
    Filter filter = create();
    assertEquals("filters.get(1)", assertThrows(NullPointerException.class,
        () -> Filter.which(java.util.Arrays.asList(filter, null), "a")).getMessage());
  }

  @Test
  void anErrorOfManyKeysSaysWhichKey() {
    Filter filter = create();
    List<Object> keys = new java.util.ArrayList<>(java.util.Collections.nCopies(5000, "a"));
    keys.set(4500, 1.5);
    for (Executable call : List.<Executable>of(() -> filter.addMany(keys), () -> filter.containsMany(keys),
        () -> Filter.build(folder.resolve("x"), keys, options()))) {
      String said = assertThrows(BfstoreException.InvalidException.class, call).getMessage();
      assertTrue(said.startsWith("key 4500: a key is a byte[], String"), said);
    }
    Stream<Object> many = Stream.iterate(0, i -> i + 1).limit(80_000).map(i -> i == 70_000 ? (Object) 'x' : i);
    String said = assertThrows(BfstoreException.InvalidException.class,
        () -> Filter.build(folder.resolve("x"), many, options())).getMessage();
    assertTrue(said.startsWith("key 70000: "), said);
    assertEquals("key 1: a key is null", assertThrows(NullPointerException.class,
        () -> filter.addMany(java.util.Arrays.asList("a", null))).getMessage());
    assertEquals("data of 5 bytes are no keys of 2 bytes",
        assertThrows(BfstoreException.InvalidException.class, () -> Keys.fixed(ByteBuffer.allocateDirect(5), 2)).getMessage());
  }

  @Test
  void optionsAreShown() {
    assertEquals("OpenOptions.read()", new OpenOptions().toString());
    assertEquals("OpenOptions.write().guard().secret(...).lockTimeout(forever).mayBlock()",
        new OpenOptions().guard().write().secret(new byte[16]).lockForever().mayBlock().toString());
    assertEquals("OpenOptions.exclusive().range(64, 0).lockTimeout(0 ms).writebackCheck(7 ms).threads(2)", new OpenOptions().exclusive()
        .range(64, 0).lockTimeout(Duration.ZERO).writebackCheck(Duration.ofMillis(7)).threads(2).toString());
    Filter filter = create(options().capacity(1000).fpr(0.02));
    assertEquals("1000 0.02", filter.capacity() + " " + filter.fpr());
  }

  @Test
  void messagesNameTheOptionsOfJava() {
    create().close();
    Class<BfstoreException.InvalidException> invalid = BfstoreException.InvalidException.class;
    Map<String, Executable> calls = Map.of(
        "create: does not take bare(); leave it out", () -> create(options().bare()),
        "openOrCreate: does not take replace(); leave it out", () -> Filter.openOrCreate(path, options().replace()),
        "build: does not take filling(); leave it out",
        () -> Filter.build(path, List.of("a"), new CreateOptions().filling()),
        "open: threads() goes with exclusive()", () -> open(new OpenOptions().threads(2)),
        "open with a range: does not take write(); leave it out", () -> open(new OpenOptions().range(64, 0).write()),
        "wrap and load: does not take follow(); leave it out", () -> Filter.load(new byte[64], new OpenOptions().follow()),
        "format: does not take lockTimeout(); leave it out", () -> Filter.requiredBytes(options().lockForever()),
        "join: does not take sealed(); leave it out",
        () -> Filter.join(List.of(open()), folder.resolve("x"), new CopyOptions().sealed()));
    calls.forEach((words, call) -> assertEquals(words, assertThrows(invalid, call, words).getMessage()));
    for (String other : List.of("bfs_users.bf", "bfs_BFS_BARE", "BFS_BARE.bf")) {
      BfstoreException error = assertThrows(invalid, () -> Filter.create(Path.of(other), new CreateOptions()));
      assertTrue(error.getMessage().startsWith(other + ": no size"), error.getMessage());
    }
  }

  /** Each flag that a method sets has the name of the method in messages. */
  @Test
  void everyFlagIsAnOptionOfJava() throws Exception {
    Set<String> methods = Stream.of(OpenOptions.class, CreateOptions.class, CopyOptions.class)
        .flatMap(options -> Stream.of(options.getDeclaredMethods())).map(method -> method.getName() + "()")
        .collect(Collectors.toSet());
    Set<String> others = // in no message
        Set.of("BFS_STATS_FILL", "BFS_STATS_MEMORY", "BFS_IF_DUE", "bfs_options.fd", "bfs_options.num_parts");
    int options = 0;
    for (String[] pair : WordPairs.QUALIFIED) {
      if (pair[1].endsWith("()") && !others.contains(pair[0])) {
        assertTrue(methods.contains(pair[1]), pair[0]);
        options++;
      }
    }
    assertTrue(options > 40, "" + options);
  }

  /** fpr(1) and capacity(-1) were exceptions of two families. */
  @Test
  void anArgumentIsRefusedByOneFamily() {
    Filter filter = create();
    List<Executable> calls = List.of(() -> create(options().fpr(1)), () -> new CreateOptions().capacity(-1),
        () -> new PlanRequest().numProbes(-1), () -> new PlanRequest().plan(), () -> filter.add("\ud800"), () -> filter.addMany(List.of(1.5)),
        () -> filter.contains('a'), () -> new OpenOptions().threads(0), () -> open(new OpenOptions().limit()),
        () -> new CreateOptions().window(Duration.ZERO), () -> Keys.fixed(new byte[3], 2), () -> Filter.load(new byte[0],
            new OpenOptions().follow()), () -> new ForeignForm("raw").member(0));
    for (int i = 0; i < calls.size(); i++) {
      BfstoreException error = assertThrows(BfstoreException.class, calls.get(i), "call " + i);
      assertEquals("BFS_EINVAL 22", error.codeName() + " " + error.errno(), i + ": " + error.getMessage());
      assertInstanceOf(BfstoreException.InvalidException.class, error);
    }
  }

  /** Each refusal names what a program in Java can write: no name of C, and no command of bf. */
  @Test
  void theWayOutHasNamesOfJava() throws IOException {
    Filter filter = create();
    filter.add("a");
    Path inUse = Files.copy(path, folder.resolve("in use")); // a copy of an open file is unclean
    Filter reader = open();
    create("secret", unseeded().hash(Hash.SIPHASH).secret(new byte[16]));
    Filter filling = create("filling", options().filling());
    Filter other = create("seed", options().seed(8));
    Filter closed = create("closed", options());
    closed.close();
    Map<String, Executable> others = Map.of(
        "for shared writing (new OpenOptions().write() without exclusive()).", () -> open(new OpenOptions().exclusive()),
        "Give one such as 0.01 (fpr()).", () -> create("x", options().fpr(2)),
        "Give the window, for how long they are kept (window(Duration.ofHours(24))).", () -> create("x", options().layout(Layout.WINDOW)),
        "Give no window (window()), or a layout that has one (layout(Layout.WINDOW)).",
        () -> create("x", options().layout(Layout.CLASSIC).window(Duration.ofHours(1))),
        "a window is a millisecond or longer, not PT0.0004S", () -> options().window(Duration.ofNanos(400_000)),
        "it has no epoch to end. Make a filter with a window (window(Duration.ofHours(24))).", filter::turn,
        "the filter was closed; open the path again", () -> closed.add("a"));
    Map<String, Executable> calls = Map.of(
        "only one of numBits and numProbes was given", () -> create("x", new CreateOptions().numBits(5)),
        "two of capacity, fpr, bitsPerKey, numProbes, and one of numBits and maxBytes.",
        () -> new PlanRequest().numProbes(5).plan(),
        "replace it (replace()), or open it to add (Filter.openOrCreate).", this::create,
        "open it for writing (new OpenOptions().write())", () -> reader.add("b"),
        "(new OpenOptions().write().recover()) with the keys after the marks, accept the loss (acceptLoss())", () -> Filter.open(inUse),
        "make it with layout(Layout.COUNTING)", () -> reader.count("a"),
        "made with (secret())", () -> Filter.open(folder.resolve("secret")),
        "(finishFilling())", filling::dump,
        "(copyTo with new CopyOptions().sealed())", () -> Filter.verify(path),
        "(like())", () -> other.merge(filter));
    String once = assertThrows(BfstoreException.UnsupportedException.class, () -> create("x", options().layout(Layout.STATIC))).getMessage();
    assertTrue(once.endsWith("Build it (Filter.build), or create it unpublished (unpublished()), add the keys and publish it (publish())."), once);
    String inMemory = assertThrows(BfstoreException.UnsupportedException.class,
        () -> Filter.format(ByteBuffer.allocateDirect(99_999).alignedSlice(64), options().layout(Layout.STATIC))).getMessage();
    assertTrue(inMemory.endsWith("Build another one from all keys (Filter.build)."), inMemory);
    String emptyPath = assertThrows(BfstoreException.class, () -> Filter.open(Path.of(""))).getMessage();
    assertEquals("the path is empty. Give one.", emptyPath);
    String noCapacity = assertThrows(RuntimeException.class, () -> create("x", new CreateOptions().capacity(0))).getMessage();
    assertTrue(noCapacity.contains("capacity"), noCapacity);
    Stream.of(calls, others).flatMap(map -> map.entrySet().stream()).forEach(one -> {
      String said = assertThrows(BfstoreException.class, one.getValue(), one.getKey()).getMessage();
      assertTrue(said.contains(one.getKey()), said + ": " + one.getKey());
      assertFalse(said.matches(".*(bfs_|BFS_|\\(bf |[a-z]_[a-z]).*"), said);
    });
  }

  @Test
  void aPathInAnotherFileSystemIsRefused() throws IOException {
    Path zip = folder.resolve("a.zip");
    try (var inside = FileSystems.newFileSystem(URI.create("jar:" + zip.toUri()), Map.of("create", "true"))) {
      assertThrows(BfstoreException.InvalidException.class, () -> Filter.open(inside.getPath("/filter.bf")));
    }
  }

  /** Only the URI of a path shows bytes that are not text. */
  @Test
  void aPathThatIsNoTextIsFound() throws Exception {
    create().close();
    new ProcessBuilder("/usr/bin/python3", "-c",
        "import os, sys; os.rename(sys.argv[1], os.fsencode(sys.argv[2]) + b'/odd \\xff%')", path.toString(),
        folder.toString()).inheritIO().start().waitFor();
    try (var files = Files.list(folder)) {
      Path found = files.filter(one -> one.getFileName().toString().startsWith("odd")).findFirst().get();
      Filter.open(found).close();
      Files.delete(found);
      check(BfstoreException.NotFoundException.class, "BFS_ENOENT", 2, () -> Filter.open(found), "odd \\xFF%");
    }
  }
}

package dev.bfstore;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.FileInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.ReadOnlyBufferException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Files: made, opened with every option, recovered, copied to other forms, sealed; and sets of keys. */
class FilesTest extends Case {
  private static final byte[] SECRET = bytes("sixteen bytes...");

  private Filter filled(String name, Object... keys) {
    Filter made = create(name, options().seed(7));
    made.addMany(Arrays.asList(keys));
    return made;
  }

  private static void checkAnswers(String expected, Filter filter, String... keys) {
    StringBuilder told = new StringBuilder();
    for (String key : keys) {
      told.append(filter.contains(key) ? '1' : '0');
    }
    assertEquals(expected, told.toString());
  }

  @Test
  void aClosedFileHasItsKeys() {
    try (Filter made = create()) {
      made.add("a");
    }
    checkAnswers("10", open(new OpenOptions().noWrite()), "a", "b"); // clean, or noWrite would refuse it
    Filter writer = open(new OpenOptions().write());
    assertTrue(writer.add("b"));
    checkAnswers("11", open(), "a", "b");
  }

  @Test
  void everyWayToGiveASize() throws Exception {
    assertEquals(Layout.BLOCKED, create("a", new CreateOptions().capacity(1000)).stats().layout());
    Filter bits = create("b", new CreateOptions().capacity(1000).bitsPerKey(10).layout(Layout.CLASSIC));
    assertEquals(10_000, bits.stats().numBits());
    create("c", new CreateOptions().capacity(1000).maxBytes(30_000));
    assertTrue(Files.size(folder.resolve("c")) <= 30_000);
    assertEquals(10_000, create("f", new CreateOptions().capacityAtMost(10_000)).stats().capacity());
    Statistics exact = create("d", new CreateOptions().numBits(5120).numProbes(3)).stats();
    assertEquals("5120 3", exact.numBits() + " " + exact.numProbes());
    Statistics like = create("e", new CreateOptions().like(folder.resolve("d"))).stats();
    assertEquals(exact.seed(), like.seed());
    assertEquals(exact.numBits(), like.numBits());
  }

  @Test
  void everyOptionOfAFile() throws Exception {
    byte[] fileId = bytes("0123456789abcdef");
    Set<PosixFilePermission> permissions = PosixFilePermissions.fromString("r--r-----");
    Filter made = create(options().fileId(fileId).seed(-5).note(bytes("note")).permissions(permissions).guard().populate()
        .random().anyFilesystem().exclusive().lockForever().writebackCheck(Duration.ZERO));
    assertArrayEquals(fileId, made.stats().fileId());
    assertEquals("18446744073709551611", Long.toUnsignedString(made.stats().seed()));
    assertArrayEquals(bytes("note"), made.stats().note());
    assertEquals(permissions, Files.getPosixFilePermissions(path));
    assertEquals(0, create("plain", options()).stats().note().length);
    assertEquals(7, create("tutorial", options().layout(Layout.CLASSIC).fpr(0.005).tutorialSizing()).stats().numProbes());
    assertEquals(PosixFilePermissions.fromString("rw-------"), Files.getPosixFilePermissions(folder.resolve("plain")));
    assertTrue(made.isCurrent());
    Files.delete(path);
    assertFalse(made.isCurrent());
  }

  @Test
  void aSecret() {
    try (Filter made = create(unseeded().hash(Hash.SIPHASH).secret(SECRET))) {
      made.add("a");
    }
    checkAnswers("10", open(new OpenOptions().secret(SECRET)), "a", "b");
    assertThrows(BfstoreException.SecretException.class, this::open);
    OpenOptions another = new OpenOptions().secret(bytes("another secret!!"));
    assertThrows(BfstoreException.SecretException.class, () -> open(another));
  }

  @Test
  void everyFlagThatReads() {
    create().close();
    for (OpenOptions options : List.of(new OpenOptions().populate(), new OpenOptions().random(), new OpenOptions().privateCopy(),
        new OpenOptions().guard(), new OpenOptions().strict(), new OpenOptions().anyFilesystem(),
        new OpenOptions().noFollow(), new OpenOptions().noWrite(), new OpenOptions().follow(), new OpenOptions().mayBlock(),
        new OpenOptions().lockForever(), new OpenOptions().lockTimeout(Duration.ofMillis(1)), new OpenOptions().write().read())) {
      checkAnswers("0", open(options), "a");
    }
    assertTrue(open(new OpenOptions().exclusive().limit().writebackCheck(Duration.ofMillis(5))).add("a"));
  }

  @Test
  void aSymbolicLinkIsRefusedWhereThatIsSaid() throws Exception {
    create().close();
    Path link = Files.createSymbolicLink(folder.resolve("link"), path);
    kept(Filter.open(link));
    BfstoreException error = assertThrows(BfstoreException.MalformedException.class,
        () -> Filter.open(link, new OpenOptions().noFollow()));
    assertEquals("BFS_ESYMLINK", error.codeName());
    assertThrows(BfstoreException.MalformedException.class, () -> Filter.verifyNoFollow(link));
  }

  @Test
  void aRangeOfAFile() throws Exception {
    byte[] dumped = filled("x", "a").dump();
    byte[] whole = new byte[640 + dumped.length + 9];
    System.arraycopy(dumped, 0, whole, 640, dumped.length);
    Files.write(path, whole);
    checkAnswers("10", open(new OpenOptions().range(640, dumped.length)), "a", "b");
    checkAnswers("10", open(new OpenOptions().range(640, 0)), "a", "b");
    assertThrows(BfstoreException.MalformedException.class, () -> open(new OpenOptions().range(0, 0)));
  }

  /** Java does not tell a descriptor, so the test finds it in /proc. */
  @Test
  void aDescriptor() throws Exception {
    filled("filter.bf", "a").close();
    try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ); var all = Files.list(Path.of("/proc/self/fd"))) {
      assertTrue(channel.isOpen());
      Path mine = all.filter(one -> {
        try {
          return Files.readSymbolicLink(one).equals(path.toRealPath());
        } catch (java.io.IOException closedMeanwhile) {
          return false;
        }
      }).findFirst().get();
      int descriptor = Integer.parseInt(mine.getFileName().toString());
      checkAnswers("10", kept(Filter.openDescriptor(descriptor, new OpenOptions())), "a", "b");
    }
  }

  @Test
  void aFileTakesThePlaceOfAnother() {
    Filter old = filled("filter.bf", "old");
    Filter reader = open(new OpenOptions().follow());
    Filter next = create(options().seed(7).unpublished().replace());
    next.add("new");
    next.supersede();
    assertThrows(BfstoreException.DoubtException.class, () -> old.add("late"));
    assertEquals(Health.SUPERSEDED, old.health());
    next.publish();
    assertThrows(BfstoreException.ReadOnlyException.class, () -> next.add("x"));
    checkAnswers("01", open(), "old", "new");
    assertTrue(reader.isCurrent());
    checkAnswers("01", reader, "old", "new");
    assertFalse(old.isCurrent());
  }

  @Test
  void aFileIsOpenedOrCreated() {
    try (Filter made = Filter.openOrCreate(path, options().layout(Layout.CLASSIC))) {
      assertTrue(made.wasCreated());
      made.add("a");
    }
    try (Filter opened = Filter.openOrCreate(path, new CreateOptions().capacity(5).exclusive())) {
      assertFalse(opened.wasCreated());
      assertEquals(10_000, opened.stats().capacity());
      checkAnswers("10", opened, "a", "b");
      assertTrue(opened.add("b"));
      assertThrows(BfstoreException.BusyException.class,
          () -> Filter.openOrCreate(path, options().lockTimeout(Duration.ZERO)));
    }
    Class<BfstoreException.MismatchException> mismatch = BfstoreException.MismatchException.class;
    for (CreateOptions other : List.of(options().layout(Layout.BLOCKED), options().seed(8), options().part(0, 2))) {
      assertThrows(mismatch, () -> Filter.openOrCreate(path, other));
    }
    assertThrows(BfstoreException.SecretException.class,
        () -> Filter.openOrCreate(path, unseeded().hash(Hash.SIPHASH).secret(SECRET)));
    for (CreateOptions wrong : List.of(options().replace(), options().unpublished(), options().bare())) {
      assertThrows(BfstoreException.InvalidException.class, () -> Filter.openOrCreate(path, wrong));
    }
    checkAnswers("110", open(), "a", "b", "c");
    assertTrue(kept(Filter.openOrCreate(folder.resolve("secret"), unseeded().hash(Hash.SIPHASH).secret(SECRET).strict()))
        .add("a"));
  }

  @Test
  void eachFilterKnowsWhetherItWasCreated() {
    Filter made = create();
    ByteBuffer memory = ByteBuffer.allocateDirect((int) Filter.requiredBytes(options()) + 128).alignedSlice(64);
    assertTrue(made.wasCreated() && kept(Filter.format(memory, options())).wasCreated());
    assertTrue(kept(Filter.build(folder.resolve("built"), List.of("a"), new CreateOptions())).wasCreated());
    assertFalse(open().wasCreated() || open(new OpenOptions().write()).wasCreated());
    assertFalse(kept(Filter.wrap(memory, new OpenOptions())).wasCreated());
    assertFalse(kept(Filter.load(made.dump(), new OpenOptions())).wasCreated());
  }

  @Test
  void aFileIsBuilt() {
    Filter built = kept(Filter.build(path, Keys.of("a", "b"), new CreateOptions().seed(1)));
    checkAnswers("110", built, "a", "b", "c");
    assertEquals(2, built.stats().capacity());
    assertThrows(BfstoreException.ReadOnlyException.class, () -> built.add("c"));
    kept(Filter.build(folder.resolve("none"), Set.of(), new CreateOptions()));
    CreateOptions replacing = options().replace();
    assertThrows(BfstoreException.InvalidException.class, () -> Filter.build(path, Set.of(), replacing));
    assertThrows(BfstoreException.InvalidException.class, () -> Filter.build(path, Stream.empty(), replacing));
    kept(Filter.build(folder.resolve("new"), Stream.empty(), replacing));
    Filter sized = kept(Filter.build(folder.resolve("sized"), List.of("a", 5), new CreateOptions().capacity(99).exclusive()));
    assertEquals(99, sized.stats().capacity());
    assertTrue(sized.contains(5));
    assertThrows(BfstoreException.ExistsException.class, () -> Filter.build(path, List.of("c"), new CreateOptions()));
    checkAnswers("001", kept(Filter.build(path, List.of("c"), new CreateOptions().seed(1).replace())), "a", "b", "c");
    assertEquals(Health.SUPERSEDED, built.health());
  }

  /** More keys than one call gets, so that they are added part by part to a file without a name. */
  @Test
  void aFileIsBuiltOfManyKeysOnTheHeap() {
    long[] keys = new long[1 << 23];
    Arrays.setAll(keys, i -> i);
    keys[keys.length - 1] = -1;
    Filter built = kept(Filter.build(path, Keys.of(keys), new CreateOptions().threads(2)));
    assertEquals(keys.length, built.stats().capacity());
    assertTrue(built.contains(0) && built.contains(-1));
  }

  @Test
  void aFileIsBuiltOfAStream() throws Exception {
    int count = 150_000; // more than are taken at once
    Filter built = kept(Filter.build(path, IntStream.range(0, count).boxed(), new CreateOptions().capacity(count)));
    assertEquals(count, built.select(Keys.of(IntStream.range(0, count).asLongStream().toArray())).length);
    assertTrue(built.wasCreated());
    assertThrows(BfstoreException.ReadOnlyException.class, () -> built.add("c"));
    kept(Filter.build(folder.resolve("empty"), Stream.empty(), options()));
    Stream<String> seen = Stream.of("a", "b").peek(key -> assertFalse(Files.exists(folder.resolve("late"))));
    kept(Filter.build(folder.resolve("late"), seen, options()));
    assertEquals(Set.of("filter.bf", "empty", "late"), names());
  }

  /** The options of a static filter that has no bytes by chance. */
  private static CreateOptions builtOnce() {
    return new CreateOptions().layout(Layout.STATIC).seed(1).fileId(bytes("0123456789abcdef"));
  }

  @Test
  void aStaticFilterHasTheSameBytesForOneSetOfKeys() throws Exception {
    List<String> keys = IntStream.range(0, 5000).mapToObj(Integer::toString).collect(Collectors.toList());
    List<String> twice = new ArrayList<>(keys);
    twice.addAll(keys.subList(0, 1000));
    Collections.reverse(twice);
    Filter digests = create("digests", builtOnce().unpublished());
    digests.addMany(Keys.digests(digests.digestMany(Keys.of(twice))));
    digests.publish();
    CreateOptions sized = builtOnce().capacity(5000).threads(2);
    List<Filter> all = List.of(digests,
        kept(Filter.build(folder.resolve("list"), keys, builtOnce())), kept(Filter.build(folder.resolve("twice"), twice, builtOnce())),
        kept(Filter.build(folder.resolve("stream"), twice.stream(), builtOnce())), kept(Filter.build(folder.resolve("sized"), twice, sized)),
        kept(Filter.build(folder.resolve("sized stream"), twice.stream(), sized)),
        // A limit makes build() add part by part.
        kept(Filter.build(folder.resolve("limit"), twice, builtOnce().limit())));
    for (Filter filter : all) {
      Statistics facts = filter.stats();
      assertEquals(List.of(Layout.STATIC, 5000L, 5000L, Health.OK), List.of(facts.layout(), facts.capacity(), facts.keysAdded(), facts.health()));
      assertTrue(filter.wasCreated());
      assertEquals(5000, filter.select(Keys.of(keys)).length);
      assertTrue(keys.stream().filter(key -> filter.contains("no " + key)).count() < 100);
      assertThrows(BfstoreException.SealedException.class, () -> filter.add("late"));
    }
    byte[] expected = Files.readAllBytes(folder.resolve("list"));
    assertEquals(all.size(), names().size());
    for (String name : names()) {
      assertArrayEquals(expected, Files.readAllBytes(folder.resolve(name)), name);
    }
  }

  /** They were once taken in silence if they came from a stream, and the rate was far above the one promised. */
  @Test
  void moreKeysThanTheCapacityMakeNoFile() throws Exception {
    List<Integer> keys = IntStream.range(0, 9000).boxed().collect(Collectors.toList());
    Path model = folder.resolve("model");
    kept(Filter.build(model, keys.subList(0, 4000), new CreateOptions()));
    for (Layout layout : List.of(Layout.BLOCKED, Layout.CLASSIC, Layout.COUNTING)) {
      for (CreateOptions options : List.of(new CreateOptions().layout(layout).capacity(4000),
          new CreateOptions().layout(layout).capacity(4000).numBits(1 << 20).numProbes(5), new CreateOptions().like(model))) {
        String said = assertThrows(BfstoreException.FullException.class, () -> Filter.build(path, keys, options)).getMessage();
        assertTrue(said.contains("more keys than its capacity"), said);
        said = assertThrows(BfstoreException.FullException.class, () -> Filter.build(path, keys.stream(), options)).getMessage();
        assertTrue(said.startsWith(path + ": not built, for there are more keys than its capacity, 4000."), said);
      }
    }
    assertEquals(Set.of("model"), names());
    CreateOptions exact = new CreateOptions().capacity(4000);
    assertFalse(kept(Filter.build(path, keys.subList(0, 4000).stream(), exact)).stats().saturated());
    // m and k alone promise no number of keys.
    CreateOptions bits = new CreateOptions().numBits(1 << 13).numProbes(5);
    assertTrue(kept(Filter.build(folder.resolve("bits"), keys.stream(), bits)).stats().saturated());
  }

  @Test
  void aStaticFilterLikeASmallerOneHasRoomForAllKeys() {
    List<Integer> keys = IntStream.range(0, 5000).boxed().collect(Collectors.toList());
    Path model = folder.resolve("model");
    kept(Filter.build(model, keys.subList(0, 10), builtOnce()));
    CreateOptions like = new CreateOptions().like(model);
    for (Filter filter : List.of(kept(Filter.build(path, keys, like)), kept(Filter.build(folder.resolve("stream"), keys.stream(), like)))) {
      Statistics facts = filter.stats();
      assertEquals("STATIC 5000 1", facts.layout() + " " + facts.capacity() + " " + facts.seed());
      assertEquals(5000, filter.select(Keys.of(keys)).length);
    }
  }

  @Test
  void aStaticFilterOfNoKeyOrOfTooMany() throws Exception {
    List<Integer> keys = IntStream.range(0, 5000).boxed().collect(Collectors.toList());
    CreateOptions small = builtOnce().capacity(4999);
    for (Executable call : List.<Executable>of(() -> Filter.build(path, keys, small), () -> Filter.build(path, keys.stream(), small),
        () -> Filter.build(path, keys, builtOnce().capacity(4999).limit()))) {
      String said = assertThrows(BfstoreException.FullException.class, call).getMessage();
      assertTrue(said.contains("5000 keys, and its capacity is 4999"), said);
    }
    assertEquals(Set.of(), names());
    assertFalse(kept(Filter.build(path, Stream.empty(), builtOnce())).contains("a"));
    for (CreateOptions options : List.of(builtOnce(), builtOnce().capacity(5), new CreateOptions().like(path))) {
      options.replace();
      for (Executable call : List.<Executable>of(() -> Filter.build(path, Stream.empty(), options), () -> Filter.build(path, Set.of(), options))) {
        String said = assertThrows(BfstoreException.InvalidException.class, call).getMessage();
        assertTrue(said.contains("no key was given") && said.contains("remove the file first"), said);
      }
    }
  }

  @Test
  void aStaticFilterThatIsNotPublishedGathersKeys() {
    assertThrows(BfstoreException.UnsupportedException.class, () -> create(builtOnce()));
    Filter made = create(builtOnce().unpublished());
    assertFalse(made.add("a"));
    assertEquals(0, made.addMany(List.of("b", "c", "a")));
    assertTrue(made.contains("never"));
    assertEquals(List.of(Layout.STATIC, Health.FILLING), List.of(made.stats().layout(), made.health()));
    Filter other = create("other", options());
    for (Executable call : List.<Executable>of(made::sync, () -> made.sync(1, 0, 5), made::supersede, made::isCurrent, made::finishFilling,
        () -> made.remove("a"), () -> made.count("a"), () -> made.merge(other), made::turn)) {
      assertThrows(BfstoreException.UnsupportedException.class, call);
    }
    for (Executable call : List.<Executable>of(made::dump, () -> made.copyTo(folder.resolve("copy"), new CopyOptions()),
        () -> other.merge(made), () -> other.compare(made))) {
      String said = assertThrows(BfstoreException.FillingException.class, call).getMessage();
      assertTrue(said.contains("Publish it first"), said);
    }
    assertFalse(Files.exists(path));
    made.publish();
    checkAnswers("1110", made, "a", "b", "c", "never");
    assertEquals(List.of(3L, Health.OK, true), List.of(made.stats().capacity(), made.health(), made.isCurrent()));
    assertThrows(BfstoreException.SealedException.class, () -> made.add("late"));
    assertThrows(BfstoreException.SealedException.class, () -> open(new OpenOptions().write()));
    assertThrows(BfstoreException.UnsupportedException.class, () -> made.remove("a"));
    assertThrows(BfstoreException.UnsupportedException.class, made::supersede);
    assertThrows(BfstoreException.ReadOnlyException.class, () -> made.sync(1, 0, 5));
    assertThrows(BfstoreException.InvalidException.class, made::publish);
    made.copyTo(folder.resolve("copy"), new CopyOptions());
    assertEquals(List.of(), Filter.verify(folder.resolve("copy")));
  }

  @Test
  void aBuildThatFailsLeavesNothing() throws Exception {
    Path no = folder.resolve("no");
    for (CreateOptions options : List.of(options(), options().limit())) {
      assertThrows(BfstoreException.InvalidException.class, () -> Filter.build(no, Keys.of("a", "\ud800"), options));
      assertThrows(NullPointerException.class, () -> Filter.build(no, Arrays.asList("a", null), options));
      assertThrows(BfstoreException.InvalidException.class, () -> Filter.build(no, Stream.of("a", 'b'), options));
    }
    Stream<Integer> broken = Stream.of(1, 2).map(key -> key / (key - 2));
    assertThrows(ArithmeticException.class, () -> Filter.build(no, broken, options()));
    assertThrows(BfstoreException.InvalidException.class, () -> Filter.build(no, Stream.of("a"), new CreateOptions()));
    CreateOptions small = new CreateOptions().capacity(100).limit();
    assertThrows(BfstoreException.FullException.class, () -> Filter.build(no, Stream.iterate(0, key -> key + 1), small));
    assertThrows(BfstoreException.FullException.class,
        () -> Filter.build(no, IntStream.range(0, 1000).boxed().collect(Collectors.toList()), small));
    for (List<String> keys : List.of(List.of("a"), List.<String>of())) {
      assertThrows(BfstoreException.InvalidException.class, () -> Filter.build(no, keys, options().unpublished()));
      assertThrows(BfstoreException.InvalidException.class, () -> Filter.build(no, keys, options().filling()));
      assertThrows(BfstoreException.InvalidException.class, () -> Filter.build(no, keys.stream(), options().filling()));
    }
    assertEquals(Set.of(), names());
  }

  @Test
  void marks() {
    Filter made = create();
    made.sync();
    made.sync(7, 1, 100);
    made.sync(-1, Long.MIN_VALUE, 5);
    assertEquals(Set.of(new Mark(7, 100, 1, false), new Mark(-1, 5, Long.MIN_VALUE, false)), Set.copyOf(made.marks()));
    assertEquals(List.of(100L, 0L, 0L), List.of(made.getMark(7, 1), made.getMark(7, 2), made.getMark(8, 1)));
    made.dropOwner(7);
    assertEquals(0, made.getMark(7, 1));
  }

  /** Leaves the file as a machine does that went down (FORMAT.md, "State slots"): dirty, in another boot. */
  private void goDown() throws Exception {
    ByteBuffer data = ByteBuffer.wrap(Files.readAllBytes(path)).order(ByteOrder.LITTLE_ENDIAN);
    long seed;
    try (Filter hash = Filter.create(folder.resolve("unseeded"), new CreateOptions().capacity(1).seed(0))) {
      seed = hash.digest(Arrays.copyOfRange(data.array(), 88, 104));
    }
    try (Filter hash = Filter.create(folder.resolve("hash"), new CreateOptions().capacity(1).seed(seed))) {
      for (int at : new int[] {4096, 8192}) {
        UUID boot = UUID.randomUUID();
        data.putInt(at + 8, 2).putLong(at + 16, boot.getMostSignificantBits()).putLong(at + 24, boot.getLeastSignificantBits());
        data.putLong(at + 4088, hash.digest(Arrays.copyOfRange(data.array(), at, at + 4088)));
      }
    }
    Files.write(path, data.array());
  }

  @Test
  void aRecovery() throws Exception {
    try (Filter made = create()) {
      made.add("before");
      made.sync(7, 1, 1);
    }
    goDown();
    BfstoreException error = assertThrows(BfstoreException.RecoveryException.class, this::open);
    assertEquals("BFS_EUNCLEAN", error.codeName());
    try (Filter recovering = open(new OpenOptions().write().recover())) {
      assertEquals(Health.RECOVERING, recovering.health());
      checkAnswers("1", recovering, "anything");
      recovering.add("after");
      assertTrue(recovering.finishRecovery(7));
      checkAnswers("110", recovering, "before", "after", "anything");
    }
    assertEquals(Health.OK, open().health());
  }

  @Test
  void aLossThatIsAccepted() throws Exception {
    create().close();
    goDown();
    assertEquals(Health.OK, open(new OpenOptions().write().acceptLoss()).health());
  }

  @Test
  void anOnlineBuild() {
    Filter made = create(options().filling());
    assertEquals(Health.FILLING, made.health());
    checkAnswers("1", made, "anything");
    assertThrows(BfstoreException.FillingException.class, made::dump);
    made.add("a");
    made.finishFilling();
    assertEquals(Health.OK, made.health());
    checkAnswers("10", made, "a", "anything");
  }

  @Test
  void copyDumpLoad() throws Exception {
    Filter made = create(options().seed(7).note(bytes("note")));
    made.add("a");
    Path saved = folder.resolve("saved");
    made.copyTo(saved, new CopyOptions().permissions(PosixFilePermissions.fromString("rw-r-----")));
    byte[] file = Files.readAllBytes(saved);
    ByteBuffer direct = ByteBuffer.allocateDirect(file.length + 1).put(1, file).position(1);
    for (Filter copy : List.of(Filter.open(saved), Filter.load(made.dump(), new OpenOptions()),
        Filter.load(made.dumpWithSameFileId(), new OpenOptions().write()), Filter.load(direct, new OpenOptions()),
        Filter.load(ByteBuffer.wrap(file), new OpenOptions()))) {
      checkAnswers("10", kept(copy), "a", "b");
      assertArrayEquals(bytes("note"), copy.stats().note());
      assertTrue(copy.compare(made).equal());
    }
    assertThrows(BfstoreException.ExistsException.class, () -> made.copyTo(saved, new CopyOptions()));
    made.copyTo(saved, new CopyOptions().replace().sameFileId());
    assertArrayEquals(made.stats().fileId(), kept(Filter.open(saved)).stats().fileId());
    made.copyTo(folder.resolve("folded"), new CopyOptions().fpr(0.5));
    assertTrue(kept(Filter.open(folder.resolve("folded"))).stats().numBits() < made.stats().numBits());
    made.copyTo(folder.resolve("filling"), new CopyOptions().filling().lockTimeout(Duration.ofSeconds(1)));
    assertEquals(Health.FILLING, kept(Filter.open(folder.resolve("filling"))).health());
  }

  @Test
  void aBufferIsFormattedAndWrappedInPlace() {
    CreateOptions options = new CreateOptions().capacity(1000);
    int bytes = (int) Filter.requiredBytes(options);
    ByteBuffer memory = ByteBuffer.allocateDirect(bytes + 128).alignedSlice(64);
    try (Filter made = Filter.format(memory, options)) {
      made.add("a");
    }
    try (Filter reader = Filter.wrap(memory.asReadOnlyBuffer(), new OpenOptions());
        Filter writer = Filter.wrap(memory, new OpenOptions().write())) {
      writer.add("b");
      checkAnswers("110", reader, "a", "b", "c");
    }
    assertThrows(ReadOnlyBufferException.class, () -> Filter.wrap(memory.asReadOnlyBuffer(), new OpenOptions().write()));
    assertThrows(ReadOnlyBufferException.class, () -> Filter.format(memory.asReadOnlyBuffer(), options));
    assertThrows(BfstoreException.InvalidException.class, () -> Filter.wrap(ByteBuffer.allocate(bytes), new OpenOptions()));
    ByteBuffer odd = memory.duplicate().position(8);
    assertThrows(BfstoreException.InvalidException.class, () -> Filter.wrap(odd, new OpenOptions()));
    ByteBuffer zeros = ByteBuffer.allocateDirect(8192 + 64).alignedSlice(64);
    assertThrows(BfstoreException.MalformedException.class, () -> Filter.wrap(zeros, new OpenOptions()));
  }

  @Test
  void parts() throws IOException {
    List<Filter> halves = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      halves.add(create("half" + i, options().seed(1).part(i, 2)));
    }
    assertEquals("1 of 2", halves.get(1).stats().part() + " of " + halves.get(1).stats().numParts());
    halves.get(0).addDigest(7);
    halves.get(1).addDigest(-7);
    assertThrows(BfstoreException.PartException.class, () -> halves.get(0).addDigest(-7));
    assertThrows(BfstoreException.PartException.class, () -> halves.get(1).containsDigest(7));
    assertThrows(BfstoreException.MismatchException.class,
        () -> Filter.join(halves.subList(1, 2), folder.resolve("no"), new CopyOptions()));
    Filter.join(halves, folder.resolve("whole"), new CopyOptions());
    Filter whole = kept(Filter.open(folder.resolve("whole")));
    assertTrue(whole.containsDigest(7) && whole.containsDigest(-7));
    assertEquals("0 of 1", whole.stats().part() + " of " + whole.stats().numParts());
    Path list = Files.writeString(folder.resolve("set"), "bfstore-set 1\nhalf1\nhalf0\n");
    Filter set = kept(Filter.open(list));
    for (long digest = -100; digest < 100; digest++) {
      assertEquals(whole.containsDigest(digest), set.containsDigest(digest));
    }
    assertThrows(BfstoreException.class, () -> set.addDigest(9));
    assertThrows(BfstoreException.class, () -> Filter.open(list, new OpenOptions().write()));
    Files.writeString(list, "bfstore-set 1\nhalf0\nhalf0\n");
    assertThrows(BfstoreException.MismatchException.class, () -> Filter.open(list));
  }

  @Test
  void mergeAndCompareAndIntersect() {
    List<Object> first = new ArrayList<>();
    List<Object> second = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      first.add(i);
      second.add(500 + i);
    }
    Filter a = filled("a", first.toArray());
    Filter b = filled("b", second.toArray());
    Comparison found = a.compare(b);
    assertTrue(found.comparable() && found.someInBoth() && !found.equal() && !found.aInB() && !found.bInA());
    assertEquals(Set.of(), found.differs());
    assertTrue(found.keysBoth().low() <= 500 && 500 <= found.keysBoth().high(), found.toString());
    assertEquals(1 / 3.0, found.jaccard().estimate(), 0.05);
    Filter.intersect(List.of(a, b), folder.resolve("both"), new CopyOptions());
    Filter both = kept(Filter.open(folder.resolve("both")));
    assertEquals("false true false", both.contains(0) + " " + both.contains(600) + " " + both.contains(1400));
    a.merge(b);
    assertTrue(a.contains(1400));
    assertTrue(a.compare(b).bInA());
    Filter other = create("c", options().layout(Layout.CLASSIC).seed(8));
    assertTrue(a.compare(other).differs().containsAll(Set.of(Difference.LAYOUT, Difference.SEED)));
    assertThrows(BfstoreException.MismatchException.class, () -> a.merge(other));
    b.close();
    Class<BfstoreException.ClosedException> closed = BfstoreException.ClosedException.class;
    assertThrows(closed, () -> Filter.intersect(List.of(a, b), folder.resolve("no"), new CopyOptions()));
    assertThrows(closed, () -> a.merge(b));
    a.close(); // no call uses it any more
  }

  @Test
  void aDeltaMakesTheLaterFile() throws Exception {
    Path before = folder.resolve("before");
    Path after = folder.resolve("after");
    Path delta = folder.resolve("delta");
    Path made = folder.resolve("made");
    try (Filter filter = filled("filter.bf", "a")) {
      filter.copyTo(before, new CopyOptions().sealed());
      filter.add("b");
      filter.copyTo(after, new CopyOptions().sealed());
    }
    assertThrows(BfstoreException.MismatchException.class, () -> Filter.makeDelta(after, before, delta, new CopyOptions()));
    Filter.makeDelta(before, after, delta, new CopyOptions());
    assertThrows(BfstoreException.class, () -> Filter.makeDelta(before, after, delta, new CopyOptions()));
    Filter.applyDelta(before, delta, made, new CopyOptions());
    assertEquals(-1, Files.mismatch(made, after));
    Filter.applyDelta(before, delta, before, new CopyOptions().replace());
    checkAnswers("11", kept(Filter.open(before, new OpenOptions())), "a", "b");
    assertThrows(BfstoreException.MismatchException.class,
        () -> Filter.applyDelta(before, delta, folder.resolve("no"), new CopyOptions()));
  }

  @Test
  void sealAndVerify() throws Exception {
    filled("filter.bf", "a").close();
    Path sealed = folder.resolve("sealed");
    open().copyTo(sealed, new CopyOptions().sealed());
    assertEquals(List.of(), Filter.verify(sealed));
    checkAnswers("10", kept(Filter.open(sealed, new OpenOptions().verify())), "a", "b");
    assertThrows(BfstoreException.SealedException.class, () -> Filter.open(sealed, new OpenOptions().write()));
    assertThrows(BfstoreException.SealedException.class, () -> Filter.verify(path));
    byte[] data = Files.readAllBytes(sealed);
    data[20_000] ^= 1;
    Files.write(sealed, data);
    Range found = Filter.verify(sealed).get(0);
    assertTrue(found.offset() <= 20_000 && 20_000 < found.offset() + found.bytes());
    assertThrows(BfstoreException.DamagedException.class, () -> Filter.open(sealed, new OpenOptions().verify()));
    checkAnswers("1", kept(Filter.open(sealed, new OpenOptions().tolerateDamage())), "anything");
  }

  @Test
  void manyDamagedRanges() throws Exception {
    create(new CreateOptions().capacity(20_000_000)).close();
    open().copyTo(path, new CopyOptions().sealed().replace()); // its own source
    try (FileChannel channel = FileChannel.open(path, StandardOpenOption.WRITE)) {
      for (long at = 1 << 16; at < channel.size() - 65536; at += 1 << 17) {
        channel.write(ByteBuffer.wrap(bytes("x")), at + 100);
      }
    }
    List<Range> ranges = Filter.verify(path);
    assertTrue(ranges.size() > 100); // more than the first call returns
    for (int i = 1; i < ranges.size(); i++) {
      assertTrue(ranges.get(i - 1).offset() < ranges.get(i).offset());
    }
  }

  @Test
  void bitsOfAnotherProgram() {
    Filter made = create(new CreateOptions().layout(Layout.CLASSIC).hash(Hash.MURMUR3).numBits(1000).seeds(5, -1));
    assertArrayEquals(new int[] {5, -1}, made.stats().seeds());
    byte[] bits = new byte[125];
    bits[124] = 3;
    made.importBits(bits, BitOrder.LITTLE);
    assertArrayEquals(bits, made.exportBits(BitOrder.LITTLE));
    bits[124] = (byte) 0xc0;
    assertArrayEquals(bits, made.exportBits(BitOrder.BIG));
    assertEquals(2, made.statsWithFill().fill().get().setBits());
    assertThrows(BfstoreException.InvalidException.class, () -> made.importBits(new byte[0], BitOrder.BIG));
  }

  /** BloomFilter(10, 0.001) of pybloom-live 3.1.0 with the keys "alice", "bob" and "caf\u00e9". */
  private static final byte[] JAYBIRD = unhex("fca9f1d24d62503f0a000000000000000f000000000000000a000000000000000300000000000000"
      + "80c21002480200179018000904114892002200");

  private Set<String> names() throws IOException {
    try (Stream<Path> all = Files.list(folder)) {
      return all.map(one -> one.getFileName().toString()).collect(Collectors.toSet());
    }
  }

  @Test
  void aFileOfPythonBloomfilterBecomesAFilterAndComesBack() throws Exception {
    ForeignForm form = new ForeignForm("jaybird");
    CreateOptions none = new CreateOptions();
    assertEquals(new Foreign(Layout.CLASSIC, Optional.of(Hash.JAYBIRD), OptionalInt.of(10), OptionalLong.of(150), OptionalLong.of(10),
        OptionalDouble.of(0.001), OptionalLong.of(3), OptionalLong.of(JAYBIRD.length), 1, Set.of()),
        form.inspect(Arrays.copyOf(JAYBIRD, 40)));
    Filter made = kept(Filter.importForeign(path, JAYBIRD, form, none));
    checkAnswers("1110", made, "alice", "bob", "caf\u00e9", "carol");
    assertArrayEquals(JAYBIRD, made.exportForeign(form));
    assertThrows(BfstoreException.ReadOnlyException.class, () -> made.add("carol"));
    byte[] tooShort = Arrays.copyOf(JAYBIRD, JAYBIRD.length - 1);
    Path other = folder.resolve("other");
    BfstoreException error = assertThrows(BfstoreException.MalformedException.class,
        () -> Filter.importForeign(other, tooShort, new ForeignForm("jaybird").name("words.jay"), none));
    assertTrue(error.getMessage().startsWith("words.jay: has 58 bytes"), error.getMessage());
    assertThrows(BfstoreException.MalformedException.class, () -> Filter.importForeign(other, new byte[0], form, none));
    assertEquals(Set.of("filter.bf"), names());
  }

  @Test
  void foreignBytesInABufferAreWhatRemainsInIt() throws Exception {
    ForeignForm form = new ForeignForm("jaybird");
    for (ByteBuffer memory : List.of(ByteBuffer.allocate(100), ByteBuffer.allocateDirect(100))) {
      ByteBuffer buffer = memory.position(7).put(JAYBIRD).flip().position(7);
      CreateOptions options = new CreateOptions().replace();
      checkAnswers("10", kept(Filter.importForeign(path, buffer.asReadOnlyBuffer(), form, options)), "alice", "carol");
      assertEquals(7, buffer.position());
    }
  }

  @Test
  void aPlainArrayNeedsTheCallersWord() throws Exception {
    assertTrue(ForeignForm.formats().containsAll(List.of("raw", "jaybird")));
    byte[] bits = new byte[16];
    bits[3] = (byte) 0x80;
    ForeignForm big = new ForeignForm("raw").order(BitOrder.BIG);
    Foreign told = new ForeignForm("raw").inspect(bits);
    assertEquals(new Foreign(Layout.CLASSIC, Optional.empty(), OptionalInt.empty(), OptionalLong.empty(), OptionalLong.empty(),
        OptionalDouble.empty(), OptionalLong.empty(), OptionalLong.empty(), 1,
        Set.of(ForeignNeed.SIZE, ForeignNeed.ORDER, ForeignNeed.HASH)), told);
    Foreign planned = big.inspect(new byte[0], arrayOf124());
    assertEquals(OptionalLong.of(124), planned.numBits());
    assertEquals(Optional.of(Hash.MURMUR3), planned.hash());
    assertEquals(OptionalLong.of(16), planned.bytes());
    for (CreateOptions wrong : List.of(new CreateOptions(), new CreateOptions().numBits(124).numProbes(4),
        new CreateOptions().hash(Hash.MURMUR3), arrayOf124().numBits(132), arrayOf124().filling(), arrayOf124().bare())) {
      assertThrows(BfstoreException.InvalidException.class, () -> Filter.importForeign(path, bits, big, wrong));
    }
    for (ForeignForm wrong : List.of(new ForeignForm("raw"), new ForeignForm("pickle").order(BitOrder.BIG))) {
      assertThrows(BfstoreException.InvalidException.class, () -> Filter.importForeign(path, bits, wrong, arrayOf124()));
    }
    assertThrows(BfstoreException.InvalidException.class, () -> new ForeignForm("raw\0").inspect(bits));
    assertEquals(Set.of(), names());
  }

  private static CreateOptions arrayOf124() {
    return new CreateOptions().hash(Hash.MURMUR3).numBits(124).numProbes(4);
  }

  @Test
  void aPlainArrayIsPublishedAndComesBack() throws Exception {
    byte[] bits = new byte[16];
    bits[3] = (byte) 0x80;
    ForeignForm big = new ForeignForm("raw").order(BitOrder.BIG);
    Filter made = kept(Filter.importForeign(path, bits, big, arrayOf124().unpublished()));
    assertArrayEquals(bits, made.exportForeign(big));
    assertTrue(made.add("key"));
    assertEquals(Set.of(), names());
    made.publish();
    assertEquals(Set.of("filter.bf"), names());
    byte[] little = made.exportForeign(new ForeignForm("raw").order(BitOrder.LITTLE));
    assertFalse(Arrays.equals(made.exportForeign(big), little));
    assertThrows(BfstoreException.InvalidException.class, () -> made.exportForeign(new ForeignForm("raw")));
    assertThrows(BfstoreException.InvalidException.class,
        () -> made.exportForeign(new ForeignForm("jaybird").order(BitOrder.BIG)));
    assertThrows(BfstoreException.UnsupportedException.class, () -> made.exportForeign(new ForeignForm("jaybird")));
  }

  @Test
  void aBitSetIsImportedInTheOrderLittle() {
    ForeignForm little = new ForeignForm("raw").order(BitOrder.LITTLE);
    BitSet bits = new BitSet(124);
    bits.set(24);
    bits.set(31);
    assertThrows(BfstoreException.InvalidException.class,
        () -> Filter.importForeign(path, bits.toByteArray(), little, arrayOf124()));
    Filter made = kept(Filter.importForeign(path, Arrays.copyOf(bits.toByteArray(), 16), little, arrayOf124()));
    assertEquals(2, made.statsWithFill().fill().get().setBits());
    assertEquals(bits, BitSet.valueOf(made.exportForeign(little)));
  }

  private Path foreign(byte[] bytes) throws IOException {
    return Files.write(folder.resolve("foreign"), bytes);
  }

  @Test
  void aFileOfAnotherProgramIsAskedInPlace() throws Exception {
    ForeignForm form = new ForeignForm("jaybird");
    Path file = foreign(JAYBIRD);
    assertEquals(List.of("jaybird"), ForeignForm.recognize(file));
    Filter copied = kept(Filter.openForeign(file, form, new CreateOptions().privateCopy()));
    Filter shared = kept(Filter.openForeign(file, form, new CreateOptions().populate().random().guard().anyFilesystem().mayBlock()));
    for (Filter one : List.of(copied, shared)) {
      checkAnswers("1110", one, "alice", "bob", "caf\u00e9", "carol");
      assertFalse(one.wasCreated());
      assertEquals(file.toString(), one.name());
      assertThrows(BfstoreException.ReadOnlyException.class, () -> one.add("carol"));
    }
    assertEquals(Set.of("foreign"), names());
    foreign(new byte[JAYBIRD.length]);
    checkAnswers("1", shared, "carol");
    checkAnswers("0", copied, "carol");
    assertEquals(Health.LOST, shared.health());
    assertEquals(Health.OK, copied.health());
    assertThrows(BfstoreException.class, () -> Filter.openForeignDescriptor(12345, form, new CreateOptions()));
  }

  @Test
  void aForeignFileOfADescriptorIsAskedInPlace() throws Exception {
    Path file = foreign(JAYBIRD);
    try (FileInputStream open = new FileInputStream(file.toFile()); Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
      assertTrue(open.getFD().valid());
      Path found = all.filter(one -> leadsTo(one, file)).findFirst().orElseThrow();
      int descriptor = Integer.parseInt(found.getFileName().toString());
      checkAnswers("10", kept(Filter.openForeignDescriptor(descriptor, new ForeignForm("jaybird"), new CreateOptions())), "alice", "carol");
    }
  }

  private static boolean leadsTo(Path link, Path file) {
    try {
      return Files.readSymbolicLink(link).equals(file.toRealPath());
    } catch (IOException gone) {
      return false;
    }
  }

  @Test
  void aPlainArrayIsAskedInPlace() throws Exception {
    ForeignForm form = new ForeignForm("raw").order(BitOrder.BIG);
    Path file = foreign(new byte[16]);
    assertEquals(List.of(), ForeignForm.recognize(file));
    Filter opened = kept(Filter.openForeign(file, form, arrayOf124()));
    checkAnswers("0", opened, "key");
    assertEquals(124, opened.stats().numBits());
    Path link = Files.createSymbolicLink(folder.resolve("link"), file);
    kept(Filter.openForeign(link, form, arrayOf124()));
    assertEquals(List.of(), ForeignForm.recognize(link));
    assertThrows(BfstoreException.MalformedException.class, () -> Filter.openForeign(link, form, arrayOf124().noFollow()));
    assertThrows(BfstoreException.MalformedException.class, () -> ForeignForm.recognizeNoFollow(link));
    for (CreateOptions wrong : List.of(new CreateOptions(), new CreateOptions().numBits(124).numProbes(4), arrayOf124().numBits(132))) {
      assertThrows(BfstoreException.InvalidException.class, () -> Filter.openForeign(file, form, wrong));
    }
    BfstoreException error = assertThrows(BfstoreException.InvalidException.class,
        () -> Filter.openForeign(file, form, arrayOf124().replace()));
    assertTrue(error.getMessage().startsWith("openForeign") && error.getMessage().contains("replace()"), error.getMessage());
    Path none = folder.resolve("none");
    assertThrows(BfstoreException.NotFoundException.class, () -> Filter.openForeign(none, form, arrayOf124()));
    assertThrows(BfstoreException.NotFoundException.class, () -> ForeignForm.recognize(none));
  }

  @Test
  void oneFilterOfAFileAndAColumnAreNamed() throws Exception {
    Path file = foreign(JAYBIRD);
    CreateOptions none = new CreateOptions();
    ForeignForm column = new ForeignForm("jaybird").column("id");
    ForeignForm second = new ForeignForm("jaybird").member(2);
    for (Executable call : List.<Executable>of(() -> Filter.openForeign(file, column, none), () -> column.inspect(JAYBIRD),
        () -> Filter.importForeign(path, JAYBIRD, column, none))) {
      BfstoreException error = assertThrows(BfstoreException.InvalidException.class, call);
      assertTrue(error.getMessage().contains("no columns"), error.getMessage());
    }
    for (Executable call : List.<Executable>of(() -> Filter.openForeign(file, second, none),
        () -> Filter.importForeign(path, JAYBIRD, second, none))) {
      BfstoreException error = assertThrows(BfstoreException.InvalidException.class, call);
      assertTrue(error.getMessage().contains("no number 2"), error.getMessage());
    }
    assertThrows(BfstoreException.InvalidException.class, () -> new ForeignForm("jaybird").member(0));
    assertThrows(BfstoreException.InvalidException.class, () -> new ForeignForm("jaybird").column("a\0b").inspect(JAYBIRD));
    checkAnswers("1", kept(Filter.openForeign(file, new ForeignForm("jaybird").member(1), none)), "alice");
  }

  @Test
  void severalFiltersAreAskedAtOnce() throws Exception {
    List<Filter> filters = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      Filter one = create("" + i, options().seed(i % 2));
      one.addMany(List.of(i, "every"));
      filters.add(one);
    }
    filters.add(70, kept(Filter.openForeign(foreign(JAYBIRD), new ForeignForm("jaybird"), new CreateOptions())));
    assertTrue(Filter.containsAny(filters, "alice") && Filter.containsAny(filters, bytes("every")));
    assertFalse(Filter.containsAny(filters, "absent") || Filter.containsAny(List.of(), "every"));
    assertArrayEquals(new int[] {70}, Filter.which(filters, "alice"));
    assertArrayEquals(new int[0], Filter.which(filters, "absent"));
    assertArrayEquals(new int[0], Filter.which(List.of(), "every"));
    assertArrayEquals(IntStream.range(0, 101).filter(i -> i != 70).toArray(), Filter.which(filters, ByteBuffer.wrap(bytes("every"))));
    for (int i : List.of(0, 63, 64, 99)) {
      int number = i < 70 ? i : i + 1;
      assertTrue(IntStream.of(Filter.which(filters, (long) i)).anyMatch(one -> one == number));
    }
    Filter slow = kept(Filter.open(folder.resolve("5"), new OpenOptions().mayBlock()));
    assertArrayEquals(new int[] {1}, Filter.which(List.of(filters.get(6), slow), 5));

    Filter first = filters.get(0);
    Filter closed = create();
    closed.close();
    assertThrows(BfstoreException.ClosedException.class, () -> Filter.containsAny(List.of(first, closed), "absent"));
    assertThrows(BfstoreException.ClosedException.class, () -> Filter.which(List.of(first, closed), "absent"));
    assertThrows(NullPointerException.class, () -> Filter.containsAny(Arrays.asList(first, null), "absent"));
    assertThrows(NullPointerException.class, () -> Filter.which(List.of(first), null));
    assertThrows(BfstoreException.InvalidException.class, () -> Filter.containsAny(List.of(first), 'a'));
    Filter digests = create("digests", unseeded().hash(Hash.EXTERNAL));
    BfstoreException error = assertThrows(BfstoreException.KindOfKeyException.class, () -> Filter.which(List.of(first, digests), "absent"));
    assertFalse(error.getMessage().equals(Filter.strerror(error.code())));
    try (Filter writer = kept(Filter.open(folder.resolve("0"), new OpenOptions().write()))) {
      first.close(); // no refused call uses it any more, so nothing is left to the last of them
      assertTrue(writer.add("later"));
    }
  }

  @Test
  void bareFilters() {
    String[] keys = new String[100];
    for (int i = 0; i < 100; i++) {
      keys[i] = "key " + i;
    }
    int bytes = (int) Bare.bytes(100, 10, Layout.BLOCKED);
    byte[] bare = Bare.build(bytes, Layout.BLOCKED, Hash.XXH3, Keys.of(keys));
    int wrong = 0;
    for (int i = 0; i < 1000; i++) {
      wrong += Bare.contains(bare, bytes("no " + i)) ? 1 : 0;
      assertTrue(i >= 100 || Bare.contains(bare, bytes(keys[i])));
    }
    assertTrue(wrong < 100);
    Keys digests = Keys.digests(0x123456789abcdef0L, -77);
    byte[] ofDigests = Bare.build(bytes, Layout.BLOCKED, Hash.EXTERNAL, digests);
    assertTrue(Bare.containsDigest(ofDigests, -77));
    assertFalse(Bare.containsDigest(ofDigests, 0x5555555555555555L));
    assertTrue(Bare.contains(bytes("no filter"), bytes("a"))); // doubt
    assertEquals(0, Bare.bytes(0, -1, Layout.BLOCKED));
    assertThrows(BfstoreException.InvalidException.class,
        () -> Bare.build(7, Layout.BLOCKED, Hash.XXH3, Keys.of("a")));
    assertThrows(BfstoreException.KindOfKeyException.class,
        () -> Bare.build(bytes, Layout.BLOCKED, Hash.EXTERNAL, Keys.of("a")));
    byte[] dumped = create(new CreateOptions().seed(0).numBits(1024).numProbes(6)).dumpBare();
    assertFalse(Bare.contains(dumped, bytes("a")));
    checkAnswers("0", kept(Filter.load(dumped, new OpenOptions().bare())), "a");
  }

  @Test
  void plans() throws Exception {
    Plan plan = new PlanRequest().capacity(1_000_000).fpr(0.01).plan();
    assertEquals(Layout.BLOCKED, plan.layout());
    assertTrue(plan.fpr() <= 0.01 && plan.abilities().contains(Ability.MERGE) && !plan.abilities().contains(Ability.REMOVE));
    assertTrue(new PlanRequest().capacity(5).layout(Layout.COUNTING).plan().abilities().contains(Ability.REMOVE));
    Plan built = new PlanRequest().capacity(10_000_000).fpr(0.01).layout(Layout.STATIC).plan();
    assertEquals(List.of(Layout.STATIC, Set.of(Ability.BUILD)), List.of(built.layout(), built.abilities()));
    assertTrue(built.bitsPerKey() < 7.3);
    Filter made = create(new CreateOptions().numBits(plan.numBits()).numProbes(plan.numProbes()).capacity(plan.capacity()));
    assertEquals(plan.fileBytes(), Files.size(path));
    assertEquals(plan.bodyBytes(), made.stats().bodyBytes());
    assertThrows(BfstoreException.InvalidException.class, () -> new PlanRequest().plan());
  }

  @Test
  void facts() {
    Object[] keys = new Object[1000];
    Arrays.setAll(keys, i -> i);
    Filter made = filled("filter.bf", keys);
    Statistics few = made.stats();
    assertTrue(few.fill().isEmpty() && few.residentBytes().isEmpty() && few.hugePageBytes().isEmpty());
    assertEquals("1000 false OK 7", few.keysAdded() + " " + few.saturated() + " " + few.health() + " " + few.seed());
    Interval estimated = made.statsWithFill().fill().get().estimatedKeys();
    assertTrue(estimated.low() <= 1000 && 1000 <= estimated.high());
    assertTrue(made.statsWithFillAndMemory().residentBytes().getAsLong() > 0);
    assertTrue(Set.of("avx512", "avx2", "neon", "scalar").contains(few.isa()), few.isa());
  }

  @Test
  void theTextOfTheFactsHasTheContentsOfTheArrays() {
    String text = create("seeds", new CreateOptions().layout(Layout.CLASSIC).hash(Hash.MURMUR3).numBits(1000).numProbes(2)
        .note(bytes("ab"))).stats().toString();
    assertTrue(text.contains("seeds=[0, 1], note=6162, fill="), text);
    assertTrue(text.matches(".* fileId=[0-9a-f]{32}, .*"), text);
    assertTrue(create("seed", new CreateOptions().capacity(9).seed(-1)).stats().toString().contains("seed=18446744073709551615,"));
  }

  @Test
  void threadsOfAnExclusiveWriter() {
    Filter made = create(new CreateOptions().capacity(100_000).exclusive().threads(2));
    long[] keys = new long[100_000];
    Arrays.setAll(keys, i -> i);
    made.addMany(Keys.of(keys));
    assertEquals(keys.length, made.select(Keys.of(keys)).length);
    made.close();
    assertFalse(open(new OpenOptions().exclusive().threads(64)).add(5));
    assertThrows(BfstoreException.InvalidException.class, () -> create("not alone", options().threads(2)));
    assertFalse(Files.exists(folder.resolve("not alone")));
  }
}

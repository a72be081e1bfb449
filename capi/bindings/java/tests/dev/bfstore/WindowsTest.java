package dev.bfstore;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Keys that expire: epochs that end, and what the statistics say of them. */
class WindowsTest extends Case {
  /** No epoch of this window is over before a test is. */
  private static final Duration LONG = Duration.ofHours(10_000);

  private void checkEpochs(Layout layout, int epochs) {
    String name = "of " + layout;
    CreateOptions options = options().window(LONG);
    Filter filter = create(name, layout == null ? options : options.layout(layout));
    Filter reader = kept(Filter.open(folder.resolve(name)));
    assertTrue(filter.add("once"));
    for (long epoch = 0; epoch < epochs; epoch++) {
      assertEquals(epoch == 0, filter.add("again"), name);
      assertTrue(filter.contains("once") && reader.contains("once"), name + " in epoch " + epoch);
      assertFalse(filter.turnFrom(epoch + 1), "another epoch than that of the file");
      assertTrue(filter.turnFrom(epoch));
    }
    assertFalse(filter.contains("once") || reader.contains("once"), name);
    assertTrue(filter.contains("again") && reader.contains("again"), name);
    Statistics facts = reader.stats();
    assertEquals(epochs + " " + epochs, facts.epochs() + " " + facts.epoch());
    assertEquals(layout == null ? Layout.WINDOW : layout, facts.layout());
  }

  /** The lines of capi/guide/windows.md. */
  @Test
  void theLoopOfTheGuideEndsWhenItsThreadIsInterrupted() throws InterruptedException {
    Thread.currentThread().interrupt();
    try (Filter seen = Filter.openOrCreate(path, new CreateOptions().capacity(10_000_000).window(Duration.ofHours(24)))) {
      while (!Thread.interrupted()) {
        seen.turn();
        TimeUnit.MINUTES.sleep(1);
      }
    }
    assertEquals(Layout.WINDOW, open().stats().layout());
  }

  @Test
  void aKeyIsFoundThroughAllEpochsAndForgottenAfterThem() {
    checkEpochs(null, 8);
    checkEpochs(Layout.WINDOW, 8);
    checkEpochs(Layout.WINDOW_4, 4);
    checkEpochs(Layout.WINDOW_2, 2);
  }

  @Test
  void aTurnEndsAnEpochThatHasLastedForItsTime() throws Exception {
    Filter brief = create("short", options().layout(Layout.WINDOW_2).window(Duration.ofMillis(1)));
    while (!brief.stats().turnDue()) {
      Thread.sleep(1);
    }
    assertTrue(brief.turn());
    assertEquals(1, brief.stats().epoch());

    Filter filter = create(options().layout(Layout.WINDOW_2).window(LONG));
    assertFalse(filter.turn());
    assertEquals("0 false", filter.stats().epoch() + " " + filter.stats().turnDue());
  }

  @Test
  void factsOfEpochs() {
    Filter filter = create(options().fpr(0.001).window(Duration.ofMinutes(90)));
    filter.addMany(List.of("a", "b", "c"));
    assertTrue(filter.turnFrom(0));
    filter.add("d");
    Statistics facts = filter.statsWithFill();
    assertEquals(Optional.of(Duration.ofMinutes(90)), facts.window());
    Instant began = facts.turnedAt().get();
    assertTrue(began.isAfter(Instant.parse("2022-01-01T00:00:00Z")) && began.isBefore(Instant.parse("2200-01-01T00:00:00Z")),
        began.toString());
    assertArrayEquals(new long[] {1, 3, 0, 0, 0, 0, 0, 0}, Arrays.stream(facts.keysOfEpochs()).mapToLong(Math::round).toArray());
    assertTrue(facts.toString().contains(", epochs=8, epoch=1, turnedAt=Optional[2"), facts.toString());
    assertTrue(facts.toString().contains(", window=Optional[PT1H30M], turnDue=false, keysOfEpochs=["), facts.toString());
    assertEquals(0, filter.stats().keysOfEpochs().length);

    Statistics tiny = create("tiny", options().layout(Layout.WINDOW_4).window(Duration.ofMillis(1))).statsWithFill();
    assertEquals(Optional.of(Duration.ofMillis(1)), tiny.window());
    assertEquals(4, tiny.keysOfEpochs().length);
    Duration longest = Duration.ofMillis(Long.MAX_VALUE);
    assertEquals(Optional.of(longest), create("longest", options().window(longest)).stats().window());

    Statistics none = create("none", options()).statsWithFill();
    assertEquals("0 0 false", none.epochs() + " " + none.epoch() + " " + none.turnDue());
    assertTrue(none.window().isEmpty() && none.turnedAt().isEmpty() && none.keysOfEpochs().length == 0);
  }

  /** A stream's keys go into a filter of changed options, which keep the window. */
  @Test
  void aBuildOfAStreamHasTheWindow() {
    Filter built = kept(Filter.build(path, Stream.of("a", "b"), options().window(LONG)));
    assertEquals(Optional.of(LONG), built.stats().window());
    assertTrue(built.contains("a") && !built.contains("c"));
  }

  @Test
  void windowsThatAreRefused() {
    for (Duration wrong : List.of(Duration.ZERO, Duration.ofMillis(-1), Duration.ofMillis(Long.MAX_VALUE).plusNanos(1),
        Duration.ofSeconds(Long.MAX_VALUE, 999_999_999))) {
      assertTrue(assertThrows(BfstoreException.InvalidException.class, () -> options().window(wrong)).getMessage().contains("a window is"));
    }
    Class<BfstoreException.InvalidException> invalid = BfstoreException.InvalidException.class;
    BfstoreException missing = assertThrows(invalid, () -> create(options().layout(Layout.WINDOW_4)));
    assertTrue(missing.getMessage().contains("Give the window"), missing.getMessage());
    BfstoreException needless = assertThrows(invalid, () -> create(options().layout(Layout.BLOCKED).window(LONG)));
    assertTrue(needless.getMessage().contains("do not expire"), needless.getMessage());
    BfstoreException buffer = assertThrows(BfstoreException.UnsupportedException.class,
        () -> Filter.requiredBytes(options().window(LONG)));
    assertTrue(buffer.getMessage().contains("only a file"), buffer.getMessage());
    assertFalse(Files.exists(path));

    Filter.openOrCreate(path, options().window(LONG)).close();
    BfstoreException other = assertThrows(BfstoreException.MismatchException.class,
        () -> Filter.openOrCreate(path, options().window(LONG.plusMillis(1))));
    assertTrue(other.getMessage().contains("window"), other.getMessage());
    assertFalse(kept(Filter.openOrCreate(path, options().window(LONG))).wasCreated());
  }

  private static void checkRefused(Class<? extends RuntimeException> kind, Filter filter) {
    assertThrows(kind, filter::turn);
    assertThrows(kind, () -> filter.turnFrom(0));
  }

  @Test
  void turnsThatAreRefused() {
    Filter filter = create(options().window(LONG));
    checkRefused(BfstoreException.UnsupportedException.class, create("blocked", options()));
    checkRefused(BfstoreException.ReadOnlyException.class, open());
    checkRefused(BfstoreException.InvalidException.class, create("unpublished", options().window(LONG).unpublished()));
    assertThrows(BfstoreException.InvalidException.class, () -> filter.turnFrom(-1)); // not turn()
    assertEquals(0, filter.stats().epoch());
    filter.close();
    checkRefused(BfstoreException.ClosedException.class, filter);
  }
}

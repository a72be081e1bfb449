package dev.bfstore;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Facts about an open filter: see {@link Filter#stats()}.
 *
 * @param numProbes k
 * @param numBits m
 * @param capacity n, the keys that it is sized for; 0 in the bare form
 * @param fpr the promised rate at n keys; 0 in the bare form
 * @param seed unsigned: Long.toUnsignedString shows it
 * @param keysAdded adds that changed a bit; 0 in buffers
 * @param keysRemoved in the counting layout, removes that removed a key
 * @param health the same as {@link Filter#health()}
 * @param part the number of this part of a whole filter, from 0; a whole filter is part 0 of 1
 * @param numParts the number of the parts
 * @param seeds the seeds of a hash that takes a list of them, otherwise none; all 32 bits of each are used
 * @param note the owner's note; empty without one
 * @param saturated whether more keys were added than {@code capacity}
 * @param isa the instruction set of the kernel in use: "avx512", "avx2", "neon" or "scalar"
 * @param fileId 16 bytes; zeros in the bare form
 * @param fill empty if not requested
 * @param hugePageBytes bytes in huge pages; empty if not requested
 * @param residentBytes bytes in memory; empty if not requested, or if the kernel does not tell
 * @param epochs the epochs whose keys the filter has: 8, 4 or 2; 0 if keys do not expire
 * @param epoch the number of the current epoch, from 0; also 0 if keys do not expire: then epochs is 0, too
 * @param turnedAt when that epoch began; empty if keys do not expire
 * @param window for how long a key is kept after its last add, at least; empty if keys do not expire
 * @param turnDue whether that epoch has lasted for its time: {@link Filter#turn()} would end it; false if keys do not expire
 * @param keysOfEpochs the estimated keys that were added in each epoch, the current one first; none if not requested
 */
public record Statistics(
    Layout layout,
    Hash hash,
    int numProbes,
    long numBits,
    long capacity,
    double fpr,
    long seed,
    long bodyBytes,
    long keysAdded,
    long keysRemoved,
    Health health,
    boolean saturated,
    String isa,
    byte[] fileId,
    int part,
    int numParts,
    int[] seeds,
    byte[] note,
    Optional<Fill> fill,
    OptionalLong hugePageBytes,
    OptionalLong residentBytes,
    int epochs,
    long epoch,
    Optional<Instant> turnedAt,
    Optional<Duration> window,
    boolean turnDue,
    double[] keysOfEpochs) {
  static Statistics of(Struct.Value found) {
    String isa = new String(found.getBytes("isa"), StandardCharsets.US_ASCII);
    boolean memory = found.getFlag("has_memory");
    int epochs = found.get32("epochs");
    long resident = found.get64("resident_bytes");
    return new Statistics(Layout.of(found.get32("layout")), Hash.of(found.get32("hash")), found.get32("num_probes"),
        found.get64("num_bits"), found.get64("capacity"), found.getDouble("fpr"), found.get64("seed"),
        found.get64("body_bytes"), found.get64("keys_added"), found.get64("keys_removed"),
        Health.of(found.get32("health")), found.getFlag("saturated"), isa.substring(0, isa.indexOf('\0')),
        found.getBytes("file_id"), found.get32("part"), found.get32("num_parts"),
        found.getInts("seeds", found.get32("num_seeds")),
        Arrays.copyOf(found.getBytes("note"), found.get32("note_bytes")),
        found.getFlag("has_fill") ? Optional.of(Fill.of(found)) : Optional.empty(),
        memory ? OptionalLong.of(found.get64("huge_page_bytes")) : OptionalLong.empty(),
        memory && resident != -1 ? OptionalLong.of(resident) : OptionalLong.empty(), epochs, found.get64("epoch"),
        unlessZero(found.get64("turned_at")).map(Statistics::time),
        unlessZero(found.get64("window_ms")).map(Statistics::duration), found.getFlag("turn_due"),
        found.getDoubles("keys_of_epochs", found.getFlag("has_fill") ? epochs : 0));
  }

  private static Optional<Long> unlessZero(long number) {
    return number == 0 ? Optional.empty() : Optional.of(number);
  }

  /** Converts unsigned nanoseconds since 1970. */
  private static Instant time(long nanoseconds) {
    return Instant.ofEpochSecond(Long.divideUnsigned(nanoseconds, 1_000_000_000),
        Long.remainderUnsigned(nanoseconds, 1_000_000_000));
  }

  /** Converts unsigned milliseconds. */
  private static Duration duration(long milliseconds) {
    return Duration.ofSeconds(Long.divideUnsigned(milliseconds, 1000), 1_000_000 * Long.remainderUnsigned(milliseconds, 1000));
  }

  /**
   * Returns the facts as a record does, with the contents of the arrays, and the seed unsigned.
   *
   * @return a text for people
   */
  @Override
  public String toString() {
    return "Statistics[layout=" + layout + ", hash=" + hash + ", numProbes=" + numProbes + ", numBits=" + numBits
        + ", capacity=" + capacity + ", fpr=" + fpr + ", seed=" + Long.toUnsignedString(seed) + ", bodyBytes=" + bodyBytes
        + ", keysAdded=" + keysAdded + ", keysRemoved=" + keysRemoved + ", health=" + health + ", saturated=" + saturated
        + ", isa=" + isa + ", fileId=" + HexFormat.of().formatHex(fileId) + ", part=" + part + ", numParts=" + numParts
        + ", seeds=" + Arrays.toString(Arrays.stream(seeds).mapToObj(Integer::toUnsignedString).toArray()) + ", note="
        + HexFormat.of().formatHex(note) + ", fill=" + fill + ", hugePageBytes=" + hugePageBytes + ", residentBytes="
        + residentBytes + ", epochs=" + epochs + ", epoch=" + Long.toUnsignedString(epoch) + ", turnedAt=" + turnedAt
        + ", window=" + window + ", turnDue=" + turnDue + ", keysOfEpochs=" + Arrays.toString(keysOfEpochs) + ']';
  }
}

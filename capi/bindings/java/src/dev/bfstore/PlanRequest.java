package dev.bfstore;

import java.util.Objects;

/**
 * The known numbers of a planned filter: {@code new PlanRequest().capacity(1_000_000).fpr(0.01).plan()}. Give two or
 * more numbers, but at most two of capacity, bitsPerKey, and one of numBits and maxBytes.
 */
public final class PlanRequest {
  private Layout layout;
  private long capacity;
  private double fpr;
  private double bitsPerKey;
  private long maxBytes;
  private long numBits;
  private int numProbes;

  /** Makes a request without numbers. */
  public PlanRequest() {}

  /**
   * Sets the layout.
   *
   * @param layout default: blocked
   */
  public PlanRequest layout(Layout layout) {
    this.layout = Objects.requireNonNull(layout, "layout");
    return this;
  }

  /**
   * Sets the number of distinct keys.
   *
   * @param capacity n
   */
  public PlanRequest capacity(long capacity) {
    this.capacity = CreateOptions.notNegative("capacity", capacity);
    return this;
  }

  /**
   * Sets the highest false-positive rate at n keys.
   *
   * @param fpr between 0 and 1
   */
  public PlanRequest fpr(double fpr) {
    this.fpr = CreateOptions.rate(fpr);
    return this;
  }

  /**
   * Sets the bits for each of the n keys.
   *
   * @param bitsPerKey m / n
   */
  public PlanRequest bitsPerKey(double bitsPerKey) {
    this.bitsPerKey = CreateOptions.given(bitsPerKey);
    return this;
  }

  /** Sets the bytes of the whole file. */
  public PlanRequest maxBytes(long maxBytes) {
    this.maxBytes = CreateOptions.notNegative("maxBytes", maxBytes);
    return this;
  }

  /**
   * Sets the number of bits.
   *
   * @param numBits m
   */
  public PlanRequest numBits(long numBits) {
    this.numBits = CreateOptions.notNegative("numBits", numBits);
    return this;
  }

  /**
   * Sets the number of bits that a key sets.
   *
   * @param numProbes k
   */
  public PlanRequest numProbes(int numProbes) {
    this.numProbes = (int) CreateOptions.notNegative("numProbes", numProbes);
    return this;
  }

  /** Computes the other numbers from the given ones, without making a filter. */
  public Plan plan() {
    Library library = Filter.LIBRARY;
    Struct.Value request = Structs.PLAN_REQUEST.make(library).put32("layout", layout == null ? 0 : layout.number)
        .put64("capacity", capacity).put("fpr", fpr).put("bits_per_key", bitsPerKey).put64("max_bytes", maxBytes)
        .put64("num_bits", numBits).put32("num_probes", numProbes);
    Struct.Value found = Structs.PLAN_RESULT.make(library);
    try (Scratch scratch = Scratch.take(library)) {
      BfstoreException.check(
          library.bfs_plan(request.address(), found.address(), scratch.error.address()), scratch.error);
    } finally {
      Filter.keep(request);
    }
    return Plan.of(found);
  }
}

package dev.bfstore;

/**
 * What is known of a filter that is not made yet: {@code new PlanRequest().capacity(1_000_000).fpr(0.01).plan()}. Two or
 * more numbers may be given, but at most two of capacity, bitsPerKey, and one of numBits and maxBytes.
 */
public final class PlanRequest {
  private Layout layout;
  private long capacity;
  private double fpr;
  private double bitsPerKey;
  private long maxBytes;
  private long numBits;
  private int numProbes;

  /** No option is given. */
  public PlanRequest() {}

  /**
   * The layout.
   *
   * @param layout not given: blocked
   */
  public PlanRequest layout(Layout layout) {
    this.layout = layout;
    return this;
  }

  /**
   * For how many distinct keys.
   *
   * @param capacity n
   */
  public PlanRequest capacity(long capacity) {
    this.capacity = CreateOptions.notNegative(capacity);
    return this;
  }

  /**
   * The highest false-positive rate at n keys.
   *
   * @param fpr between 0 and 1
   */
  public PlanRequest fpr(double fpr) {
    this.fpr = CreateOptions.given(fpr);
    return this;
  }

  /**
   * How many bits each of the n keys has.
   *
   * @param bitsPerKey m / n
   */
  public PlanRequest bitsPerKey(double bitsPerKey) {
    this.bitsPerKey = CreateOptions.given(bitsPerKey);
    return this;
  }

  /** Bytes of the whole file. */
  public PlanRequest maxBytes(long maxBytes) {
    this.maxBytes = CreateOptions.notNegative(maxBytes);
    return this;
  }

  /**
   * The number of bits.
   *
   * @param numBits m
   */
  public PlanRequest numBits(long numBits) {
    this.numBits = CreateOptions.notNegative(numBits);
    return this;
  }

  /**
   * How many bits a key sets.
   *
   * @param numProbes k
   */
  public PlanRequest numProbes(int numProbes) {
    this.numProbes = (int) CreateOptions.notNegative(numProbes);
    return this;
  }

  /** From the numbers that are given to the others, without making anything. */
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

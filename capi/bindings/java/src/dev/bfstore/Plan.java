package dev.bfstore;

import java.util.Set;

/**
 * A planned filter: see {@link PlanRequest#plan()}.
 *
 * @param numProbes k
 * @param numBits m
 * @param capacity n
 * @param fpr the false-positive rate at n keys
 * @param bitsPerKey bits of the body for each of the n keys
 * @param fillRatio the share of m that is set at n keys
 * @param bloomFpr Bloom's formula
 * @param cacheLines lines that a lookup of a present key reads
 * @param pageFaults pages that this lookup reads from a file that is not in memory
 */
public record Plan(
    Layout layout,
    int numProbes,
    Set<Ability> abilities,
    long numBits,
    long capacity,
    double fpr,
    double bitsPerKey,
    long bodyBytes,
    long fileBytes,
    double fillRatio,
    double bloomFpr,
    double cacheLines,
    double pageFaults) {
  static Plan of(Struct.Value found) {
    return new Plan(Layout.of(found.get32("layout")), found.get32("num_probes"), Ability.in(found.get32("abilities")),
        found.get64("num_bits"), found.get64("capacity"), found.getDouble("fpr"), found.getDouble("bits_per_key"),
        found.get64("body_bytes"), found.get64("file_bytes"), found.getDouble("fill_ratio"),
        found.getDouble("bloom_fpr"), found.getDouble("cache_lines"), found.getDouble("page_faults"));
  }
}

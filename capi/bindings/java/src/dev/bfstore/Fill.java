package dev.bfstore;

/**
 * The result of counting the bits of a filter: see {@link Filter#statsWithFill()}.
 *
 * @param setBits bits that are set; in the counting layout, counters that are not 0
 * @param fillRatio setBits / m
 * @param estimatedFpr the false-positive rate now
 * @param countersAt15 in the counting layout, counters that no remove lowers any more
 */
public record Fill(
    long setBits,
    double fillRatio,
    Interval estimatedKeys,
    double estimatedFpr,
    long countersAt15) {
  static Fill of(Struct.Value found) {
    Interval keys = new Interval(found.getDouble("estimated_keys"), found.getDouble("estimated_keys_low"),
        found.getDouble("estimated_keys_high"));
    return new Fill(found.get64("set_bits"), found.getDouble("fill_ratio"), keys, found.getDouble("estimated_fpr"),
        found.get64("counters_at_15"));
  }
}

package dev.bfstore;

/**
 * An estimated number, and the interval that has it in 95 of 100 cases.
 *
 * @param high the upper end; infinite if the bits set no bound
 */
public record Interval(
    double estimate,
    double low,
    double high) {
  static Interval in(Struct.Value of, String field) {
    Struct.Value found = of.inner(Structs.INTERVAL, field);
    return new Interval(found.getDouble("estimate"), found.getDouble("low"), found.getDouble("high"));
  }
}

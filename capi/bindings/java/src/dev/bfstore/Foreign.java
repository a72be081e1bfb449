package dev.bfstore;

import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Facts in the bytes of another program's filter: see {@link ForeignForm#inspect(byte[])}. Empty: the bytes do not tell
 * it.
 *
 * @param layout the layout of every filter in the format
 * @param hash the hash
 * @param numProbes k
 * @param numBits m
 * @param capacity n
 * @param fpr the false-positive rate at n keys
 * @param keys the number that the other program counted
 * @param bytes the length that all of the bytes must have; empty also in a format of several filters
 * @param filters the number of filters in the bytes; the other facts are those of the first one
 * @param needs facts that the caller has to give besides the bytes
 */
public record Foreign(
    Layout layout,
    Optional<Hash> hash,
    OptionalInt numProbes,
    OptionalLong numBits,
    OptionalLong capacity,
    OptionalDouble fpr,
    OptionalLong keys,
    OptionalLong bytes,
    int filters,
    Set<ForeignNeed> needs) {
  static Foreign of(Struct.Value found) {
    int hash = found.get32("hash");
    int numProbes = found.get32("num_probes");
    double fpr = found.getDouble("fpr");
    return new Foreign(Layout.of(found.get32("layout")), hash == 0 ? Optional.empty() : Optional.of(Hash.of(hash)),
        numProbes == 0 ? OptionalInt.empty() : OptionalInt.of(numProbes), unlessZero(found.get64("num_bits")),
        unlessZero(found.get64("capacity")), fpr == 0 ? OptionalDouble.empty() : OptionalDouble.of(fpr),
        found.getFlag("has_keys") ? OptionalLong.of(found.get64("keys")) : OptionalLong.empty(),
        unlessZero(found.get64("bytes")), found.get32("filters"), ForeignNeed.in(found.get32("needs")));
  }

  private static OptionalLong unlessZero(long number) {
    return number == 0 ? OptionalLong.empty() : OptionalLong.of(number);
  }
}

package dev.bfstore;

import java.util.Set;

/**
 * A comparison of two filters, A and B: see {@link Filter#compare(Filter)}.
 *
 * @param comparable whether they differ at most in m, and one m is a multiple of the other; if not, only keysA and
 *     keysB are known
 * @param equal whether m and all bits are equal
 * @param aInB whether every bit of A is one of B
 * @param bInA whether every bit of B is one of A
 * @param someInBoth whether keysBoth is clearly above 0
 * @param numBits m of the smaller filter
 * @param setBitsBoth bits that are set in both; 0: certainly no key is in both
 * @param jaccard keysBoth / keysEither
 */
public record Comparison(
    Set<Difference> differs,
    boolean comparable,
    boolean equal,
    boolean aInB,
    boolean bInA,
    boolean someInBoth,
    long numBits,
    long setBitsA,
    long setBitsB,
    long setBitsBoth,
    Interval keysA,
    Interval keysB,
    Interval keysEither,
    Interval keysBoth,
    Interval jaccard) {
  static Comparison of(Struct.Value found) {
    return new Comparison(Difference.in(found.get32("differs")), found.getFlag("comparable"), found.getFlag("equal"),
        found.getFlag("a_in_b"), found.getFlag("b_in_a"), found.getFlag("some_in_both"), found.get64("num_bits"),
        found.get64("set_bits_a"), found.get64("set_bits_b"), found.get64("set_bits_both"),
        Interval.in(found, "keys_a"), Interval.in(found, "keys_b"), Interval.in(found, "keys_either"),
        Interval.in(found, "keys_both"), Interval.in(found, "jaccard"));
  }
}

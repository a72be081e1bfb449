package dev.bfstore;

/**
 * The mark of an owner: every key of its log {@code epoch} up to the position {@code mark} is durable. The numbers are
 * unsigned: Long.toUnsignedString shows them.
 *
 * @param owner a number of the owner's choice
 * @param mark a position in the log; 0: none yet
 * @param epoch the log
 * @param recovered in a recovery, whether the owner has finished it
 */
public record Mark(
    long owner,
    long mark,
    long epoch,
    boolean recovered) {}

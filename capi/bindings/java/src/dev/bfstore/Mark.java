package dev.bfstore;

/**
 * Every key of the owner's log {@code epoch} up to the position {@code mark} is durable. The numbers are unsigned:
 * Long.toUnsignedString shows them.
 *
 * @param owner a number of the owner's choice
 * @param mark a position in the log; 0: none yet
 * @param epoch which log
 * @param recovered in a recovery, whether the owner has finished it
 */
public record Mark(
    long owner,
    long mark,
    long epoch,
    boolean recovered) {}

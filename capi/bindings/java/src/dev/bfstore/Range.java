package dev.bfstore;

/**
 * Bytes of a file.
 *
 * @param offset where they begin
 * @param bytes how many
 */
public record Range(
    long offset,
    long bytes) {}

package dev.bfstore;

/** Bytes of a file. */
public record Range(
    long offset,
    long bytes) {}

package dev.bfstore;

/** A range of bytes in a file. */
public record Range(
    long offset,
    long bytes) {}

/**
 * Bloom filters in files that any number of processes, in any language, share through a memory map: {@link
 * dev.bfstore.Filter}.
 */
package dev.bfstore;

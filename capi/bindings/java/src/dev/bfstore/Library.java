package dev.bfstore;

import java.nio.ByteBuffer;

/**
 * The functions of capi/bfstore.h, under their names, as a back end calls them. An address, a size and a u64 are a long.
 * Where a key is a byte[], its array is on the heap. The back end says what that costs.
 */
interface Library {
  long bfs_version();
  int bfs_version_number();
  long bfs_strerror(int code);
  long bfs_code_name(int code);
  int bfs_plan(long request, long out, long error);
  int bfs_create(long path, long options, long out, long error);
  int bfs_create_part(long path, long options, int part, int num_parts, long out, long error);
  int bfs_get_part(long filter, long part, long num_parts, long error);
  int bfs_join(long parts, long count, long path, long options, long error);
  int bfs_open_with(long path, long options, long out, long error);
  int bfs_open_set(long manifest, long options, long out, long error);
  int bfs_required_bytes(long options, long outBytes, long error);
  int bfs_format(long buffer, long bufferBytes, long options, long out, long error);
  int bfs_wrap_with(long buffer, long bufferBytes, long options, long out, long error);
  int bfs_load(long bytes, long numBytes, long options, long out, long error);
  int bfs_publish(long filter, long error);
  int bfs_supersede(long filter, long error);
  int bfs_close(long filter, long error);
  int bfs_shut(long filter, long error);
  void bfs_abandon(long filter);
  int bfs_save(long filter, long path, long options, long error);
  int bfs_dump(long filter, long buffer, long bufferBytes, long flags, long outBytes, long error);
  int bfs_merge(long into, long from, long error);
  int bfs_intersect(long filters, long count, long path, long options, long error);
  int bfs_compare(long a, long b, long out, long error);
  int bfs_import_bits(long filter, long bits, long numBytes, int order, long error);
  int bfs_export_bits(long filter, long bits, long numBytes, int order, long error);
  int bfs_seal(long from, long to, long options, long error);
  long bfs_verify(long path, long flags, long damaged, long capacity, long error);
  int bfs_sync(long filter, long owner, long epoch, long mark, long error);
  long bfs_get_mark(long filter, long owner, long epoch);
  long bfs_list_marks(long filter, long marks, long capacity, long error);
  int bfs_drop_owner(long filter, long owner, long error);
  int bfs_finish_recovery(long filter, long owner, long error);
  int bfs_finish_filling(long filter, long error);
  int bfs_use_threads(long filter, int threads, long error);
  int bfs_health(long filter);
  int bfs_is_current(long filter, long error);
  long bfs_get_note(long filter, long buffer, long capacity, long error);
  long bfs_get_seeds(long filter, long seeds, long capacity, long error);
  int bfs_stats(long filter, long flags, long out, long error);

  long bfs_add_keys(long filter, long keys);
  long bfs_remove_keys(long filter, long keys);
  long bfs_contains_keys(long filter, long keys, long answers);
  long bfs_select_keys(long filter, long keys, long indices);
  long bfs_digest_keys(long filter, long keys, long digests);

  int bfs_add(long filter, long key, long keyBytes);
  int bfs_remove(long filter, long key, long keyBytes);
  int bfs_count(long filter, long key, long keyBytes);
  int bfs_contains(long filter, long key, long keyBytes);
  int bfs_digest(long filter, long key, long keyBytes, long outDigest);
  int bfs_add_digest(long filter, long digest);
  int bfs_remove_digest(long filter, long digest);
  int bfs_count_digest(long filter, long digest);
  int bfs_contains_digest(long filter, long digest);

  int bfs_add(long filter, byte[] key, long keyBytes);
  int bfs_remove(long filter, byte[] key, long keyBytes);
  int bfs_count(long filter, byte[] key, long keyBytes);
  int bfs_contains(long filter, byte[] key, long keyBytes);
  int bfs_bare_contains(byte[] buffer, long bytes, byte[] key, long keyBytes);
  int bfs_bare_contains_digest(byte[] buffer, long bytes, long digest);

  long bfs_bare_bytes(long numKeys, double bitsPerKey, int layout);
  int bfs_bare_build(long buffer, long bytes, int layout, long keys);
  int bfs_bare_build_digests(long buffer, long bytes, int layout, int hash, long digests, long count);

  /** The address of a direct buffer's index 0. The caller keeps the buffer reachable as long as the address is used. */
  long address(ByteBuffer direct);

  /** The text at an address that the library returned, up to its NUL. */
  String text(long address);

  /** "ffm" or "jna". */
  String backEnd();
}

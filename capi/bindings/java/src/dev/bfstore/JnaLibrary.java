package dev.bfstore;

import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import java.nio.ByteBuffer;

/**
 * The back end for Java 17 to 21: JNA, whose direct mapping binds each native method to the function of its name. A
 * byte[] is copied, so that the collector is not held off.
 */
final class JnaLibrary implements Library {
  JnaLibrary(String pathOrName) {
    Native.register(JnaLibrary.class, NativeLibrary.getInstance(pathOrName));
  }

  @Override public native long bfs_version();

  @Override public native int bfs_version_number();

  @Override public native long bfs_strerror(int code);

  @Override public native long bfs_code_name(int code);

  @Override public native int bfs_plan(long request, long out, long error);

  @Override public native int bfs_create(long path, long options, long out, long error);
  @Override public native int bfs_create_part(long path, long options, int part, int num_parts, long out, long error);
  @Override public native int bfs_get_part(long filter, long part, long num_parts, long error);
  @Override public native int bfs_join(long parts, long count, long path, long options, long error);

  @Override public native int bfs_open_with(long path, long options, long out, long error);

  @Override public native int bfs_open_set(long manifest, long options, long out, long error);

  @Override public native int bfs_required_bytes(long options, long outBytes, long error);

  @Override public native int bfs_format(long buffer, long bufferBytes, long options, long out, long error);

  @Override public native int bfs_wrap_with(long buffer, long bufferBytes, long options, long out, long error);

  @Override public native int bfs_load(long bytes, long numBytes, long options, long out, long error);

  @Override public native int bfs_publish(long filter, long error);

  @Override public native int bfs_supersede(long filter, long error);

  @Override public native int bfs_close(long filter, long error);

  @Override public native int bfs_shut(long filter, long error);

  @Override public native void bfs_abandon(long filter);

  @Override public native int bfs_save(long filter, long path, long options, long error);

  @Override public native int bfs_dump(long filter, long buffer, long bufferBytes, long flags, long outBytes,
      long error);

  @Override public native int bfs_merge(long into, long from, long error);

  @Override public native int bfs_intersect(long filters, long count, long path, long options, long error);

  @Override public native int bfs_compare(long a, long b, long out, long error);

  @Override public native int bfs_import_bits(long filter, long bits, long numBytes, int order, long error);

  @Override public native int bfs_export_bits(long filter, long bits, long numBytes, int order, long error);

  @Override public native int bfs_seal(long from, long to, long options, long error);

  @Override public native long bfs_verify(long path, long flags, long damaged, long capacity, long error);

  @Override public native int bfs_sync(long filter, long owner, long epoch, long mark, long error);

  @Override public native long bfs_get_mark(long filter, long owner, long epoch);

  @Override public native long bfs_list_marks(long filter, long marks, long capacity, long error);

  @Override public native int bfs_drop_owner(long filter, long owner, long error);

  @Override public native int bfs_finish_recovery(long filter, long owner, long error);

  @Override public native int bfs_finish_filling(long filter, long error);

  @Override public native int bfs_use_threads(long filter, int threads, long error);

  @Override public native int bfs_health(long filter);

  @Override public native int bfs_is_current(long filter, long error);

  @Override public native long bfs_get_note(long filter, long buffer, long capacity, long error);

  @Override public native long bfs_get_seeds(long filter, long seeds, long capacity, long error);

  @Override public native int bfs_stats(long filter, long flags, long out, long error);

  @Override public native long bfs_add_keys(long filter, long keys);

  @Override public native long bfs_remove_keys(long filter, long keys);

  @Override public native long bfs_contains_keys(long filter, long keys, long answers);

  @Override public native long bfs_select_keys(long filter, long keys, long indices);

  @Override public native long bfs_digest_keys(long filter, long keys, long digests);

  @Override public native int bfs_add(long filter, long key, long keyBytes);

  @Override public native int bfs_remove(long filter, long key, long keyBytes);

  @Override public native int bfs_count(long filter, long key, long keyBytes);

  @Override public native int bfs_contains(long filter, long key, long keyBytes);

  @Override public native int bfs_digest(long filter, long key, long keyBytes, long outDigest);

  @Override public native int bfs_add_digest(long filter, long digest);

  @Override public native int bfs_remove_digest(long filter, long digest);

  @Override public native int bfs_count_digest(long filter, long digest);

  @Override public native int bfs_contains_digest(long filter, long digest);

  @Override public native int bfs_add(long filter, byte[] key, long keyBytes);

  @Override public native int bfs_remove(long filter, byte[] key, long keyBytes);

  @Override public native int bfs_count(long filter, byte[] key, long keyBytes);

  @Override public native int bfs_contains(long filter, byte[] key, long keyBytes);

  @Override public native int bfs_bare_contains(byte[] buffer, long bytes, byte[] key, long keyBytes);

  @Override public native int bfs_bare_contains_digest(byte[] buffer, long bytes, long digest);

  @Override public native long bfs_bare_bytes(long numKeys, double bitsPerKey, int layout);

  @Override public native int bfs_bare_build(long buffer, long bytes, int layout, long keys);

  @Override public native int bfs_bare_build_digests(long buffer, long bytes, int layout, int hash, long digests,
      long count);

  @Override
  public long address(ByteBuffer direct) {
    return Pointer.nativeValue(Native.getDirectBufferPointer(direct));
  }

  @Override
  public String text(long address) {
    return new Pointer(address).getString(0, "UTF-8");
  }

  @Override
  public String backEnd() {
    return "jna";
  }
}

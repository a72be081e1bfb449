// bfstore from C#, on one page. Debian: mono-mcs, mono-runtime. It needs libbfstore.so.0 where the loader finds it.
//   mcs -unsafe bf.cs
//   mono bf.exe create users.bf 1000 && mono bf.exe add users.bf user 10 && mono bf.exe ask users.bf user 12
// With .NET: the same file in a project that has <AllowUnsafeBlocks>true</AllowUnsafeBlocks>.
using System;
using System.IO;
using System.Linq;
using System.Runtime.InteropServices;
using System.Text;

static unsafe class Native {  // the part of capi/bfstore.h that is used here
  const string Library = "libbfstore.so.0";
  internal const ulong Read = 1, Write = 2;
  internal const uint Column32 = 4;

  internal struct Error { public uint struct_bytes; public int code, os_errno; public uint reserved; public fixed byte message[496]; }
  internal struct Options {
    public uint struct_bytes, mode; public ulong flags, capacity; public double fpr, bits_per_key;
    public ulong max_bytes, num_bits; public uint num_probes, layout, hash, reserved; public ulong seed;
    public byte* like; public void* note; public ulong note_bytes; public void* key; public ulong key_bytes;
    public uint lock_timeout_ms, writeback_check_ms; public fixed byte file_id[16]; public uint* seeds; public ulong num_seeds;
  }
  internal struct Keys {
    public uint struct_bytes, kind; public ulong count; public void* data; public ulong data_bytes; public UIntPtr* lengths;
    public void* offsets; public ulong key_bytes, stride; public byte* validity; public ulong validity_offset;
  }

  [DllImport(Library)] internal static extern IntPtr bfs_strerror(int code);
  [DllImport(Library)] internal static extern int bfs_create(byte[] path, ref Options options, out Handle made, ref Error error);
  [DllImport(Library)] internal static extern int bfs_open(byte[] path, ulong flags, out Handle made, ref Error error);
  [DllImport(Library)] internal static extern int bfs_shut(Handle filter, ref Error error);
  [DllImport(Library)] internal static extern void bfs_abandon(IntPtr filter);
  [DllImport(Library)] internal static extern int bfs_add(Handle filter, byte[] key, UIntPtr key_bytes);
  [DllImport(Library)] internal static extern int bfs_contains(Handle filter, byte[] key, UIntPtr key_bytes);
  [DllImport(Library)] internal static extern long bfs_add_keys(Handle filter, ref Keys keys);
  [DllImport(Library)] internal static extern long bfs_contains_keys(Handle filter, ref Keys keys, byte[] answers);
}

// Ends no earlier than the last call of any thread with it. A filter that was not closed is not synced; nothing is lost.
sealed class Handle : SafeHandle {
  public Handle() : base(IntPtr.Zero, true) {}
  public override bool IsInvalid => handle == IntPtr.Zero;
  protected override bool ReleaseHandle() { Native.bfs_abandon(handle); return true; }
}

sealed class BfsException : IOException {
  public readonly int Code, Errno;

  internal unsafe BfsException(ref Native.Error error) : base(Text(ref error)) { Code = error.code; Errno = error.os_errno; }
  internal BfsException(int code) : base(Marshal.PtrToStringAnsi(Native.bfs_strerror(code))) { Code = code; }

  static unsafe string Text(ref Native.Error error) {
    fixed (byte* text = error.message) {
      int length = 0;
      while (text[length] != 0) ++length;
      return Encoding.UTF8.GetString(text, length);
    }
  }
}

sealed unsafe class Filter : IDisposable {
  static readonly Encoding utf8 = new UTF8Encoding(false, true);  // a lone surrogate is an exception
  readonly Handle handle;

  Filter(Handle made) { handle = made; }

  public static Filter Create(string path, ulong capacity, double fpr) {
    var options = new Native.Options { struct_bytes = (uint)sizeof(Native.Options), capacity = capacity, fpr = fpr };
    var error = NoError();
    Check(Native.bfs_create(utf8.GetBytes(path + "\0"), ref options, out var made, ref error), ref error);
    return new Filter(made);
  }

  public static Filter Open(string path, ulong flags = Native.Read) {
    var error = NoError();
    Check(Native.bfs_open(utf8.GetBytes(path + "\0"), flags, out var made, ref error), ref error);
    return new Filter(made);
  }

  // Shuts, so that other threads may still be in calls: these answer "maybe" from now on. Syncs what was added.
  public void Dispose() {
    if (handle.IsClosed) return;
    var error = NoError();
    var code = Native.bfs_shut(handle, ref error);
    handle.Dispose();
    Check(code, ref error);
  }

  public bool Add(string key) { var bytes = utf8.GetBytes(key); return Check(Native.bfs_add(handle, bytes, (UIntPtr)bytes.Length)) == 1; }
  public bool Contains(string key) { var bytes = utf8.GetBytes(key); return Check(Native.bfs_contains(handle, bytes, (UIntPtr)bytes.Length)) != 0; }
  public long AddAll(string[] keys) => WithColumn(keys, (ref Native.Keys column) => Native.bfs_add_keys(handle, ref column));

  public byte[] ContainsAll(string[] keys) {  // 1 is maybe, 0 is certainly not
    var answers = new byte[keys.Length];
    WithColumn(keys, (ref Native.Keys column) => Native.bfs_contains_keys(handle, ref column, answers));
    return answers;
  }

  delegate long Use(ref Native.Keys column);

  // The bytes of all keys, and where each begins and the last one ends.
  static long WithColumn(string[] keys, Use use) {
    var data = utf8.GetBytes(string.Concat(keys));
    var ends = new int[keys.Length + 1];
    for (int i = 0; i < keys.Length; ++i) ends[i + 1] = ends[i] + utf8.GetByteCount(keys[i]);
    fixed (byte* bytes = data) fixed (int* offsets = ends) {
      var column = new Native.Keys { struct_bytes = (uint)sizeof(Native.Keys), kind = Native.Column32, count = (ulong)keys.Length,
                                     data = bytes, data_bytes = (ulong)data.Length, offsets = offsets };
      return Check(use(ref column));
    }
  }

  static Native.Error NoError() => new Native.Error { struct_bytes = (uint)sizeof(Native.Error) };
  static void Check(int code, ref Native.Error error) { if (code != 0) throw new BfsException(ref error); }
  static long Check(long code) => code < 0 ? throw new BfsException((int)code) : code;
}

static class Agree {
  static int Main(string[] words) {
    try {
      Run(words[0], words[1], words);
      return 0;
    } catch (Exception error) {
      Console.Error.WriteLine(error.Message);
      return 1;
    }
  }

  static void Run(string command, string path, string[] words) {
    var keys = words.Length < 4 ? new string[0] : Enumerable.Range(0, int.Parse(words[3])).Select(number => words[2] + "-" + number).ToArray();
    if (command == "create") {
      Filter.Create(path, ulong.Parse(words[2]), 0.01).Dispose();
    } else if (command == "add") {
      using (var filter = Filter.Open(path, Native.Write)) {
        foreach (var key in keys.Where((_, number) => number % 2 == 0)) filter.Add(key);
        filter.AddAll(keys.Where((_, number) => number % 2 == 1).ToArray());
      }
    } else if (command == "ask") {
      using (var filter = Filter.Open(path)) {
        var single = keys.Select(key => (byte)(filter.Contains(key) ? 1 : 0)).ToArray();
        if (!single.SequenceEqual(filter.ContainsAll(keys))) throw new InvalidDataException("one by one and as a batch are not the same");
        Console.WriteLine(string.Concat(single));
      }
    } else if (command == "fail") {
      try {
        Filter.Open(path).Dispose();
      } catch (BfsException error) {
        Console.WriteLine("{0} {1} {2}", error.Code, error.Errno, error.GetType().Name);
        return;
      }
      throw new InvalidDataException("opened");
    }
  }
}

// bfstore from C#, a page to copy. Debian: mono-mcs, mono-runtime. It needs libbfstore.so.0 where the loader finds it.
//   mcs -unsafe bf.cs
//   mono bf.exe    # prints: True 10
using System;
using System.IO;
using System.Runtime.InteropServices;
using System.Text;

sealed class Handle : SafeHandle {  // released after the last call with it; without Dispose it is not synced
  public Handle() : base(IntPtr.Zero, true) {}
  public override bool IsInvalid => handle == IntPtr.Zero;
  protected override bool ReleaseHandle() { C.bfs_abandon(handle); return true; }
}

static unsafe class C {  // the parts of capi/bfstore.h that are used here; other fields stay zero
  public struct Error { public int struct_bytes, code, errno, rule; public fixed byte message[496]; }
  [StructLayout(LayoutKind.Sequential, Size = 184)]
  public struct Options { public uint struct_bytes, mode; public ulong capacity; public double fpr; }
  [StructLayout(LayoutKind.Sequential, Size = 96)]
  public struct Keys {
    public int struct_bytes, kind; public long count; public byte* data; public long data_bytes, lengths;
    public int* offsets;
  }
  const string Lib = "libbfstore.so.0";
  [DllImport(Lib)] public static extern IntPtr bfs_strerror(int code);
  [DllImport(Lib)]
  public static extern int bfs_open(byte[] path, ulong flags, Options* options, out Handle made, ref Error error);
  [DllImport(Lib)] public static extern int bfs_shut(Handle filter, ref Error error);
  [DllImport(Lib)] public static extern void bfs_abandon(IntPtr filter);
  [DllImport(Lib)] public static extern int bfs_add(Handle filter, byte[] key, long key_bytes);
  [DllImport(Lib)] public static extern int bfs_contains(Handle filter, byte[] key, long key_bytes);
  [DllImport(Lib)] public static extern long bfs_add_keys(Handle filter, ref Keys keys);
  [DllImport(Lib)] public static extern long bfs_contains_keys(Handle filter, ref Keys keys, byte[] answers);

  public static Error NoError => new Error { struct_bytes = sizeof(Error) };
  public static void Check(int code, ref Error error) {
    fixed (byte* text = error.message)
      if (code < 0) throw new BfsException((IntPtr)text) { Code = code, Errno = error.errno };
  }
  public static long Check(long code) =>
    code >= 0 ? code : throw new BfsException(bfs_strerror((int)code)) { Code = (int)code };
}

sealed class BfsException : IOException {
  public int Code, Errno;
  public BfsException(IntPtr message) : base(Marshal.PtrToStringAnsi(message)) {}
}

sealed unsafe class Filter : IDisposable {
  public const ulong Read = 1, Write = 2;
  const ulong Create = 8;
  static readonly Encoding utf8 = new UTF8Encoding(false, true);  // a lone surrogate is an exception
  readonly Handle handle;

  public Filter(string path, ulong flags = Read) {
    var error = C.NoError;
    C.Check(C.bfs_open(utf8.GetBytes(path + "\0"), flags, null, out handle, ref error), ref error);
  }
  public Filter(string path, ulong capacity, double fpr) {  // opens it for writing, or makes it
    var error = C.NoError;
    var options = new C.Options { struct_bytes = (uint)sizeof(C.Options), capacity = capacity, fpr = fpr };
    C.Check(C.bfs_open(utf8.GetBytes(path + "\0"), Write | Create, &options, out handle, ref error), ref error);
  }
  public void Dispose() {  // syncs the adds; calls of other threads answer "maybe" from now on
    if (handle.IsClosed) return;
    var error = C.NoError;
    using (handle) C.Check(C.bfs_shut(handle, ref error), ref error);
  }

  public bool Add(string key) => C.Check(C.bfs_add(handle, utf8.GetBytes(key), utf8.GetByteCount(key))) == 1;
  public bool Contains(string key) => C.Check(C.bfs_contains(handle, utf8.GetBytes(key), utf8.GetByteCount(key))) != 0;
  public void AddAll(params string[] keys) => Batch(keys, null);
  public byte[] ContainsAll(params string[] keys) => Batch(keys, new byte[keys.Length]);  // 1: maybe, 0: certainly not
  byte[] Batch(string[] keys, byte[] answers) {  // a column: all bytes, each key's begin, and the last one's end
    var text = utf8.GetBytes(string.Concat(keys));
    var ends = new int[keys.Length + 1];
    for (int i = 0; i < keys.Length; ++i) ends[i + 1] = ends[i] + utf8.GetByteCount(keys[i]);
    fixed (byte* data = text) fixed (int* offsets = ends) {
      var column = new C.Keys { struct_bytes = sizeof(C.Keys), kind = 4, count = keys.Length, data = data,
                                data_bytes = text.Length, offsets = offsets };
      C.Check(answers == null ? C.bfs_add_keys(handle, ref column) : C.bfs_contains_keys(handle, ref column, answers));
    }
    return answers;
  }
}

static class Example {
  static void Main() {
    using (var users = new Filter("users.bf", 1000, 0.01)) {
      users.Add("alice");
      users.AddAll("bob", "carol");
      Console.WriteLine("{0} {1}", users.Contains("alice"), string.Concat(users.ContainsAll("bob", "mallory")));
    }
  }
}

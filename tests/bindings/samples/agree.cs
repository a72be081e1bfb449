// The program `agree` (languages.py) of C#, by the sample.
using System;
using System.IO;
using System.Linq;

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
    var count = words.Length < 4 ? 0 : int.Parse(words[3]);
    var keys = Enumerable.Range(0, count).Select(number => words[2] + "-" + number).ToArray();
    if (command == "create") {
      new Filter(path, ulong.Parse(words[2]), 0.01).Dispose();
    } else if (command == "add") {
      using (var filter = new Filter(path, Filter.Write)) {
        foreach (var key in keys.Where((_, number) => number % 2 == 0)) filter.Add(key);
        filter.AddAll(keys.Where((_, number) => number % 2 == 1).ToArray());
      }
    } else if (command == "ask") {
      using (var filter = new Filter(path)) {
        var single = keys.Select(key => (byte)(filter.Contains(key) ? 1 : 0)).ToArray();
        if (!single.SequenceEqual(filter.ContainsAll(keys))) throw new InvalidDataException("one by one and as a batch are not the same");
        Console.WriteLine(string.Concat(single));
      }
    } else if (command == "fail") {
      Fail(path);
    }
  }

  static void Fail(string path) {
    try {
      new Filter(path).Dispose();
    } catch (BfsException error) {
      Console.WriteLine("{0} {1} {2}", error.Code, error.Errno, error.GetType().Name);
      return;
    }
    throw new InvalidDataException("opened");
  }
}

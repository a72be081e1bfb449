// A BloomFilter of Guava, which one JVM has in its heap, becomes a file that any number of processes ask and add to.
//
//   java -cp bfstore.jar:jna.jar GuavaToFile.java import seen.guava seen.bf KNOWN...    makes seen.bf, if there is none
//   java -cp bfstore.jar:jna.jar GuavaToFile.java add seen.bf KEY...    adds the keys, and prints those that were certainly new
//   java -cp bfstore.jar:jna.jar GuavaToFile.java export seen.bf seen.guava    for a program that still calls readFrom()
//
// seen.guava is what BloomFilter.writeTo() wrote. Keys are those of Funnels.stringFunnel(UTF_8); for unencodedCharsFunnel() a key is
// key.getBytes(UTF_16LE). The bits do not tell the funnel: so the import asks for KNOWN, keys that are in seen.guava, and makes no
// file if one of them is absent. If two processes add a key at the same moment, both may print it.
import dev.bfstore.*;
import java.io.IOException;
import java.nio.file.*;
import java.util.Arrays;
import java.util.List;

class GuavaToFile {
  static void importOnce(Path guava, Path path, List<String> known) throws IOException {
    ForeignForm form = new ForeignForm("guava").name(guava.toString());
    try (Filter seen = Filter.importForeign(path, Files.readAllBytes(guava), form, new CreateOptions().unpublished())) {
      for (String key : known) {
        if (!seen.contains(key)) {
          throw new IllegalArgumentException(guava + ": does not have " + key + ". Is its funnel another one?");
        }
      }
      seen.publish();
    } catch (BfstoreException.ExistsException exists) {
      System.out.println(path + ": exists, and was not replaced: it may have more keys than " + guava);
    }
  }

  static void add(Path path, List<String> keys) {
    try (Filter seen = Filter.open(path, new OpenOptions().write())) {
      keys.stream().filter(seen::add).forEach(System.out::println);
    }
  }

  static void export(Path path, Path guava) throws IOException {
    Path whole = Path.of(guava + ".new");
    try (Filter seen = Filter.open(path)) {
      Files.write(whole, seen.exportForeign(new ForeignForm("guava")));
    }
    Files.move(whole, guava, StandardCopyOption.ATOMIC_MOVE); // a program that reads the file gets the old or the new one
  }

  public static void main(String[] words) {
    try {
      List<String> keys = Arrays.asList(words).subList(Math.min(words.length, 2), words.length);
      int least = words.length > 0 && words[0].equals("import") ? 4 : 3;
      switch (words.length < least ? "" : words[0]) {
        case "import" -> importOnce(Path.of(words[1]), Path.of(words[2]), keys.subList(1, keys.size()));
        case "add" -> add(Path.of(words[1]), keys);
        case "export" -> export(Path.of(words[1]), Path.of(words[2]));
        default -> throw new IllegalArgumentException("import GUAVA FILE KNOWN..., add FILE KEY... or export FILE GUAVA");
      }
    } catch (IOException | RuntimeException error) {
      System.err.println(error);
      System.exit(1);
    }
  }
}

package dev.bfstore;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Test;

/** The jar, installed into an empty Maven repository, suffices for a program; and README's example runs. */
class PackageTest extends Case {
  private static final Path HERE = ROOT.resolve("capi/bindings/java");
  private static final Path JAR = Path.of(System.getenv("BFSTORE_JAR"));
  private static final List<Path> PACKAGE = Stream.of(System.getenv("BFSTORE_PACKAGE").split(":")).map(Path::of)
      .collect(Collectors.toList());
  private static final boolean FFM = Filter.backEnd().equals("ffm");
  private static final int PROCESSES = 4;
  /** A JVM starts slowly, so these are fewer than in other languages; and the race is the library's, whatever calls it. */
  private static final int ROUNDS = FFM ? 2 : 10;

  /** A program that runs in a folder of its own, with its output in a file there. */
  private record Running(List<String> command, Path log, Process process) {
    static Running start(Path folder, String log, List<String> command) throws IOException {
      Path to = folder.resolve(log);
      return new Running(command, to, new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true)
          .redirectOutput(to.toFile()).start());
    }

    /** Returns the output of a program that succeeds. */
    String output() throws IOException, InterruptedException {
      int code = process.waitFor();
      String said = Files.readString(log);
      assertEquals(0, code, command + "\n" + said);
      return said;
    }
  }

  private static String run(Path folder, List<String> command) throws IOException, InterruptedException {
    return Running.start(folder, "log", command).output();
  }

  private static String home(String backEnd) {
    return System.getenv("BFSTORE_JAVA_WITH_" + backEnd);
  }

  /** Compiles a program like a user, and returns the command that runs it. */
  private static List<String> compiled(Path folder, String program, Path jar, String... options) throws Exception {
    Files.writeString(folder.resolve("Example.java"), program);
    List<String> jars = new ArrayList<>(List.of(jar.toString(), folder.toString()));
    if (!FFM) {
      jars.add(System.getenv("BFSTORE_JARS").split(":")[1]); // JNA
    }
    String classpath = String.join(":", jars);
    run(folder, List.of(home("JNA") + "/bin/javac", "-cp", classpath, "Example.java"));
    List<String> command = new ArrayList<>(List.of(home(FFM ? "FFM" : "JNA") + "/bin/java", "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Duser.home=" + folder, "-Djava.io.tmpdir=" + folder, "-cp", classpath));
    command.addAll(List.of(options));
    if (FFM) {
      command.add("--enable-native-access=ALL-UNNAMED");
    }
    command.add("Example");
    return command;
  }

  private static List<Path> files(Path folder) throws IOException {
    try (Stream<Path> all = Files.walk(folder)) {
      return all.filter(Files::isRegularFile).collect(Collectors.toList());
    }
  }

  @Test
  void theJarInARepositoryIsUsedAndRemoved() throws Exception {
    String program = "import make_jar, sys; print(make_jar.install(sys.argv[2:], sys.argv[1]))";
    List<String> install = new ArrayList<>(List.of("/usr/bin/env", "PYTHONPATH=" + HERE, "/usr/bin/python3", "-B", "-c",
        program, folder + "/m2"));
    PACKAGE.forEach(one -> install.add(one.toString()));
    Path installed = Path.of(run(folder, install).strip());
    String version = Filter.version();
    Path jar = installed.resolve("bfstore-" + version + ".jar");
    assertEquals(installed, folder.resolve("m2/dev/bfstore/bfstore/" + version));
    assertTrue(Files.readString(installed.resolve("bfstore-" + version + ".pom")).contains("<version>" + version));
    Set<String> names = files(installed).stream().map(one -> one.getFileName().toString()).collect(Collectors.toSet());
    assertEquals(Set.of(".jar", "-sources.jar", "-javadoc.jar", ".pom").stream().map(end -> "bfstore-" + version + end)
        .collect(Collectors.toSet()), names);
    String said = run(folder, compiled(folder, "import dev.bfstore.*;\n"
        + "class Example { public static void main(String[] a) { System.out.println(Filter.version() + Filter.backEnd()); } }",
        jar));
    assertEquals(version + Filter.backEnd(), said.strip());
    for (Path file : files(folder.resolve("m2"))) {
      Files.delete(file);
    }
    // The path of the folder itself may have the name, too.
    assertTrue(files(folder).stream().noneMatch(file -> folder.relativize(file).toString().contains("bfstore")), "nothing is left behind");
  }

  private static String readmesExample() throws IOException {
    Matcher example = Pattern.compile("^```java\n(.*?)^```", Pattern.MULTILINE | Pattern.DOTALL)
        .matcher(Files.readString(HERE.resolve("README.md")));
    assertTrue(example.find());
    String program = example.group(1);
    assertFalse(example.find());
    return program;
  }

  private static final String LIBRARY = "-Dbfstore.library=" + System.getenv("BFSTORE_LIBRARY");

  @Test
  void readmesExampleSaysWhatItsCommentsSayTwiceInARow() throws Exception {
    List<String> command = compiled(folder, readmesExample(), JAR, LIBRARY);
    for (int time = 0; time < 2; time++) {
      assertEquals("true false\n[true, false]\n", run(folder, command));
    }
  }

  @Test
  void withoutJnaTheErrorSaysWhatToAdd() throws Exception {
    List<String> command = compiled(folder, readmesExample(), JAR, LIBRARY, "-Dbfstore.backend=jna");
    command.replaceAll(word -> word.replace(":" + System.getenv("BFSTORE_JARS").split(":")[1], ""));
    Running running = Running.start(folder, "log", command);
    assertEquals(1, running.process().waitFor());
    String said = Files.readString(running.log());
    assertTrue(said.contains("Add its jar (net.java.dev.jna:jna)"), said);
  }

  /** Each process opens or makes one file at the same time, and one of them makes it. */
  @Test
  void readmesExampleRunsInFourProcessesAtOnce() throws Exception {
    String first = "users.add(\"alice\");";
    assertTrue(readmesExample().contains(first));
    String program = readmesExample().replace(first, "System.out.print(users.wasCreated() ? \"made \" : \"\"); " + first);
    List<String> command = compiled(folder, program, JAR, LIBRARY);
    for (int round = 0; round < ROUNDS; round++) {
      Path here = Files.createDirectory(folder.resolve("round" + round));
      List<Running> running = new ArrayList<>();
      for (int i = 0; i < PROCESSES; i++) {
        running.add(Running.start(here, "log" + i, command));
      }
      int made = 0;
      for (Running one : running) {
        String said = one.output();
        made += said.startsWith("made ") ? 1 : 0;
        assertEquals("true false\n[true, false]\n", said.replace("made ", ""));
      }
      assertEquals(1, made);
    }
  }

  private static Set<String> entries(String end) throws IOException {
    try (ZipFile jar = new ZipFile(ending(end).toFile())) {
      return jar.stream().filter(one -> !one.isDirectory()).map(ZipEntry::getName).collect(Collectors.toSet());
    }
  }

  private static Path ending(String end) {
    return PACKAGE.stream().filter(one -> one.getFileName().toString().matches("bfstore-[0-9.]+" + end)).findFirst().get();
  }

  @Test
  void theSourcesJarHasEverySource() throws Exception {
    Set<String> expected = new HashSet<>(Set.of("META-INF/MANIFEST.MF", "META-INF/LICENSE"));
    try (ZipFile jar = new ZipFile(ending("-sources.jar").toFile())) {
      for (String root : List.of("src", "src22")) {
        for (Path file : files(HERE.resolve(root))) {
          String name = HERE.resolve(root).relativize(file).toString();
          assertTrue(expected.add(name), name);
          assertArrayEquals(Files.readAllBytes(file), jar.getInputStream(jar.getEntry(name)).readAllBytes(), name);
        }
      }
    }
    assertEquals(expected, entries("-sources.jar"));
    assertTrue(expected.containsAll(Set.of("dev/bfstore/Filter.java", "dev/bfstore/Segments.java")));
  }

  /** Of the classes that are for Java 22 and later, Segments alone is public, and this Java may not be able to load them. */
  private static boolean isPublic(String className) throws ClassNotFoundException {
    try {
      return Modifier.isPublic(Class.forName(className, false, Filter.class.getClassLoader()).getModifiers());
    } catch (UnsupportedClassVersionError later) {
      return className.equals("dev.bfstore.Segments");
    }
  }

  @Test
  void theJavadocJarHasAPageForEachPublicClass() throws Exception {
    Set<String> pages = entries("-javadoc.jar");
    int classes = 0;
    for (String entry : entries(".jar")) {
      String name = entry.replace(".class", "");
      if (name.equals(entry) || name.endsWith("package-info")) {
        continue;
      }
      String page = name.replace('$', '.') + ".html";
      assertEquals(isPublic(name.replace('/', '.')), pages.contains(page), page);
      classes += pages.contains(page) ? 1 : 0;
    }
    assertTrue(classes > 40, "" + classes);
    assertTrue(pages.containsAll(Set.of("index.html", "dev/bfstore/package-summary.html", "META-INF/LICENSE")));
    try (ZipFile jar = new ZipFile(ending("-javadoc.jar").toFile())) {
      String page = new String(jar.getInputStream(jar.getEntry("dev/bfstore/Filter.html")).readAllBytes(), UTF_8);
      for (Method method : Filter.class.getDeclaredMethods()) {
        assertTrue(!Modifier.isPublic(method.getModifiers()) || page.contains("id=\"" + method.getName() + "("),
            method.getName());
      }
    }
  }

  @Test
  void theJarHasBothBackEndsAndTheLibrary() throws Exception {
    String listed = run(folder, List.of(home("JNA") + "/bin/jar", "--list", "--file", JAR.toString()));
    for (String entry : List.of("dev/bfstore/Filter.class", "dev/bfstore/JnaLibrary.class", "dev/bfstore/FfmLibrary.class",
        "dev/bfstore/Segments.class", "META-INF/LICENSE", "META-INF/maven/dev.bfstore/bfstore/pom.xml", "/libbfstore.so")) {
      assertTrue(listed.contains(entry), entry);
    }
    assertFalse(listed.contains("Test"));
  }
}

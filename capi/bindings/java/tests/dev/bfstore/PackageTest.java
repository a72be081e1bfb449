package dev.bfstore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The jar, installed into an empty Maven repository, suffices for a program; and README's example runs. */
class PackageTest extends Case {
  private static final Path HERE = ROOT.resolve("capi/bindings/java");
  private static final Path JAR = Path.of(System.getenv("BFSTORE_JAR"));
  private static final boolean FFM = Filter.backEnd().equals("ffm");

  private static String run(Path folder, List<String> command) throws IOException, InterruptedException {
    Path log = folder.resolve("log");
    int code = new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true)
        .redirectOutput(log.toFile()).start().waitFor();
    String said = Files.readString(log);
    assertEquals(0, code, command + "\n" + said);
    return said;
  }

  private static String home(String backEnd) {
    return System.getenv("BFSTORE_JAVA_WITH_" + backEnd);
  }

  /** Compiles and runs a program like a user: with the jar's own native library, unless an option names another one. */
  private static String compiledAndRun(Path folder, String program, Path jar, String... options) throws Exception {
    Files.writeString(folder.resolve("Example.java"), program);
    List<String> jars = new ArrayList<>(List.of(jar.toString(), "."));
    if (!FFM) {
      jars.add(System.getenv("BFSTORE_JARS").split(":")[1]); // JNA
    }
    String classpath = String.join(":", jars);
    run(folder, List.of(home("JNA") + "/bin/javac", "-cp", classpath, "Example.java"));
    List<String> command = new ArrayList<>(List.of(home(FFM ? "FFM" : "JNA") + "/bin/java", "-XX:TieredStopAtLevel=1",
        "-XX:-UsePerfData", "-Duser.home=" + folder, "-Djava.io.tmpdir=" + folder, "-cp", classpath));
    command.addAll(List.of(options));
    if (FFM) {
      command.add("--enable-native-access=ALL-UNNAMED");
    }
    command.add("Example");
    return run(folder, command);
  }

  private static List<Path> files(Path folder) throws IOException {
    try (Stream<Path> all = Files.walk(folder)) {
      return all.filter(Files::isRegularFile).collect(Collectors.toList());
    }
  }

  @Test
  void theJarInARepositoryIsUsedAndRemoved() throws Exception {
    String program = "import make_jar, pathlib, sys; print(make_jar.install(pathlib.Path(sys.argv[1]), sys.argv[2]))";
    List<String> install = List.of("/usr/bin/env", "PYTHONPATH=" + HERE, "/usr/bin/python3", "-B", "-c", program,
        JAR.toString(), folder + "/m2");
    Path installed = Path.of(run(folder, install).strip());
    String version = Filter.version();
    Path jar = installed.resolve("bfstore-" + version + ".jar");
    assertEquals(installed, folder.resolve("m2/dev/bfstore/bfstore/" + version));
    assertTrue(Files.readString(installed.resolve("bfstore-" + version + ".pom")).contains("<version>" + version));
    String said = compiledAndRun(folder, "import dev.bfstore.*;\n"
        + "class Example { public static void main(String[] a) { System.out.println(Filter.version() + Filter.backEnd()); } }",
        jar);
    assertEquals(version + Filter.backEnd(), said.strip());
    for (Path file : files(folder.resolve("m2"))) {
      Files.delete(file);
    }
    assertTrue(files(folder).stream().noneMatch(file -> file.toString().contains("bfstore")), "nothing is left behind");
  }

  @Test
  void readmesExampleSaysWhatItsCommentsSay() throws Exception {
    Matcher example = Pattern.compile("^```java\n(.*?)^```", Pattern.MULTILINE | Pattern.DOTALL)
        .matcher(Files.readString(HERE.resolve("README.md")));
    assertTrue(example.find());
    String body = example.group(1);
    assertFalse(example.find());
    int imports = body.lastIndexOf("import ");
    int end = body.indexOf('\n', imports);
    String program = body.substring(0, end) + "\nclass Example { public static void main(String[] a) throws Exception {"
        + body.substring(end) + "} }";
    assertEquals("true false\n[true, false]\n", compiledAndRun(folder, program, JAR, "-Dbfstore.library=" + System.getenv("BFSTORE_LIBRARY")));
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

"""The compiler of Java's binding refuses what has no Javadoc, and asks for no line that only repeats a parameter's name.

Argument: the root of the repository.
"""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(sys.argv.pop(1)) / "capi" / "bindings" / "java"))
import make_jar  # found only now


@unittest.skipUnless(make_jar.home_with_jna(), "no javac of Java 17 or later is on this machine. Debian's openjdk-17-jdk-headless has it")
class Javadoc(unittest.TestCase):
    def compile(self, member):
        """Returns the compiler's complaint about a class with that member; empty if it has none."""
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "One.java"
            source.write_text("package x; /** One. */ public final class One { private One() {} " + member + " }\n", "utf-8")
            try:
                make_jar.javac(folder, folder, [source])
            except SystemExit as refusal:
                return refusal.code
        return ""

    def test_a_parameter_needs_no_line_of_its_own(self):
        self.assertEqual(self.compile("/** The same. */ public static int same(int number) { return number; }"), "")

    def test_a_public_member_without_javadoc_is_refused(self):
        self.assertIn("no comment", self.compile("public static int same(int number) { return number; }"))

    def test_warnings_and_errors_are_refused_and_told_alone(self):
        for told, member in (("[rawtypes]", "/** The same. */ public static Object same(java.util.List many) { return many; }"),
                             ("cannot find symbol", "/** The same. */ public static Object same(int number) { return other; }"),
                             ("reference not found", "/** The {@link Other}. */ public static int same(int number) { return number; }")):
            said = self.compile(member)
            self.assertIn(told, said)
            self.assertNotIn("@param", said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)

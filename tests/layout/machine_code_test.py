"""The compiled code of the layout room. Loops over many digests prefetch (gcc 12 drops helpers that only do that). The
kernels' objects define no weak symbol, whose copy for one instruction set the linker might keep for the whole program.
A single lookup reaches its kernel by jumps, without calls. An inlined one stays in registers.

Arguments: the static library, the compiler's name (gcc or clang), inlined_loop.cpp compiled for AVX2 and for AVX-512, and
both without optimization.
"""
import re
import subprocess
import sys
import unittest

LIBRARY, COMPILER, *INLINED_LOOPS = sys.argv[1:]
KERNELS = ("blocked_avx2", "blocked_avx512", "counting_avx2", "counting_avx512")
WINDOWS = ("window_avx2", "window_avx512")  # each with the functions of three layouts


def output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def members(text: str) -> dict:
    """Returns {name of an object in an archive: what a tool prints of it}."""
    pieces = re.split(r"^(?:\S*\()?([\w.-]+\.o)\)?:.*$", text, flags=re.M)
    return dict(zip(pieces[1::2], pieces[2::2]))


def loops(code: str) -> list:
    """Returns the instructions of each loop of a function, by its jumps back."""
    lines = [(int(at, 16), line) for at, line in re.findall(r"^ +([0-9a-f]+):\t(.*)$", code, re.M)]
    jumps = [(at, int(to[1], 16)) for at, line in lines if (to := re.match(r"j\w+ +([0-9a-f]+) ", line))]
    return [[line for at, line in lines if to <= at <= end and not re.match(r"(data16|cs|nop|xchg +%ax,%ax)", line)]
            for end, to in jumps if to < end]


class MachineCode(unittest.TestCase):
    symbols = members(output("nm", "-C", LIBRARY))
    code = members(output("objdump", "-dC", "--no-show-raw-insn", LIBRARY))

    def functions(self, member: str, name: str) -> dict:
        """Returns the code of the member's functions whose name fits."""
        found = re.findall(r"^\w+ <([^\n]*)>:\n(.*?)(?=\n\n|\Z)", self.code[self.member(member)], re.M | re.S)
        return {function: code for function, code in found if re.search(name, function)}

    def member(self, name: str) -> str:
        found = [member for member in self.code if member.endswith(f"{name}.cpp.o")]
        self.assertEqual(len(found), 1, name)
        return found[0]

    def test_every_loop_over_digests_prefetches(self) -> None:
        for member in ("blocked", "classic", "counting", "window", *KERNELS, *WINDOWS):
            # The scalar tables' compilers may keep a loop in the function that calls it.
            loops = self.functions(member, r"\b(ask|change_all|add_all_now)<")
            steps = self.functions(member, r"_step\b")
            for what in (r"ask<|contains_step", "Alone", "Shared"):
                named = ([code for function, code in loops.items() if re.search(what, function)] or
                         [code for function, code in steps.items() if re.search(what, function)])
                self.assertTrue(named, f"{member}: {what}")
                for code in named:  # one before the loop over the digests, and one in it
                    self.assertGreaterEqual(code.count("\tprefetch"), 2, f"{member}: {what}")

    def test_kernels_use_their_instructions(self) -> None:
        for member, register in ((name, "ymm" if name.endswith("avx2") else "zmm") for name in (*KERNELS, *WINDOWS)):
            code = "".join(self.functions(member, "ask<|change_all<|add_all_now<|_one").values())
            self.assertIn(register, code)
            self.assertRegex(code, "vpcmpeqq" if member in WINDOWS else "vperm[a-z0-9]+")
        for member in ("blocked", "window"):
            self.assertNotRegex(self.code[self.member(member)], "[yz]mm")

    def test_the_only_writer_stores_halves_of_lines_and_no_single_words(self) -> None:
        for member in ("blocked_avx2", "blocked_avx512"):
            adds = self.functions(member, r"\bchange_(all|one)<.*\bAlone\b")
            self.assertGreaterEqual(len(adds), 2, member)
            for name, code in adds.items():
                self.assertRegex(code, r"\tvmovdqa\w* +%ymm\w+,[^\n]*\(", name)
                self.assertNotRegex(code, r"\t(mov|or|bts)\w* +[%$]\w+,\w*\((?!%r[sb]p)", name)

    # No test of answers can see a missing fence each time: a reader in another process, which knows that the add has
    # returned, would say "no" only as long as the CPU keeps the store of the bits to itself.
    def test_an_add_of_the_only_writer_has_one_fence_and_no_other_locked_instruction(self) -> None:
        adds = self.functions("store_home_ask", r"\bAsk::add\(")
        self.assertEqual(len(adds), 1)
        (code,) = adds.values()
        fence = r"\tlock or[lq] +\$0x0,[^\n]*\(%rsp\)|\tmfence"
        self.assertEqual(len(re.findall(fence, code)), 1)
        # Only a thread that asks the kernel for failed writes exchanges the time of the next question.
        self.assertNotRegex(re.sub(fence, "", code), r"\txchg +%\w+,[^\n]*\(|\tlock (?!cmpxchg)")

    # The same of an add whose epoch ends: it would look at the epoch before its bits are seen.
    def test_an_add_looks_at_the_epoch_again_after_a_full_fence(self) -> None:
        for member in ("window", *WINDOWS):
            adds = self.functions(member, r"\badd_(now|all_now)<")
            self.assertGreaterEqual(len(adds), 3 * 2 * 10, member)  # of each layout, shared and alone
            for name, code in adds.items():
                self.assertRegex(code, r"\tlock or[lq] +\$0x0,[^\n]*\(%rsp\)|\tmfence", name)

    def test_kernels_for_few_probes_have_no_branch_but_the_doubt(self) -> None:
        for member in ("blocked_avx2", "blocked_avx512"):
            kernels = self.functions(member, r"\bcontains_one<[1-8]u?>")
            self.assertEqual(len(kernels), 8, member)
            for name, code in kernels.items():
                self.assertIn("\tvptest ", code, name)
                self.assertEqual(len(re.findall(r"\tj[a-z]+ ", code)), 1, name)
                self.assertNotRegex(code, r"\t(call|push|sub .*rsp)", name)

    def test_single_lookups_jump_to_the_kernel_without_a_stack_frame(self) -> None:
        ways = self.functions("bfstore", r"^bfs_contains(_digest)?$")
        self.assertEqual(len(ways), 2)
        self.assertRegex(ways["bfs_contains_digest"], r"\tjmp +\*")
        self.assertNotRegex(ways["bfs_contains_digest"], r"\t(lea|add) ")  # a handle begins with the kernel's arguments
        if COMPILER == "gcc":  # clang 14 calls XXH3
            answers = self.functions("store_ask_filter", r"Filter::answer\(")
            self.assertEqual(len(answers), 1)
            self.assertRegex("".join(answers.values()), r"\tjmp +\*0x[0-9a-f]+\(%rdi\)")  # so does an Ask
            ways.update(answers)
        for name, code in ways.items():
            self.assertNotRegex(code, r"\t(call|push|sub .*rsp)", name)

    def test_an_inlined_lookup_loads_a_digest_a_line_and_two_words_and_nothing_again(self) -> None:
        for library, most in zip(INLINED_LOOPS, {"gcc": (28, 23), "clang": (30, 26)}[COMPILER], strict=False):
            functions = output("objdump", "-d", "--no-show-raw-insn", library).split("\n\n")
            code = next(one for one in functions if re.match(r"[0-9a-f]+ <_Z12count_maybes", one))
            # Lookups in a loop, and not the passes of a lookup of many probes.
            lookups = [loop for loop in loops(code) if any(line.startswith("mul") for line in loop)]
            few = min((loop for loop in lookups if "\n".join(loop).count("vptest") == 1), key=len)
            self.assertLessEqual(len(few), most, library)
            loads = [line for line in few if re.search(r"\(", line) and not line.startswith("lea")]
            self.assertEqual(len(loads), 5, few)  # two are the line's halves
            self.assertNotRegex("\n".join(few), r"\bcall|%r[sb]p\b\)")

    def test_an_inlined_lookup_defines_no_weak_symbol(self) -> None:
        self.assertEqual(len(INLINED_LOOPS), 4)
        for library in INLINED_LOOPS:
            symbols = output("nm", "-C", library)
            self.assertIn("ask_once", symbols)
            self.assertEqual(re.findall(r"^\w* [VWuvw] (bfstore.*)$", symbols, re.M), [], library)

    def test_kernels_define_no_weak_symbol(self) -> None:
        for name in (*KERNELS, *WINDOWS, "blocked_neon", "counting_neon"):
            weak = re.findall(r"^\w* [VWuvw] (.*)$", self.symbols[self.member(name)], re.M)
            # gcc's reference to the personality routine: an address, no code.
            self.assertEqual([symbol for symbol in weak if symbol != "DW.ref.__gxx_personality_v0"], [], name)

    def test_nobody_clones_functions_by_target(self) -> None:
        for member, symbols in self.symbols.items():
            self.assertNotRegex(symbols, r"\.(resolver|ifunc|avx\w*|default)\b| i ", member)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)

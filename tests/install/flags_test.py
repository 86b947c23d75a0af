"""With which flags a cross build compiles, and that its kernels compile with others, too: flags_test.py BUILD_FOLDER

SPDX-License-Identifier: Apache-2.0
"""
import json
import pathlib
import shlex
import shutil
import subprocess
import sys
import unittest

BUILD = pathlib.Path(sys.argv[1])
COMMANDS = [(pathlib.Path(entry["file"]), [word for word in shlex.split(entry["command"]) if not word.endswith("ccache")])
            for entry in json.loads((BUILD / "compile_commands.json").read_text())]
RUNTIME = [(file, words) for file, words in COMMANDS if "/runtime/" in str(file)]
KERNELS = [(file, words) for file, words in RUNTIME if file.parent.name in ("simd", "int8")]
COMPILER = KERNELS[0][1][0] if KERNELS else ""
ARM32 = COMPILER.endswith("arm-linux-gnueabihf-g++")
CLANG = "clang++-14"


def compile_with(words: list[str], *flags: str) -> str:
    """What the compiler says to a command with further flags; the file's own flags stay the last word, as in a build."""
    out = words.index("-o")
    done = subprocess.run([words[0], *flags, *words[1:out], "-o", "/dev/null", *words[out + 2:]], cwd=BUILD, capture_output=True, text=True)
    return done.stderr if done.returncode == 0 else f"answered {done.returncode}\n{done.stderr[-3000:]}"


class Flags(unittest.TestCase):
    def test_build_01_nothing_is_compiled_for_this_machine(self):
        self.assertTrue(COMMANDS)
        for file, words in COMMANDS:
            self.assertFalse([word for word in words if word.endswith("=native")], file)

    def clang(self):
        self.assertTrue(shutil.which(CLANG), f"{CLANG} is missing: package clang-14")
        target = COMPILER.split("/")[-1].removesuffix("-g++")
        for file, words in KERNELS:
            self.assertEqual(compile_with([CLANG, f"--target={target}", *words[1:]], "-Wno-unknown-warning-option"), "", file)


class Flags32(Flags):
    def test_arm_06_no_file_asks_for_more_than_neon(self):
        for file, words in COMMANDS:
            units = [word for word in words if word.startswith("-mfpu=")]
            self.assertTrue(units and all(unit == "-mfpu=neon" for unit in units), (file, units))

    def test_arm_03_fast_math_compiles_or_is_refused_by_name(self):
        for file, words in KERNELS:
            self.assertRegex(compile_with(words, "-ffast-math"), r"^$|heed gives the same bits everywhere and cannot be compiled with -ffast-math", file)

    def test_arm_03_a_program_without_neon_compiles(self):
        for file, words in RUNTIME:
            if file.parent.name in ("ref", "kernels"):
                self.assertEqual(compile_with([word for word in words if not word.startswith("-mfpu=")], "-mfpu=vfpv3-d16"), "", file)

    def test_arm_03_clang(self):
        self.clang()


class Flags64(Flags):
    def test_arm_04_a_processor_with_sve_and_clang(self):
        for file, words in KERNELS:
            self.assertEqual(compile_with([word for word in words if not word.startswith("-march=")], "-mcpu=neoverse-v1+i8mm"), "", file)
        self.clang()


if __name__ == "__main__":
    # A build has the cases of its processor.
    unittest.main(argv=sys.argv[:1], defaultTest="Flags32" if ARM32 else "Flags64" if "aarch64" in COMPILER else "Flags")

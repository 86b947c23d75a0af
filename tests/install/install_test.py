"""Programs outside heed that use it installed (find_package) and from its sources (add_subdirectory): README.md's examples.

install_test.py BUILD_FOLDER
SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "host"
sys.path.insert(0, str(ROOT / "tools" / "golden"))
import tiny  # noqa: E402
from examples import command, examples, write_consumer  # noqa: E402

TEXT = "the cat sat on the mat."


class Consumers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls._folder = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls._folder.name)
        cls.prefix = cls.folder / "prefix"
        command("cmake", "--install", BUILD, "--prefix", cls.prefix)
        tiny.write_bert(cls.folder / "bert")
        cls.model = cls.folder / "bert.heed"
        command(BUILD / "heed", "convert", cls.folder / "bert", "-o", cls.model)
        result = json.loads(command(BUILD / "heed", "run", cls.model, "--text", TEXT, "--json"))
        cls.expected = [tiny.as_f32(value) for value in result["outputs"][0]["data"][0]]

    @classmethod
    def tearDownClass(cls):
        cls._folder.cleanup()

    def consumer(self, name: str, programs: tuple[str, ...], *options):
        """Builds some of the examples in a folder of their own and runs them."""
        source, build = self.folder / name, self.folder / f"{name}-build"
        self.assertEqual(set(examples()), {"embed.c", "embed.cpp"})
        write_consumer(source)
        command("cmake", "-G", "Ninja", "-S", source, "-B", build, "-D", "CMAKE_BUILD_TYPE=Release", f"-DMODEL_SOURCE={self.folder / 'bert'}",
                f"-DHEED_HOST_TOOL={BUILD / 'heed'}", *options)
        command("cmake", "--build", build, "--target", *programs)
        for program in programs:
            printed = command(build / program, *(() if program == "embedded" else (self.model,)), TEXT)
            self.assertEqual([tiny.as_f32(float(word)) for word in printed.split()], self.expected, program)

    def test_build_11_find_package_and_whole_archives(self):
        # Neither FlatBuffers nor xsimd is looked for.
        self.consumer("found", ("embed_c", "embed_cpp", "embed_whole", "embedded"), f"-DCMAKE_PREFIX_PATH={self.prefix}", "-DCMAKE_DISABLE_FIND_PACKAGE_xsimd=ON",
                      "-DCMAKE_DISABLE_FIND_PACKAGE_FlatBuffers=ON", "-DCMAKE_DISABLE_FIND_PACKAGE_flatbuffers=ON")

    def test_build_11_add_subdirectory_and_optimization_when_linking(self):
        # The portable kernels are enough here: what is tested is the build. Each program takes long to link.
        self.consumer("added", ("embed_cpp", "embed_whole", "embedded"), f"-DHEED_SOURCE={ROOT}", "-DHEED_ISAS=ref", "-DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON", "-DCMAKE_POLICY_DEFAULT_CMP0069=NEW")

    def test_a_build_with_no_instruction_set_is_refused(self):
        done = subprocess.run(["cmake", "-G", "Ninja", "-S", ROOT, "-B", self.folder / "none", "-DHEED_ISAS=m68k", "-DHEED_BUILD_TOOLS=OFF",
                               "-DHEED_BUILD_TESTS=OFF"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("HEED_ISAS names no instruction set of this processor", " ".join(done.stderr.split()))

    def test_what_is_installed(self):
        files = sorted(path.relative_to(self.prefix).as_posix() for path in self.prefix.rglob("*") if path.is_file())
        headers = [file for file in files if file.endswith((".h", ".hpp"))]
        self.assertEqual(headers, sorted(["include/heed_host.h"] + [f"include/heed/{path.name}" for path in (ROOT / "runtime/include/heed").iterdir()]))
        for file in files:
            if file.endswith((".cmake", ".h", ".hpp")):
                text = (self.prefix / file).read_text()
                self.assertNotIn(str(ROOT), text, file)
                for name in ("heed_dep", "heed_schema", "#include <xsimd", "#include <flatbuffers", "find_dependency(xsimd", "find_dependency(FlatBuffers"):
                    self.assertNotIn(name, text, file)

    def test_build_12_public_headers_twice_in_two_languages(self):
        # The consumers link two files of each language that include them; alone they are valid C99, too.
        for header in (ROOT / "runtime/include/heed/heed.h", ROOT / "platforms/host/heed_host.h"):
            command("cc", "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", ROOT / "runtime/include", "-x", "c", header)

    def test_example_of_the_header(self):
        header = (ROOT / "runtime/include/heed/heed.h").read_text()
        lines = [line[7:] for line in header.split("*/")[0].splitlines() if line.startswith(" *     ") and "..." not in line]
        self.assertIn("heed_run(&session, &pass, NULL);", lines)
        program = self.folder / "header.c"
        program.write_text("#include <stdlib.h>\n#include <heed/heed.h>\nvoid example(const void* bytes, uint64_t size, heed_pass pass);\n"
                           "void example(const void* bytes, uint64_t size, heed_pass pass) {\n" + "\n".join(lines) + "\n}\n")
        command("cc", "-std=c11", "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", ROOT / "runtime/include", program)

    def test_a_project_without_cpp_is_told_what_heed_host_takes(self):
        source = self.folder / "plain_c"
        source.mkdir()
        (source / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(app LANGUAGES C)\nfind_package(heed REQUIRED)\n")
        done = subprocess.run(["cmake", "-S", source, "-B", source / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}"], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("LANGUAGES C CXX", done.stderr)

    def test_cpp_example_is_short(self):
        self.assertLessEqual(len(examples()["embed.cpp"].strip().splitlines()), 20)


if __name__ == "__main__":
    for name in ("DESTDIR", "HEED_ISA"):
        os.environ.pop(name, None)
    unittest.main(argv=sys.argv[:1])

"""heed for another processor, installed into a board's file system and used from there: sysroot_test.py BUILD_FOLDER TOOLCHAIN EMULATOR ...

The consumer finds heed there, turns a checkpoint into a model with preset host's program while it is built, and runs in the emulator.
SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD, TOOLCHAIN, EMULATOR = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
HOST_TOOL = ROOT / "build" / "host" / "heed"
sys.path.insert(0, str(ROOT / "tools" / "golden"))
import tiny  # noqa: E402
from examples import command, write_consumer  # noqa: E402

TEXT = "the cat sat on the mat."


class Sysroot(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not HOST_TOOL.exists():
            raise AssertionError(f"{HOST_TOOL} is not there: build preset host first")
        cls._folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls._folder.cleanup)
        cls.folder = pathlib.Path(cls._folder.name)
        cls.sysroot = cls.folder / "sysroot"
        command("cmake", "--install", BUILD, "--prefix", "/usr", DESTDIR=str(cls.sysroot))
        tiny.write_bert(cls.folder / "bert")
        write_consumer(cls.folder / "consumer")

    def configure(self, name: str, *options) -> pathlib.Path:
        build = self.folder / name
        command("cmake", "-G", "Ninja", "-S", self.folder / "consumer", "-B", build, "-DCMAKE_BUILD_TYPE=Release",
                f"-DCMAKE_TOOLCHAIN_FILE={TOOLCHAIN}", f"-DCMAKE_FIND_ROOT_PATH={self.sysroot}", f"-DMODEL_SOURCE={self.folder / 'bert'}", *options)
        return build

    def test_build_05_the_converter_is_the_one_that_runs_here(self):
        build = self.configure("found", f"-DHEED_HOST_TOOL={HOST_TOOL}")
        command("cmake", "--build", build)
        self.assertIn(str(self.sysroot), re.search(r"^heed_DIR:PATH=(.*)$", (build / "CMakeCache.txt").read_text(), re.M)[1])
        model = build / "tiny.heed"
        told = json.loads(command(HOST_TOOL, "run", model, "--text", TEXT, "--json"))
        expected = [tiny.as_f32(value) for value in told["outputs"][0]["data"][0]]
        for program, *arguments in (("embed_c", model, TEXT), ("embed_cpp", model, TEXT), ("embedded", TEXT)):
            printed = command(*EMULATOR, build / program, *arguments)
            self.assertEqual([tiny.as_f32(float(word)) for word in printed.split()], expected, program)

    def test_build_05_a_program_of_the_board_is_refused_as_converter(self):
        # Where the system starts programs of other processors by itself, this one would do.
        with self.assertRaisesRegex(AssertionError, r"(?s)/bin/false is no heed program that runs on this\s+machine .*HEED_HOST_TOOL"):
            self.configure("refused", "-DHEED_HOST_TOOL=/bin/false")

    def test_build_02_flatc_is_a_program_of_this_machine(self):
        flatc = re.search(r"^(?:HEED_FLATC:FILEPATH|_heed_flatc:FILEPATH)=(.+)$", (BUILD / "CMakeCache.txt").read_text(), re.M)[1]
        self.assertRegex(command(flatc, "--version"), r"^flatc version")
        self.assertTrue((BUILD / "generated" / "model_generated.h").exists())


if __name__ == "__main__":
    os.environ.pop("HEED_ISA", None)
    unittest.main(argv=sys.argv[:1])

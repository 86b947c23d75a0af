"""The heed program on odd machines, with a model file that is always there: board_test.py [EMULATOR ARGUMENT ...] PROGRAM

SPDX-License-Identifier: Apache-2.0
"""
import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
GOLDEN = ROOT / "tests" / "golden" / "v1"
COMMAND = sys.argv[1:]
EMULATED = len(COMMAND) > 1
NOBODY = 65534


def heed(*arguments, emulator_flags=(), **options) -> subprocess.CompletedProcess:
    command = [COMMAND[0], *emulator_flags, *COMMAND[1:]] if EMULATED else COMMAND
    return subprocess.run([*map(str, command), *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, **options)


def digest(model: pathlib.Path, tokens: str, precision: str, *arguments, **options) -> str:
    done = heed("run", model, "--tokens", tokens, "--precision", precision, "--digest", *arguments, **options)
    return done.stdout.splitlines()[-1] if done.returncode == 0 else done.stderr


class Board(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls._folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls._folder.cleanup)
        cls.folder = pathlib.Path(cls._folder.name)
        cls.isas = json.loads(heed("isa", "--json").stdout)["isas"]
        cls.running = [isa["name"] for isa in cls.isas if isa["runs"]]
        with (GOLDEN / "digests.csv").open(newline="") as file:
            cls.expected = [(row["tokens"].replace(" ", ","), row["precision"], row["digest"]) for row in csv.DictReader(file)]

    def test_a_file_of_version_1_gives_its_bits_with_every_instruction_set(self):
        for isa in self.running:
            for tokens, precision, expected in self.expected:
                self.assertEqual(digest(GOLDEN / "tiny.heed", tokens, precision, "--isa", isa), expected, (isa, tokens, precision))

    def test_threads_and_small_tiles_give_the_same_bits(self):
        for tokens, precision, expected in self.expected:
            self.assertEqual(digest(GOLDEN / "tiny.heed", tokens, precision, "--threads", "4", "--tile-rows", "8"), expected)

    def test_an_instruction_set_that_is_not_there_is_refused_with_those_that_are(self):
        absent = [isa["name"] for isa in self.isas if not isa["runs"]] + ["sse9"]
        choices = ", ".join(self.running)
        for isa in absent:
            for arguments, environment in ((["--isa", isa], {}), ([], {"HEED_ISA": isa})):
                done = heed("run", GOLDEN / "tiny.heed", "--tokens", "2,3", *arguments, env={**os.environ, **environment})
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertRegex(done.stderr, rf"^heed: error: .*'{isa}'.*; there are {choices}\n$")

    def test_pages_of_4_16_and_64_kib(self):
        # Only an emulator can change the size of a page. 32-bit ARM has pages of 4 KiB, and its emulator stops itself at 64.
        sizes = (4096, 16384) if EMULATED and COMMAND[0].endswith("qemu-arm") else (4096, 16384, 65536)
        for page in sizes if EMULATED else (os.sysconf("SC_PAGESIZE"),):
            for tokens, precision, expected in self.expected:
                flags = ("-p", str(page)) if EMULATED else ()
                self.assertEqual(digest(GOLDEN / "tiny.heed", tokens, precision, emulator_flags=flags), expected, page)

    def test_a_model_where_nothing_may_be_written(self):
        locked = self.folder / "locked"
        locked.mkdir()
        shutil.copy(GOLDEN / "tiny.heed", locked)
        (locked / "tiny.heed").chmod(0o444)
        locked.chmod(0o555)
        # The superuser may write anywhere: then the program runs as nobody, who has to reach it.
        options = {}
        if os.geteuid() == 0:
            self.folder.chmod(0o755)
            copy = self.folder / "heed"
            shutil.copy(COMMAND[-1], copy)
            copy.chmod(0o755)
            options = {"user": NOBODY}
        tokens, precision, expected = self.expected[0]
        original = COMMAND[-1]
        try:
            COMMAND[-1] = str(copy) if options else original
            self.assertEqual(digest(locked / "tiny.heed", tokens, precision, cwd=locked, **options), expected)
            self.assertEqual(heed("verify", locked / "tiny.heed", cwd=locked, **options).returncode, 0)
        finally:
            COMMAND[-1] = original
            locked.chmod(0o755)

    def test_a_copy_that_was_cut_off(self):
        whole = (GOLDEN / "tiny.heed").read_bytes()
        path = self.folder / "cut.heed"
        for length in sorted({0, 1, 7, len(whole) - 1, *range(64, len(whole), 192)}):
            path.write_bytes(whole[:length])
            done = heed("run", path, "--tokens", "2,3")
            self.assertEqual((done.returncode, done.stdout), (1, ""), length)
            self.assertRegex(done.stderr, rf"^heed: error: {re.escape(str(path))}: [^\n]+\n$")


if __name__ == "__main__":
    os.environ.pop("HEED_ISA", None)
    unittest.main(argv=sys.argv[:1])

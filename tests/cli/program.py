"""What the tests of the heed program share: running it, and tiny models to run it on. SPDX-License-Identifier: Apache-2.0"""
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools" / "golden"))
import tiny  # noqa: E402

HOST_HEED = str(ROOT / "build" / "host" / "heed")
HEED = os.environ.get("HEED_PROGRAM", HOST_HEED)
# What a program of another processor runs in. Such a program converts nothing: preset host's does.
EMULATOR = os.environ.get("HEED_EMULATOR", "").split()


@dataclasses.dataclass
class Done:
    code: int
    out: bytes
    err: str

    def text(self) -> str:
        return self.out.decode()

    def json(self):
        return json.loads(self.out.decode("utf-8", "strict"))


def run(*arguments, env=None, stdout=subprocess.PIPE, stdin: bytes = b"") -> Done:
    """Runs `heed ARGUMENTS`; arguments may be bytes."""
    command = [HOST_HEED] if EMULATOR and arguments[0] == "convert" else [*EMULATOR, HEED]
    done = subprocess.run([*command, *arguments], input=stdin, stdout=stdout, stderr=subprocess.PIPE,
                          env={**os.environ, **(env or {})}, timeout=120)
    return Done(done.returncode, done.stdout or b"", done.stderr.decode("utf-8", "replace"))


class ProgramTest(unittest.TestCase):
    """A folder of its own, with tiny models converted once for the class: `self.model(name)`."""

    @classmethod
    def setUpClass(cls):
        cls._folder = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls._folder.name)
        tiny.write_all(cls.folder / "sources")

    @classmethod
    def tearDownClass(cls):
        cls._folder.cleanup()

    @classmethod
    def source(cls, name: str) -> str:
        return str(cls.folder / "sources" / name)

    @classmethod
    def model(cls, name: str, weights: str = "q8c") -> str:
        path = cls.folder / f"{name}-{weights}.heed"
        if not path.exists():
            done = run("convert", cls.source(name), "-o", str(path), "--weights", weights)
            assert done.code == 0, done.err
        return str(path)

    def good(self, *arguments, **options) -> Done:
        done = run(*arguments, **options)
        self.assertEqual((done.code, done.err), (0, ""))
        return done

    def bad(self, code: int, *arguments, **options) -> str:
        """Fails with `code`, with exactly one line on standard error and nothing on standard output; returns the line."""
        done = run(*arguments, **options)
        self.assertEqual(done.code, code, done.err)
        self.assertEqual(done.out, b"")
        self.assertTrue(done.err.startswith("heed: error: "), done.err)
        self.assertEqual(done.err.count("\n"), 1, done.err)
        return done.err

    def left(self, folder: pathlib.Path) -> list[str]:
        return sorted(path.name for path in folder.iterdir())

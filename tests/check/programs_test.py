"""tools/programs.py: what a program prints, and what is said where it could not run. SPDX-License-Identifier: Apache-2.0"""
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
from programs import Failure, command  # noqa: E402


class CommandTest(unittest.TestCase):
    def failure(self, *arguments, **options) -> str:
        with self.assertRaises(Failure) as caught:
            command(*arguments, **options)
        return str(caught.exception)

    def test_gives_what_is_printed(self):
        self.assertEqual(command("cat", pathlib.Path("-"), stdin="some text"), "some text")
        self.assertEqual(command("sh", "-c", "echo $HEED_WORD", HEED_WORD="one"), "one\n")

    def test_says_what_failed(self):
        self.assertEqual(self.failure("sh", "-c", "echo seen; echo wrong >&2; exit 3"), "sh -c echo seen; echo wrong >&2; exit 3 answered 3\nseen\nwrong\n")
        self.assertEqual(self.failure("no-such-program"), "no-such-program: No such file or directory")
        self.assertEqual(self.failure("sleep", 9, patience=0.1), "sleep 9 still ran after 0.1 seconds")


if __name__ == "__main__":
    unittest.main()

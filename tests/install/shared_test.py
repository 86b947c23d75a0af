"""Shared objects made on a new system load on an old one: shared_test.py CXX LIBRARY.a ...

Links each static library, which has the objects that a shared one would have, into a shared object and reads which functions it shows
(those of the public headers) and which versions of the C and C++ libraries' functions it asks for: no newer than those of
Debian 10 (glibc 2.28, GCC 8).
SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

COMPILER, LIBRARIES = sys.argv[1], [pathlib.Path(path) for path in sys.argv[2:]]
NEWEST = {"GLIBC": (2, 28), "GLIBCXX": (3, 4, 25), "CXXABI": (1, 3, 11)}
NEEDED = re.compile(r"\bUND\s+(\S+?)@(GLIBC|GLIBCXX|CXXABI)_([\d.]+)")
OWN = re.compile(r"heed_\w+$|_ZT?\w?N?K?St\w+$")  # templates of the C++ library are always shown
SHOWN = re.compile(r"\b(?:GLOBAL|WEAK) +DEFAULT +\d+ (\S+)")


def too_new(listing: str) -> list[str]:
    return [f"{name}@{family}_{version}" for name, family, version in NEEDED.findall(listing)
            if tuple(map(int, version.split("."))) > NEWEST[family]]


def needed(folder: pathlib.Path, *what) -> str:
    made = folder / "made.so"
    subprocess.run([COMPILER, "-shared", "-fPIC", "-o", made, *what], check=True)
    return subprocess.run(["readelf", "--wide", "--dyn-syms", made], check=True, capture_output=True, text=True).stdout


class SharedObjects(unittest.TestCase):
    def test_load_on_older_systems(self):
        for library in LIBRARIES:
            with self.subTest(library.name), tempfile.TemporaryDirectory() as folder:
                listing = needed(pathlib.Path(folder), "-Wl,--whole-archive", library, "-Wl,--no-whole-archive")
                shown = SHOWN.findall(listing)
                self.assertTrue(shown and all(map(OWN.match, shown)) and any(name.startswith("heed_") for name in shown), f"shows {shown}")
                self.assertEqual(too_new(listing), [])

    def test_newer_functions_are_found(self):
        listing = "".join(f"     {i}: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND {name} (2)\n" for i, name in enumerate(
            ("memcpy@GLIBC_2.28", "pthread_create@GLIBC_2.34", "_ZSt4cout@GLIBCXX_3.4.30", "strlen@GLIBC_2.4", "x@CXXABI_1.3.9")))
        self.assertEqual(too_new(listing), ["pthread_create@GLIBC_2.34", "_ZSt4cout@GLIBCXX_3.4.30"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

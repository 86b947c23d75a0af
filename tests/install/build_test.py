"""What the build refuses, and what the libraries need from outside: build_test.py LIBRARY.a... SPDX-License-Identifier: Apache-2.0"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LIBRARIES = sys.argv[1:]
# What a C library has even without an operating system: schemas, sizes and tables are compiled in.
NEEDED_FROM_OUTSIDE = {"memcpy", "memset", "memmove", "memcmp", "strlen", "strcmp", "strncmp", "sqrtf", "_GLOBAL_OFFSET_TABLE_"}


def symbols(flag: str) -> set[str]:
    out = subprocess.run(["nm", flag, *LIBRARIES], check=True, capture_output=True, text=True).stdout
    return {line.split()[-1] for line in out.splitlines() if re.search(r" [A-Za-z] \S+$", line)}


class Build(unittest.TestCase):
    def test_build_03_flatc_of_another_version_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            flatc = pathlib.Path(folder) / "flatc"
            flatc.write_text("#!/bin/sh\necho flatc version 1.12.0\n")
            flatc.chmod(0o755)
            done = subprocess.run(["cmake", "-G", "Ninja", "-S", ROOT, "-B", f"{folder}/build", f"-DHEED_FLATC={flatc}", "-DHEED_BUILD_TESTS=OFF"],
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        message = " ".join(done.stderr.split())
        self.assertRegex(message, r"1\.12\.0.*headers are version \d+\.\d+\.\d+")

    @unittest.skipUnless(LIBRARIES, "no libraries given")
    def test_build_06_the_libraries_need_next_to_nothing(self):
        missing = {name for name in symbols("-u") - symbols("--defined-only") if not name.startswith("heed_")}
        self.assertLessEqual(missing, NEEDED_FROM_OUTSIDE)

    @unittest.skipUnless(LIBRARIES, "no libraries given")
    def test_build_07_no_exceptions_type_information_or_heap(self):
        forbidden = re.compile(r"__gxx_personality|^_ZT[ISV]|__cxa_|^_Zn[wa]|^_Zd[la]|^malloc$|^free$|^abort$|iostream|locale|__stack_chk")
        self.assertEqual([name for name in sorted(symbols("-u") | symbols("--defined-only")) if forbidden.search(name)], [])

    @unittest.skipUnless(LIBRARIES, "no libraries given")
    def test_arena_11_no_static_buffers(self):
        out = subprocess.run(["readelf", "-SW", *LIBRARIES], check=True, capture_output=True, text=True).stdout
        sections = re.findall(r"\] (\S+) +(?:PROGBITS|NOBITS) +[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+) ", out)
        self.assertTrue(sections)
        # Tables of pointers (.data.rel.ro) are constant once they are loaded.
        writable = {name: int(size, 16) for name, size in sections if re.match(r"\.t?(bss|data)(?!\.rel\.ro)", name)}
        self.assertEqual({name: size for name, size in writable.items() if size > 1024}, {})

    def test_mask_15_fast_math_is_refused(self):
        source = '#include "kernels/exact_float.h"\nint main() {}\n'
        compile_it = ["c++", "-std=c++17", "-I", ROOT / "runtime", "-fsyntax-only", "-x", "c++", "-"]
        self.assertEqual(subprocess.run(compile_it, input=source, text=True).returncode, 0)
        for flag in ("-ffast-math", "-Ofast", "-ffinite-math-only"):
            done = subprocess.run([*compile_it, "-O2", flag], input=source, text=True, capture_output=True)
            self.assertNotEqual(done.returncode, 0, flag)
            self.assertIn("heed gives the same bits everywhere and cannot be compiled with -ffast-math", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

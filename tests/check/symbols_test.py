"""tools/check_symbols finds each planted fault: symbols_test.py CXX. SPDX-License-Identifier: Apache-2.0"""
import os
import subprocess
import sys
import tempfile
import unittest

CHECK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "check_symbols")
COMPILER = "c++"

CLEAN = "namespace heed::avx2 { namespace { int half(int x) { return x / 2; } } int f(int x) { return half(x); } }"


class CheckSymbols(unittest.TestCase):
    def check(self, **sources):
        """Compiles name=source to name.cpp.o, puts all into a library and checks it."""
        with tempfile.TemporaryDirectory() as folder:
            objects = []
            for name, source in sources.items():
                flags = ["-mavx2"] if name != "plain" else []
                objects.append(f"{folder}/{name}.cpp.o")
                subprocess.run([COMPILER, "-std=c++17", "-O1", "-fno-inline", *flags, "-x", "c++", "-", "-c", "-o", objects[-1]],
                               input=source, text=True, check=True)
            library = f"{folder}/lib.a"
            subprocess.run(["ar", "rcs", library, *objects], check=True)
            done = subprocess.run([CHECK, library], capture_output=True, text=True)
            return done.returncode, done.stdout

    def test_clean_library_passes(self):
        code, out = self.check(avx2=CLEAN, plain="int g() { return 1; }")
        self.assertEqual(code, 0, out)

    def test_arm_10_inline_function_of_an_isa_file(self):
        code, out = self.check(avx2="inline int twice(int x) { return x * 2; }"
                                    "namespace heed::avx2 { int f(int x) { return twice(x); } }")
        self.assertEqual(code, 1)
        self.assertIn("weak symbol without its architecture: twice(int)", out)

    def test_arm_10_symbol_with_its_architecture_in_two_objects(self):
        shared = "namespace xsimd { struct avx2 {}; } template <class A> int size(A) { return sizeof(A); }"
        code, out = self.check(avx2=shared + "namespace heed::avx2 { int f() { return size(xsimd::avx2()); } }",
                               plain=shared + "int g() { return size(xsimd::avx2()); }")
        self.assertEqual(code, 1)
        self.assertIn("weak symbol also defined in plain.cpp.o", out)

    def test_arm_10_exported_name_outside_the_namespace(self):
        code, out = self.check(avx2="int f() { return 1; }")
        self.assertEqual(code, 1)
        self.assertIn("exports a name outside heed::avx2: f()", out)

    def test_arm_11_code_before_main(self):
        source = "int f(); int value = f(); int f() { return 1; }"
        code, out = self.check(plain=source.replace("int value", "volatile int value"))
        self.assertEqual(code, 1)
        self.assertIn("code that runs before main", out)

    def test_arm_12_wide_registers_in_baseline_code(self):
        code, out = self.check(plain='void f() { asm("vpxor %ymm0, %ymm0, %ymm0"); }')
        self.assertEqual(code, 1)
        self.assertIn("uses %ymm registers", out)

    def test_wrong_usage(self):
        self.assertEqual(subprocess.run([CHECK], capture_output=True).returncode, 2)
        self.assertEqual(subprocess.run([CHECK, "/no/such.a"], capture_output=True).returncode, 2)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        COMPILER = sys.argv.pop(1)
    unittest.main()

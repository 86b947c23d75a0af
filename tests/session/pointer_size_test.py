#!/usr/bin/env python3
"""Memory figures and results are the same with 32-bit and with 64-bit pointers (ARENA-10).

Usage: pointer_size_test.py COMPILER SOURCE_DIR GENERATED_DIR WORK_DIR. Exit code 77: not possible here.
SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import subprocess
import sys

NOT_POSSIBLE = 77


def build(compiler, source, generated, work, bits):
    folder = work / str(bits)
    lists = folder / "lists"
    lists.mkdir(parents=True, exist_ok=True)
    runtime = source / "runtime"
    (lists / "built_ops.inc").write_text((runtime / "ops/op_list.inc").read_text())
    (lists / "built_isas.inc").write_text("HEED_ISA(ref, any)\n")
    files = [source / "tests/session/figure.cpp"]
    for part in ("model", "session", "ops", "kernels", "kernels/ref"):
        files += sorted((runtime / part).glob("*.cpp"))
    program = folder / "figure"
    command = [compiler, "-std=c++20", "-O1", f"-m{bits}", "-msse2", "-mfpmath=sse", "-Wno-psabi",
               "-Dflatbuffers=heed_flatbuffers", f"-I{lists}", f"-I{runtime}", f"-I{runtime / 'include'}",
               f"-I{source / 'tests'}", "-isystem", generated, *map(str, files), "-o", str(program)]
    subprocess.run(command, check=True)
    return subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()


def main():
    compiler, source, generated, work = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3], pathlib.Path(sys.argv[4])
    work.mkdir(parents=True, exist_ok=True)
    probe = work / "probe.cpp"
    probe.write_text("#include <vector>\nint main() { return std::vector<int>(1)[0]; }\n")
    tried = subprocess.run([compiler, "-m32", str(probe), "-o", str(work / "probe")], capture_output=True)
    if tried.returncode != 0:
        print("not possible here: the compiler has no 32-bit libraries (package g++-multilib)")
        return NOT_POSSIBLE
    wide, narrow = (build(compiler, source, generated, work, bits) for bits in (64, 32))
    differing = [pair for pair in zip(wide, narrow) if pair[0] != pair[1]]
    for left, right in differing:
        print(f"64: {left}\n32: {right}")
    print(f"{len(wide)} figures compared")
    return 1 if differing or len(wide) != len(narrow) or len(wide) < 50 else 0


if __name__ == "__main__":
    sys.exit(main())

"""Every op on every instruction set in every precision against the formulas in double precision; what passes is the support table.

support_test.py [RESULTS.csv]
SPDX-License-Identifier: Apache-2.0
"""
import csv
import math
import pathlib
import subprocess
import sys
import unittest

from program import ROOT, ProgramTest, run, tiny

RESULTS = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else None
# Signal to noise, in dB, that an op alone has to reach. int8: 16 inputs to a sum, so single roundings show.
LEAST_DB = {"int8": 30, "f16": 55, "f32": 110}
WEIGHTS = {"int8": "q8c", "f16": "f16", "f32": "f32"}


def sqnr_db(found, expected) -> float:
    signal = sum(value * value for value in expected)
    noise = sum((a - b) ** 2 for a, b in zip(found, expected))
    return math.inf if noise == 0 else 10 * math.log10(signal / noise)


class Support(ProgramTest):
    def passes(self, case, isa: str, precision: str) -> bool:
        source, out = pathlib.Path(self.source(case.name)), self.folder / "y.npy"
        inputs = [part for name in case.inputs for part in ("--input", f"{name}={source / name}.npy")]
        attention = "int8" if precision == "int8" else "f32"
        self.good("run", self.model(case.name, WEIGHTS[precision]), *inputs, "--output", f"y={out}", "--isa", isa, "--precision", attention)
        shape, found = tiny.read_npy(out)
        expected_shape, expected = tiny.read_npy(source / "expected.npy")
        self.assertEqual(shape, expected_shape)
        decibels = sqnr_db(found, expected)
        self.assertGreaterEqual(decibels, LEAST_DB[precision], f"{case.name} {isa} {precision}")
        return True

    def test_every_op_on_every_instruction_set_that_runs_here(self):
        isas = [isa["name"] for isa in self.good("isa", "--json").json()["isas"] if isa["runs"]]
        self.assertIn("ref", isas)
        passed = set()
        for case in tiny.cases():
            precisions = ["int8", "f16", "f32"] if any(isinstance(weight[0], list) for _, weight, _ in case.weights) else ["f32"]
            for isa in isas:
                for precision in precisions:
                    with self.subTest(case=case.name, isa=isa, precision=precision):
                        if self.passes(case, isa, precision):
                            passed.add((case.op, isa, precision))
        if RESULTS:
            with RESULTS.open("w", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows(sorted(passed))
            stale = subprocess.run([ROOT / "tools" / "support_table", "--check", RESULTS], capture_output=True, text=True)
            self.assertEqual(stale.returncode, 0, stale.stdout + stale.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

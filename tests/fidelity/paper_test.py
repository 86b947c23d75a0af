"""The Transformer paper's base and big shapes, from random weights, against transformers on PyTorch in float64 (tools/golden/paper.py).

HEED_PROGRAM is the program under test. SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HEED = os.environ.get("HEED_PROGRAM", str(ROOT / "build" / "host" / "heed"))
RESULTS = ROOT / "tests" / "golden" / "encoder_decoders" / "paper.json"


class Paper(unittest.TestCase):
    def check(self, shape: str):
        cases = [case for case in json.loads(RESULTS.read_text()) if case["shape"] == shape]
        self.assertEqual([case["beams"] for case in cases], [1, 4])
        with tempfile.TemporaryDirectory() as folder:
            source, model = pathlib.Path(folder) / "source", pathlib.Path(folder) / "m.heed"
            subprocess.run(["/usr/bin/python3", ROOT / "tools" / "golden" / "paper.py", shape, source], check=True)
            subprocess.run([HEED, "convert", source, "-o", model, "--weights", "f32"], check=True, stdout=subprocess.DEVNULL)
            for case in cases:
                done = subprocess.run([HEED, "run", model, "--tokens", ",".join(map(str, case["source"])), "--beams", str(case["beams"]), "--threads", "2",
                                       "--json"], check=True, stdout=subprocess.PIPE, text=True)
                [found] = json.loads(done.stdout)["translations"]
                self.assertEqual(found["tokens"], case["tokens"])
                worst = max(abs(a - b) for a, b in zip(found["log_probabilities"], case["logs"]))
                print(f"{shape}, {case['beams']} beams: {len(case['tokens'])} tokens, logarithms of probabilities off by {worst:.2g}", flush=True)
                self.assertLess(worst, 1e-4)

    def test_base(self):
        self.check("base")

    def test_big(self):
        self.check("big")


if __name__ == "__main__":
    unittest.main()

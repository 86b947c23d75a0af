"""MiniLM against a float64 model: fidelity_test.py. Four references that are wrong on purpose must each be found out.

HEED_PROGRAM is the program under test; models and references go to the folder HEED_FIDELITY_FOLDER.
SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import pathlib
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HEED = os.environ.get("HEED_PROGRAM", str(ROOT / "build" / "host" / "heed"))
FOLDER = pathlib.Path(os.environ.get("HEED_FIDELITY_FOLDER", str(ROOT / "build" / "golden")))
TEXTS = ROOT / "tests" / "fidelity" / "texts.txt"
CALIBRATION = ROOT / "tests" / "fidelity" / "calibration.txt"
FEW = 4  # mistakes are looked for in every fourth text

# Least and mean cosine over all texts that each kind of file must reach.
THRESHOLDS = {"f32": (0.999999, 0.999999), "q8c": (0.995, 0.998), "calibrated": (0.997, 0.9990)}
OPTIONS = {"f32": ["--weights", "f32"], "q8c": ["--weights", "q8c"],
           "calibrated": ["--weights", "q8c", "--calibrate", str(CALIBRATION)]}
# tanh for erf moves an embedding less than int8 does: only the f32 file can tell.
MISTAKES = {"swapped_norms": ("f32", "q8c", "calibrated"), "no_segment": ("f32", "q8c", "calibrated"),
            "mean_over_padding": ("f32", "q8c", "calibrated"), "tanh_gelu": ("f32",)}


def run(*command) -> str:
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, text=True, timeout=1200)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]} answered {done.returncode}")
    return done.stdout


def reference(model: pathlib.Path, texts: pathlib.Path, name: str, *options) -> pathlib.Path:
    out = FOLDER / f"{name}.npy"
    run(ROOT / "tools" / "golden" / "minilm.py", model, texts, out, *options)
    return out


class Fidelity(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        FOLDER.mkdir(parents=True, exist_ok=True)
        cls.checkpoint = pathlib.Path(run(ROOT / "tools" / "fetch", "minilm").strip())
        cls.files = {name: FOLDER / f"minilm_{name}.heed" for name in OPTIONS}
        for name, options in OPTIONS.items():
            run(HEED, "convert", cls.checkpoint, "-o", cls.files[name], *options)

    def reaches(self, name: str, texts: pathlib.Path, wanted: pathlib.Path) -> bool:
        """Whether a file's embeddings are as near to the reference as its format promises."""
        found = json.loads(run(HEED, "compare", self.files[name], wanted, "--texts", texts, "--threads", "2", "--json"))
        least, mean = THRESHOLDS[name]
        print(f"{name} against {wanted.stem}: {found['texts']} texts, cosine at least {found['min_cosine']:.7f}, "
              f"mean {found['mean_cosine']:.7f}", flush=True)
        return found["min_cosine"] >= least and found["mean_cosine"] >= mean

    def test_texts_are_as_they_should_be(self):
        texts, others = (path.read_text(encoding="utf-8").splitlines() for path in (TEXTS, CALIBRATION))
        words = [len(text.split()) for text in texts]
        self.assertEqual((len(texts), len(set(texts)), len(others)), (200, 200, 150))
        self.assertFalse(set(texts) & set(others))
        self.assertTrue(min(words) >= 3 and max(words) <= 180)

    def test_embeddings_are_those_of_the_float64_model(self):
        wanted = reference(self.checkpoint, TEXTS, "right")
        for name in THRESHOLDS:
            with self.subTest(name):
                self.assertTrue(self.reaches(name, TEXTS, wanted))

    def test_planted_mistakes_are_found(self):
        few = FOLDER / "few.txt"
        lines = TEXTS.read_text(encoding="utf-8").splitlines()[::FEW]
        few.write_text("\n".join(lines) + "\n", encoding="utf-8")
        right = reference(self.checkpoint, few, "right_few")
        for name in THRESHOLDS:
            self.assertTrue(self.reaches(name, few, right))
        for mistake, names in MISTAKES.items():
            wrong = reference(self.checkpoint, few, mistake, "--mistake", mistake)
            for name in names:
                with self.subTest(mistake=mistake, file=name):
                    self.assertFalse(self.reaches(name, few, wrong))


if __name__ == "__main__":
    unittest.main(verbosity=2)

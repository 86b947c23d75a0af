"""The token ids that peers get: python inputs.py MODEL_FOLDER OUT_FOLDER makes calibration.json, cosine.json and sentences.json.

SPDX-License-Identifier: Apache-2.0
"""
import json
import pathlib
import random
import sys

TOOLS = pathlib.Path(__file__).resolve().parent.parent
TESTS = TOOLS.parent / "tests" / "fidelity"
sys.path.insert(0, str(TOOLS / "golden"))
import minilm  # noqa: E402
import texts  # noqa: E402

COSINE_TEXTS = 20
SENTENCES, SHORTEST, LONGEST, SEED = 1000, 5, 60, 22


def sentences() -> list[str]:
    """Distinct texts of 5 to 60 words."""
    random_source = random.Random(SEED)
    subjects = json.loads((TESTS / "words.json").read_text(encoding="utf-8"))["texts.txt"]["subjects"]
    found: dict[str, None] = {}
    while len(found) < SENTENCES:
        text = texts.english(subjects, random_source.randint(SHORTEST, LONGEST), random_source)
        if SHORTEST <= len(text.split(" ")) <= LONGEST:
            found[text] = None
    return list(found)


def main() -> None:
    folder, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    lines = sentences()
    (out / "sentences.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    compared = minilm.read_texts(TESTS / "texts.txt")
    compared = compared[::len(compared) // COSINE_TEXTS]
    (out / "cosine.txt").write_text("\n".join(compared) + "\n", encoding="utf-8")
    ids = {"calibration": minilm.tokenize(folder, minilm.read_texts(TESTS / "calibration.txt")),
           "sentences": minilm.tokenize(folder, lines)}
    for name, texts_ids in ids.items():
        (out / f"{name}.json").write_text(json.dumps(texts_ids), encoding="utf-8")
    cosine = {"ids": minilm.tokenize(folder, compared), "embeddings": minilm.encode(folder, compared).tolist()}
    (out / "cosine.json").write_text(json.dumps(cosine), encoding="utf-8")


if __name__ == "__main__":
    main()

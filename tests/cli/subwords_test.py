"""The heed program on models with subwords: a graph folder with a checkpoint's tokenizer files. SPDX-License-Identifier: Apache-2.0"""
import json
import pathlib
import shutil
import struct
import unittest

from program import ROOT, ProgramTest, run

GOLDEN = ROOT / "tests" / "golden" / "subwords"


def write_graph(folder: pathlib.Path, case: str, kind: str, rows: int, **tokenizer) -> None:
    """A token table of 4 features, and the files of a golden tokenizer beside it."""
    shutil.copytree(GOLDEN / case, folder)
    embed = {"op": "Embed", "name": "embed", "inputs": [0], "outputs": [1], "token": 0}
    graph = {"name": "main", "values": 2, "nodes": [embed], "outputs": [{"name": "out", "value": 1}],
             "inputs": [{"name": "tokens", "value": 0, "type": "i32", "max_rows": 512}]}
    (folder / "graph.json").write_text(json.dumps({"graphs": [graph], "weights": [{"name": "table"}], "tokenizer": {"kind": kind} | tokenizer}))
    header = json.dumps({"table": {"dtype": "F32", "shape": [rows, 4], "data_offsets": [0, 16 * rows]}}).encode()
    header += b" " * (-len(header) % 8)
    (folder / "weights.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + struct.pack("<f", 0.5) * (4 * rows))


def sentencepiece(*pieces) -> bytes:
    """A model file of (text, score, type); the rest is the format's defaults."""
    model = b""
    for text, score, kind in pieces:
        raw = text.encode()
        piece = b"\x0a" + bytes([len(raw)]) + raw + b"\x15" + struct.pack("<f", score) + b"\x18" + bytes([kind])
        model += b"\x0a" + bytes([len(piece)]) + piece
    return model


class Subwords(ProgramTest):
    def convert(self, case: str, kind: str, rows: int = 2000, **tokenizer):
        folder = self.folder / f"{self.id()}-{case}"
        write_graph(folder, case, kind, rows, **tokenizer)
        return run("convert", str(folder), "-o", str(folder) + ".heed"), str(folder) + ".heed"

    def test_tokens_are_those_of_the_reference(self):
        for case, kind, around in (("bytes_bart", "bpe", {"prefix": [0], "suffix": [2]}), ("unigram_words", "unigram", {}), ("sentence_bpe", "bpe", {}),
                                   ("t5", "unigram", {"suffix": [1]}), ("marian", "unigram", {})):
            done, model = self.convert(case, kind, **around)
            self.assertEqual(done.code, 0, done.err)
            lines = (GOLDEN / "texts.txt").read_text(encoding="utf-8").splitlines()
            wanted = (GOLDEN / f"{case}.ids").read_text().splitlines()[-len(lines):]
            at = lines.index("Je t'aime, l'\u0153uvre d'un c\u0153ur na\u00eff \u2014 \u00ab d\u00e9j\u00e0 vu \u00bb !")
            said = run("tokenize", model, "--json", "--text", lines[at]).json()
            self.assertEqual(said["ids"], [int(token.split(":")[0]) for token in wanted[at].split()], case)
            self.assertEqual(len(said["pieces"]), len(said["ids"]))
            if ":" in wanted[at]:
                self.assertEqual(said["offsets"], [list(map(int, token.split(":")[1:])) for token in wanted[at].split()], case)
            embedded = run("run", model, "--text", lines[at], "--digest")
            self.assertEqual(embedded.code, 0, embedded.err)

    def test_pieces_of_bytes_are_shown_as_text(self):
        _, model = self.convert("bytes", "bpe")
        said = run("tokenize", model, "--json", "--text", "the \u00e9").json()
        self.assertEqual("".join(said["pieces"]).replace("\ufffd", "")[:4], "the ")

    def test_a_table_with_too_few_rows_and_a_wrong_kind_are_refused(self):
        done, model = self.convert("bytes", "bpe", rows=1000)
        self.assertEqual(done.code, 1)
        self.assertIn("has 1000 rows, the vocabulary has 1500 pieces", done.err)
        self.assertFalse(pathlib.Path(model).exists())
        done, _ = self.convert("unigram_runs", "bpe")
        self.assertEqual(done.code, 1)
        self.assertIn("has the kind 'bpe', but its files 'unigram'", done.err)

    def test_a_folder_of_marian_reads_and_writes_text(self):
        folder = self.folder / "marian"
        shutil.copytree(ROOT / "tests" / "golden" / "encoder_decoders" / "marian", folder)
        around = [("<unk>", 0, 2), ("<s>", 0, 3), ("</s>", 0, 3)]
        (folder / "source.spm").write_bytes(sentencepiece(*around, ("\u2581a", -1, 1), ("b", -2, 1)))
        (folder / "target.spm").write_bytes(sentencepiece(*around, ("\u2581je", -1, 1), ("a", -2, 1)))
        pieces = ["</s>", "<unk>", "\u2581a", "b", "\u2581je", "a", *(f"\u2581w{i}" for i in range(33)), "<pad>"]
        (folder / "vocab.json").write_text(json.dumps({piece: i for i, piece in enumerate(pieces)}))
        model = str(self.folder / "marian.heed")
        self.good("convert", str(folder), "-o", model, "--weights", "f32")
        self.assertEqual(run("tokenize", model, "--text", " ab a").text().split(), ["2", "3", "2", "0"])
        by_text = run("run", model, "--text", "ab a", "--json").json()["translations"][0]
        by_ids = run("run", model, "--tokens", "2,3,2,0", "--json").json()["translations"][0]
        self.assertEqual(by_text["tokens"], by_ids["tokens"])
        words = "".join(pieces[token] for token in by_text["tokens"] if pieces[token] not in ("</s>", "<pad>"))
        self.assertEqual(by_text["text"], words.replace("<unk>", " \u2047 ").replace("\u2581", " ").removeprefix(" "))


if __name__ == "__main__":
    unittest.main()

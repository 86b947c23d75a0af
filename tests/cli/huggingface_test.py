"""The heed program on encoder-decoders in Hugging Face folders: ids, texts, tasks, files that do not fit. SPDX-License-Identifier: Apache-2.0"""
import json
import pathlib
import shutil
import struct
import unittest

from program import ROOT, ProgramTest, run

TRANSLATORS = ROOT / "tools" / "samples" / "translator"


class HuggingFace(ProgramTest):
    """A folder without a tokenizer: ids in, ids out."""

    GOLDEN = ROOT / "tests" / "golden" / "encoder_decoders"

    def converted(self, name: str) -> str:
        out = str(self.folder / f"{name}.heed")
        self.assertIn("no tokenizer files", self.good("convert", str(self.GOLDEN / name), "-o", out, "--weights", "f32").text())
        return out

    def test_ids_in_ids_out(self):
        out = self.converted("marian")
        compared = 0
        flags = {"beams": "--beams", "length_penalty": "--length-penalty", "min_tokens": "--min-tokens", "no_repeat": "--no-repeat"}
        for case in json.loads((self.GOLDEN / "marian" / "cases.json").read_text()):
            searched = {key: case[key] for key in case if key not in ("source", "tokens", "stopped", "score", "max_tokens")}
            if not searched.keys() <= flags.keys() or not case["stopped"] or case["beams"] > 1:
                continue  # the folder's forced last token would be part of the search
            asked = [part for key, value in {"length_penalty": 0, **searched}.items() for part in (flags[key], str(value))]
            found = self.good("run", out, "--tokens", ",".join(map(str, case["source"])), *asked).text()
            self.assertEqual(found, ",".join(map(str, case["tokens"])) + "\n")
            compared += 1
        self.assertGreater(compared, 2)


    def test_tokens_that_a_config_does_not_mention_are_those_of_its_class(self):
        found = {}
        for name, value in (("said", 2), ("null", None), ("absent", ...)):
            folder = self.folder / f"bart_{name}"
            shutil.copytree(self.GOLDEN / "bart", folder)
            config = json.loads((folder / "config.json").read_text())
            config.update(forced_eos_token_id=value) if value is not ... else config.pop("forced_eos_token_id")
            (folder / "config.json").write_text(json.dumps(config))
            out = str(self.folder / f"bart_{name}.heed")
            self.good("convert", str(folder), "-o", out)
            (found[name],) = self.good("run", out, "--tokens", "5,9,3,2", "--max-tokens", "3", "--json").json()["translations"]
        self.assertEqual(found["absent"], found["said"])
        self.assertTrue(found["absent"]["stopped"])
        self.assertFalse(found["null"]["stopped"])


class HuggingFaceTexts(ProgramTest):
    """A golden checkpoint with the tokenizer of another golden folder: its tables' rows come again until there is one for each piece."""

    @staticmethod
    def enlarge(tensors: bytes, rows: int, vocabulary: int) -> bytes:
        size = int.from_bytes(tensors[:8], "little")
        header, body, data = json.loads(tensors[8:8 + size]), tensors[8 + size:], b""
        for entry in header.values():
            begin, end = entry["data_offsets"]
            values = body[begin:end]
            if rows in entry["shape"]:
                axis = entry["shape"].index(rows)
                entry["shape"][axis] = vocabulary
                values = (values * (vocabulary // rows + 1))[:len(values) // rows * vocabulary]
            entry["data_offsets"] = [len(data), len(data) + len(values)]
            data += values
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        return struct.pack("<Q", len(text)) + text + data

    def folder_of(self, name: str, tokenizer: str, vocabulary: int, **config) -> pathlib.Path:
        folder = self.folder / name
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(ROOT / "tests" / "golden" / "subwords" / tokenizer, folder)
        golden = ROOT / "tests" / "golden" / "encoder_decoders" / name
        (folder / "model.safetensors").write_bytes(self.enlarge((golden / "model.safetensors").read_bytes(), 40, vocabulary))
        settings = {**json.loads((golden / "config.json").read_text()), "vocab_size": vocabulary, **config}
        (folder / "config.json").write_text(json.dumps(settings))
        return folder

    def check(self, folder: pathlib.Path):
        out = str(folder) + ".heed"
        self.good("convert", str(folder), "-o", out)
        text = "A text, of some words."
        ids = self.good("tokenize", out, "--text", text).text().split()
        self.assertGreater(len(ids), 3)
        flags = ["--max-tokens", "7", "--min-tokens", "5", "--json"]
        (by_text,) = self.good("run", out, "--text", text, *flags).json()["translations"]
        (by_ids,) = self.good("run", out, "--tokens", ",".join(ids), *flags).json()["translations"]
        self.assertEqual(by_text["tokens"], by_ids["tokens"])
        self.assertGreaterEqual(len(by_text["tokens"]), 5)
        self.assertEqual(self.good("run", out, "--text", text, "--max-tokens", "7", "--min-tokens", "5").text(), by_text["text"] + "\n")
        self.assertNotEqual(by_text["text"], ",".join(map(str, by_text["tokens"])))

    def test_marian_has_two_vocabularies_in_one(self):
        pieces = json.loads((ROOT / "tests/golden/subwords/marian/vocab.json").read_text(encoding="utf-8"))
        pad = pieces["<pad>"]
        self.check(self.folder_of("marian", "marian", len(pieces), decoder_vocab_size=len(pieces), pad_token_id=pad, decoder_start_token_id=pad,
                                  bad_words_ids=[[pad]], eos_token_id=pieces["</s>"], forced_eos_token_id=pieces["</s>"]))

    def test_bart(self):
        pieces = json.loads((ROOT / "tests/golden/subwords/bytes_bart/vocab.json").read_text(encoding="utf-8"))
        self.check(self.folder_of("bart", "bytes_bart", len(pieces), no_repeat_ngram_size=0))

    def test_t5(self):
        self.check(self.folder_of("t5", "t5", 1700))

    def test_what_subwords_do_not_have_is_the_unknown_token(self):
        folder = self.folder_of("t5", "t5", 1700, task_specific_params={"summarization": {"prefix": "summarize: "}})
        out = str(folder) + ".heed"
        self.good("convert", str(folder), "-o", out)
        text, flags = "a cat \u9f98\u9f49 or two \u9ea4", ["--max-tokens", "6", "--json"]
        ids = self.good("tokenize", out, "--text", text).text().split()
        self.assertEqual(ids.count("2"), 2)  # <unk>
        told = run("run", out, "--text", text, *flags)
        self.assertEqual(told.code, 0, told.err)
        self.assertEqual(told.json(), self.good("run", out, "--text", text, "--unknown", "unk", *flags).json())
        self.assertEqual(told.json()["translations"], self.good("run", out, "--tokens", ",".join(ids), *flags).json()["translations"])
        self.assertRegex(told.err, "^heed: note: .*t5.heed: the text has '\u9f98\u9f49' at byte 6, which .* \\(and 1 more such places\\): .*--unknown error.*\n$")
        prompted = run("run", out, "--text", text, "--prompt-name", "summarization", *flags)
        self.assertEqual(prompted.err, told.err)  # places are those in the text
        lines = self.folder / "lines.txt"
        lines.write_text(f"a cat\n{text}\n{text}\n", encoding="utf-8")
        self.assertRegex(run("run", out, "--texts", str(lines), *flags).err, "^heed: note: .*text 2 has .*and 3 more.*\n$")
        self.assertIn("'\u9f98\u9f49' at byte 6", self.bad(1, "run", out, "--text", text, "--unknown", "error"))
        self.good("run", out, "--text", text, "--unknown", "copy")
        self.good("run", out, "--text", "a cat")

    def refusal(self, folder: pathlib.Path) -> str:
        out = self.folder / "refused.heed"
        error = self.bad(1, "convert", str(folder), "-o", str(out))
        self.assertFalse(out.exists())
        return error

    def notes(self, folder: pathlib.Path, *flags) -> str:
        return "\n".join(self.good("convert", str(folder), "-o", str(self.folder / "noted.heed"), "--json", *flags).json()["notes"])

    def test_files_of_a_tokenizer_that_are_not_there_or_cut_short(self):
        pieces = json.loads((ROOT / "tests/golden/subwords/bytes_bart/vocab.json").read_text(encoding="utf-8"))
        bart = self.folder_of("bart", "bytes_bart", len(pieces), no_repeat_ngram_size=0)
        lines = (bart / "merges.txt").read_bytes().splitlines(keepends=True)
        for count in (len(lines) // 2, len(lines) - 1, 1):
            (bart / "merges.txt").write_bytes(b"".join(lines[:count]))
            self.assertRegex(self.refusal(bart), r"merges\.txt: has no merge for \d+ of the pieces of vocab\.json")
        (bart / "vocab.json").unlink()
        self.assertIn("vocab.json is missing", self.refusal(bart))
        pieces = json.loads((ROOT / "tests/golden/subwords/marian/vocab.json").read_text(encoding="utf-8"))
        marian = self.folder_of("marian", "marian", len(pieces), decoder_vocab_size=len(pieces))
        (marian / "source.spm").unlink()
        self.assertIn("source.spm: is missing", self.refusal(marian))

    def test_names_of_any_length_make_messages_of_one_line(self):
        folder = self.folder_of("t5", "bytes", 3000)
        whole = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
        whole["added_tokens"] = [{"id": 999999, "content": "x" * 100000, "special": False}]
        (folder / "tokenizer.json").write_text(json.dumps(whole))
        self.assertLess(len(self.refusal(folder)), 2000)
        header = json.dumps({"y" * 100000: {"dtype": "F32", "shape": [3], "data_offsets": [0, 8]}}).encode()
        (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + bytes(8))
        self.assertLess(len(self.refusal(folder)), 2000)

    def test_prefixes_of_tasks_are_prompts(self):
        folder = self.folder_of("t5", "t5", 1700, task_specific_params={
            "summarization": {"prefix": "summarize: ", "num_beams": 4}, "translation_en_to_de": {"prefix": "translate English to German: "}, "other": {}})
        self.assertIn("summarization, translation_en_to_de", self.notes(folder))
        out, flags = str(self.folder / "noted.heed"), ["--max-tokens", "6", "--json"]
        prompted = self.good("run", out, "--text", "a cat", "--prompt-name", "summarization", *flags).json()["translations"]
        self.assertEqual(prompted, self.good("run", out, "--text", "summarize: a cat", *flags).json()["translations"])
        self.assertIn("translation_en_to_de", self.bad(1, "run", out, "--text", "a cat", "--prompt-name", "nothing"))

    def test_a_task_has_its_own_search_and_prefix(self):
        search = {"num_beams": 3, "min_length": 9, "max_length": 12, "length_penalty": 2.0, "early_stopping": True}
        tasks = {"summarization": {"prefix": "summarize: ", **search}, "translation_en_to_de": {"prefix": "to German: "}}
        folder = self.folder_of("t5", "t5", 1700, task_specific_params=tasks)
        f32 = ("--weights", "f32")
        self.assertRegex(self.notes(folder, *f32), "config.json: how .* is left out; --task takes it.* for one of summarization\n")
        out = str(self.folder / "noted.heed")

        def found(*flags) -> list:
            return self.good("run", out, "--json", *flags).json()["translations"]

        plain = found("--text", "summarize: a cat", "--beams", "3", "--min-tokens", "8", "--max-tokens", "11", "--length-penalty", "2")
        for beside in (False, True):
            if beside:  # generation_config.json has less to say than the task
                (folder / "generation_config.json").write_text(json.dumps({"decoder_start_token_id": 0, "eos_token_id": 1, "num_beams": 2, "max_length": 5}))
            noted = self.notes(folder, "--task", "summarization", *f32)
            self.assertIn("of task 'summarization' the search has: early_stopping, length_penalty, max_length, min_length, num_beams\n", noted)
            self.assertIn("by default that of summarization", noted)
            self.assertNotIn("left out", noted)
            self.assertEqual(found("--text", "a cat"), plain)
            self.assertNotEqual(found("--text", "a cat", "--prompt-name", "translation_en_to_de"), plain)
            self.assertEqual([one["max_abs_error"] for one in self.good("compare", out, str(folder), "--task", "summarization", "--json").json()["outputs"]], [0, 0])
        self.assertIn('"prefix" is "sum: "', self.notes(self.folder_of("t5", "t5", 1700, prefix="sum: ")))
        self.assertNotIn("--task", self.notes(self.folder_of("t5", "t5", 1700, task_specific_params={"translation_en_to_de": {"prefix": "to German: "}})))

    def test_a_task_that_is_not_there_is_an_error(self):
        folder = self.folder_of("t5", "t5", 1700, task_specific_params={"summarization": {"num_beams": 3}, "other": {"num_beams": 0, "colour": 1}})
        out = str(self.folder / "none.heed")
        self.assertIn("has no task 'x'; it has other, summarization", self.bad(1, "convert", str(folder), "-o", out, "--task", "x"))
        self.assertIn("\"num_beams\" is 0", self.bad(1, "convert", str(folder), "-o", out, "--task", "other"))
        self.assertIn("has no task 'x', and none at all", self.bad(1, "convert", str(ROOT / "tests/golden/encoder_decoders/bart"), "-o", out, "--task", "x"))
        self.assertIn("--task", self.bad(1, "convert", self.source("bert"), "-o", out, "--task", "x"))
        self.assertIn("--task", self.bad(1, "convert", str(TRANSLATORS / "additive"), "-o", out, "--task", "x"))
        self.assertFalse(pathlib.Path(out).exists())
        self.assertIn("--task", self.bad(2, "compare", self.model("bert"), self.model("bert"), "--task", "x"))

    def test_max_context_is_a_maximum(self):
        folder = self.folder_of("t5", "t5", 1700, max_length=30)
        noted = self.notes(folder, "--max-context", "8")
        self.assertIn("outputs of 29 tokens", noted)
        self.assertIn("--max-context 8", noted)
        out = str(self.folder / "noted.heed")
        self.assertIn("at most 8 tokens", self.bad(1, "run", out, "--text", "a cat", "--max-tokens", "9"))
        (one,) = self.good("run", out, "--text", "a cat", "--min-tokens", "8", "--json").json()["translations"]
        self.assertEqual(len(one["tokens"]), 8)

    def test_max_context_above_what_the_states_hold(self):
        folder = ROOT / "tests" / "golden" / "encoder_decoders" / "marian"
        self.assertIn("at most 32", self.bad(1, "convert", str(folder), "-o", str(self.folder / "m.heed"), "--max-context", "33"))

    def test_what_a_search_leaves_out_is_noted_or_refused(self):
        folder = self.folder_of("t5", "t5", 1700)
        settings = {"decoder_start_token_id": 0, "eos_token_id": 1}
        def generation(**more):
            (folder / "generation_config.json").write_text(json.dumps(settings | more))
        generation(num_return_sequences=3, max_time=2.5)
        noted = self.notes(folder)
        self.assertIn('generation_config.json: "num_return_sequences" is 3', noted)
        self.assertIn('"max_time" is 2.5', noted)
        generation(num_return_sequences=1)
        self.assertNotIn("num_return_sequences", self.notes(folder))
        generation(suppress_tokens=list(range(1700)))
        self.assertRegex(self.refusal(folder), "generation_config.json: .*none is left")
        generation(min_length=30, max_length=20)
        self.assertIn("at least 29 tokens and of at most 19", self.refusal(folder))

    def test_a_vocabulary_that_does_not_fit_is_refused(self):
        folder = self.folder_of("t5_gated", "t5", 40)
        out = self.folder / "refused.heed"
        self.assertIn("they do not belong together", self.bad(1, "convert", str(folder), "-o", str(out)))
        self.assertFalse(out.exists())


if __name__ == "__main__":
    unittest.main()

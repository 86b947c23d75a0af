"""The heed program on a translator: sentences, unknown words, searches, bad input. SPDX-License-Identifier: Apache-2.0"""
import csv
import json
import pathlib
import shutil
import struct
import unittest

from program import ROOT, ProgramTest, run, tiny

TRANSLATORS = ROOT / "tools" / "samples" / "translator"


def held_out(name: str) -> list[list[str]]:
    with (TRANSLATORS / "held_out" / f"{name}.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


class TranslatorTest(ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.translator = str(cls.folder / "translator.heed")
        done = run("convert", str(TRANSLATORS / "additive"), "-o", cls.translator)
        assert done.code == 0, done.err

    def translate(self, text, *flags) -> str:
        return self.good("run", self.translator, "--text", text, *flags).text().removesuffix("\n")

    def texts(self, *lines) -> str:
        path = self.folder / "texts.txt"
        path.write_bytes(b"".join(line.encode() + b"\n" for line in lines))
        return str(path)


class Sentences(TranslatorTest):
    def test_i_love_you(self):
        self.assertEqual(self.translate("I love you"), "je t'aime")

    def test_capitals_and_typographic_apostrophes_change_nothing(self):
        self.assertEqual(self.translate("i LOVE you"), "je t'aime")
        self.assertEqual(self.translate("I don\u2019t love you."), self.translate("i don't love you ."))

    def test_every_translator_that_is_there_says_it(self):
        for folder in sorted(path.parent for path in TRANSLATORS.glob("*/graph.json")):
            with self.subTest(translator=folder.name):
                out = str(self.folder / f"{folder.name}.heed")
                self.good("convert", str(folder), "-o", out)
                self.assertEqual(self.good("run", out, "--text", "I love you").text(), "je t'aime\n")
                self.assertEqual(self.good("run", out, "--text", "I love you", "--beams", "4", "--length-penalty", "1").text(), "je t'aime\n")

    def test_a_file_of_texts_gives_a_line_for_each(self):
        lines = self.good("run", self.translator, "--texts", self.texts("I love you", "I love you", "I see her.")).text().splitlines()
        self.assertEqual(lines[:2], ["je t'aime"] * 2)
        self.assertEqual(len(lines), 3)
        self.assertEqual(lines[2], self.translate("I see her."))

    def test_most_held_out_sentences_are_as_they_should_be(self):
        rows = held_out("random")[:100]
        found = self.good("run", self.translator, "--texts", self.texts(*(row[0] for row in rows)), "--unknown", "copy").text().splitlines()
        exact = sum(line == row[1] for line, row in zip(found, rows))
        self.assertGreaterEqual(exact, 70)

    def test_json_has_tokens_scores_and_both_blocks(self):
        report = self.good("run", self.translator, "--text", "I love you", "--json").json()
        (one,) = report["translations"]
        self.assertEqual(one["text"], "je t'aime")
        self.assertTrue(one["stopped"])
        pieces = (TRANSLATORS / "additive" / "target.txt").read_text(encoding="utf-8").splitlines()
        self.assertEqual([pieces[token] for token in one["tokens"]], ["je", "t'", "aime"])
        self.assertEqual(len(one["log_probabilities"]), 3)
        self.assertLess(one["score"], 0)
        self.assertGreaterEqual(sum(one["log_probabilities"]) + 1e-4, one["score"])
        facts = self.good("inspect", self.translator, "--json", "--rows", "3").json()
        self.assertEqual(facts["generator_bytes"], report["generator_bytes"])
        self.assertEqual(facts["arena_bytes"], report["arena_bytes"])
        four = self.good("run", self.translator, "--text", "I love you", "--json", "--beams", "4").json()
        facts = self.good("inspect", self.translator, "--json", "--rows", "3", "--beams", "4").json()
        self.assertEqual(facts["generator_bytes"], four["generator_bytes"])

    def isas(self) -> list[str]:
        isas = [line.split()[0] for line in self.good("isa").text().splitlines()[1:] if line.split()[2] == "yes"]
        self.assertIn("ref", isas)
        return isas

    def test_500_sentences_have_one_digest_on_every_instruction_set_and_number_of_threads(self):
        sentences = [row[0] for row in held_out("random")]
        for folder in sorted(path.parent for path in TRANSLATORS.glob("*/graph.json")):
            out = str(self.folder / f"{folder.name}.heed")
            self.good("convert", str(folder), "-o", out)
            for count, flags in ((500, []), (80, ["--beams", "4", "--length-penalty", "0.6", "--rows", "32"])):
                texts = self.texts(*sentences[:count])
                digests = {self.good("run", out, "--texts", texts, "--unknown", "copy", "--digest", "--isa", isa, "--threads", threads, *flags)
                           .text().splitlines()[-1] for isa in self.isas() for threads in ("1", "4")}
                self.assertEqual(len(digests), 1, (folder.name, digests))

    def test_tokens_have_pieces_and_offsets(self):
        report = self.good("tokenize", self.translator, "--text", "I don\u2019t love it.", "--json").json()
        self.assertEqual(report["pieces"], ["i", "do", "n't", "love", "it", "."])
        self.assertEqual(report["offsets"], [[0, 1], [2, 4], [4, 9], [10, 14], [15, 17], [17, 18]])

    def test_an_arena_of_exactly_the_bytes_is_enough_and_one_less_is_not(self):
        needed = self.good("run", self.translator, "--text", "I love you", "--json").json()["arena_bytes"]
        self.assertEqual(self.translate("I love you", "--arena", str(needed)), "je t'aime")
        self.assertIn(str(needed), self.bad(1, "run", self.translator, "--text", "I love you", "--arena", str(needed - 1)))

    def test_max_tokens_cuts(self):
        self.assertEqual(self.translate("I love you", "--max-tokens", "2"), "je t'")
        one = self.good("run", self.translator, "--text", "I love you", "--max-tokens", "3", "--json").json()["translations"][0]
        self.assertFalse(one["stopped"])

    def test_ids_instead_of_a_text(self):
        ids = self.good("tokenize", self.translator, "--text", "I love you").text().strip().replace(" ", ",")
        self.assertEqual(self.good("run", self.translator, "--tokens", ids).text(), "je t'aime\n")


class Unknown(TranslatorTest):
    def test_a_word_outside_the_vocabulary_is_named(self):
        error = self.bad(1, "run", self.translator, "--text", "I love frobnication")
        self.assertIn("'frobnication' at byte 7", error)
        self.assertIn("--unknown copy", error)
        self.assertIn("text 2", self.bad(1, "run", self.translator, "--texts", self.texts("I love you", "I love Frobnication")))

    def test_copy_passes_it_through_as_it_is_written(self):
        self.assertIn("Frobnicus", self.translate("Frobnicus loves you", "--unknown", "copy"))

    def test_copy_changes_nothing_where_every_word_is_known(self):
        self.assertEqual(self.translate("I love you", "--unknown", "copy"), "je t'aime")

    def test_bytes_that_are_no_text(self):
        for text in (b"\xff", b"I love \xc3", b"\xed\xa0\x80 you", b"\x1b[2J"):
            self.assertIn("not in the vocabulary", self.bad(1, "run", self.translator, "--text", text))
            shown = self.good("run", self.translator, "--text", text, "--unknown", "copy")
            self.assertNotIn(b"\x1b", shown.out)
            shown.out.decode("utf-8", "strict")
            self.good("run", self.translator, "--text", text, "--unknown", "copy", "--json").json()


class BadInput(TranslatorTest):
    def test_nothing_to_translate(self):
        for text in ("", "   ", "\n\t"):
            self.assertIn("no tokens", self.bad(1, "run", self.translator, "--text", text))

    def test_ids_outside_the_table(self):
        for ids, wanted in (("99999", "99999"), ("3,-1", "element 1 is the id -1")):
            error = self.bad(1, "run", self.translator, "--tokens", ids)
            self.assertIn("--tokens", error)
            self.assertIn(wanted, error)
            self.assertIn("takes 0 to 1295", error)

    def test_more_tokens_at_least_than_at_most(self):
        error = self.bad(2, "run", self.translator, "--text", "I love you", "--min-tokens", "10", "--max-tokens", "5")
        self.assertIn("--min-tokens 10", error)
        self.assertIn("at most 5", error)
        self.assertIn("at most 64", self.bad(2, "run", self.translator, "--text", "I love you", "--min-tokens", "65"))

    def test_only_punctuation_is_a_sentence(self):
        self.good("run", self.translator, "--text", "?!")

    def test_too_many_words(self):
        for count in (65, 10000):
            error = self.bad(1, "run", self.translator, "--text", "love " * count)
            self.assertIn(f"has {count} tokens", error)
            self.assertIn("at most 64", error)
        self.assertIn("--rows allows 2", self.bad(1, "run", self.translator, "--text", "I love you", "--rows", "2"))
        self.good("run", self.translator, "--text", "love " * 64)

    def test_more_tokens_than_the_states_hold(self):
        out = str(self.folder / "transformer.heed")
        self.good("convert", str(TRANSLATORS / "transformer"), "-o", out)
        self.assertIn("at most 64 tokens", self.bad(1, "run", out, "--text", "I love you", "--max-tokens", "65"))
        self.assertEqual(self.good("run", out, "--text", "I love you", "--max-tokens", "64").text(), "je t'aime\n")

    def test_flags_of_a_translator_need_one(self):
        for flags in (["--beams", "2"], ["--max-tokens", "5"], ["--length-penalty", "1"], ["--unknown", "copy"]):
            error = self.bad(1, "run", self.model("bert"), "--text", "a cat", *flags)
            self.assertIn(flags[0], error)
            self.assertIn("decode", error)

    def test_wrong_flags_are_wrong_usage(self):
        for flags in (["--beams", "0"], ["--beams", "1025"], ["--max-tokens", "0"], ["--length-penalty", "nan"], ["--length-penalty", "5"],
                      ["--unknown", "drop"], ["--unknown", ""], ["--output", "rows=x.npy"]):
            self.bad(2, "run", self.translator, "--text", "I love you", *flags)
        self.bad(2, "run", self.translator, "--input", "tokens=x.npy")

    def test_an_arena_too_small_for_the_beams(self):
        needed = self.good("run", self.translator, "--text", "I love you", "--json").json()["arena_bytes"]
        self.assertIn("too small", self.bad(1, "run", self.translator, "--text", "I love you", "--beams", "8", "--arena", str(needed)))


class Converting(TranslatorTest):
    def broken(self, change) -> str:
        folder = self.folder / "broken"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(TRANSLATORS / "additive", folder)
        change(folder)
        out = self.folder / "broken.heed"
        error = self.bad(1, "convert", str(folder), "-o", str(out))
        self.assertFalse(out.exists())
        return error

    @staticmethod
    def edit(change):
        def apply(folder: pathlib.Path):
            graph = json.loads((folder / "graph.json").read_text())
            change(graph)
            (folder / "graph.json").write_text(json.dumps(graph))
        return apply

    @staticmethod
    def longer(folder: pathlib.Path):
        target = folder / "target.txt"
        target.write_text(target.read_text(encoding="utf-8") + "one\ntwo\nthree\n", encoding="utf-8")

    def test_vocabularies_that_do_not_fit_are_refused(self):
        self.assertIn("source.txt", self.broken(lambda folder: (folder / "source.txt").unlink()))
        self.assertIn("target.txt", self.broken(lambda folder: (folder / "target.txt").write_text("<unk>\n")))
        self.assertIn("target_embedding", self.broken(self.longer))
        self.assertIn("no tokenizer reads it", self.broken(self.edit(lambda graph: graph.pop("tokenizer"))))
        self.assertIn("none of the files of a tokenizer", self.broken(self.edit(lambda graph: graph["tokenizer"].update(kind="wordpiece"))))
        self.assertIn("sounds", self.broken(self.edit(lambda graph: graph["tokenizer"].update(kind="sounds"))))

    def test_an_output_token_without_a_piece_is_named(self):
        folder = self.folder / "short"
        shutil.copytree(TRANSLATORS / "additive", folder)
        pieces = (folder / "target.txt").read_text(encoding="utf-8").splitlines(keepends=True)
        (folder / "target.txt").write_text("".join(pieces[:100]), encoding="utf-8")
        self.good("convert", str(folder), "-o", str(self.folder / "short.heed"))
        message = self.bad(1, "run", str(self.folder / "short.heed"), "--text", "I love you")
        self.assertIn("the vocabulary has 100 pieces", message)
        self.assertIn(str(next(place for place, piece in enumerate(pieces) if piece == "je\n")), message)

    def test_a_vocabulary_shorter_than_its_table_is_noted(self):
        folder = self.folder / "shorter"
        shutil.copytree(TRANSLATORS / "additive", folder)
        pieces = (folder / "target.txt").read_text(encoding="utf-8").splitlines(keepends=True)
        (folder / "target.txt").write_text("".join(pieces[:100]), encoding="utf-8")
        report = self.good("convert", str(folder), "-o", str(self.folder / "shorter.heed"), "--json").json()
        self.assertIn(f"table 'target_embedding.weight' has {len(pieces)} rows, the vocabulary only 100 pieces", " ".join(report["notes"]))

    def test_a_byte_order_mark_is_no_part_of_a_piece(self):
        folder = self.folder / "marked"
        shutil.copytree(TRANSLATORS / "additive", folder)
        for name in ("source.txt", "target.txt"):
            (folder / name).write_bytes(b"\xef\xbb\xbf" + (folder / name).read_bytes())
        self.good("convert", str(folder), "-o", str(self.folder / "marked.heed"))
        self.assertEqual((self.folder / "marked.heed").read_bytes()[-100000:], pathlib.Path(self.translator).read_bytes()[-100000:])
        self.assertEqual(self.good("run", str(self.folder / "marked.heed"), "--text", "zorb loves you", "--unknown", "copy").text(),
                         self.translate("zorb loves you", "--unknown", "copy") + "\n")
        named = self.good("tokenize", str(self.folder / "marked.heed"), "--text", "zorb", "--json").json()
        self.assertEqual(named["pieces"], self.good("tokenize", self.translator, "--text", "zorb", "--json").json()["pieces"])

    def test_what_does_not_fit_the_schema_has_a_line_and_a_column(self):
        error = self.broken(lambda folder: (folder / "graph.json").write_text('{\n "graphs": [],\n "weights": [{"nome": "x"}]\n}\n'))
        self.assertRegex(error, r"graph\.json: .*line 3, column \d+: unknown field: nome\n$")

    def test_heads_that_are_none_have_their_bounds(self):
        error = self.broken(self.edit(lambda graph: next(node for node in graph["graphs"][1]["nodes"] if node["op"] == "Attention").update(kv_heads=0)))
        self.assertIn("kv_heads, of which there are 1 to 66000", error)

    def test_a_calibrated_translator_says_the_same(self):
        out = str(self.folder / "calibrated.heed")
        texts = self.texts(*(row[0] for row in held_out("tuning")[:20]))
        report = self.good("convert", str(TRANSLATORS / "additive"), "-o", out, "--calibrate", texts, "--json").json()
        self.assertEqual(report["calibration_texts"], 20)
        self.assertEqual(self.good("run", out, "--text", "I love you").text(), "je t'aime\n")

    def test_a_checkpoint_without_a_gate_is_refused(self):
        self.assertIn("decoder", self.broken(self.edit(
            lambda graph: next(node for node in graph["graphs"][1]["nodes"] if node["op"] == "Recurrent").update(weight=-1))))


class Compare(TranslatorTest):
    """Both graphs are compared: what `encode` gives, and what `decode` says along the reference's outputs."""

    def compare(self, *arguments) -> dict:
        return self.good("compare", self.translator, *arguments, "--texts", self.texts("I love you", "I see her.", "where is the cat?"), "--json").json()

    def test_a_model_with_itself(self):
        report = self.compare(self.translator)
        self.assertEqual([(one["graph"], one["max_abs_error"]) for one in report["outputs"]], [("encode", 0), ("decode", 0)])
        self.assertEqual(report["decode"]["same_choices"], report["decode"]["tokens"])
        self.assertEqual(report["decode"]["same_outputs"], 3)

    def test_int8_with_the_checkpoint(self):
        encode, decode = self.compare(str(TRANSLATORS / "additive"))["outputs"]
        for one in (encode, decode):
            self.assertGreater(one["sqnr_db"], 15)
            self.assertGreater(one["max_abs_error"], 0)

    def test_a_fault_in_the_decoder_alone_is_seen(self):
        folder = self.folder / "faulty"
        shutil.copytree(TRANSLATORS / "additive", folder)
        graph = json.loads((folder / "graph.json").read_text())
        place = next(i for i, one in enumerate(graph["graphs"]) if one["name"] == "decode")
        next(node for node in graph["graphs"][place]["nodes"] if node["op"] == "Attention")["scale"] = 0.0
        (folder / "graph.json").write_text(json.dumps(graph))
        report = self.compare(str(folder))
        encode, decode = report["outputs"]
        self.assertGreater(encode["sqnr_db"], 20)
        self.assertLess(decode["sqnr_db"], 12)
        self.assertLess(report["decode"]["same_outputs"], 3)

    def test_it_says_what_was_compared(self):
        texts = self.texts("I love you", "I see her.")
        shown = self.good("compare", self.translator, str(TRANSLATORS / "additive"), "--texts", texts).text()
        self.assertIn("decode: ", shown)
        self.assertIn("2 of 2 outputs are the same", shown)
        self.assertNotIn("not compared", shown)
        tiny_rows = self.folder / "rows.npy"
        report = self.good("inspect", self.translator, "--json").json()
        features = next(one for one in report["graphs"] if one["name"] == "encode")["outputs"][0]["shape"][1]
        tiny.write_npy(tiny_rows, (1, features), [0.0] * features)
        shown = self.good("compare", self.translator, str(tiny_rows), "--texts", self.texts("love")).text()
        self.assertIn("not compared: graph decode", shown)

    def test_models_that_write_nothing(self):
        folder = self.folder / "silent"
        shutil.copytree(TRANSLATORS / "additive", folder)
        graph = json.loads((folder / "graph.json").read_text())
        pieces = len((folder / "target.txt").read_text(encoding="utf-8").splitlines())
        graph["generation"] = {"suppressed": list(range(pieces))}
        (folder / "graph.json").write_text(json.dumps(graph))
        silent = str(self.folder / "silent.heed")
        self.good("convert", str(folder), "-o", silent)
        self.assertEqual(self.good("run", silent, "--text", "I love you").text(), "\n")
        report = self.good("compare", silent, silent, "--texts", self.texts("I love you"), "--json").json()
        self.assertEqual((report["decode"]["tokens"], report["decode"]["same_outputs"]), (0, 1))

    def test_other_vocabularies_are_refused(self):
        folder = ROOT / "tests" / "golden" / "generate" / "additive"
        self.assertNotEqual(run("compare", self.translator, str(folder), "--texts", self.texts("I love you")).code, 0)


class Bench(TranslatorTest):
    def test_an_output_has_as_many_tokens_as_asked_for(self):
        report = self.good("bench", self.translator, "--rows", "6", "--generate", "5", "--beams", "2", "--seconds", "0", "--json").json()
        self.assertEqual([report[key] for key in ("rows", "generate", "beams", "threads")], [6, 5, 2, 1])
        self.assertGreaterEqual(report["runs"], 50)
        self.assertGreater(report["prefill_tokens_per_s"], 0)
        # The encoder once, then a row for the first token and one for each hypothesis of the others.
        one = self.good("bench", self.translator, "--rows", "6", "--generate", "1", "--beams", "2", "--seconds", "0", "--json").json()
        three = self.good("bench", self.translator, "--rows", "6", "--generate", "3", "--beams", "2", "--seconds", "0", "--json").json()
        self.assertAlmostEqual(report["gmac"] - three["gmac"], three["gmac"] - one["gmac"])

    def test_it_needs_no_more_than_the_file_allows(self):
        self.assertIn("--generate", self.bad(1, "bench", str(self.transformer()), "--generate", "100000", "--seconds", "0"))

    def transformer(self) -> pathlib.Path:
        out = self.folder / "transformer.heed"
        self.good("convert", str(TRANSLATORS / "transformer"), "-o", str(out))
        return out


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

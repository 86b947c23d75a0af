"""The heed program on a translator: sentences, unknown words, searches, bad input. SPDX-License-Identifier: Apache-2.0"""
import csv
import json
import pathlib
import shutil
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

    def test_each_way_has_a_name(self):
        self.assertEqual(self.bad(1, "run", self.translator, "--text", "Frobnicus loves you", "--unknown", "error"),
                         self.bad(1, "run", self.translator, "--text", "Frobnicus loves you"))
        self.assertNotIn("Frobnicus", self.translate("Frobnicus loves you", "--unknown", "unk"))

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


class OtherOrder(TranslatorTest):
    """A graph folder with `decode` before `encode` is the same translator."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = cls.folder / "turned"
        shutil.copytree(TRANSLATORS / "additive", folder)
        graph = json.loads((folder / "graph.json").read_text())
        graph["graphs"].sort(key=lambda one: one["name"])
        assert graph["graphs"][0]["name"] == "decode"
        (folder / "graph.json").write_text(json.dumps(graph))
        cls.turned = str(cls.folder / "turned.heed")
        done = run("convert", str(folder), "-o", cls.turned)
        assert done.code == 0, done.err

    def test_ids_outside_the_table_are_refused_and_others_translated(self):
        for ids in ("99999", "3,-1"):
            self.assertEqual(self.bad(1, "run", self.turned, "--tokens", ids).replace(self.turned, self.translator),
                             self.bad(1, "run", self.translator, "--tokens", ids))
        ids = self.good("tokenize", self.turned, "--text", "I love you").text().strip().replace(" ", ",")
        self.assertEqual(self.good("run", self.turned, "--tokens", ids).text(), "je t'aime\n")
        self.assertEqual(self.good("run", self.turned, "--text", "I love you").text(), "je t'aime\n")

    def test_inspect_compare_and_bench_see_the_graph_that_reads(self):
        facts = [self.good("inspect", model, "--json").json() for model in (self.turned, self.translator)]
        self.assertEqual(*[(one["inputs"], one["outputs"]) for one in facts])
        report = self.good("compare", self.turned, self.translator, "--texts", self.texts("I love you", "I see her."), "--json").json()
        self.assertEqual([(one["graph"], one["max_abs_error"]) for one in report["outputs"]], [("encode", 0), ("decode", 0)])
        flags = ["--rows", "6", "--generate", "3", "--seconds", "0", "--json"]
        self.assertEqual(*[self.good("bench", model, *flags).json()["gmac"] for model in (self.turned, self.translator)])

    def test_a_vocabulary_is_measured_by_the_table_that_it_reads(self):
        folder = self.folder / "turned_long"
        shutil.copytree(self.folder / "turned", folder)
        with (folder / "source.txt").open("a", encoding="utf-8") as file:
            file.write("zorb\nfrob\n")
        self.assertIn("graph 'encode'", self.bad(1, "convert", str(folder), "-o", str(self.folder / "none.heed")))


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


if __name__ == "__main__":
    unittest.main()

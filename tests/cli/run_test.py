"""heed run and heed tokenize on tiny models: inputs, outputs, digests, and everything a person can get wrong.

SPDX-License-Identifier: Apache-2.0
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from program import ProgramTest, run, tiny


class Tokens(ProgramTest):
    def ids(self, text) -> list[int]:
        done = run("tokenize", self.model("bert"), "--text", text)
        self.assertEqual(done.code, 0, done.err)
        return [int(part) for part in done.text().split()]

    def test_ids_are_on_one_line_with_special_tokens(self):
        self.assertEqual(self.good("tokenize", self.model("bert"), "--text", "A cat sat.").out, b"2 5 6 8 15 3\n")

    def test_empty_text_is_its_special_tokens(self):
        self.assertEqual(self.ids(""), [2, 3])

    def test_a_text_may_look_like_a_flag_or_a_list(self):
        for text in ("--json", "-o", "[UNK]", "[a,b]", "--text=a", "%d %s", "{}"):
            with self.subTest(text=text):
                self.assertEqual(self.ids(text)[0], 2)
        self.assertEqual(run("tokenize", self.model("bert"), "--text=").text(), "2 3\n")

    def test_offsets_are_bytes_of_the_text(self):
        text = "Cats \u4e2d\u6587!"
        tokens = self.good("tokenize", self.model("bert"), "--text", text, "--json").json()
        self.assertEqual(tokens["pieces"], ["[CLS]", "cat", "##s", "\u4e2d", "\u6587", "!", "[SEP]"])
        pieces = [text.encode()[begin:end].decode() for begin, end in tokens["offsets"]]
        self.assertEqual(pieces, ["", "Cat", "s", "\u4e2d", "\u6587", "!", ""])

    def test_cli_03_json_is_valid_for_any_bytes(self):
        cut = "\u4e2d".encode()[:2]
        for text in (b"\xff\xfe", b"a " + cut, b"\"\\ \x01\x1b[2J</script><script>", bytes(range(1, 256)), cut + b"cat"):
            with self.subTest(text=text):
                done = run("tokenize", self.model("bert"), "--text", text, "--json")
                self.assertEqual(done.code, 0, done.err)
                tokens = done.json()
                self.assertEqual(len(tokens["ids"]), len(tokens["pieces"]))
                for begin, end in tokens["offsets"]:
                    self.assertTrue(0 <= begin <= end <= len(text))

    def test_truncation_keeps_the_special_tokens(self):
        ids = self.ids("cat " * 100)
        self.assertEqual((len(ids), ids[0], ids[-1]), (16, 2, 3))

    def test_a_model_without_a_tokenizer_says_so(self):
        error = self.bad(1, "tokenize", self.model("linear"), "--text", "a")
        self.assertIn("linear-q8c.heed", error)


class Run(ProgramTest):
    def outputs(self, *arguments) -> dict:
        result = self.good("run", *arguments, "--json").json()
        return {output["name"]: output for output in result["outputs"]}

    def texts_file(self, *lines: str) -> str:
        path = self.folder / "texts.txt"
        path.write_text("".join(line + "\n" for line in lines))
        return str(path)

    def test_text_ids_and_files_agree(self):
        model = self.model("bert")
        ids = self.good("tokenize", model, "--text", "the cat sat").text().split()
        tiny.write_npy(self.folder / "ids.npy", (len(ids),), [int(i) for i in ids], "<i8")
        digests = {self.good("run", model, *how, "--digest").text().splitlines()[-1]
                   for how in (["--text", "the cat sat"], ["--tokens", ",".join(ids)], ["--input", f"tokens={self.folder / 'ids.npy'}"])}
        self.assertEqual(len(digests), 1)
        self.assertRegex(digests.pop(), "^[0-9a-f]{16}$")

    def test_an_embedding_is_one_row_a_text_and_of_length_one(self):
        output = self.outputs(self.model("bert"), "--texts", self.texts_file("a cat", "", "the dog sat on the mat."))["embedding"]
        self.assertEqual(output["shape"], [3, tiny.BERT_FEATURES])
        for row in output["data"]:
            self.assertAlmostEqual(sum(value * value for value in row), 1, places=5)

    def test_npy_output_is_what_json_says(self):
        out = self.folder / "e.npy"
        texts = self.texts_file("a cat", "the dog sat")
        result = self.outputs(self.model("bert"), "--texts", texts, "--output", f"embedding={out}")["embedding"]
        shape, values = tiny.read_npy(out)
        self.assertEqual(list(shape), result["shape"])
        self.assertEqual([tiny.as_f32(value) for row in result["data"] for value in row], values)

    def test_digest_is_of_the_output_bytes_whatever_ran_together(self):
        model = self.model("bert")
        lines = ["cat " * (i * 7 % 13) + "dog" for i in range(40)]
        out = self.folder / "d.npy"
        digests = set()
        for flags in ([], ["--rows", "16"], ["--rows", "31"], ["--threads", "2"], ["--threads", "4", "--tile-rows", "8"], ["--isa", "ref"]):
            done = self.good("run", model, "--texts", self.texts_file(*lines), "--digest", "--output", f"embedding={out}", *flags)
            digests.add(done.text().splitlines()[-1])
        self.assertEqual(len(digests), 1)
        alone = []
        for line in lines:
            row = self.outputs(model, "--text", line)["embedding"]["data"][0]
            alone.extend(tiny.as_f32(value) for value in row)
        self.assertEqual(tiny.read_npy(out)[1], alone)

    def test_threads_have_sessions_of_their_own_where_passes_are_many(self):
        model = self.model("bert")
        lines = ["cat " * (i % 6) + "dog" for i in range(64)]
        texts = self.texts_file(*lines)
        run = lambda *flags: self.good("run", model, "--texts", texts, "--rows", "8", "--json", *flags).json()
        one, three = run(), run("--threads", "3")
        self.assertGreaterEqual(one["passes"], 24)
        self.assertEqual([one["sessions"], three["sessions"]], [1, 3])
        self.assertEqual(three["arena_bytes"], 3 * one["arena_bytes"])
        self.assertEqual(three["outputs"], one["outputs"])
        arena = self.good("inspect", model, "--rows", "8", "--threads", "3", "--json").json()["arena_bytes"]
        given = run("--threads", "3", "--arena", str(2 * arena + 64 * 1024))
        self.assertEqual([given["sessions"], given["outputs"]], [1, one["outputs"]])
        self.assertEqual(run("--threads", "30")["sessions"], 1)

    def test_threads_and_isa_by_environment(self):
        model = self.model("bert")
        self.assertEqual(self.good("run", model, "--text", "a", "--json", env={"HEED_ISA": "ref"}).json()["isa"], "ref")
        self.assertIn("nothing", self.bad(1, "run", model, "--text", "a", "--isa", "nothing"))
        self.assertIn("nothing", self.bad(1, "run", model, "--text", "a", env={"HEED_ISA": "nothing"}))
        self.assertIn("nothing", self.bad(1, "isa", env={"HEED_ISA": "nothing"}))

    def test_exact_arena_works_and_one_byte_less_names_what_is_needed(self):
        model = self.model("bert")
        needed = self.good("run", model, "--text", "a cat", "--json").json()["arena_bytes"]
        self.assertEqual(self.good("run", model, "--text", "a cat", "--json", "--arena", str(needed)).json()["arena_bytes"], needed)
        for less in (0, 1, 64, needed - 64, needed - 1):
            self.assertIn(f"{needed} bytes", self.bad(1, "run", model, "--text", "a cat", "--arena", str(less)))

    def test_cli_06_rows_below_what_is_needed_and_beyond_the_model(self):
        model = self.model("bert")
        for rows in ("0", "-1", "x", "1.5", "99999999999"):
            self.assertIn("--rows", self.bad(2, "run", model, "--text", "a cat", "--rows", rows))
        for rows in ("1", "2", "3"):
            self.assertIn("4 rows", self.bad(1, "run", model, "--text", "a cat", "--rows", rows))
        self.good("run", model, "--text", "a cat", "--rows", "4")
        self.assertIn("24", self.bad(1, "bench", model, "--rows", "25"))
        self.assertIn("24", self.bad(1, "inspect", model, "--rows", "25"))
        self.assertIn("24", self.bad(1, "run", model, "--tokens", ",".join(["5"] * 25)))

    def test_wrong_usage(self):
        model, x = self.model("linear"), self.source("linear") + "/x.npy"
        bert = self.model("bert")
        for arguments in (
            [], ["frobnicate"], ["run"], ["run", model], ["run", bert, "--text", "a", "--tokens", "1"], ["run", bert, "--text"],
            ["run", bert, "--text", "a", "--text", "b"], ["run", bert, "--tokens", ""], ["run", bert, "--tokens", "1,,2"], ["run", bert, "--tokens", "1;2"],
            ["run", bert, "--text", "a", "--bogus"], ["run", bert, "--text", "a", "--threads", "0"], ["run", bert, "--text", "a", "--tile-rows", "12"],
            ["run", bert, "--text", "a", "--precision", "f64"], ["run", bert, "--text", "a", "--arena", "-1"], ["run", bert, "--text", "a", "extra"],
            ["run", model, "--input", "x"], ["run", model, "--input", "=" + x], ["run", model, "--input", "z=" + x],
            ["run", model, "--input", "x=" + x, "--input", "x=" + x], ["run", self.model("add"), "--input", f"a={self.source('add')}/a.npy"],
            ["run", model, "--input", "x=" + x, "--output", "z=/dev/null"], ["run", model, "--input", "x=" + x, "--output", "y"],
            ["bench", model, "--seconds", "-1"], ["compare", model], ["verify"], ["tokenize", bert], ["isa", "extra"],
        ):
            with self.subTest(arguments=arguments):
                self.bad(2, *arguments)

    def test_cli_12_an_empty_value_or_a_value_of_a_flag_is_wrong_usage(self):
        bert = self.model("bert")
        for arguments in (
            ["run", bert, "--texts", ""], ["run", bert, "--texts="], ["run", bert, "--text", "a", "--isa="], ["run", bert, "--text", "a", "--prompt-name", ""],
            ["run", bert, "--text", "a", "--output", ""], ["inspect", bert, "--svg="], ["inspect", ""], ["inspect", bert, "--json=3"],
            ["run", bert, "--text", "a", "--digest=5"], ["bench", bert, "--seconds", "nan"], ["compare", bert, ""], ["compare", bert, bert, "--texts", ""],
            ["run", bert, "--tokens", "5", "--prompt-name", "query"],
        ):
            with self.subTest(arguments=arguments):
                self.bad(2, *arguments)
        self.good("run", bert, "--text", "")
        self.good("run", bert, "--text=")

    def test_what_nobody_takes_is_named_in_order(self):
        bert = self.model("bert")
        self.assertIn("unknown option --txt;", self.bad(2, "run", bert, "--txt", "a"))
        self.assertIn("unknown command 'frob';", self.bad(2, "frob", "x"))
        self.assertIn("'one', 'two', 'three'", self.bad(2, "isa", "one", "two", "three"))

    def test_an_output_never_replaces_what_is_read_or_another_output(self):
        model, x = self.folder / "own.heed", self.folder / "own.npy"
        model.write_bytes(pathlib.Path(self.model("linear")).read_bytes())
        x.write_bytes((pathlib.Path(self.source("linear")) / "x.npy").read_bytes())
        link = self.folder / "own-link"
        link.symlink_to(model)
        before = model.read_bytes(), x.read_bytes()
        for output in (model, x, link, f"{self.folder}/./own.heed"):
            self.assertIn("own", self.bad(2, "run", str(model), "--input", f"x={x}", "--output", f"y={output}"))
        self.assertIn("own", self.bad(2, "inspect", str(model), "--svg", str(link)))
        self.assertEqual((model.read_bytes(), x.read_bytes()), before)

    def test_texts_from_standard_input(self):
        model, lines = self.model("bert"), "a cat\nthe dog sat\n"
        digest = self.good("run", model, "--texts", self.texts_file(*lines.split("\n")[:2]), "--digest").out
        self.assertEqual(self.good("run", model, "--texts", "-", "--digest", stdin=lines.encode()).out, digest)
        self.assertIn("standard input: has no line", self.bad(1, "run", model, "--texts", "-"))
        self.assertIn("--texts -", self.bad(1, "run", model, "--texts", "/dev/stdin", stdin=lines.encode()))
        self.assertIn("- is standard input", self.good("run", "--help").text())

    def test_tokens_of_texts_are_a_line_or_an_object_for_each(self):
        model, texts = self.model("bert"), ["A cat sat.", "", "the dog"]
        each = [self.good("tokenize", model, f"--text={text}") for text in texts]
        file = self.texts_file(*texts)
        self.assertEqual(self.good("tokenize", model, "--texts", file).out, b"".join(done.out for done in each))
        found = self.good("tokenize", model, "--texts", file, "--json").json()
        self.assertEqual(found, {"texts": [self.good("tokenize", model, f"--text={text}", "--json").json() for text in texts]})
        for wrong in ([], ["--text", "a", "--texts", file]):
            self.bad(2, "tokenize", model, *wrong)

    def test_cli_17_a_text_that_is_cut_is_told(self):
        model, long = self.model("bert"), "cat " * 10000
        note = f"heed: note: {{}} has 10002 tokens, of which {model} reads the first 16{{}}\n"
        self.assertEqual(run("run", model, "--text", long).err, note.format("the text", ""))
        for lines, words in ((["a cat", long, "dog"], ("text 2", "")), (["a cat", "dog", long, "dog " * 15], ("text 3", "; 2 of 4 texts are cut"))):
            done = run("run", model, "--texts", self.texts_file(*lines))
            self.assertEqual((done.code, done.err), (0, note.format(*words)))
        self.good("run", model, "--text", "cat " * 14)
        done = run("tokenize", model, "--text", long)
        self.assertEqual((done.code, done.err, len(done.text().split())), (0, note.format("the text", ""), 16))
        texts = self.texts_file("a cat", long)
        for command in (["tokenize", model], ["compare", model, model]):
            done = run(*command, "--texts", texts)
            self.assertEqual((done.code, done.err), (0, note.format("text 2", "")))

    def test_pipes_are_refused_and_never_waited_for(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        for arguments in (["inspect", pipe], ["run", self.model("bert"), "--texts", pipe], ["run", self.model("linear"), "--input", f"x={pipe}"]):
            self.assertIn("pipe", self.bad(1, *map(str, arguments)))

    def test_wrong_ids_and_lengths_name_the_file_and_the_element(self):
        bert = self.model("bert")
        for values, words in (([2, 99], ("element 1 is the id 99", "0 to")), ([2, 5, -1], ("element 2 is the id -1",)),
                              ([5] * 25, ("25 rows", "at most 24"))):
            tiny.write_npy(self.folder / "ids_wrong.npy", (len(values),), values, "<i4")
            error = self.bad(1, "run", bert, "--input", f"tokens={self.folder / 'ids_wrong.npy'}")
            for word in ("ids_wrong.npy", *words):
                self.assertIn(word, error)
            self.assertNotIn("byte", error)

    def test_two_outputs_of_the_same_name_or_file_leave_nothing(self):
        model, x = self.model("linear"), "x=" + self.source("linear") + "/x.npy"
        with tempfile.TemporaryDirectory() as folder:
            self.assertIn("twice", self.bad(2, "run", model, "--input", x, "--output", f"y={folder}/1.npy", "--output", f"y={folder}/2.npy"))
            self.assertEqual(self.left(pathlib.Path(folder)), [])

    def test_unwritable_output_leaves_nothing(self):
        model, x = self.model("linear"), "x=" + self.source("linear") + "/x.npy"
        with tempfile.TemporaryDirectory() as folder:
            error = self.bad(1, "run", model, "--input", x, "--output", f"y={folder}/no/such/y.npy")
            self.assertIn("no/such/y.npy", error)
            os.mkdir(f"{folder}/taken.npy")
            self.bad(1, "run", model, "--input", x, "--output", f"y={folder}/taken.npy")
            self.assertEqual(self.left(pathlib.Path(folder)), ["taken.npy"])

    def test_a_failing_run_leaves_the_old_output(self):
        out = self.folder / "kept.npy"
        out.write_bytes(b"old")
        self.assertIn("99", self.bad(1, "run", self.model("bert"), "--tokens", "2,99,3", "--output", f"embedding={out}"))
        self.assertEqual(out.read_bytes(), b"old")

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_full_standard_output_is_an_error(self):
        for flag in ("--help", "--version"):
            with open("/dev/full", "wb") as full:
                self.assertEqual(run(flag, stdout=full).code, 1)
        for arguments in (["inspect", self.model("linear"), "--json"], ["run", self.model("bert"), "--text", "a cat", "--json"]):
            with open("/dev/full", "wb") as full:
                done = run(*arguments, stdout=full)
            self.assertEqual(done.code, 1)
            self.assertIn("standard output", done.err)

    def test_texts_files(self):
        model = self.model("bert")
        self.assertIn("nothing.txt", self.bad(1, "run", model, "--texts", str(self.folder / "nothing.txt")))
        empty = self.folder / "empty.txt"
        empty.write_bytes(b"")
        self.assertIn("empty.txt", self.bad(1, "run", model, "--texts", str(empty)))
        odd = self.folder / "odd.txt"
        odd.write_bytes(b"a cat\r\n\n\xff\xfe\x00 dog\nlast")
        output = self.outputs(model, "--texts", str(odd))["embedding"]
        self.assertEqual(output["shape"][0], 4)
        self.assertEqual(output["data"][0], self.outputs(model, "--text", "a cat")["embedding"]["data"][0])

    def test_similarity_table_for_people(self):
        text = self.good("run", self.model("bert"), "--texts", self.texts_file("a cat", "\x1b[2J", "dog")).text()
        for shift in range(3):
            long = run("run", self.model("bert"), "--texts", self.texts_file("a" * shift + "\u4e2d" * 40, "dog")).text()
            self.assertIn("\u4e2d...", long)  # never half a character, which would be shown as \\x..
        self.assertIn("cosine similarity", text)
        self.assertNotIn("\x1b", text)


class Npy(ProgramTest):
    def npy(self, data: bytes) -> str:
        path = self.folder / "odd.npy"
        path.write_bytes(data)
        return self.bad(1, "run", self.model("linear"), "--input", f"x={path}")

    def test_every_wrong_file_is_refused_by_name(self):
        good = (pathlib.Path(self.source("linear")) / "x.npy").read_bytes()
        self.assertIn("odd.npy", self.npy(b""))
        for cut in (5, 9, 11, 40, 127, len(good) - 1):
            self.assertIn("odd.npy", self.npy(good[:cut]))
        self.npy(good + b"\0")
        for old, new in ((b"<f4", b">f4"), (b"<f4", b"|O8"), (b"<f4", b"<c8"), (b"False", b"True "), (b"(11, 16)", b"(16, 11)"), (b"(11, 16)", b"(11, 1x)"),
                         (b"NUMPY\x01", b"NUMPY\x09"), (b"'shape'", b"'shope'"), (b"'fortran_order'", b"'descr'        "), (b"}", b" ")):
            with self.subTest(new=new):
                self.assertIn("odd.npy", self.npy(good.replace(old, new, 1)))

    def test_a_shape_whose_size_overflows_is_refused(self):
        tiny.write_npy(self.folder / "huge.npy", (1 << 62, 16), [])
        self.assertIn("too large", self.bad(1, "run", self.model("linear"), "--input", f"x={self.folder / 'huge.npy'}"))

    def test_ids_must_be_integers_that_fit(self):
        tiny.write_npy(self.folder / "big.npy", (2,), [1, 1 << 40], "<i8")
        self.assertIn("element 1", self.bad(1, "run", self.model("bert"), "--input", f"tokens={self.folder / 'big.npy'}"))
        tiny.write_npy(self.folder / "float.npy", (2,), [1.0, 2.0])
        self.assertIn("integers", self.bad(1, "run", self.model("bert"), "--input", f"tokens={self.folder / 'float.npy'}"))

    def test_doubles_are_read(self):
        shape, values = tiny.read_npy(pathlib.Path(self.source("linear")) / "x.npy")
        tiny.write_npy(self.folder / "x64.npy", shape, values, "<f8")
        digests = {self.good("run", self.model("linear"), "--input", f"x={path}", "--digest").text().split()[-1]
                   for path in (self.folder / "x64.npy", pathlib.Path(self.source("linear")) / "x.npy")}
        self.assertEqual(len(digests), 1)

    def test_not_a_number_and_infinity_run(self):
        for value in (float("nan"), float("inf")):
            values = [0.5] * (3 * tiny.FEATURES)
            values[tiny.FEATURES] = value
            tiny.write_npy(self.folder / "odd_values.npy", (3, tiny.FEATURES), values)
            rows = self.good("run", self.model("linear"), "--input", f"x={self.folder / 'odd_values.npy'}", "--json").json()["outputs"][0]["data"]
            self.assertEqual(rows[0], rows[2])
            self.assertEqual(rows[1], [None] * tiny.HIDDEN)


class Locale(ProgramTest):
    def test_cli_02_a_locale_with_decimal_commas_changes_nothing(self):
        locales = self.folder / "locales"
        locales.mkdir(exist_ok=True)
        made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", str(locales / "de_DE.UTF-8")], capture_output=True)
        german = {"LOCPATH": str(locales), "LC_ALL": "de_DE.UTF-8"}
        comma = subprocess.run([sys.executable, "-c", "import locale; locale.setlocale(locale.LC_ALL, ''); print(locale.localeconv()['decimal_point'])"],
                               env={**os.environ, **german}, capture_output=True, text=True)
        self.assertEqual(comma.stdout.strip(), ",", f"the locale could not be made: {made.stderr!r}")
        bert = self.model("bert")
        for arguments in (["run", bert, "--text", "a cat", "--json"], ["run", bert, "--text", "a cat", "--digest"], ["inspect", bert, "--json"],
                          ["inspect", bert, "--ops", "--tensors"], ["compare", bert, self.source("bert"), "--json"], ["tokenize", bert, "--text", "a"]):
            with self.subTest(arguments=arguments):
                self.assertEqual(self.good(*arguments, env=german).out, self.good(*arguments, env={"LC_ALL": "C"}).out)
        report = self.good("bench", bert, "--seconds", "0.01", "--json", env=german).json()
        self.assertIsInstance(report["min_ms"], float)
        # "0.25" and "1e-05" are read with a point, too.
        self.good("bench", bert, "--seconds", "0.01", env=german)
        out = self.folder / "german.heed"
        self.good("convert", self.source("bert"), "-o", str(out), env=german)
        self.assertEqual(out.read_bytes(), pathlib.Path(bert).read_bytes())


if __name__ == "__main__":
    unittest.main()

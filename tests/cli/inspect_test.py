"""heed inspect, verify, isa, bench, compare and convert on tiny models, and on files that are wrong.

SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile
import time
import unittest
import xml.dom.minidom

from program import HEED, ProgramTest, tiny

COMMANDS = ["convert", "inspect", "run", "bench", "compare", "verify", "tokenize", "isa", "attention"]
MASK = (1 << 64) - 1
PRIMES = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)


def xxh64(data: bytes) -> int:
    """From the algorithm's description, seed 0."""
    p1, p2, p3, p4, p5 = PRIMES

    def rotate(value: int, bits: int) -> int:
        return (value << bits | value >> (64 - bits)) & MASK

    def lane(state: int, word: int) -> int:
        return rotate((state + word * p2) & MASK, 31) * p1 & MASK

    at = 0
    if len(data) >= 32:
        states = [(p1 + p2) & MASK, p2, 0, -p1 & MASK]
        while at + 32 <= len(data):
            states = [lane(state, word) for state, word in zip(states, struct.unpack_from("<4Q", data, at))]
            at += 32
        total = sum(rotate(state, bits) for state, bits in zip(states, (1, 7, 12, 18))) & MASK
        for state in states:
            total = ((total ^ lane(0, state)) * p1 + p4) & MASK
    else:
        total = p5
    total = (total + len(data)) & MASK
    while at + 8 <= len(data):
        total = (rotate(total ^ lane(0, struct.unpack_from("<Q", data, at)[0]), 27) * p1 + p4) & MASK
        at += 8
    if at + 4 <= len(data):
        total = (rotate(total ^ struct.unpack_from("<I", data, at)[0] * p1 & MASK, 23) * p2 + p3) & MASK
        at += 4
    for byte in data[at:]:
        total = rotate(total ^ byte * p5 & MASK, 11) * p1 & MASK
    total = (total ^ total >> 33) * p2 & MASK
    total = (total ^ total >> 29) * p3 & MASK
    return total ^ total >> 32


def root_field(data: bytes, index: int) -> int:
    """Where the vector of the root table's field lies; the tables are behind a length of four bytes."""
    root = 4 + struct.unpack_from("<I", data, 4)[0]
    vtable = root - struct.unpack_from("<i", data, root)[0]
    slot = root + struct.unpack_from("<H", data, vtable + 4 + 2 * index)[0]
    return slot + struct.unpack_from("<I", data, slot)[0]


def with_checksum(data: bytearray) -> bytes:
    end = 4 + struct.unpack_from("<I", data, 0)[0]
    struct.pack_into("<Q", data, end, xxh64(bytes(data[:end])))
    return bytes(data)


class Help(ProgramTest):
    def test_help_of_every_command_shows_an_example(self):
        self.assertIn("heed", self.good("--help").text())
        for command in COMMANDS:
            with self.subTest(command=command):
                self.assertIn(f"Example:\n  heed {command}", self.good(command, "--help").text())
                self.assertIn(command, self.good("--help").text())

    def test_version(self):
        self.assertRegex(self.good("--version").text(), r"^heed \d+\.\d+\.\d+\n$")


class Inspect(ProgramTest):
    def test_json_has_what_it_promises(self):
        facts = self.good("inspect", self.model("bert"), "--json").json()
        self.assertTrue({"arena_bytes", "live_peak_bytes", "weight_bytes", "parameters", "ops", "graphs", "inputs", "outputs", "source", "licence",
                         "isa", "format_version"} <= facts.keys())
        count = sum(len(values) for _, values in tiny.bert_tensors().values())
        self.assertEqual(facts["parameters"], count)
        self.assertEqual([node["op"] for node in facts["ops"]], ["Embed", "Attention", "FeedForward", "Pool", "L2Normalize"])
        self.assertEqual(facts["outputs"], [{"name": "embedding", "shape": [1, tiny.BERT_FEATURES]}])
        self.assertEqual(facts["tokenizer"], {"kind": "wordpiece", "vocabulary": len(tiny.VOCABULARY), "truncation": 16,
                                              "truncation_source": "sentence_bert_config"})

    def test_arena_is_what_run_takes(self):
        model = self.model("bert")
        for flags in (["--tile-rows", "8"], ["--threads", "3"], ["--precision", "f32"]):
            planned = self.good("inspect", model, "--json", "--rows", "16", *flags).json()
            ran = self.good("run", model, "--json", "--rows", "16", "--tokens", "5,6", *flags).json()
            self.assertEqual(planned["arena_bytes"], ran["arena_bytes"])
            self.assertLessEqual(planned["live_peak_bytes"], planned["arena_bytes"])
            parts = planned["persistent_bytes"] + planned["activation_bytes"] + planned["workspace_bytes"] + planned["scratch_bytes"] * planned["threads"]
            self.assertEqual(parts, planned["arena_bytes"])

    def test_states_are_counted_and_named(self):
        model = self.model("key_value", "f32")
        found = self.good("inspect", model, "--json", "--rows", "20").json()
        slots = 32  # 20 keys in whole panels of 16
        wanted = {"name": "memory", "kind": "kv_fixed", "slots": 1, "rows": 20, "heads": 2, "features": 8, "value_features": 8, "format": "f32",
                  "bytes": 2 * slots * 8 * 4 + 2 * slots * 16 * 4}
        self.assertEqual(found["states"], [wanted])
        self.assertGreaterEqual(found["state_bytes"], wanted["bytes"])
        self.assertLessEqual(found["state_bytes"], found["persistent_bytes"])
        self.assertEqual(found["context"], 0)
        self.assertEqual([node["shape"] for node in found["ops"]], [None, ["rows", 16]])
        text = self.good("inspect", model, "--rows", "20", "--ops").out.decode()
        self.assertIn("state memory", text)
        self.assertIn("kv_fixed, 2 heads of 20 keys in f32, 1 source", text)
        self.assertEqual(self.good("inspect", self.model("key_value"), "--json").json()["states"][0]["format"], "int8")

    def test_multiply_adds_are_those_of_the_formula(self):
        rows, d, h = 7, tiny.BERT_FEATURES, tiny.BERT_HIDDEN
        facts = self.good("inspect", self.model("bert"), "--json", "--rows", str(rows)).json()
        by_op = {node["op"]: node["multiply_adds"] for node in facts["ops"]}
        self.assertEqual(by_op["Attention"], 4 * rows * d * d + 2 * rows * rows * d)
        self.assertEqual(by_op["FeedForward"], 2 * rows * d * h)

    def test_people_see_truncation_and_where_it_came_from(self):
        text = self.good("inspect", self.model("bert"), "--ops", "--tensors").text()
        for words in ("16 tokens, from sentence_bert_config", "Attention", "embeddings.word_embeddings.weight", "panel16"):
            self.assertIn(words, text)

    def test_svg_is_to_scale(self):
        path = self.folder / "memory.svg"
        facts = self.good("inspect", self.model("bert"), "--svg", str(path), "--json", "--threads", "2").json()
        boxes = {}
        for rectangle in xml.dom.minidom.parse(str(path)).getElementsByTagName("rect"):
            for title in rectangle.getElementsByTagName("title"):
                boxes[title.firstChild.data.split(":")[0]] = float(rectangle.getAttribute("height"))
        scale = 640 / facts["arena_bytes"]
        for name, key in (("persistent", "persistent_bytes"), ("activations", "activation_bytes"), ("workspace", "workspace_bytes"),
                          ("scratch 1", "scratch_bytes"), ("scratch 2", "scratch_bytes")):
            self.assertAlmostEqual(boxes[name], facts[key] * scale, delta=0.01)

    def test_unwritable_svg_is_an_error(self):
        self.assertIn("no/such", self.bad(1, "inspect", self.model("bert"), "--svg", str(self.folder / "no/such/m.svg")))


class WrongFiles(ProgramTest):
    def refused(self, data: bytes, *commands: str) -> str:
        path = self.folder / "wrong.heed"
        path.write_bytes(data)
        error = ""
        for command in commands or ("inspect", "verify", "run"):
            arguments = ["--text", "a"] if command in ("run", "tokenize") else []
            error = self.bad(1, command, str(path), *arguments)
            self.assertIn("wrong.heed: ", error)
        return error

    def test_files_that_are_no_model(self):
        self.assertIn("empty", self.refused(b""))
        self.refused(b"x")
        self.refused(b"x" * 4096)
        self.bad(1, "inspect", str(self.folder / "missing.heed"))
        self.bad(1, "inspect", str(self.folder))
        good = pathlib.Path(self.model("bert")).read_bytes()
        for size in (3, 12, 100, len(good) // 2, len(good) - 1):
            self.refused(good[:size])
        self.refused(good + b"\0" * 64)

    def test_a_flipped_bit_in_the_weight_region_is_found_by_verify(self):
        data = bytearray(pathlib.Path(self.model("bert")).read_bytes())
        self.good("verify", self.model("bert"))
        self.good("verify", self.model("bert"), "--json").json()
        region = len(data) - self.good("inspect", self.model("bert"), "--json").json()["weight_bytes"]
        for at in (region, region + 1000, len(data) - 64, len(data) - 1):
            data[at] ^= 1
            self.refused(bytes(data), "verify")
            data[at] ^= 1

    def test_a_flipped_bit_in_the_tables_is_found_by_all(self):
        data = bytearray(pathlib.Path(self.model("bert")).read_bytes())
        data[40] ^= 4
        self.refused(bytes(data))

    def test_fb_09_length_of_the_weight_vector_beyond_the_file(self):
        data = bytearray(pathlib.Path(self.model("linear")).read_bytes())
        self.assertEqual(with_checksum(bytearray(data)), bytes(data), "the checksum's formula")
        weights = root_field(data, 3)
        self.assertEqual(struct.unpack_from("<I", data, weights)[0], 1)
        struct.pack_into("<I", data, weights, 0x7FFFFFFF)
        for command in (["inspect"], ["inspect", "--json", "--tensors"], ["inspect", "--svg", str(self.folder / "x.svg")]):
            path = self.folder / "wrong.heed"
            path.write_bytes(with_checksum(bytearray(data)))
            self.assertIn("wrong.heed", self.bad(1, command[0], str(path), *command[1:]))
        self.assertFalse((self.folder / "x.svg").exists())


class Isa(ProgramTest):
    def test_ref_is_always_there_and_one_is_chosen(self):
        facts = self.good("isa", "--json").json()
        names = {isa["name"]: isa for isa in facts["isas"]}
        self.assertTrue(names["ref"]["built"] and names["ref"]["runs"])
        self.assertEqual([isa["name"] for isa in facts["isas"] if isa["chosen"]], [facts["chosen"]])
        for name, isa in names.items():
            self.assertFalse(isa["runs"] and not isa["built"])
            if isa["runs"]:
                self.assertEqual(self.good("isa", "--json", env={"HEED_ISA": name}).json()["chosen"], name)
        self.assertIn("ref", self.good("isa").text())


class Bench(ProgramTest):
    def test_json_has_what_it_promises(self):
        report = self.good("bench", self.model("bert"), "--rows", "9", "--threads", "2", "--seconds", "0.05", "--isa", "ref", "--json").json()
        self.assertEqual((report["rows"], report["threads"], report["isa"]), (9, 2, "ref"))
        self.assertGreaterEqual(report["runs"], 50)
        self.assertLessEqual(report["min_ms"], report["median_ms"])
        self.assertAlmostEqual(report["gmac_per_s"], report["gmac"] / report["min_ms"] * 1e3, places=9)
        self.assertAlmostEqual(report["peak_fraction"], report["gmac_per_s"] / report["int8_peak_gmac_per_s"], places=9)
        planned = self.good("inspect", self.model("bert"), "--rows", "9", "--threads", "2", "--json").json()
        self.assertEqual(report["arena_bytes"], planned["arena_bytes"])
        self.assertGreater(report["open_plan_ms"], 0)
        self.assertIn("of peak", self.good("bench", self.model("linear"), "--seconds", "0").text())


class InputsOfDifferentLengths(ProgramTest):
    """x takes 5 rows, memory 7."""
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        path = pathlib.Path(cls.source("key_value")) / "graph.json"
        graph = json.loads(path.read_text())
        for axis, (one, most) in enumerate(zip(graph["graphs"][0]["inputs"], (5, 7))):
            one.update(axis=axis, max_rows=most)
        path.write_text(json.dumps(graph))

    def test_cli_16_bench_gives_each_as_many_rows_as_it_takes(self):
        report = self.good("bench", self.model("key_value"), "--seconds", "0", "--json").json()
        self.assertEqual(report["rows"], 7)
        square = tiny.FEATURES * tiny.FEATURES
        self.assertAlmostEqual(report["gmac"] * 1e9, 2 * 7 * square + 5 * square + 2 * 5 * 7 * tiny.FEATURES, places=3)

    def test_cli_16_compare_gives_each_as_many_rows_as_it_takes(self):
        report = self.good("compare", self.model("key_value"), self.source("key_value"), "--json").json()
        self.assertGreater(report["sqnr_db"], 25)
        self.assertEqual(self.good("compare", self.model("key_value"), self.model("key_value"), "--json").json()["max_abs_error"], 0)


class Compare(ProgramTest):
    def test_a_model_with_itself_is_equal(self):
        report = self.good("compare", self.model("bert"), self.model("bert"), "--json").json()
        self.assertEqual((report["max_abs_error"], report["sqnr_db"]), (0, None))
        self.assertAlmostEqual(report["min_cosine"], 1, places=12)
        self.assertEqual(report["texts"], 100)

    def test_int8_with_the_checkpoint_it_came_from(self):
        temporary = self.folder / "temporary"
        temporary.mkdir()
        report = self.good("compare", self.model("bert"), self.source("bert"), "--json", env={"TMPDIR": str(temporary)}).json()
        self.assertEqual(self.left(temporary), [])
        self.assertLess(report["min_cosine"], 1)
        self.assertGreater(report["min_cosine"], 0.99)
        self.assertLessEqual(report["min_cosine"], report["mean_cosine"])
        exact = self.good("compare", self.model("bert", "f32"), self.source("bert"), "--json").json()
        self.assertEqual(exact["max_abs_error"], 0)

    def test_reference_outputs(self):
        model, texts, out = self.model("bert"), self.folder / "t.txt", self.folder / "ref.npy"
        texts.write_text("a cat\nthe dog sat\n")
        self.good("run", model, "--texts", str(texts), "--output", f"embedding={out}")
        shape, values = tiny.read_npy(out)
        values[shape[1]] += 0.5
        tiny.write_npy(out, shape, values)
        report = self.good("compare", model, str(out), "--texts", str(texts), "--json").json()
        self.assertAlmostEqual(report["max_abs_error"], 0.5, places=6)
        self.assertEqual((report["worst"], report["worst_text"]), (1, "the dog sat"))
        self.assertIn("2 texts", self.bad(1, "compare", model, str(self.source("linear")) + "/x.npy", "--texts", str(texts)))
        self.assertIn("the dog sat", self.good("compare", model, str(out), "--texts", str(texts)).text())

    def test_without_a_tokenizer_both_see_the_same_noise(self):
        self.assertEqual(self.good("compare", self.model("attention"), self.model("attention"), "--json").json()["max_abs_error"], 0)
        self.assertGreater(self.good("compare", self.model("attention"), self.source("attention"), "--json").json()["sqnr_db"], 25)
        self.assertGreater(self.good("compare", self.model("embed"), self.source("embed"), "--json").json()["sqnr_db"], 25)

    def test_texts_from_standard_input(self):
        model = self.model("bert")
        report = self.good("compare", model, self.source("bert"), "--texts", "-", "--json", stdin=b"a cat\nthe dog sat\n").json()
        self.assertEqual(report["texts"], 2)

    def test_models_that_do_not_fit_each_other(self):
        self.bad(1, "compare", self.model("bert"), self.model("add"))
        self.bad(1, "compare", self.model("linear"), self.model("norm_layer"))
        self.bad(1, "compare", self.model("linear"), self.model("linear"), "--texts", str(self.folder / "t.txt"))

    def test_cli_11_inputs_of_another_width_or_type_are_refused_with_both(self):
        wide = self.folder / "wide"
        shutil.copytree(self.source("linear"), wide)
        rows, cols = 24, 8192
        graph = json.loads((wide / "graph.json").read_text())
        graph["graphs"][0]["inputs"][0]["features"] = cols
        (wide / "graph.json").write_text(json.dumps(graph))
        names = [(weight["name"], weight.get("bias_name")) for weight in graph["weights"]]
        tiny.write_safetensors(wide / "weights.safetensors", {names[0][0]: ([rows, cols], [0.5] * (rows * cols)), names[0][1]: ([rows], [0.0] * rows)})
        for other, words in ((str(wide), ("8192 features", "16 features")), (self.source("embed"), ("ids", "16 features"))):
            error = self.bad(1, "compare", self.model("linear"), other)
            for word in (other, "linear-q8c.heed", *words):
                self.assertIn(word, error)

    def test_a_temporary_folder_that_is_not_there_is_named(self):
        self.assertIn("TMPDIR", self.bad(1, "compare", self.model("bert"), self.source("bert"), env={"TMPDIR": "/nonexistent"}))


class Convert(ProgramTest):
    def changed(self, name: str, change) -> str:
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder)) / name
        shutil.copytree(self.source(name), folder)
        change(folder)
        return str(folder)

    def edit(self, file: str, function):
        def change(folder: pathlib.Path):
            content = json.loads((folder / file).read_text())
            function(content)
            (folder / file).write_text(json.dumps(content))
        return change

    def refused(self, source: str, *words: str):
        out = self.folder / "refused"
        out.mkdir(exist_ok=True)
        error = self.bad(1, "convert", source, "-o", str(out / "m.heed"))
        self.assertEqual(self.left(out), [])
        for word in words:
            self.assertIn(word, error)

    def test_report_for_people_and_programs(self):
        out, report = str(self.folder / "c.heed"), self.folder / "report.json"
        self.assertIn("arena", self.good("convert", self.source("bert"), "-o", out, "--report", str(report)).text())
        printed = self.good("convert", self.source("bert"), "-o", out, "--json").json()
        self.assertEqual(printed, json.loads(report.read_text()))

    def test_cli_05_unsupported_things_are_named_in_one_line(self):
        def architecture(config):
            config.update(model_type="frobnicator", architectures=["FrobnicatorModel"])

        self.refused(self.changed("bert", self.edit("config.json", architecture)), "config.json", "frobnicator", "bert")
        self.refused(self.changed("bert", self.edit("config.json", lambda c: c.update(hidden_act="frob"))), "config.json", "hidden_act", "frob", "gelu")
        self.refused(self.changed("bert", self.edit("config.json", lambda c: c.update(position_embedding_type="relative_key"))),
                     "position_embedding_type", "relative_key")
        self.refused(self.changed("linear", self.edit("graph.json", lambda g: g["graphs"][0]["nodes"][0].update(op="Conv2d"))), "Conv2d")
        self.refused(self.changed("linear", self.edit("graph.json", lambda g: g["graphs"][0]["nodes"][0].update(op="Frob"))), "Frob")

        def float8(folder: pathlib.Path):
            path = folder / "model.safetensors"
            path.write_bytes(self.with_dtype(path.read_bytes(), "F8_E4M3"))

        self.refused(self.changed("bert", float8), "model.safetensors", "F8_E4M3")

    @staticmethod
    def with_dtype(data: bytes, dtype: str) -> bytes:
        size = struct.unpack("<Q", data[:8])[0]
        header = json.loads(data[8:8 + size])
        next(iter(header.values()))["dtype"] = dtype
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        return struct.pack("<Q", len(text)) + text + data[8 + size:]

    def test_sources_that_are_not_there(self):
        self.refused(str(self.folder / "nowhere"), "nowhere")
        self.refused(str(self.folder), "convert")

    def test_unwritable_output_leaves_nothing(self):
        self.assertIn("no/such", self.bad(1, "convert", self.source("bert"), "-o", str(self.folder / "no/such/m.heed")))
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(f"{folder}/taken.heed")
            self.bad(1, "convert", self.source("bert"), "-o", f"{folder}/taken.heed")
            self.assertEqual(self.left(pathlib.Path(folder)), ["taken.heed"])

    @unittest.skipUnless(os.path.exists("/proc/self/limits"), "no ulimit -f")
    def test_full_disk_leaves_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(["sh", "-c", 'ulimit -f 4; exec "$0" convert "$1" -o "$2"', HEED, self.source("bert"), f"{folder}/m.heed"],
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertTrue(done.stderr.startswith("heed: error: ") and "m.heed" in done.stderr, done.stderr)
            self.assertEqual(self.left(pathlib.Path(folder)), [])

    def test_cli_13_outputs_never_replace_the_source_or_each_other(self):
        source = pathlib.Path(self.changed("bert", lambda folder: None))
        before = {path.name: path.read_bytes() for path in source.iterdir() if path.is_file()}
        here = self.folder / "here"
        here.mkdir()
        out = str(here / "m.heed")
        texts = self.folder / "calibrate.txt"
        texts.write_text("a cat\n")
        for arguments in (["-o", str(source / "config.json")], ["-o", out, "--report", str(source / "model.safetensors")], ["-o", out, "--report", out],
                          ["-o", out, "--report", f"{here}/./m.heed"], ["-o", out, "--report", os.path.relpath(out)],
                          ["-o", str(texts), "--calibrate", str(texts)], ["-o", ""], ["-o", out, "--calibrate", ""], ["-o", out, "--report", ""]):
            with self.subTest(arguments=arguments):
                self.bad(2, "convert", str(source), *arguments)
                self.assertEqual(self.left(here), [])
        self.assertEqual({path.name: path.read_bytes() for path in source.iterdir() if path.is_file()}, before)
        for _ in range(2):  # a model of its own may be there
            self.good("convert", str(source), "-o", str(source / "m.heed"))

    def test_cli_14_a_signal_leaves_nothing(self):
        source = pathlib.Path(self.changed("linear", lambda folder: None))
        graph = json.loads((source / "graph.json").read_text())
        graph["graphs"][0]["inputs"][0]["features"] = 4096
        (source / "graph.json").write_text(json.dumps(graph))
        name, bias = graph["weights"][0]["name"], graph["weights"][0]["bias_name"]
        tiny.write_safetensors(source / "weights.safetensors", {name: ([2048, 4096], [0.5] * (2048 * 4096)), bias: ([2048], [0.0] * 2048)})
        for delay in (0.02, 0.05, 0.1, 0.2):
            with tempfile.TemporaryDirectory() as folder:
                child = subprocess.Popen([HEED, "convert", str(source), "-o", f"{folder}/m.heed", "--weights", "f32"], stdout=subprocess.DEVNULL)
                time.sleep(delay)
                child.terminate()
                if child.wait(timeout=60) != 0:
                    self.assertEqual(self.left(pathlib.Path(folder)), [])

    def test_names_that_cannot_be_addressed_are_refused(self):
        for name in ("", "a=b", "a\0b"):
            self.refused(self.changed("linear", self.edit("graph.json", lambda g: g["graphs"][0]["outputs"][0].update(name=name))), "graph.json", "output name")
        self.refused(self.changed("linear", self.edit("graph.json", lambda g: g["graphs"][0]["inputs"][0].update(features=5))), "graph.json", "does not run")

    def test_cli_18_a_graph_that_is_wrong_is_told_what_belongs_to_what(self):
        def first(change):
            return self.edit("graph.json", lambda g: change(g, g["graphs"][0]["nodes"][0]))

        self.refused(self.changed("linear", first(lambda g, node: g.update(version=9))), '"version" is 9', "up to 1")
        self.refused(self.changed("storestate", first(lambda g, node: g.update(states=[]))), "'keep': state id 0", 'declares no "states"')
        self.refused(self.changed("storestate", first(lambda g, node: g["graphs"][0]["nodes"][1].update(state=3))), "state id 3 is not one of the 1 states")
        self.refused(self.changed("linear", first(lambda g, node: g["weights"].append({"name": "unused"}))), "'unused' is used by no node; use it or remove it")
        self.refused(self.changed("linear", first(lambda g, node: g["graphs"][0]["inputs"][0].update(features=17))),
                     "the input has 17 features, the weight takes 16")

    def test_heads_over_an_encoder_are_left_out_and_named(self):
        def head(folder: pathlib.Path):
            bert = tiny.bert_tensors()
            tiny.write_safetensors(folder / "model.safetensors", {**{"bert." + name: tensor for name, tensor in bert.items()},
                                                                  "classifier.weight": ([2, tiny.BERT_FEATURES], [0.5] * 2 * tiny.BERT_FEATURES)})
            self.edit("config.json", lambda c: c.update(architectures=["BertForSequenceClassification"]))(folder)

        notes = self.good("convert", self.changed("bert", head), "-o", str(self.folder / "head.heed"), "--json").json()["notes"]
        self.assertEqual(len([note for note in notes if "what the file computes is the encoder" in note and "left out: classifier.weight" in note]), 1)

    def test_cli_15_a_folder_with_only_a_pickle_is_told_why(self):
        folder = self.folder / "pickle"
        folder.mkdir()
        (folder / "pytorch_model.bin").write_bytes(b"x")
        self.refused(str(folder), "no config.json")
        (folder / "config.json").write_text('{"model_type": "marian", "architectures": ["MarianMTModel"]}')
        self.refused(str(folder), "pickle", "AutoModelForSeq2SeqLM", 'save_pretrained("pickle-safetensors"', "safe_serialization")

    def test_wrong_usage(self):
        out = str(self.folder / "w.heed")
        for arguments in ([], [self.source("bert")], [self.source("bert"), "-o", out, "--weights", "q9"], [self.source("bert"), "-o", out, "--target", "moon"],
                          [self.source("bert"), "-o", out, "--max-rows", "0"]):
            with self.subTest(arguments=arguments):
                self.bad(2, "convert", *arguments)
        self.assertFalse(os.path.exists(out))


if __name__ == "__main__":
    unittest.main()

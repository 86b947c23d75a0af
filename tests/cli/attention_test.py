"""heed attention: weights, numbers about them, text for pipes and terminals, pictures read back, and the page in a browser.

SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import fcntl
import os
import pathlib
import pty
import re
import struct
import subprocess
import tempfile
import termios
import unittest
import xml.dom.minidom
import zlib

import attention_reference as reference
from browser import Browser
from program import HEED, ROOT, ProgramTest, run, tiny

LAYERS, HEADS = 3, 2
TEXT = "the cat sat on the mat."
PIECES = ["[CLS]", "the", "cat", "sat", "on", "the", "mat", ".", "[SEP]"]
HOSTILE = "</script><script> \"a\" \x01\x1b[2J \u4e2d".encode() + b"\xff"


class AttentionTest(ProgramTest):
    """A BERT of three layers and two heads, and its attention for TEXT in double precision."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        one_layer, tiny.BERT_LAYERS = tiny.BERT_LAYERS, LAYERS
        tiny.write_bert(cls.folder / "sources" / "bert3")
        ids = [tiny.VOCABULARY.index(piece) for piece in PIECES]
        cls.expected = reference.bert_attention(tiny.bert_tensors(), ids, LAYERS, HEADS)
        tiny.BERT_LAYERS = one_layer
        cls.bert = cls.model("bert3", "f32")

    def array(self, *flags, model=None):
        path = self.folder / "map.npy"
        self.good("attention", model or self.bert, "--text", TEXT, "-o", str(path), *flags)
        shape, values = tiny.read_npy(path)
        return list(shape), values

    def near(self, found, wanted, most=2e-6):
        wanted = list(wanted)
        self.assertEqual(len(found), len(wanted))
        self.assertLess(max(abs(a - b) for a, b in zip(found, wanted)), most)


class Weights(AttentionTest):
    def test_every_weight_is_that_of_the_formula(self):
        shape, values = self.array("--layer", "all", "--head", "all")
        n = len(PIECES)
        self.assertEqual(shape, [LAYERS, HEADS, n, n])
        self.near(values, (w for layer in self.expected for head in layer for row in head for w in row))
        for row in range(LAYERS * HEADS * n):
            self.assertAlmostEqual(sum(values[row * n:(row + 1) * n]), 1, places=6)

    def test_int8_weights_are_near_and_add_up_to_one(self):
        shape, values = self.array("--layer", "all", "--head", "all", model=self.model("bert3"))
        self.near(values, (w for layer in self.expected for head in layer for row in head for w in row), 0.1)
        for row in range(len(values) // shape[-1]):
            self.assertAlmostEqual(sum(values[row * shape[-1]:(row + 1) * shape[-1]]), 1, places=5)

    def test_a_layer_a_head_their_mean_and_the_rollout(self):
        n = len(PIECES)
        for flags, wanted in (
            ([], reference.mean(self.expected[-1])),
            (["--head", "mean"], reference.mean(self.expected[-1])),
            (["--layer", "0"], reference.mean(self.expected[0])),
            (["--layer", "1", "--head", "1"], self.expected[1][1]),
            (["--head", "0"], self.expected[-1][0]),
            (["--layer", "rollout"], reference.rollout(self.expected)),
        ):
            with self.subTest(flags=flags):
                shape, values = self.array(*flags)
                self.assertEqual(shape, [n, n])
                self.near(values, (w for row in wanted for w in row))

    def test_all_of_one_axis(self):
        n = len(PIECES)
        shape, values = self.array("--layer", "1", "--head", "all")
        self.assertEqual(shape, [HEADS, n, n])
        self.near(values, (w for head in self.expected[1] for row in head for w in row))
        shape, values = self.array("--layer", "all")
        self.assertEqual(shape, [LAYERS, n, n])
        self.near(values, (w for layer in self.expected for row in reference.mean(layer) for w in row))

    def test_the_same_bits_whatever_threads_and_tiles_and_instruction_set(self):
        found = {tuple(self.array("--head", "all", *flags, model=self.model("bert3"))[1])
                 for flags in ([], ["--threads", "4", "--tile-rows", "8"], ["--isa", "ref"])}
        self.assertEqual(len(found), 1)

    def test_ids_and_files_give_what_the_text_gives(self):
        ids = [tiny.VOCABULARY.index(piece) for piece in PIECES]
        tiny.write_npy(self.folder / "ids.npy", (len(ids),), ids, "<i4")
        texts = self.folder / "one.txt"
        texts.write_text(TEXT + "\n")
        wanted = self.good("attention", self.bert, "--text", TEXT).out
        for how in (["--tokens", ",".join(map(str, ids))], ["--input", f"tokens={self.folder / 'ids.npy'}"], ["--texts", str(texts)]):
            self.assertEqual(self.good("attention", self.bert, *how).out, wanted)

    def test_rows_of_a_file_of_values_are_their_places(self):
        found = self.good("attention", self.model("attention"), "--input", f"x={self.source('attention')}/x.npy", "--json").json()
        self.assertEqual(found["rows"], [str(row) for row in range(tiny.ROWS)])


class Json(AttentionTest):
    def test_numbers_about_every_head_are_those_of_the_formulas(self):
        found = self.good("attention", self.bert, "--text", TEXT, "--json", "--layer", "all", "--head", "all").json()
        self.assertEqual((found["rows"], found["columns"]), (PIECES, PIECES))
        self.assertEqual(len(found["maps"]), LAYERS * HEADS)
        crossings = 0
        for entry in found["maps"]:
            wanted = self.expected[entry["layer"]][entry["head"]]
            self.near([w for row in entry["weights"] for w in row], [w for row in wanted for w in row])
            self.assertAlmostEqual(entry["near_diagonal"], reference.near_diagonal(wanted), places=5)
            self.assertAlmostEqual(entry["entropy_bits"], reference.entropy_bits(wanted), places=4)
            self.assertEqual(entry["crossings"], reference.crossings(wanted))
            self.assertEqual([top["index"] for top in entry["top"]], reference.tops(wanted))
            crossings += entry["crossings"]
            for row, top in enumerate(entry["top"]):
                self.assertEqual((top["row"], top["column"]), (PIECES[row], PIECES[top["index"]]))
                self.assertAlmostEqual(top["weight"], max(wanted[row]), places=5)
        self.assertGreater(crossings, 0)  # or the comparison says nothing

    def test_entropy_of_all_heads_is_there_whatever_is_shown(self):
        layers = self.good("attention", self.bert, "--text", TEXT, "--json").json()["layers"]
        self.assertEqual([layer["heads"] for layer in layers], [HEADS] * LAYERS)
        self.near([bits for layer in layers for bits in layer["entropy_bits"]],
                  [reference.entropy_bits(head) for layer in self.expected for head in layer], 1e-4)

    def test_cli_03_labels_may_be_anything(self):
        found = self.good("attention", self.bert, "--text", HOSTILE, "--json").json()
        self.assertIn("<", found["rows"])
        self.assertIn("\"", found["rows"])


def on_terminal(*arguments, columns=80, **environment) -> str:
    """What `heed attention` writes to a terminal."""
    main, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    clean = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLORTERM", "TERM", "LC_ALL", "LC_CTYPE", "LANG")}
    process = subprocess.Popen([HEED, "attention", *arguments], stdin=subprocess.DEVNULL, stdout=terminal, stderr=subprocess.DEVNULL, env={**clean, **environment})
    os.close(terminal)
    data = b""
    with contextlib.suppress(OSError):  # the end of a terminal
        while part := os.read(main, 1 << 16):
            data += part
    os.close(main)
    assert process.wait(60) == 0
    return data.decode().replace("\r\n", "\n")


class Text(AttentionTest):
    def test_a_pipe_gets_plain_numbers(self):
        text = self.good("attention", self.bert, "--text", TEXT, env={"TERM": "xterm-256color", "COLORTERM": "truecolor"}).text()
        self.assertNotIn("\x1b", text)
        lines = text.splitlines()
        self.assertIn("layer 2, mean of 2 heads", lines[0])
        self.assertEqual(lines[1].split(), PIECES)
        rows = [line.split() for line in lines[2:2 + len(PIECES)]]
        self.assertEqual([row[0] for row in rows], PIECES)
        self.near([float(w) for row in rows for w in row[1:]], [w for row in reference.mean(self.expected[-1]) for w in row], 6e-5)
        self.assertIn("crossings", lines[-1])

    def test_a_terminal_with_256_colours_gets_a_cell_for_each_weight(self):
        text = on_terminal(self.bert, "--text", TEXT, TERM="xterm-256color", LANG="C.UTF-8")
        self.assertEqual(text.count("\x1b[48;5;"), len(PIECES) ** 2)
        ramp = [17, 18, 24, 60, 66, 102, 144, 179, 221, 227, 230]
        cells = [ramp.index(int(code)) for code in re.findall(r"\x1b\[48;5;(\d+)m", text)]
        weights = [w for row in reference.mean(self.expected[-1]) for w in row]
        order = [cell for _, cell in sorted(zip(weights, cells))]
        self.assertEqual(order, sorted(order))
        self.assertEqual((cells[weights.index(max(weights))], len(set(cells)) > 3), (len(ramp) - 1, True))

    def test_without_colours_there_are_blocks_and_without_utf8_ascii(self):
        blocks = set("\u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588")
        for environment in ({"TERM": "xterm-256color", "NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": "vt100"}):
            text = on_terminal(self.bert, "--text", TEXT, LANG="C.UTF-8", **environment)
            self.assertNotIn("\x1b", text)
            self.assertTrue(blocks & set(text))
        plain = on_terminal(self.bert, "--text", TEXT, TERM="vt100", LC_ALL="C")
        self.assertTrue(plain.isascii())
        self.assertIn("@@", plain)

    def test_a_row_says_what_it_looks_at_most(self):
        lines = on_terminal(self.bert, "--text", TEXT, TERM="vt100", LC_ALL="C").splitlines()
        wanted = reference.mean(self.expected[-1])
        for row, line in enumerate(lines[-1 - len(PIECES):-1]):
            top = reference.tops(wanted)[row]
            self.assertTrue(line.endswith(f"{PIECES[top]} {wanted[row][top]:.4f}"), line)

    def test_columns_that_do_not_fit_follow_in_bands(self):
        text = " ".join(["cat"] * 14)
        wide = on_terminal(self.bert, "--text", text, columns=200, TERM="xterm-256color", LANG="C.UTF-8")
        narrow = on_terminal(self.bert, "--text", text, columns=40, TERM="xterm-256color", LANG="C.UTF-8")
        self.assertEqual(wide.count("\x1b[48;5;"), 16 ** 2)
        self.assertEqual(narrow.count("\x1b[48;5;"), 16 ** 2)
        for line in re.sub(r"\x1b\[[0-9;]*m", "", narrow).splitlines()[1:-1]:
            self.assertLessEqual(len(line), 40)


def luminance(color) -> float:
    """Of sRGB, as WCAG defines it."""
    linear = [part / 255 / 12.92 if part / 255 <= 0.04045 else ((part / 255 + 0.055) / 1.055) ** 2.4 for part in color]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def read_png(path: pathlib.Path):
    """Rows of (r, g, b), by the PNG specification."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        body = data[at + 8:at + 8 + size]
        assert struct.unpack_from(">I", data, at + 8 + size)[0] == zlib.crc32(kind + body)
        if kind == b"IHDR":
            width, height, depth, color = struct.unpack_from(">IIBB", body)
            assert (depth, color) == (8, 2)
        if kind == b"IDAT":
            packed += body
        at += 12 + size
    raw, rows, above = zlib.decompress(packed), [], bytes(width * 3)
    for y in range(height):
        kind, line = raw[y * (width * 3 + 1)], bytearray(raw[y * (width * 3 + 1) + 1:(y + 1) * (width * 3 + 1)])
        for i in range(len(line)):
            left, corner = (line[i - 3], above[i - 3]) if i >= 3 else (0, 0)
            estimate = left + above[i] - corner
            paeth = min((abs(estimate - value), order, value) for order, value in enumerate((left, above[i], corner)))[2]
            line[i] = line[i] + (0, left, above[i], (left + above[i]) // 2, paeth)[kind] & 255
        rows.append([tuple(line[i:i + 3]) for i in range(0, len(line), 3)])
        above = bytes(line)
    return rows


class Pictures(AttentionTest):
    def darker_where_more(self, weights, colors):
        order = [luminance(color) for _, color in sorted(zip(weights, colors))]
        self.assertEqual(order, sorted(order, reverse=True))
        self.assertGreater(len(set(colors)), len(colors) // 3)

    def svg(self, *flags):
        path = self.folder / "map.svg"
        self.good("attention", self.bert, *(flags or ("--text", TEXT)), "-o", str(path))
        return xml.dom.minidom.parse(str(path))

    def svg_cells(self, svg):
        cells = []
        for rect in svg.getElementsByTagName("rect"):
            if rect.getElementsByTagName("title"):
                title, fill = rect.getElementsByTagName("title")[0].firstChild.data, rect.getAttribute("fill")
                cells.append((float(rect.getAttribute("x")), float(rect.getAttribute("y")), title, tuple(bytes.fromhex(fill[1:]))))
        return cells

    def test_the_svg_has_labels_titles_and_colours_as_the_weights(self):
        svg = self.svg()
        weights = [w for row in reference.mean(self.expected[-1]) for w in row]
        cells = self.svg_cells(svg)
        self.assertEqual(len(cells), len(weights))
        self.darker_where_more(weights, [color for *_, color in cells])
        for i, (x, y, title, _) in enumerate(cells):
            row, column = divmod(i, len(PIECES))
            self.assertEqual((x - cells[0][0], y - cells[0][1]), (22 * column, 22 * row))
            self.assertEqual(title, f"{PIECES[row]} looks at {PIECES[column]}: {weights[i]:.4f}")
        labels = [text.firstChild.data for text in svg.getElementsByTagName("text")]
        self.assertEqual(labels, ["layer 2, mean of 2 heads", *PIECES, *PIECES])

    def test_all_heads_are_side_by_side(self):
        titles = [text.firstChild.data for text in self.svg("--text", TEXT, "--layer", "all", "--head", "all").getElementsByTagName("text")]
        self.assertEqual([title for title in titles if title.startswith("layer")], [f"layer {l}, head {h}" for l in range(LAYERS) for h in range(HEADS)])

    def test_cli_03_an_svg_of_any_label_can_be_read(self):
        labels = [text.firstChild.data for text in self.svg("--text", HOSTILE).getElementsByTagName("text")]
        self.assertIn("<", labels)

    def test_the_png_has_the_colours_of_the_svg(self):
        path = self.folder / "map.png"
        for flags, maps in (([], 1), (["--head", "all"], 2)):
            self.good("attention", self.bert, "--text", TEXT, "-o", str(path), *flags)
            image = read_png(path)
            colors = [color for *_, color in self.svg_cells(self.svg("--text", TEXT, *flags))]
            n, found = len(PIECES), []
            for place in range(maps):
                found += [image[8 + 16 * row + 8][8 + place * (16 * n + 8) + 16 * column + 8] for row in range(n) for column in range(n)]
            self.assertEqual(found, colors)
            self.assertEqual((len(image), len(image[0])), (16 * n + 16, maps * (16 * n + 8) + 8))


class Page(AttentionTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        super().tearDownClass()

    def setUp(self):
        self.browser.call("Emulation.clearDeviceMetricsOverride")
        self.browser.call("Emulation.setTouchEmulationEnabled", enabled=False)
        self.browser.dark(False)
        self.browser.requests.clear()

    def tearDown(self):
        self.assertEqual(self.browser.errors, [])

    def page(self, *flags, text=TEXT):
        path = self.folder / "map.html"
        self.good("attention", self.bert, "--text", text, "-o", str(path), *flags)
        self.browser.open(path)

    def text_of(self, name: str) -> str:
        return self.browser.value(f"document.getElementById('{name}').textContent")

    def choose(self, name: str, value: str):
        self.browser.value(f"(() => {{ const list = document.getElementById('{name}'); list.value = '{value}'; "
                           "list.dispatchEvent(new Event('change')); })()")

    def shown(self):
        """All weights that the page tells of its current map, by walking over it with the keyboard's code."""
        return self.browser.value("Array.from({length: rows * columns}, (_, i) => weightAt(Math.floor(i / columns), i % columns))")

    def cell(self, row: int, column: int):
        """Where a cell's middle is in the window."""
        return self.browser.value("(() => { const box = canvas.getBoundingClientRect(); return [box.left + layout.left + "
                                  f"({column} + 0.5) * layout.cell, box.top + layout.top + ({row} + 0.5) * layout.cell]; }})()")

    def painted(self):
        """The colours on the canvas, near the upper left corner of each cell, where no number is written."""
        return [tuple(color) for color in self.browser.value(
            "(() => { const sharp = canvas.width / parseFloat(canvas.style.width), pen = canvas.getContext('2d');"
            "return Array.from({length: rows * columns}, (_, i) => Array.from(pen.getImageData((layout.left + (i % columns) * layout.cell + 2) * sharp,"
            "(layout.top + Math.floor(i / columns) * layout.cell + 2) * sharp, 1, 1).data.slice(0, 3))); })()")]

    def test_every_layer_and_head_can_be_picked_and_has_its_weights(self):
        self.page("--layer", "1", "--head", "0")
        self.near(self.shown(), (w for row in self.expected[1][0] for w in row), 2e-5)
        layers = self.browser.value("Array.from(document.getElementById('layer').options, (o) => o.value)")
        self.assertEqual(layers, ["0", "1", "2", "rollout"])
        for layer in range(LAYERS):
            self.choose("layer", str(layer))
            heads = self.browser.value("Array.from(document.getElementById('head').options, (o) => [o.text, o.value])")
            self.assertEqual([name for name, _ in heads], ["mean", "0", "1"])
            for (_, value), wanted in zip(heads, [reference.mean(self.expected[layer]), *self.expected[layer]]):
                self.choose("head", value)
                self.near(self.shown(), (w for row in wanted for w in row), 2e-5)
        self.choose("layer", "rollout")
        self.near(self.shown(), (w for row in reference.rollout(self.expected) for w in row), 2e-5)

    def test_values_by_mouse_and_keyboard(self):
        self.page()
        wanted = reference.mean(self.expected[-1])

        def says(row: int, column: int):
            self.assertEqual(self.text_of("reading"), f"{PIECES[row]} (row {row}) looks at {PIECES[column]} (column {column}): {wanted[row][column]:.4f}")

        self.browser.point(*self.cell(2, 5))
        says(2, 5)
        top = max(wanted[2])
        self.assertEqual(self.text_of("who"), "cat looks at")
        self.assertIn(f"{PIECES[wanted[2].index(top)]}{top:.4f}", self.browser.value("document.querySelector('#top li').textContent"))
        self.browser.value("document.getElementById('fixed').focus()")
        self.browser.key("Tab")
        self.assertEqual(self.browser.value("document.activeElement.id"), "frame")
        for key, place in (("ArrowRight", (2, 6)), ("ArrowDown", (3, 6)), ("Home", (3, 0)), ("ArrowLeft", (3, 0)), ("PageUp", (0, 0)),
                           ("ArrowUp", (0, 0)), ("End", (0, 8)), ("PageDown", (8, 8)), ("ArrowDown", (8, 8))):
            self.browser.key(key)
            says(*place)

    def test_colours_follow_the_weights_in_light_and_dark(self):
        weights = [w for row in reference.mean(self.expected[-1]) for w in row]
        for dark in (False, True):
            self.browser.dark(dark)
            self.page()
            colors = self.painted()
            order = [luminance(color) for _, color in sorted(zip(weights, colors))]
            self.assertEqual(order, sorted(order, reverse=not dark))
            self.assertGreater(len(set(colors)), 20)
            paper = [int(part) for part in re.findall(r"\d+", self.browser.value("getComputedStyle(document.body).backgroundColor"))]
            ink = [int(part) for part in re.findall(r"\d+", self.browser.value("getComputedStyle(document.body).color"))]
            self.assertEqual(luminance(paper) < 0.1, dark)
            light, dim = sorted((luminance(paper), luminance(ink)), reverse=True)
            self.assertGreater((light + 0.05) / (dim + 0.05), 7)
        before = self.painted()
        self.browser.value("document.getElementById('theme').click()")
        self.assertNotEqual(self.painted(), before)
        self.browser.value("document.getElementById('fixed').click()")
        self.assertEqual(self.text_of("most"), "1.0000")

    def test_a_phone_shows_it_without_scrolling_sideways_and_reads_taps(self):
        self.browser.phone(360, 740)
        self.page()
        self.assertLessEqual(self.browser.value("document.documentElement.scrollWidth"), 360)
        self.assertGreaterEqual(self.browser.value("layout.cell"), 24)
        self.assertGreaterEqual(self.browser.value("Math.min(...['layer', 'head', 'theme'].map((id) => document.getElementById(id).offsetHeight))"), 44)
        self.browser.tap(*self.cell(1, 3))
        self.assertIn("the (row 1) looks at sat (column 3)", self.text_of("reading"))

    def test_it_asks_for_nothing_else(self):
        self.page()
        self.assertEqual(self.browser.requests, [(self.folder / "map.html").resolve().as_uri()])

    def test_cli_03_labels_are_text_not_markup(self):
        self.page(text=HOSTILE)
        rows = self.good("attention", self.bert, "--text", HOSTILE, "--json").json()["rows"]
        self.assertEqual(self.browser.value("data.rows"), rows)
        self.browser.point(*self.cell(1, 1))
        self.assertIn("< (row 1)", self.text_of("reading"))


class Translation(AttentionTest):
    """Rows are tokens of the output, columns words of the input."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.translator = str(cls.folder / "translator.heed")
        done = run("convert", str(ROOT / "tools" / "samples" / "translator" / "additive"), "-o", cls.translator)
        assert done.code == 0, done.err

    def found(self, text: str, *flags) -> dict:
        return self.good("attention", self.translator, "--text", text, "--json", *flags).json()

    def test_i_love_you_has_the_published_picture(self):
        found = self.found("I love you")
        self.assertEqual((found["rows"], found["columns"][:3]), (["je", "t'", "aime"], ["I", "love", "you"]))
        (entry,) = found["maps"]
        self.assertEqual([top["column"] for top in entry["top"]], ["I", "you", "love"])
        self.assertEqual(entry["crossings"], 1)
        for top in entry["top"]:
            self.assertGreaterEqual(top["weight"], 0.8)
        for row in entry["weights"]:
            self.assertAlmostEqual(sum(row), 1, places=5)

    def test_numbers_are_those_of_its_own_matrix(self):
        found = self.found("Do you like the little cat?")
        (entry,) = found["maps"]
        self.assertEqual((len(entry["weights"]), len(entry["weights"][0])), (len(found["rows"]), len(found["columns"])))
        self.assertNotEqual(len(found["rows"]), len(found["columns"]))
        self.assertEqual([top["index"] for top in entry["top"]], reference.tops(entry["weights"]))
        self.assertEqual(entry["crossings"], reference.crossings(entry["weights"]))
        self.assertAlmostEqual(entry["near_diagonal"], reference.near_diagonal(entry["weights"]), places=7)
        self.assertAlmostEqual(entry["entropy_bits"], reference.entropy_bits(entry["weights"]), places=7)

    def test_the_rows_are_what_run_prints_whatever_is_searched(self):
        text = "she sees the little cat ."
        for flags in ([], ["--beams", "4", "--length-penalty", "1"], ["--isa", "ref", "--threads", "3"]):
            tokens = self.good("run", self.translator, "--text", text, "--json", *flags).json()["translations"][0]["tokens"]
            pieces = (ROOT / "tools/samples/translator/additive/target.txt").read_text(encoding="utf-8").splitlines()
            self.assertEqual(self.found(text, *flags)["rows"], [pieces[token] for token in tokens])

    def test_a_copied_word_is_the_label_of_its_row(self):
        text = "Frobnicus loves you"
        printed = self.good("run", self.translator, "--text", text, "--unknown", "copy").text()
        self.assertIn("Frobnicus", printed)
        found = self.found(text, "--unknown", "copy")
        self.assertIn("Frobnicus", found["rows"])
        self.assertNotIn("<unk>", found["rows"])

    def test_files_of_every_kind(self):
        rows, columns = (len(self.found("I love you")[side]) for side in ("rows", "columns"))
        for kind in ("html", "svg", "png", "npy"):
            self.good("attention", self.translator, "--text", "I love you", "-o", str(self.folder / f"t.{kind}"))
        self.assertEqual(list(tiny.read_npy(self.folder / "t.npy")[0]), [rows, columns])
        self.assertEqual(len(read_png(self.folder / "t.png")), 16 * rows + 16)
        self.assertIn("aime looks at love: ", (self.folder / "t.svg").read_text(encoding="utf-8"))

    def test_what_it_cannot_show(self):
        self.assertIn("same tokens", self.bad(2, "attention", self.translator, "--text", "I love you", "--layer", "rollout"))
        self.assertIn("has 0,", self.bad(2, "attention", self.translator, "--text", "I love you", "--layer", "1"))
        self.assertIn("'zzyzx'", self.bad(1, "attention", self.translator, "--text", "I love zzyzx"))
        self.assertIn("no --input", self.bad(2, "attention", self.translator, "--input", "tokens=x.npy"))
        self.assertIn("no tokens", self.bad(1, "attention", self.translator, "--text", ""))
        texts = self.folder / "lines.txt"
        texts.write_text("I love you\nI see her .\n")
        self.assertIn("2 texts", self.bad(1, "attention", self.translator, "--texts", str(texts)))
        self.assertIn("--beams", self.bad(1, "attention", self.bert, "--text", TEXT, "--beams", "2"))


class Wrong(AttentionTest):
    def test_layers_and_heads_that_are_not_there(self):
        for flags, wanted in ((["--layer", "3"], "0 to 2"), (["--layer", "-1"], "0 to 2"), (["--layer", "x"], "0 to 2"), (["--head", "2"], "0 to 1"),
                              (["--layer", "1", "--head", "9"], "layer 1"), (["--layer", "rollout", "--head", "0"], "mean"), (["--head", "1.5"], "0 to 1")):
            self.assertIn(wanted, self.bad(2, "attention", self.bert, "--text", TEXT, *flags))

    def test_a_file_of_another_kind_or_that_is_read(self):
        for name in ("map.jpg", "map", "map.HTML"):
            self.assertIn(".html, .svg, .png or .npy", self.bad(2, "attention", self.bert, "--text", TEXT, "-o", str(self.folder / name)))
        ids = self.folder / "in.npy"
        tiny.write_npy(ids, (2,), [2, 3], "<i4")
        self.assertIn("in.npy", self.bad(2, "attention", self.bert, "--input", f"tokens={ids}", "-o", str(ids)))

    def test_a_path_that_cannot_be_written_leaves_nothing(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "folder.svg").mkdir()
            for path in (folder / "none" / "map.html", folder / "folder.svg"):
                self.assertIn(path.name, self.bad(1, "attention", self.bert, "--text", TEXT, "-o", str(path)))
            self.bad(2, "attention", self.bert, "--text", TEXT, "--layer", "7", "-o", str(folder / "map.png"))
            self.bad(1, "attention", self.bert, "--tokens", "99", "-o", str(folder / "map.npy"))
            self.assertEqual(self.left(folder), ["folder.svg"])

    def test_what_has_no_attention_or_is_not_one_text(self):
        self.assertIn("no attention", self.bad(1, "attention", self.model("linear"), "--input", f"x={self.source('linear')}/x.npy"))
        texts = self.folder / "two.txt"
        texts.write_text("a\nb\n")
        self.assertIn("2 texts", self.bad(1, "attention", self.bert, "--texts", str(texts)))
        self.bad(2, "attention", self.bert)


if __name__ == "__main__":
    unittest.main()

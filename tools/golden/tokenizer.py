#!/usr/bin/python3
"""Reference token ids: what the `tokenizers` library makes of the texts in tests/golden/tokenizer.

    tools/golden/tokenizer.py FOLDER                      writes the references
    tools/golden/tokenizer.py FOLDER --check HEED MODEL   compares `HEED tokenize MODEL` with it, whole vocabulary

FOLDER has the vocab.txt of an uncased BERT model. The references use a small part of it, with letters that it lacks
added, so that tests need no download. A text is a line of <group>.txt with \\xHH for bytes that are not printable; its
tokens are the same line of <group>.<setting>.ids, as id:begin:end in bytes of the text. codepoints.<setting>.txt
has a hash for each 4096 code points of the words that "a" + code point + "b" becomes.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

import environment

HERE = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "tokenizer"
SETTINGS = {
    "uncased": {},
    "cased": {"lowercase": False},
    "keep_accents": {"strip_accents": False},
    "strip_only": {"strip_accents": True, "lowercase": False},
    "raw": {"clean_text": False, "handle_chinese_chars": False},
}
ALL_SETTINGS = ("latin", "korean", "japanese_chinese", "spaces_controls", "words")  # groups compared with each setting
ADDED_LETTERS = ("latin", "greek_cyrillic", "semitic", "indic_thai", "korean")  # groups whose letters all have pieces
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
# Capitals of Unicode 16 and 17, which the library knows or not depending on the compiler it was built with.
LATER_CAPITALS = {0x1C89, 0xA7CB, 0xA7CC, 0xA7CE, 0xA7D2, 0xA7D4, 0xA7DA, 0xA7DC,
                  *range(0x10D50, 0x10D66), *range(0x16EA0, 0x16EB9)}


def library(vocabulary: list[str], setting: dict):
    """The reference. Special tokens are not added tokens, so their text is plain text, as heed has it."""
    from tokenizers import Tokenizer, models, processors

    ids = {piece: index for index, piece in enumerate(vocabulary)}
    tokenizer = Tokenizer(models.WordPiece(ids, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer, tokenizer.pre_tokenizer = splitter(setting)
    around = [(name, ids[name]) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=around)
    return tokenizer


def splitter(setting: dict):
    from tokenizers import normalizers, pre_tokenizers

    options = {"clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True} | setting
    return normalizers.BertNormalizer(**options), pre_tokenizers.BertPreTokenizer()


def decode(raw: bytes) -> tuple[str, list[int]]:
    """Text with U+FFFD for what is not UTF-8, and where each character begins."""
    text, begins = "", []
    at = 0
    while at < len(raw):
        begins.append(at)
        try:
            text += raw[at:].decode()[0]
            at += len(text[-1].encode())
        except UnicodeDecodeError as error:
            good = raw[at:at + error.start].decode()
            text += good[0] if good else "\ufffd"
            at += len(good[0].encode()) if good else error.end
    assert text == raw.decode(errors="replace")
    return text, [*begins, len(raw)]


def encode(tokenizer, raw: bytes) -> list[tuple[int, int, int]]:
    """Tokens with bytes of the text. The library's offsets count characters; special tokens stand at the ends."""
    text, begins = decode(raw)
    found = tokenizer.encode(text)
    tokens = [(token, begins[begin], begins[end]) for token, (begin, end) in zip(found.ids, found.offsets)]
    return [(tokens[0][0], 0, 0), *tokens[1:-1], (tokens[-1][0], len(raw), len(raw))]


def unescape(line: str) -> bytes:
    parts = re.split(r"\\(x..|\\)", line)
    return b"".join(part.encode() if i % 2 == 0 else b"\\" if part == "\\" else bytes.fromhex(part[1:])
                    for i, part in enumerate(parts))


def read_group(path: pathlib.Path) -> list[bytes]:
    return [unescape(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


def read_groups() -> dict[str, list[bytes]]:
    """By name. Those with dots, and the vocabulary, are made here."""
    names = sorted(path.stem for path in HERE.glob("*.txt") if "." not in path.stem and path.stem != "vocab")
    return {name: read_group(HERE / f"{name}.txt") for name in names}


def reduced(full: list[str], groups: dict[str, list[bytes]]) -> list[str]:
    """Pieces that the texts use, all pieces of one letter, and letters and beginnings of words in every setting."""
    whole = library(full, {})
    texts = [text for group in groups.values() for text in group]
    pieces = {whole.id_to_token(token) for text in texts for token, _, _ in encode(whole, text)}
    pieces |= {piece for piece in full if len(piece.removeprefix("##")) == 1}
    for setting in SETTINGS.values():
        normalizer, words = splitter(setting)
        for text in (text for name in ADDED_LETTERS for text in groups[name]):
            for word, _ in words.pre_tokenize_str(normalizer.normalize_str(text.decode())):
                pieces |= {word[:3], *word, *("##" + letter for letter in word)}
    return SPECIAL + sorted(pieces - set(SPECIAL))


def fnv64(data: bytes) -> int:
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def code_point_hashes(setting: dict) -> list[str]:
    normalizer, words = splitter(setting)

    def split(c: int) -> str:
        text = f"a{chr(c)}b"
        found = words.pre_tokenize_str(text if c in LATER_CAPITALS else normalizer.normalize_str(text))
        return "".join(word + "\n" for word, _ in found) + "\f"

    lines = []
    for block in range(0, 0x110000, 0x1000):
        text = "".join(split(c) for c in range(block, block + 0x1000) if not 0xD800 <= c < 0xE000)
        lines.append(f"{block:06x} {fnv64(text.encode()):016x}")
    return lines


def write_lines(name: str, lines: list[str]) -> None:
    (HERE / name).write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def write_references(folder: pathlib.Path) -> None:
    groups = read_groups()
    vocabulary = reduced((folder / "vocab.txt").read_text(encoding="utf-8").split("\n")[:-1], groups)
    write_lines("vocab.txt", vocabulary)
    for setting, options in SETTINGS.items():
        tokenizer = library(vocabulary, options)
        for name in groups if setting == "uncased" else ALL_SETTINGS:
            lines = [" ".join("%d:%d:%d" % token for token in encode(tokenizer, text)) for text in groups[name]]
            write_lines(f"{name}.{setting}.ids", lines)
        write_lines(f"codepoints.{setting}.txt", code_point_hashes(options))


def check(folder: pathlib.Path, heed: str, model: str) -> int:
    """How many texts differ. An argument of a program cannot hold a zero byte, so texts with one are left out."""
    tokenizer = library((folder / "vocab.txt").read_text(encoding="utf-8").split("\n")[:-1], {})
    texts = [text for group in read_groups().values() for text in group if b"\0" not in text]
    differ = 0
    for text in texts:
        said = subprocess.run([heed, "tokenize", model, "--json", "--text", text], check=True, capture_output=True)
        found = json.loads(said.stdout)
        tokens = [(token, *offset) for token, offset in zip(found["ids"], found["offsets"])]
        wanted = encode(tokenizer, text)
        if tokens[1:-1] != wanted[1:-1] or found["ids"] != [token for token, _, _ in wanted]:
            differ += 1
            print(f"{text!r}\n  heed      {tokens}\n  reference {wanted}")
    print(f"{len(texts)} texts, {differ} differ")
    return differ


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--check", nargs=2, metavar=("HEED", "MODEL"))
    arguments = parser.parse_args()
    environment.run_in("golden", environment.TOKENIZERS, dependencies=False)
    if arguments.check:
        sys.exit(1 if check(arguments.folder, *arguments.check) else 0)
    write_references(arguments.folder)


if __name__ == "__main__":
    main()

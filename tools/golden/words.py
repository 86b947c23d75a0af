#!/usr/bin/env python3
"""Golden files of the word tokenizer: texts of two languages with the tokens that schemas/FORMAT.md's rules give.

    tools/golden/words.py [FOLDER]        (default tests/golden/words)

writes FOLDER/<language>.{pieces,txt,ids}: a vocabulary, texts (escaped where they are not text), and for each of them id:begin:end of its tokens.
Needs the standard library only; the rules are written here anew, over lists of characters. The sentences are those of the translators.
SPDX-License-Identifier: Apache-2.0
"""
import codecs
import collections
import csv
import dataclasses
import pathlib
import random
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PUNCTUATION = ".,!?;:"
LONGEST = 100
SENTENCES, JUNK, PIECES = 250, 350, 150


@dataclasses.dataclass
class Language:
    name: str
    column: int
    apostrophe: str
    endings: tuple[str, ...]
    lower: bool
    special: tuple[str, ...]
    junk: tuple[str, ...]


ENGLISH = Language("english", 0, "begins", ("n't",), True, ("<unk>",), (
    "don't", "n't", "N'T", "Ain'tn't", "isn't'", "'tis", "''", "'", "o'clock", "rock'n'roll", "dogs'", "John's", "\u2019m", "I\u2019ll", "can't've"))
FRENCH = Language("french", 1, "ends", ("-moi", "-le", "-la", "-les", "-lui", "-leur", "-nous", "-toi", "-l\u00e0"), False, ("<unk>", "<s>", "</s>"), (
    "t'aime", "l'", "d'Anna", "'", "''a", "aujourd'hui", "regarde-moi", "donne-le-moi", "-moi", "-moi-moi", "celle-l\u00e0", "cel-la\u0300", "est-ce",
    "l\u2019ami-l\u00e0", "-l'", "x-moi-y", "grand-p\u00e8re", "<s>", "</s>", "\u00c9t\u00e9"))
SHARED = (" ", "  ", "\t", "\n", "\u00a0", "\u3000", "\u2028", "\x1c", "\x00", ".", "...", ",", "!?", ";:", "-", "(", "\u00e9", "\U0001f600", "\ufffd", "A", "z",
          "x" * 99, "x" * 100, "x" * 101, "\u00e9" * 100, "<unk>", "love", "je", "\udcff", "\udcc3", "\udce2\udc80", "\udced\udca0\udc80", "\udcf4\udc90\udc80\udc80")


def characters(data: bytes) -> list[tuple[str, int, int]]:
    """Each character with its bytes; what is not UTF-8 is U+FFFD, as Python's decoder divides it."""
    wrong, found, at = {}, [], 0

    def handler(error):
        wrong[error.start] = error.end
        return "\ufffd", error.end

    codecs.register_error("mark", handler)
    for character in data.decode("utf-8", "mark"):
        end = wrong.get(at, at + len(character.encode()))
        found.append((character, at, end))
        at = end
    return found


def words(language: Language, data: bytes):
    word = []
    for character, begin, end in characters(data):
        if character.isspace() or character in PUNCTUATION:
            if word:
                yield word
            word = []
            if not character.isspace():
                yield [(character, begin, end)]
            continue
        if character == "\u2019":
            character = "'"
        if language.lower and "A" <= character <= "Z":
            character = chr(ord(character) + 32)
        word.append((character, begin, end))
    if word:
        yield word


def cut(language: Language, text: str) -> list[str]:
    tail = []
    while True:
        fits = [ending for ending in language.endings if text.endswith(ending)]
        if not fits:
            break
        if fits[0] == text:
            return [text] + tail
        tail.insert(0, fits[0])
        text = text[:-len(fits[0])]
    parts, part = [], ""
    for index, character in enumerate(text):
        before = text[index - 1] if index else ""
        begins = language.apostrophe == "begins" and character == "'" and before not in ("", "'")
        ends = language.apostrophe == "ends" and before == "'"
        if begins or ends:
            parts, part = parts + [part], ""
        part += character
    return parts + [part] + tail


def tokens(language: Language, ids: dict[str, int], data: bytes) -> str:
    found = []
    for word in words(language, data):
        text = "".join(character for character, _, _ in word)
        at = 0
        for piece in cut(language, text) if len(text) <= LONGEST else [text]:
            found.append(f"{ids.get(piece, 0)}:{word[at][1]}:{word[at + len(piece) - 1][2]}")
            at += len(piece)
    return " ".join(found)


def sentences(language: Language) -> list[str]:
    found = []
    for name in ("random", "long", "hand_written"):
        with (ROOT / f"tools/samples/translator/held_out/{name}.tsv").open(encoding="utf-8", newline="") as file:
            found += [row[language.column] for row in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]
    return found


def make(language: Language, folder: pathlib.Path):
    source = random.Random(language.name)
    known = sentences(language)
    counts = collections.Counter(piece for text in known for word in words(language, text.encode())
                                 for piece in cut(language, "".join(character for character, _, _ in word)))
    pieces = [*language.special, *sorted(piece for piece, _ in counts.most_common(PIECES) if piece not in language.special)]
    texts = [text.encode() for text in source.sample(known, SENTENCES)]
    texts += [text.replace("'", "\u2019").upper().encode() for text in source.sample(known, 20)]
    for _ in range(JUNK):
        texts.append("".join(source.choice(language.junk + SHARED) for _ in range(source.randint(0, 6))).encode("utf-8", "surrogateescape"))
    ids = {piece: index for index, piece in enumerate(pieces) if piece not in language.special}
    escaped = ["".join(chr(byte) if 32 <= byte < 127 and byte != 92 else f"\\x{byte:02x}" for byte in text) for text in texts]
    (folder / f"{language.name}.pieces").write_text("".join(piece + "\n" for piece in pieces), encoding="utf-8")
    (folder / f"{language.name}.txt").write_text("".join(text + "\n" for text in escaped), encoding="utf-8")
    (folder / f"{language.name}.ids").write_text("".join(tokens(language, ids, text) + "\n" for text in texts), encoding="utf-8")


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "tests/golden/words"
    folder.mkdir(parents=True, exist_ok=True)
    for language in (ENGLISH, FRENCH):
        make(language, folder)


if __name__ == "__main__":
    main()

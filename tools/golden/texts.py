#!/usr/bin/python3
"""Writes the texts of the fidelity check: sentences made by a grammar from words about many subjects, and other languages.

    tools/golden/texts.py tests/fidelity

words.json in that folder holds the words. texts.txt (200) is what is compared, calibration.txt (150) what a converter may look at. The two share no line, and
no subject: each has its own words.
SPDX-License-Identifier: Apache-2.0
"""
import json
import math
import pathlib
import random
import sys

MARKS = ",.;?!%()"
SHORTEST, LONGEST = 3, 180  # words
# (file, seed, texts, of them in other languages)
FILES = (("texts.txt", 20, 200, 36), ("calibration.txt", 21, 150, 24))

# Capital letters stand for a word of the subject: S who, V does, O what, A how it is, P where or when. N is a number.
SHAPES = (
    "the S V the O", "a A S V every O P", "P , the S V N O", "why did the S stop before the O was A ?",
    "S and O are A P", "it is not A that the S V the O", "the O which the S V was A , but nobody noticed P",
    "if the S V the O P , then the O becomes A", "how many O does a S need P ?", "please tell the S about the A O",
    "( the O is A , ) said the S , ( and it V N O P . )", "since N , each S V at least N A O",
    "although the S V the O , the A O remained P", "no S V the O", "A and A , the S V the last O P !",
    "the S , whose O was A , V another O", "we compared the A S with N others P ; only one V the O",
    "first the S V the O ; after that , the A O is left P for N hours",
    "N % of all S say that the O is A", "I think the S should have V the O P",
    "do not let the S near the O when it is A", "there was once a S who V the O P",
)


def words(subject: dict, shape: str, random_source: random.Random) -> list[str]:
    """One sentence of a shape, as a list of words and marks."""
    found = []
    for symbol in shape.split(" "):
        if symbol == "N":
            found.append(random_source.choice(subject["numbers"]))
        elif symbol in subject:
            found.extend(random_source.choice(subject[symbol]).split(" "))
        else:
            found.append(symbol)
    return found


def spell(parts: list[str]) -> str:
    """Words and marks as people write them; ( and ) are quotation marks."""
    text = " ".join(parts).replace("( ", '"').replace(" )", '"')
    for mark in MARKS:
        text = text.replace(" " + mark, mark)
    return text[0].upper() + text[1:] + ("" if text[-1] in '.?!"' else ".")


def english(subjects: list[dict], length: int, random_source: random.Random) -> str:
    """About `length` words on one subject; the shortest texts are fragments."""
    subject = random_source.choice(subjects)
    sentences, count = [], 0
    while not sentences or length - count >= 5:
        fitting = [shape for shape in SHAPES if len(shape.split(" ")) <= max(length - count, 5)]
        parts = words(subject, random_source.choice(fitting), random_source)
        sentences.append(spell(parts[:length]))
        count += sum(part not in MARKS for part in parts)
    return " ".join(" ".join(sentences).split(" ")[:LONGEST])


def foreign(sentences: list[str], length: int, random_source: random.Random) -> str:
    """Sentences of one language until `length` words are there, or enough characters for the longest cut."""
    text = random_source.choice(sentences)
    while len(text.split(" ")) < length and len(text) < 500:
        text += " " + random_source.choice(sentences)
    return " ".join(text.split(" ")[:LONGEST])


def lines(subjects: list[dict], languages: dict, seed: int, count: int, others: int) -> list[str]:
    random_source = random.Random(seed)
    kinds = [False] * (count - others) + [True] * others
    random_source.shuffle(kinds)
    texts: list[str] = []
    while len(texts) < count:
        length = round(math.exp(random_source.uniform(math.log(SHORTEST), math.log(LONGEST))))
        if kinds[len(texts)]:
            text = foreign(random_source.choice(list(languages.values())), length, random_source)
        else:
            text = english(subjects, length, random_source)
        if text not in texts:
            texts.append(text)
    return texts


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    words_file = json.loads((folder / "words.json").read_text(encoding="utf-8"))
    for name, seed, count, others in FILES:
        texts = lines(words_file[name]["subjects"], words_file[name]["languages"], seed, count, others)
        (folder / name).write_text("\n".join(texts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

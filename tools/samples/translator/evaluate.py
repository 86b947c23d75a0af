"""Measures the translators on the held-out sets: evaluate.py FOLDER ... | --baseline | --heed PROGRAM (needs sacrebleu from PyPI)

FOLDER is what export.py wrote. Lists every miss of the hand-written set. The baseline knows no grammar: it gives the translation of the
training sentence that shares most words. --heed measures what the program heed makes of each folder, in f32 and in q8c.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import collections
import json
import pathlib
import struct
import subprocess
import tempfile

import numpy
import torch

import data
from model import START, build, translate
from text import join_english, join_french, tokenize_french

SETS = ("random", "pairs", "long", "hand_written")


class Translator:
    """A model with its two vocabularies."""

    def __init__(self, model, source_words, target_words):
        self.model, self.target_words = model, target_words
        self.source = {word: place for place, word in enumerate(source_words)}
        self.target = {word: place for place, word in enumerate(target_words)}

    def run(self, examples, batch: int = 100):
        """French tokens and attention rows for each example; "<unk>" becomes the source word that it looks at most."""
        results = []
        for start in range(0, len(examples), batch):
            group = examples[start:start + batch]
            found, looked = translate(self.model, [[self.source.get(word, 0) for word in example.english] for example in group])
            for example, ids, rows in zip(group, found, looked):
                words = [self.target_words[token] if token else example.english[numpy.argmax(row)] for token, row in zip(ids, rows)]
                results.append((words, rows))
        return results

    @torch.no_grad()
    def gold_attention(self, example):
        """Rows of attention weights while the reference is written."""
        self.model.eval()
        source = torch.tensor([[self.source.get(word, 0) for word in example.english]])
        target = torch.tensor([[START] + [self.target.get(word, 0) for word in example.french]])
        return self.model(source, torch.tensor([source.shape[1]]), target)[1][0].tolist()


def read_safetensors(path: pathlib.Path) -> dict:
    raw = path.read_bytes()
    size = struct.unpack("<Q", raw[:8])[0]
    tensors = {}
    for name, entry in json.loads(raw[8:8 + size]).items():
        begin, end = (8 + size + offset for offset in entry["data_offsets"])
        values = numpy.frombuffer(raw[begin:end], {"F16": "<f2", "F32": "<f4"}[entry["dtype"]]).astype("f4")
        tensors[name] = torch.from_numpy(values.reshape(entry["shape"]))
    return tensors


def read_folder(folder: pathlib.Path) -> Translator:
    model = build(json.loads((folder / "config.json").read_text()))
    weights, own = read_safetensors(folder / "weights.safetensors"), model.state_dict()
    model.load_state_dict({name: weights[name].reshape(own[name].shape) for name in own})
    words = [(folder / f"{side}.txt").read_text(encoding="utf-8").splitlines() for side in ("source", "target")]
    return Translator(model, *words)


def exact_share(results, examples) -> float:
    return 100 * sum(words == list(example.french) for (words, _), example in zip(results, examples)) / len(examples)


def bleu(results, examples) -> float:
    try:
        import sacrebleu
    except ImportError:
        return float("nan")
    return sacrebleu.corpus_bleu([join_french(words) for words, _ in results], [[join_french(list(example.french)) for example in examples]]).score


def link_share(rows_of, examples) -> float:
    """Percentage of French words, over all sentences, whose largest weight is on the gold English word."""
    hits = [numpy.argmax(row) == link for rows, example in zip(rows_of, examples) for row, link in zip(rows, example.links)]
    return 100 * sum(hits) / len(hits)


def measure(translator, examples) -> str:
    results = translator.run(examples)
    return f"exact {exact_share(results, examples):.1f} %, BLEU {bleu(results, examples):.2f}"


class Nearest:
    """The training sentence with the largest overlap of words (Dice), the first of equals."""

    def __init__(self, examples):
        self.examples, by_word = examples, collections.defaultdict(list)
        for index, example in enumerate(examples):
            for word, count in collections.Counter(example.english).items():
                by_word[word].append((index, count))
        self.by_word = {word: numpy.array(found).T for word, found in by_word.items()}
        self.lengths = numpy.array([len(example.english) for example in examples])

    def translation(self, english) -> list:
        overlap = numpy.zeros(len(self.examples))
        for word, count in collections.Counter(english).items():
            if word in self.by_word:
                indices, counts = self.by_word[word]
                overlap[indices] += numpy.minimum(count, counts)
        return list(self.examples[numpy.argmax(2 * overlap / (len(english) + self.lengths))].french)


def write_english(examples, path: str) -> pathlib.Path:
    texts = pathlib.Path(path)
    texts.write_text("".join(join_english(list(example.english)) + "\n" for example in examples), encoding="utf-8")
    return texts


class Heed:
    """A folder converted by the program heed, and the texts that it writes."""

    def __init__(self, program: str, folder: pathlib.Path, flags: list, scratch: str):
        self.program, self.model, self.scratch = program, f"{scratch}/m.heed", scratch
        subprocess.run([program, "convert", str(folder), *flags, "-o", self.model], check=True, capture_output=True)

    def run(self, examples):
        texts = write_english(examples, f"{self.scratch}/texts.txt")
        done = subprocess.run([self.program, "run", self.model, "--texts", str(texts), "--unknown", "copy"], check=True, capture_output=True)
        return [(tokenize_french(line), []) for line in done.stdout.decode().splitlines()]


def print_heed(program: str, folder: pathlib.Path):
    with tempfile.TemporaryDirectory() as scratch:
        tuning = str(write_english(data.held_out("tuning"), f"{scratch}/tuning.txt"))
        for title, flags in {"f32": ["--weights", "f32"], "q8c": [], "q8c --calibrate": ["--calibrate", tuning]}.items():
            translator = Heed(program, folder, flags, scratch)
            for name in SETS:
                print(f"{folder.name}, heed {title}, {name}: {measure(translator, data.held_out(name))}", flush=True)


def print_baseline():
    nearest = Nearest(data.training())
    for name in SETS:
        examples = data.held_out(name)
        found = [(nearest.translation(example.english), []) for example in examples]
        print(f"nearest training sentence, {name}: exact {exact_share(found, examples):.1f} %, BLEU {bleu(found, examples):.2f}")


def print_misses(translator: Translator):
    examples = data.held_out("hand_written")
    for (found, _), example in zip(translator.run(examples), examples):
        if found != list(example.french):
            print(f"  {join_english(list(example.english))} | {join_french(found)} | {join_french(list(example.french))}")


def print_matrix(translator: Translator, english: str):
    words = english.split()
    (found, rows), = translator.run([data.Example(tuple(words), ())])
    for word, row in zip(found, rows):
        print(f"  {word:8}" + " ".join(f"{source} {weight:.2f}" for source, weight in zip(words, row)))


def print_figures(folder: pathlib.Path):
    translator = read_folder(folder)
    for name in SETS:
        print(f"{folder.name}, {name}: {measure(translator, data.held_out(name))}")
    reorder = data.held_out("reorder")
    share = link_share([translator.gold_attention(example) for example in reorder], reorder)
    print(f"{folder.name}, reorder: {measure(translator, reorder)}, largest weight on the gold word {share:.1f} %")
    print_matrix(translator, "i love you")
    print_misses(translator)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folders", nargs="*", type=pathlib.Path)
    parser.add_argument("--baseline", action="store_true")
    parser.add_argument("--heed", metavar="PROGRAM", help="the program heed, which translates instead of PyTorch")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.baseline:
        print_baseline()
    for folder in arguments.folders:
        if arguments.heed:
            print_heed(arguments.heed, folder)
        else:
            print_figures(folder)


if __name__ == "__main__":
    main()

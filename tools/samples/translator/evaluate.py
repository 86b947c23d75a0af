"""Measures a trained translator on the held-out sets: evaluate.py MODEL.pt [--misses] (BLEU needs sacrebleu from PyPI).

Beside each set stands a baseline that knows no grammar: the translation of the training sentence that shares most of its words.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import collections

import torch

import data
from model import build, translate
from text import join_english, join_french

SETS = ("random", "pairs", "long", "hand_written")


def run(model, examples, source_words, target_words, batch: int = 100):
    """French tokens and attention rows for each example, "<unk>" replaced by the source word it looks at most."""
    places = {word: place for place, word in enumerate(source_words)}
    results = []
    for start in range(0, len(examples), batch):
        group = examples[start:start + batch]
        found, looked = translate(model, [[places.get(word, 0) for word in example.english] for example in group])
        for example, ids, rows in zip(group, found, looked):
            words = [target_words[token] if token else example.english[max(range(len(row)), key=row.__getitem__)] for token, row in zip(ids, rows)]
            results.append((words, rows))
    return results


def measure(model, examples, source_words, target_words) -> dict:
    results = run(model, examples, source_words, target_words)
    exact = sum(words == list(example.french) for (words, _), example in zip(results, examples)) / len(examples)
    return {"exact": round(100 * exact, 1), "links": round(100 * link_accuracy(results, examples), 1), "bleu": round(bleu(results, examples), 2)}


def bleu(results, examples) -> float:
    try:
        import sacrebleu
    except ImportError:
        return float("nan")
    return sacrebleu.corpus_bleu([join_french(words) for words, _ in results], [[join_french(list(example.french)) for example in examples]]).score


def link_accuracy(results, examples) -> float:
    """Share of the words of exactly right sentences whose largest weight is on the gold word; nan where none is linked."""
    right = total = 0
    for (words, rows), example in zip(results, examples):
        if words == list(example.french) and example.links:
            for row, link in zip(rows, example.links):
                right += max(range(len(row)), key=row.__getitem__) == link
                total += 1
    return right / total if total else float("nan")


@torch.no_grad()
def forced_link_accuracy(model, examples, source_words, target_words) -> float:
    """The same over every word of every sentence, with the reference as what was written so far."""
    from train import Batches
    batches, right, total = Batches([], source_words, target_words, None), 0, 0
    model.eval()
    for start in range(0, len(examples), 100):
        source, lengths, inputs, _, links = batches.tensors(examples[start:start + 100])
        _, weights = model(source, lengths, inputs)
        known = links >= 0
        right += (weights.argmax(-1) == links)[known].sum().item()
        total += known.sum().item()
    return right / total


class Nearest:
    """The training sentence with the largest overlap of words (Dice), the first of equals."""

    def __init__(self, examples):
        self.examples = examples
        self.by_word = collections.defaultdict(list)
        for index, example in enumerate(examples):
            for word, count in collections.Counter(example.english).items():
                self.by_word[word].append((index, count))

    def translation(self, english) -> tuple:
        overlap = collections.Counter()
        for word, count in collections.Counter(english).items():
            for index, other in self.by_word[word]:
                overlap[index] += min(count, other)
        if not overlap:
            return ()
        best = max(overlap, key=lambda index: (2 * overlap[index] / (len(english) + len(self.examples[index].english)), -index))
        return self.examples[best].french


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--misses", action="store_true", help="list every miss of the hand-written set")
    parser.add_argument("--no-baseline", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    saved = torch.load(arguments.model)
    model = build(saved["config"])
    model.load_state_dict(saved["weights"])
    words = saved["source"], saved["target"]
    nearest = None if arguments.no_baseline else Nearest(data.training())
    for name in SETS:
        examples = data.held_out(name)
        print(name, len(examples), measure(model, examples, *words))
        if nearest:
            found = [(list(nearest.translation(example.english)), []) for example in examples]
            exact = sum(words == list(example.french) for (words, _), example in zip(found, examples)) / len(examples)
            print(f"  nearest training sentence: exact {100 * exact:.1f}, bleu {bleu(found, examples):.2f}")
    reorder = data.held_out("reorder")
    print("reorder", len(reorder), measure(model, reorder, *words), f"links of every word {100 * forced_link_accuracy(model, reorder, *words):.1f}")
    if arguments.misses:
        examples = data.held_out("hand_written")
        for (found, _), example in zip(run(model, examples, *words), examples):
            if found != list(example.french):
                print(f"{join_english(list(example.english))}\n  {join_french(found)}\n  {join_french(list(example.french))}")


if __name__ == "__main__":
    main()

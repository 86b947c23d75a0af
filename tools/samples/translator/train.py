"""Trains one translator: /usr/bin/python3 train.py dot|qkv|additive|transformer OUTPUT.pt [--steps N] [--resume EARLIER.pt|FOLDER]

Needs Debian's python3-torch, python3-numpy and libopenblas0-pthread (with the reference BLAS it takes five times as long). One thread.
The additive model's loss has a mild term that asks its attention to look at the word that the grammar says: LINK_WEIGHT times the mean of
-log(weight of the gold word). --single-words has a term for the others that knows no alignments (SingleWords).

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import math
import pathlib
import random
import time

import torch
from torch import nn

import data
from evaluate import Translator, measure, read_folder
from model import CONFIGS, START, STOP, UNKNOWN, build

BATCH, RATE, WARM_UP, LINK_WEIGHT = 96, 3e-3, 300, 0.2
TABLE_RATE = 8  # times the model's rate, for SingleWords, which begins anew with each run
UNKNOWN_SHARE = 0.2  # of the sentences with a man's name
NO_TARGET = -100


def ids(words, places: dict) -> list[int]:
    return [places.get(word, 0) for word in words]


class Batches:
    """Shuffled batches of sentences of about one length, in endless order."""

    def __init__(self, examples, source_words, target_words, rng, hidden):
        self.examples, self.rng, self.hidden = examples, rng, hidden
        self.source = {word: place for place, word in enumerate(source_words)}
        self.target = {word: place for place, word in enumerate(target_words)}

    def epoch(self):
        rng = self.rng
        order = sorted(self.examples, key=lambda example: (len(example.english) + len(example.french) + rng.random() * 2))
        batches = [order[start:start + BATCH] for start in range(0, len(order), BATCH)]
        rng.shuffle(batches)
        for batch in batches:
            yield self.tensors([data.with_unknown(rng, example) if rng.random() < UNKNOWN_SHARE else example for example in batch])

    def tensors(self, batch):
        pad = nn.utils.rnn.pad_sequence
        sources = [torch.tensor(ids(example.english, self.source)) for example in batch]
        targets = [ids(example.french, self.target) for example in batch]
        inputs = pad([torch.tensor([START] + target) for target in targets], batch_first=True)
        outputs = pad([torch.tensor(target + [STOP]) for target in targets], batch_first=True, padding_value=NO_TARGET)
        links = pad([torch.tensor(list(example.links) + [-1] * (len(target) + 1 - len(example.links)))
                     for example, target in zip(batch, targets)], batch_first=True, padding_value=-1)
        inputs[(torch.rand(inputs.shape) < self.hidden) & (inputs != START)] = UNKNOWN
        return pad(sources, batch_first=True), torch.tensor([len(source) for source in sources]), inputs, outputs, links


def link_loss(weights, links):
    """Mean of -log of the weight that each target word gives to its gold source word."""
    known = links >= 0
    chosen = weights.gather(2, links.clamp(min=0).unsqueeze(2)).squeeze(2)
    return -(chosen + 1e-6).log()[known].mean()


class SingleWords(nn.Module):
    """The attention as a word-by-word translator: each French word from single English words, read without their sentence, in the shares of its
    weights. Its loss, the mean of -log of sum over j of weights[i, j] * P(French word i | English word j), asks the attention to look at the word
    that the French one translates, and not at a neighbour that the encoder has told of it. P is learned beside the model from the same
    translations, without alignments, and thrown away.
    """

    def __init__(self, source_words: int, target_words: int, width: int = 64):
        super().__init__()
        self.source = nn.Embedding(source_words, width)
        self.target = nn.Linear(width, target_words)

    def forward(self, weights, source, outputs):
        words, places = source.unique(return_inverse=True)
        table = self.target(self.source(words)).softmax(-1)
        chosen = table[places.unsqueeze(1), outputs.clamp(min=0).unsqueeze(2)]
        return -((weights * chosen).sum(-1) + 1e-6).log()[outputs > STOP].mean()


def rate(step: int, steps: int, top: float, warm_up: int) -> float:
    return top * min(1.0, step / warm_up) * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * step / steps)))


def save(model, words, output: str):
    torch.save({"config": model.config, "source": words[0], "target": words[1], "weights": model.state_dict()}, output)


def read_earlier(path: pathlib.Path):
    """Weights and vocabularies of a checkpoint of this script or of a folder that export.py wrote."""
    if path.is_dir():
        earlier = read_folder(path)
        return earlier.model.state_dict(), (list(earlier.source), list(earlier.target))
    saved = torch.load(path)
    return saved["weights"], (saved["source"], saved["target"])


def start_model(name: str, examples, resume: str):
    """A new model, or one that takes over from an earlier one whatever has its name and shape: from another kind, the embeddings and encoder."""
    if not resume:
        words = data.vocabularies(examples)
        return build({**CONFIGS[name], "source_words": len(words[0]), "target_words": len(words[1])}), words
    weights, words = read_earlier(pathlib.Path(resume))
    model = build({**CONFIGS[name], "source_words": len(words[0]), "target_words": len(words[1])})
    own = model.state_dict()
    model.load_state_dict({**own, **{key: value for key, value in weights.items() if key in own and own[key].shape == value.shape}})
    return model, words


def train(arguments):
    torch.set_num_threads(1)
    torch.manual_seed(arguments.seed)
    examples = data.training()
    model, words = start_model(arguments.name, examples, arguments.resume)
    batches = Batches(examples, *words, random.Random(arguments.seed), arguments.hidden)
    single_words = SingleWords(*map(len, words))
    optimizer = torch.optim.Adam([{"params": list(model.parameters()), "times": 1}, {"params": list(single_words.parameters()), "times": TABLE_RATE}],
                                 lr=arguments.rate, betas=(0.9, 0.98))
    loss_of = nn.CrossEntropyLoss(ignore_index=NO_TARGET)
    print(f"{arguments.name}: {sum(p.numel() for p in model.parameters())} parameters, {len(examples)} pairs", flush=True)
    tuning, step, total = data.held_out("tuning"), 0, 0.0
    while step < arguments.steps:
        for source, lengths, inputs, outputs, links in batches.epoch():
            step += 1
            for group in optimizer.param_groups:
                group["lr"] = group["times"] * rate(step, arguments.steps, arguments.rate, WARM_UP // 5 if arguments.resume else WARM_UP)
            model.train()
            logits, weights = model(source, lengths, inputs)
            loss = loss_of(logits.flatten(0, 1), outputs.flatten())
            total += loss.item()
            if arguments.name == "additive":
                loss = loss + LINK_WEIGHT * link_loss(weights, links)
            if arguments.single_words:
                loss = loss + arguments.single_words * single_words(weights, source, outputs)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            if step % 100 == 0:
                print(f"step {step} minute {time.process_time() / 60:.1f} loss {total / 100:.3f}", flush=True)
                total = 0.0
            if step % 250 == 0 or step == arguments.steps:
                save(model, words, arguments.output)
            if step % 1000 == 0 or step == arguments.steps:
                print(f"step {step}: tuning {measure(Translator(model, *words), tuning)}", flush=True)
            if step == arguments.steps:
                break


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("name", choices=sorted(CONFIGS))
    parser.add_argument("output")
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--rate", type=float, default=RATE)
    parser.add_argument("--resume", default="")
    parser.add_argument("--hidden", type=float, default=0.0, help="share of the French words that the decoder is not told: it has to look at the English")
    parser.add_argument("--single-words", type=float, default=0.0, help="weight of the loss that sharpens the attention without alignments; 0: none")
    parser.add_argument("--seed", type=int, default=1, help="another one for each resumption, or it sees the same batches again")
    train(parser.parse_args())


if __name__ == "__main__":
    main()

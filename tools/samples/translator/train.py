"""Trains one translator: /usr/bin/python3 train.py dot|qkv|additive|transformer OUTPUT.pt [--minutes N]

Needs Debian's python3-torch, python3-numpy and libopenblas0-pthread (with the reference BLAS it takes five times as long). One thread.
The additive model's loss has a mild term that asks its attention to look at the word that the grammar says: LINK_WEIGHT times the mean of
-log(weight of the gold word).

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import math
import random
import time

import torch
from torch import nn

import data
from evaluate import measure
from model import CONFIGS, START, STOP, build

BATCH, RATE, WARM_UP, SMOOTHING, LINK_WEIGHT = 96, 3e-3, 300, 0.05, 0.2
UNKNOWN_SHARE = 0.2  # of the sentences with a man's name
NO_TARGET = -100


def ids(words, places: dict) -> list[int]:
    return [places.get(word, 0) for word in words]


class Batches:
    """Shuffled batches of sentences of about one length, in endless order."""

    def __init__(self, examples, source_words, target_words, rng):
        self.examples, self.rng = examples, rng
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
        return pad(sources, batch_first=True), torch.tensor([len(source) for source in sources]), inputs, outputs, links


def link_loss(weights, links):
    """Mean of -log of the weight that each target word gives to its gold source word."""
    known = links >= 0
    chosen = weights.gather(2, links.clamp(min=0).unsqueeze(2)).squeeze(2)
    return -(chosen + 1e-6).log()[known].mean()


def rate(progress: float, step: int, top: float) -> float:
    return top * min(1.0, step / WARM_UP) * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * min(progress, 1.0))))


def train(name: str, output: str, minutes: float, top_rate: float):
    torch.set_num_threads(1)
    torch.manual_seed(1)
    examples = data.training()
    source_words, target_words = data.vocabularies(examples)
    config = {**CONFIGS[name], "source_words": len(source_words), "target_words": len(target_words)}
    model = build(config)
    batches = Batches(examples, source_words, target_words, random.Random(2))
    optimizer = torch.optim.Adam(model.parameters(), lr=top_rate, betas=(0.9, 0.98))
    loss_of = nn.CrossEntropyLoss(ignore_index=NO_TARGET, label_smoothing=SMOOTHING)
    print(f"{name}: {sum(p.numel() for p in model.parameters())} parameters, {len(examples)} pairs", flush=True)
    begun, step, epoch, total, shown = time.process_time(), 0, 0, 0.0, 0
    while (progress := (time.process_time() - begun) / (60 * minutes)) < 1:
        epoch += 1
        for source, lengths, inputs, outputs, links in batches.epoch():
            progress, step = (time.process_time() - begun) / (60 * minutes), step + 1
            for group in optimizer.param_groups:
                group["lr"] = rate(progress, step, top_rate)
            model.train()
            logits, weights = model(source, lengths, inputs)
            loss = loss_of(logits.flatten(0, 1), outputs.flatten())
            if name == "additive":
                loss = loss + LINK_WEIGHT * link_loss(weights, links)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total, shown = total + loss.item(), shown + 1
            if step % 200 == 0:
                print(f"epoch {epoch} step {step} minute {progress * minutes:.1f} loss {total / shown:.3f}", flush=True)
                total, shown = 0.0, 0
            if progress >= 1:
                break
        torch.save({"config": config, "source": source_words, "target": target_words, "weights": model.state_dict()}, output)
        if epoch % 2 == 0 or progress >= 1:
            print(f"epoch {epoch}: tuning {measure(model, data.held_out('tuning'), source_words, target_words)}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("name", choices=sorted(CONFIGS))
    parser.add_argument("output")
    parser.add_argument("--minutes", type=float, default=20, help="of processor time")
    parser.add_argument("--rate", type=float, default=RATE)
    arguments = parser.parse_args()
    train(arguments.name, arguments.output, arguments.minutes, arguments.rate)


if __name__ == "__main__":
    main()

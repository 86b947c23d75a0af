#!/usr/bin/env python3
"""Golden outputs of beam search: two tiny encoder-decoders of random numbers, searched in double precision.

    /usr/bin/python3 tools/golden/generate.py [FOLDER]      (needs numpy; default tests/golden/generate)

makes FOLDER/<model>/{graph.json, weights.safetensors, source.txt, target.txt, cases.json}. `additive` has a GRU and additive attention, `transformer` a causal layer that
keeps its keys and one that looks at the input. Models, search and penalties are written here from their definitions. A case whose outcome hangs on
a difference below MARGIN is left out, so that float arithmetic has to find the same tokens. SPDX-License-Identifier: Apache-2.0
"""
import json
import math
import pathlib
import struct
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WORDS_IN, WORDS_OUT, WIDTH, HEADS, LONGEST, STEPS = 9, 11, 8, 2, 12, 16
START, STOP = 1, 2
MARGIN = 1e-4
ENGLISH = ["<unk>", "i", "love", "you", "do", "n't", "'m", ".", "?"]
FRENCH = ["<unk>", "<s>", "</s>", "je", "t'", "aime", "-moi", ".", "?", "l'", "\u00e9t\u00e9"]
TOKENIZERS = {"tokenizer": {"kind": "word", "unknown": 0, "apostrophe": "begins", "endings": ["n't"], "closing": ".?"},
              "target_tokenizer": {"kind": "word", "unknown": 0, "prefix": [1], "suffix": [2], "apostrophe": "ends", "endings": ["-moi"], "closing": "."}}
SOURCES = [[3, 1, 4, 1, 5], [8, 2, 6], [7], [5, 5, 0, 3, 8, 2, 1, 6]]
SETTINGS = [
    {"beams": 1}, {"beams": 2}, {"beams": 3}, {"beams": 4}, {"beams": 4, "length_penalty": 1.0}, {"beams": 4, "length_penalty": 0.6},
    {"beams": 3, "length_penalty": -1.0}, {"beams": 4, "length_penalty": 2.0, "min_tokens": 4}, {"beams": 1, "min_tokens": 6}, {"beams": 1, "no_repeat": 1},
    {"beams": 4, "no_repeat": 2}, {"beams": 2, "no_repeat": 3, "min_tokens": 8}, {"beams": 1, "forced_first": 7}, {"beams": 4, "forced_first": 3, "forced_last": 2},
    {"beams": 2, "forced_last": 2, "min_tokens": 16}, {"beams": 1, "max_tokens": 1}, {"beams": 3, "max_tokens": 2, "length_penalty": 1.0},
    {"beams": 4, "max_tokens": 5, "forced_last": 9}, {"beams": 8, "length_penalty": 1.0},
]


def softmax(x):
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


class Weights:
    """Random matrices that are float numbers, in the order in which they are asked for."""

    def __init__(self, seed: int):
        self.random, self.tensors, self.entries = np.random.default_rng(seed), {}, []

    def values(self, name: str, *shape: int, scale: float):
        self.tensors[name] = (self.random.standard_normal(shape) * scale).astype(np.float32)
        return self.tensors[name].astype(np.float64)

    def entry(self, name: str, bias: bool = False) -> int:
        self.entries.append({"name": name, "format": "f32", **({"bias_name": name + ".bias"} if bias else {})})
        return len(self.entries) - 1

    def matrix(self, name: str, rows: int, cols: int, bias: bool = True, scale: float = 0.6):
        weight = self.values(name, rows, cols, scale=scale)
        shift = self.values(name + ".bias", rows, scale=0.3) if bias else np.zeros(rows)
        return (lambda x: x @ weight.T + shift), self.entry(name, bias)

    def table(self, name: str, rows: int, scale: float = 1.0):
        return self.values(name, rows, WIDTH, scale=scale), self.entry(name)


def graph(name: str, rows: int, nodes: list, output: int) -> dict:
    values = 1 + sum(len(node["outputs"]) for node in nodes)
    return {"name": name, "values": values, "nodes": nodes, "outputs": [{"name": "out", "value": output}],
            "inputs": [{"name": "tokens", "value": 0, "type": "i32", "max_rows": rows}]}


def node(op: str, inputs: list, outputs: list, **fields) -> dict:
    return {"op": op, "name": f"{op} {outputs}", "inputs": inputs, "outputs": outputs, **fields}


class Additive:
    def __init__(self):
        w = self.weights = Weights(7)
        self.source, source = w.table("source", WORDS_IN)
        self.target, target = w.table("target", WORDS_OUT)
        self.key, key = w.matrix("key", WIDTH, WIDTH)
        self.query, query = w.matrix("query", WIDTH, WIDTH, bias=False)
        self.score = w.values("score", WIDTH, scale=1.5)
        score = w.entry("score")
        self.into, into = w.matrix("into", 3 * WIDTH, 2 * WIDTH)
        self.back, back = w.matrix("back", 3 * WIDTH, WIDTH)
        self.out, out = w.matrix("out", WORDS_OUT, WIDTH, scale=1.2)
        look = {"score": "additive", "heads": 1, "kv_heads": 1, "head_dim": WIDTH, "value_dim": WIDTH}
        self.json = {"graphs": [
            graph("encode", LONGEST, [node("Embed", [0], [1], token=source), node("KeyValue", [1], [], key=key, state=0)], 1),
            graph("decode", 1, [
                node("Embed", [0], [1], token=target), node("LoadState", [], [2], state=1),
                node("Attention", [2], [3], query=query, score_weight=score, state=0, **look), node("Concat", [1, 3], [4]),
                node("Recurrent", [4, 2], [5, 6], cell="gru", weight=into, recurrent=back), node("StoreState", [6], [], state=1),
                node("Linear", [5], [7], weight=out)], 7)],
            "states": [{"name": "source", "kind": "kv_fixed", "heads": 1, "features": WIDTH, "value_features": WIDTH, "score": "additive"},
                       {"name": "hidden", "kind": "recurrent", "features": WIDTH}]}

    def logits(self, source: list, tokens: list):
        """Of the token that follows `tokens` (the start token first)."""
        rows, hidden = self.source[source], np.zeros(WIDTH)
        for token in tokens:
            context = softmax(np.tanh(self.query(hidden) + self.key(rows)) @ self.score) @ rows
            inputs, before = self.into(np.concatenate([self.target[token], context])), self.back(hidden)
            reset, update = (1 / (1 + np.exp(-(inputs[part] + before[part]))) for part in (slice(0, WIDTH), slice(WIDTH, 2 * WIDTH)))
            fresh = np.tanh(inputs[2 * WIDTH:] + reset * before[2 * WIDTH:])
            hidden = fresh + update * (hidden - fresh)
        return self.out(hidden)


class Transformer:
    def __init__(self):
        w = self.weights = Weights(11)
        self.source, source = w.table("source", WORDS_IN)
        self.target, target = w.table("target", WORDS_OUT)
        self.positions, positions = w.table("positions", STEPS, scale=0.5)
        self.own, own = zip(*(w.matrix(f"own.{part}", WIDTH, WIDTH) for part in ("query", "key", "value", "output")))
        self.cross, cross = zip(*(w.matrix(f"cross.{part}", WIDTH, WIDTH) for part in ("query", "key", "value", "output")))
        self.out, out = w.matrix("out", WORDS_OUT, WIDTH, scale=0.8)
        size = WIDTH // HEADS
        look = {"heads": HEADS, "kv_heads": HEADS, "head_dim": size, "value_dim": size, "scale": 1 / math.sqrt(size), "residual": True}
        kept = {"heads": HEADS, "features": size, "value_features": size}
        parts = ("query", "key", "value", "output")
        self.json = {"graphs": [
            graph("encode", LONGEST, [node("Embed", [0], [1], token=source), node("KeyValue", [1], [], key=cross[1], value=cross[2], state=1)], 1),
            graph("decode", 1, [
                node("Embed", [0], [1], token=target, position=positions, state=0),
                node("Attention", [1], [2], state=0, causal=True, **dict(zip(parts, own)), **look),
                node("Attention", [2], [3], state=1, query=cross[0], output=cross[3], **look), node("Linear", [3], [4], weight=out)], 4)],
            "states": [{"name": "own", "kind": "kv_append", "rows": STEPS, **kept}, {"name": "source", "kind": "kv_fixed", **kept}]}

    @staticmethod
    def attend(parts, x, rows, causal):
        query, key, value = (part(y).reshape(len(y), HEADS, -1).swapaxes(0, 1) for part, y in zip(parts, (x, rows, rows)))
        scores = query @ key.swapaxes(1, 2) / math.sqrt(query.shape[2])
        if causal:
            scores = np.where(np.tri(len(x)) > 0, scores, -np.inf)
        return x + parts[3]((softmax(scores) @ value).swapaxes(0, 1).reshape(len(x), -1))

    def logits(self, source: list, tokens: list):
        x = self.target[tokens] + self.positions[:len(tokens)]
        x = self.attend(self.own, x, x, True)
        return self.out(self.attend(self.cross, x, self.source[source], False)[-1])


class TooNear(Exception):
    pass


def allowed(tokens: list, setting: dict) -> list:
    """Words that may follow `tokens`."""
    place, n = len(tokens) - 1, setting.get("no_repeat", 0)
    if place == 0 and "forced_first" in setting:
        return [setting["forced_first"]]
    if place + 1 == setting["max_tokens"] and "forced_last" in setting:
        return [setting["forced_last"]]
    seen = {tuple(tokens[i:i + n]) for i in range(len(tokens) - n + 1)} if n else set()
    return [word for word in range(WORDS_OUT)
            if not (word == STOP and place < setting.get("min_tokens", 0)) and not (n and tuple(tokens[len(tokens) + 1 - n:] + [word]) in seen)]


def continuations(model, source: list, live: list, setting: dict) -> list:
    found = []
    for total, logs, tokens in live:
        words = allowed(tokens, setting)
        logits = model.logits(source, tokens)
        forced = len(words) == 1 and ("forced_first" in setting or "forced_last" in setting)
        all_logs = logits - logits.max() - math.log(np.exp(logits - logits.max()).sum())
        found += [(total + (0.0 if forced else all_logs[word]), logs + [0.0 if forced else all_logs[word]], tokens + [word]) for word in words]
    return sorted(found, key=lambda one: -one[0])


def apart(values: list):
    values = sorted(values)
    if any(b - a < MARGIN for a, b in zip(values, values[1:])):
        raise TooNear


def search(model, source: list, setting: dict) -> dict:
    beams, penalty = setting["beams"], setting.get("length_penalty", 0.0)
    live, finished = [(0.0, [], [START])], []
    for step in range(1, setting["max_tokens"] + 1):
        best = continuations(model, source, live, setting)
        apart([one[0] for one in best[:2 * beams + 1]])
        live = []
        for rank, one in enumerate(best[:2 * beams]):
            if one[2][-1] != STOP:
                live.append(one)
            elif rank < beams:
                finished.append((one[0] / step ** penalty, one))
            if len(live) == beams:
                break
        finished = sorted(finished, key=lambda one: -one[0])[:beams]
        apart([score for score, _ in finished])
        if len(finished) == beams:
            gain = best[0][0] / step ** penalty - finished[-1][0]
            if 0 < abs(gain) < MARGIN:
                raise TooNear
            if gain <= 0:
                live = []
        if not live:
            break
    finished += [(one[0] / step ** penalty, one) for one in live]
    apart([score for score, _ in finished])
    score, (_, logs, tokens) = max(finished)
    stopped = tokens[-1] == STOP
    count = len(tokens) - 1 - stopped
    return {"source": source, **setting, "tokens": tokens[1:1 + count], "logs": logs[:count], "score": score, "stopped": stopped}


def write_safetensors(path: pathlib.Path, tensors: dict):
    header, data = {}, b""
    for name, values in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [len(data), len(data) + values.nbytes]}
        data += values.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "tests/golden/generate"
    for name, model in (("additive", Additive()), ("transformer", Transformer())):
        cases, left_out = [], 0
        for source in SOURCES:
            for setting in SETTINGS:
                try:
                    cases.append(search(model, source, {"max_tokens": STEPS, **setting}))
                except TooNear:
                    left_out += 1
        (folder / name).mkdir(parents=True, exist_ok=True)
        write_safetensors(folder / name / "weights.safetensors", model.weights.tensors)
        json_file = {**model.json, "weights": model.weights.entries, "metadata": {"source": "tools/golden/generate.py", "licence": "Apache-2.0", "max_context": STEPS}, **TOKENIZERS}
        (folder / name / "graph.json").write_text(json.dumps(json_file, indent=1) + "\n")
        for side, pieces in (("source", ENGLISH), ("target", FRENCH)):
            (folder / name / f"{side}.txt").write_text("".join(piece + "\n" for piece in pieces), encoding="utf-8")
        (folder / name / "cases.json").write_text("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")
        print(f"{name}: {len(cases)} cases, {left_out} left out; tokens {sorted({len(case['tokens']) for case in cases})}")


if __name__ == "__main__":
    main()

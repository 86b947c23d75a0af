#!/usr/bin/env python3
"""Golden graph folders of recurrent layers and of both recurrent decoders, with PyTorch's results in float64.

    /usr/bin/python3 tools/golden/decoders.py [FOLDER]      (Debian's python3-torch; default tests/golden/decoders)

makes FOLDER/<case>/{graph.json, weights.safetensors, passes.json}. passes.json lists what to run one after another in one session and what has
to come out, and how far PyTorch's own float32 is from its float64. Knows nothing of heed but the schema's names.
SPDX-License-Identifier: Apache-2.0
"""
import json
import pathlib
import struct
import sys

import torch
from torch import nn

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WORDS_IN, WORDS_OUT, EMBED, HIDDEN, SCORE = 11, 13, 6, 9, 7
SOURCES = [[3, 1, 4, 1, 5], [9, 2, 6]]
TARGETS = [[1, 7, 12, 0], [2, 2, 8, 5]]


def write_safetensors(path: pathlib.Path, tensors: dict[str, torch.Tensor]):
    header, data = {}, b""
    for name, tensor in tensors.items():
        encoded = tensor.detach().float().contiguous().numpy().tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(encoded)]}
        data += encoded
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


# ---- Modules ----

class Layers(nn.Module):
    """nn.GRU or nn.LSTM over one input."""

    def __init__(self, kind: str, layers: int, both: bool):
        super().__init__()
        self.kind, self.layers, self.both = kind, layers, both
        self.rnn = getattr(nn, kind)(EMBED, HIDDEN, layers, batch_first=True, bidirectional=both)

    def run(self, x: torch.Tensor) -> torch.Tensor:
        return self.rnn(x[None])[0][0]


class Bahdanau(nn.Module):
    """Attention before the cell: additive scores of the state before."""

    def __init__(self):
        super().__init__()
        self.source, self.target = nn.Embedding(WORDS_IN, EMBED), nn.Embedding(WORDS_OUT, EMBED)
        self.encoder = nn.GRU(EMBED, HIDDEN, batch_first=True, bidirectional=True)
        self.start = nn.Linear(HIDDEN, HIDDEN)
        self.query, self.key = nn.Linear(HIDDEN, SCORE, bias=False), nn.Linear(2 * HIDDEN, SCORE)
        self.score = nn.Linear(SCORE, 1, bias=False)
        self.cell = nn.GRUCell(EMBED + 2 * HIDDEN, HIDDEN)
        self.out = nn.Linear(EMBED + 3 * HIDDEN, WORDS_OUT)

    def encode(self, ids):
        rows, last = self.encoder(self.source(torch.tensor([ids])))
        return rows[0], (torch.tanh(self.start(last[1])),)

    def decode(self, rows, state, word):
        (h,) = state
        embedded = self.target(torch.tensor([word]))
        share = torch.softmax(self.score(torch.tanh(self.query(h) + self.key(rows))).T, dim=1)
        context = share @ rows
        h = self.cell(torch.cat([embedded, context], dim=1), h)
        return self.out(torch.cat([h, context, embedded], dim=1))[0], share[0], (h,)


class Luong(nn.Module):
    """Attention after the cell, with input feeding; scores dot, general or concat."""

    def __init__(self, score: str):
        super().__init__()
        self.kind = score
        self.source, self.target = nn.Embedding(WORDS_IN, EMBED), nn.Embedding(WORDS_OUT, EMBED)
        self.encoder = nn.LSTM(EMBED, HIDDEN, batch_first=True)
        self.cell = nn.LSTMCell(EMBED + HIDDEN, HIDDEN)
        if score == "general":
            self.bilinear = nn.Linear(HIDDEN, HIDDEN, bias=False)
        if score == "concat":
            self.joint, self.score = nn.Linear(2 * HIDDEN, SCORE), nn.Linear(SCORE, 1, bias=False)
        self.combine, self.out = nn.Linear(2 * HIDDEN, HIDDEN), nn.Linear(HIDDEN, WORDS_OUT)

    def encode(self, ids):
        rows, (h, memory) = self.encoder(self.source(torch.tensor([ids])))
        return rows[0], (h[0], memory[0], torch.zeros_like(h[0]))

    def scores(self, h, rows):
        if self.kind == "general":
            return h @ self.bilinear(rows).T
        if self.kind == "concat":
            return self.score(torch.tanh(self.joint(torch.cat([h.expand(len(rows), -1), rows], dim=1)))).T
        return h @ rows.T

    def decode(self, rows, state, word):
        h, memory, feed = state
        h, memory = self.cell(torch.cat([self.target(torch.tensor([word])), feed], dim=1), (h, memory))
        share = torch.softmax(self.scores(h, rows), dim=1)
        feed = torch.tanh(self.combine(torch.cat([share @ rows, h], dim=1)))
        return self.out(feed)[0], share[0], (h, memory, feed)


# ---- Graphs ----

class Graph:
    def __init__(self, name: str, folder: "Folder"):
        self.folder = folder
        self.json = {"name": name, "values": 0, "inputs": [], "outputs": [], "nodes": []}
        folder.json["graphs"].append(self.json)

    def value(self) -> int:
        self.json["values"] += 1
        return self.json["values"] - 1

    def input(self, name: str, max_rows: int, features: int = 0) -> int:
        kind = {"type": "f32", "features": features} if features else {"type": "i32"}
        self.json["inputs"].append({"name": name, "value": self.value(), "max_rows": max_rows, **kind})
        return self.json["inputs"][-1]["value"]

    def node(self, op: str, inputs: list[int], outputs: int = 1, **attributes):
        made = [self.value() for _ in range(outputs)]
        self.json["nodes"].append({"op": op, "name": f"{op} {len(self.json['nodes'])}", "inputs": inputs, "outputs": made, **attributes})
        return made[0] if outputs == 1 else made

    def output(self, name: str, value: int):
        self.json["outputs"].append({"name": name, "value": value})


class Folder:
    def __init__(self):
        self.json = {"graphs": [], "weights": [], "states": [], "metadata": {"source": "tools/golden/decoders.py", "licence": "Apache-2.0"}}
        self.tensors = {}

    def weight(self, name: str, values: torch.Tensor, bias: torch.Tensor | None = None) -> int:
        self.tensors[name + ".weight"] = values
        entry = {"name": name + ".weight"}
        if bias is not None:
            self.tensors[name + ".bias"] = bias
            entry["bias_name"] = name + ".bias"
        self.json["weights"].append(entry)
        return len(self.json["weights"]) - 1

    def linear(self, name: str, module: nn.Linear) -> int:
        return self.weight(name, module.weight, module.bias)

    def cell(self, name: str, rnn, layer: str = "") -> dict:
        """Both matrices of one direction of one layer, or of a cell."""
        part = lambda kind: getattr(rnn, kind + layer)
        return {"weight": self.weight(name + ".input", part("weight_ih"), part("bias_ih")),
                "recurrent": self.weight(name + ".state", part("weight_hh"), part("bias_hh"))}

    def state(self, name: str, **fields) -> int:
        self.json["states"].append({"name": name, **fields})
        return len(self.json["states"]) - 1


def both_directions(folder: Folder, name: str, rnn, layer: int) -> dict:
    forward = folder.cell(name + ".forward", rnn, f"_l{layer}")
    backward = folder.cell(name + ".backward", rnn, f"_l{layer}_reverse")
    return {**forward, "backward_weight": backward["weight"], "backward_recurrent": backward["recurrent"], "direction": "both"}


def layers_folder(module: Layers) -> Folder:
    folder = Folder()
    graph = Graph("main", folder)
    rows = graph.input("x", 16, EMBED)
    for layer in range(module.layers):
        name = f"layer{layer}"
        weights = both_directions(folder, name, module.rnn, layer) if module.both else folder.cell(name, module.rnn, f"_l{layer}")
        rows = graph.node("Recurrent", [rows], cell=module.kind.lower(), **weights)
    graph.output("y", rows)
    return folder


def bahdanau_folder(module: Bahdanau) -> Folder:
    folder = Folder()
    keys = folder.state("source", kind="kv_fixed", heads=1, features=SCORE, value_features=2 * HIDDEN, score="additive")
    hidden = folder.state("hidden", kind="recurrent", features=HIDDEN)
    graph = Graph("encode", folder)
    embedded = graph.node("Embed", [graph.input("tokens", 16)], token=folder.weight("source", module.source.weight))
    rows, last = graph.node("Recurrent", [embedded], 2, cell="gru", **both_directions(folder, "encoder", module.encoder, 0))
    backward = graph.node("Slice", [last], slice_begin=HIDDEN, slice_end=2 * HIDDEN)
    start = graph.node("Linear", [backward], weight=folder.linear("start", module.start), activation="tanh")
    graph.node("StoreState", [start], 0, state=hidden)
    graph.node("KeyValue", [rows], 0, key=folder.linear("key", module.key), state=keys)
    graph.output("rows", rows)
    graph = Graph("decode", folder)
    embedded = graph.node("Embed", [graph.input("tokens", 1)], token=folder.weight("target", module.target.weight))
    before = graph.node("LoadState", [], state=hidden)
    context = graph.node("Attention", [before], query=folder.linear("query", module.query), score="additive", state=keys, heads=1, kv_heads=1,
                         head_dim=SCORE, value_dim=2 * HIDDEN, score_weight=folder.linear("score", module.score))
    joined = graph.node("Concat", [embedded, context])
    row, after = graph.node("Recurrent", [joined, before], 2, cell="gru", **folder.cell("cell", module.cell))
    graph.node("StoreState", [after], 0, state=hidden)
    graph.output("logits", graph.node("Linear", [graph.node("Concat", [row, context, embedded])], weight=folder.linear("out", module.out)))
    return folder


def luong_score(folder: Folder, module: Luong) -> tuple[dict, dict, int]:
    """What the query's and the keys' node say about the score, and the width of a key."""
    if module.kind == "general":
        return {"score": "general"}, {"key": folder.linear("bilinear", module.bilinear)}, HIDDEN
    if module.kind == "concat":
        joint = module.joint
        query = folder.weight("joint.query", joint.weight[:, :HIDDEN])
        return ({"score": "concat", "query": query, "score_weight": folder.linear("score", module.score)},
                {"key": folder.weight("joint.key", joint.weight[:, HIDDEN:], joint.bias)}, SCORE)
    return {"score": "dot"}, {}, HIDDEN


def luong_folder(module: Luong) -> Folder:
    folder = Folder()
    asks, answers, width = luong_score(folder, module)
    keys = folder.state("source", kind="kv_fixed", heads=1, features=width, value_features=HIDDEN, score=asks["score"])
    hidden, memory, feed = (folder.state(name, kind="recurrent", features=HIDDEN) for name in ("hidden", "memory", "feed"))
    graph = Graph("encode", folder)
    embedded = graph.node("Embed", [graph.input("tokens", 16)], token=folder.weight("source", module.source.weight))
    rows, last, last_memory = graph.node("Recurrent", [embedded], 3, cell="lstm", **folder.cell("encoder", module.encoder, "_l0"))
    graph.node("StoreState", [last], 0, state=hidden)
    graph.node("StoreState", [last_memory], 0, state=memory)
    graph.node("KeyValue", [rows], 0, state=keys, **answers)
    graph.output("rows", rows)
    graph = Graph("decode", folder)
    embedded = graph.node("Embed", [graph.input("tokens", 1)], token=folder.weight("target", module.target.weight))
    joined = graph.node("Concat", [embedded, graph.node("LoadState", [], state=feed)])
    before = [joined, graph.node("LoadState", [], state=hidden), graph.node("LoadState", [], state=memory)]
    row, after, after_memory = graph.node("Recurrent", before, 3, cell="lstm", **folder.cell("cell", module.cell))
    graph.node("StoreState", [after], 0, state=hidden)
    graph.node("StoreState", [after_memory], 0, state=memory)
    context = graph.node("Attention", [row], state=keys, heads=1, kv_heads=1, head_dim=width, value_dim=HIDDEN, **asks)
    fed = graph.node("Linear", [graph.node("Concat", [context, row])], weight=folder.linear("combine", module.combine), activation="tanh")
    graph.node("StoreState", [fed], 0, state=feed)
    graph.output("logits", graph.node("Linear", [fed], weight=folder.linear("out", module.out)))
    return folder


# ---- Passes ----

def layer_passes(module: Layers) -> list[dict]:
    lengths = [7, 1, 4]
    x = torch.randn(sum(lengths), EMBED, generator=torch.Generator().manual_seed(5))
    kind = next(module.parameters()).dtype
    rows = torch.cat([module.run(part.to(kind)) for part in x.split(lengths)])
    return [{"graph": "main", "input": "x", "rows": x.tolist(), "lengths": lengths, "expected": rows.tolist()}]


def decoder_passes(module) -> list[dict]:
    encoded = [module.encode(ids) for ids in SOURCES]
    passes = [{"graph": "encode", "input": "tokens", "ids": sum(SOURCES, []), "lengths": [len(ids) for ids in SOURCES],
               "expected": torch.cat([rows for rows, _ in encoded]).tolist()}]
    for words in zip(*TARGETS):
        steps = [module.decode(rows, state, word) for (rows, state), word in zip(encoded, words)]
        encoded = [(rows, step[2]) for (rows, _), step in zip(encoded, steps)]
        passes.append({"graph": "decode", "input": "tokens", "ids": list(words), "lengths": [1] * len(words),
                       "expected": [step[0].tolist() for step in steps], "weights": [step[1].tolist() for step in steps]})
    return passes


def write_case(path: pathlib.Path, module: nn.Module, folder, passes):
    path.mkdir(parents=True, exist_ok=True)
    made = folder(module)
    (path / "graph.json").write_text(json.dumps(made.json, indent=1) + "\n")
    write_safetensors(path / "weights.safetensors", made.tensors)
    with torch.no_grad():
        single, double = passes(module), passes(module.double())
    for one, exact in zip(single, double):
        pairs = zip(sum(one["expected"], []), sum(exact["expected"], []))
        exact["float32_error"] = max(abs(a - b) for a, b in pairs)
    (path / "passes.json").write_text("[\n" + ",\n".join(json.dumps(one) for one in double) + "\n]\n")


def main():
    to = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "tests/golden/decoders"
    torch.manual_seed(1)
    torch.set_num_threads(1)
    write_case(to / "gru", Layers("GRU", 2, True), layers_folder, layer_passes)
    write_case(to / "lstm", Layers("LSTM", 2, True), layers_folder, layer_passes)
    write_case(to / "gru_forward", Layers("GRU", 1, False), layers_folder, layer_passes)
    write_case(to / "bahdanau", Bahdanau(), bahdanau_folder, decoder_passes)
    for score in ("dot", "general", "concat"):
        write_case(to / f"luong_{score}", Luong(score), luong_folder, decoder_passes)


if __name__ == "__main__":
    main()

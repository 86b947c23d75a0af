#!/usr/bin/env python3
"""Tiny models, one for each op, with the outputs that the formulas give in double precision; and a tiny BERT with a tokenizer.

    tools/golden/tiny.py FOLDER

makes FOLDER/<case>/{graph.json, weights.safetensors, <input>.npy, expected.npy} and FOLDER/bert/. Needs the standard library only,
and knows nothing of heed but the schema's names. Everything follows from the seeds in this file.
SPDX-License-Identifier: Apache-2.0
"""
import array
import dataclasses
import json
import math
import pathlib
import random
import struct
import sys

ROWS = 11
FEATURES = 16
HIDDEN = 24
HEADS = 2


def as_f32(value: float) -> float:
    return struct.unpack("<f", struct.pack("<f", value))[0]


# ---- Files ----

def write_npy(path: pathlib.Path, shape: tuple[int, ...], values, kind: str = "<f4"):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (kind, shape)
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    data = array.array({"<f4": "f", "<i4": "i", "<i8": "q", "<f8": "d"}[kind], values).tobytes()
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def read_npy(path: pathlib.Path) -> tuple[tuple[int, ...], list[float]]:
    data = path.read_bytes()
    end = 10 + struct.unpack("<H", data[8:10])[0]
    header = eval(data[10:end].decode(), {"__builtins__": {}})  # a literal that this project wrote
    assert header["descr"] == "<f4" and not header["fortran_order"]
    return header["shape"], array.array("f", data[end:]).tolist()


def write_safetensors(path: pathlib.Path, tensors: dict[str, tuple[list[int], list[float]]]):
    header, data = {}, b""
    for name, (shape, values) in tensors.items():
        encoded = array.array("f", values).tobytes()
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(encoded)]}
        data += encoded
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


# ---- Formulas: matrices are lists of rows ----

def matrix(seed: int, rows: int, cols: int, scale: float = 1.0) -> list[list[float]]:
    source = random.Random(seed)
    return [[as_f32(source.gauss(0, scale)) for _ in range(cols)] for _ in range(rows)]


def flat(rows) -> list[float]:
    return [value for row in rows for value in row]


def linear(x, weight, bias):
    return [[sum(a * b for a, b in zip(row, out)) + shift for out, shift in zip(weight, bias)] for row in x]


def layer_norm(x, gain, shift, epsilon):
    normed = []
    for row in x:
        mean = sum(row) / len(row)
        variance = sum((value - mean) ** 2 for value in row) / len(row)
        normed.append([(value - mean) / math.sqrt(variance + epsilon) * g + s for value, g, s in zip(row, gain, shift)])
    return normed


def rms_norm(x, gain, epsilon):
    return [[value / math.sqrt(sum(v * v for v in row) / len(row) + epsilon) * g for value, g in zip(row, gain)] for row in x]


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


ACTIVATIONS = {
    "relu": lambda x: max(x, 0.0),
    "gelu": lambda x: x * (1 + math.erf(x / math.sqrt(2))) / 2,
    "gelu_tanh": lambda x: x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3))) / 2,
    "silu": lambda x: x * sigmoid(x),
    "tanh": math.tanh,
    "sigmoid": sigmoid,
}


def softmax(row):
    largest = max(row)
    weights = [math.exp(value - largest) for value in row]
    return [weight / sum(weights) for weight in weights]


def attention(query, key, value, heads):
    out = [[] for _ in query]
    size = len(query[0]) // heads
    for head in range(heads):
        part = slice(head * size, (head + 1) * size)
        for row, q in zip(out, query):
            weights = softmax([sum(a * b for a, b in zip(q[part], k[part])) / math.sqrt(size) for k in key])
            row.extend(sum(w * v[part][i] for w, v in zip(weights, value)) for i in range(size))
    return out


def plus(a, b):
    return [[x + y for x, y in zip(p, q)] for p, q in zip(a, b)]


# ---- Cases ----

@dataclasses.dataclass
class Case:
    name: str
    op: str                 # schema's name
    node: dict              # without op, inputs and outputs
    inputs: dict            # name -> rows of floats, or a list of ids
    expected: list          # rows of floats
    weights: list = dataclasses.field(default_factory=list)  # (name, matrix or vector, bias or None)
    nodes: list = dataclasses.field(default_factory=list)    # a whole graph in place of `node`; the last value is y
    states: list = dataclasses.field(default_factory=list)


def vector(seed: int, count: int, scale: float = 1.0):
    return matrix(seed, 1, count, scale)[0]


def embed_case() -> Case:
    token, position, segment = matrix(1, 20, FEATURES), matrix(2, 32, FEATURES), matrix(3, 2, FEATURES)
    gain, shift = vector(4, FEATURES), vector(5, FEATURES)
    source = random.Random(6)
    ids = [source.randrange(20) for _ in range(ROWS)]
    kinds = [source.randrange(2) for _ in range(ROWS)]
    rows = [[a * 2 + b + c for a, b, c in zip(token[i], position[place], segment[kind])] for place, (i, kind) in enumerate(zip(ids, kinds))]
    return Case("embed", "Embed", {"token": 0, "position": 1, "segment": 2, "norm_out": 3, "scale": 2.0, "epsilon": 1e-5},
                {"tokens": ids, "segments": kinds}, layer_norm(rows, gain, shift, 1e-5),
                [("token", token, None), ("position", position, None), ("segment", segment, None), ("norm", gain, shift)])


def attention_case() -> Case:
    x = matrix(10, ROWS, FEATURES)
    names = ["query", "key", "value", "output"]
    weights = [(name, matrix(11 + i, FEATURES, FEATURES, 0.3), vector(21 + i, FEATURES, 0.3)) for i, name in enumerate(names)]
    gain, shift = vector(31, FEATURES), vector(32, FEATURES)
    query, key, value = (linear(x, weight, bias) for _, weight, bias in weights[:3])
    mixed = linear(attention(query, key, value, HEADS), weights[3][1], weights[3][2])
    node = {"query": 0, "key": 1, "value": 2, "output": 3, "norm_out": 4, "heads": HEADS, "kv_heads": HEADS, "residual": True,
            "head_dim": FEATURES // HEADS, "value_dim": FEATURES // HEADS, "scale": as_f32(1 / math.sqrt(FEATURES // HEADS)), "epsilon": 1e-5}
    return Case("attention", "Attention", node, {"x": x}, layer_norm(plus(x, mixed), gain, shift, 1e-5), weights + [("norm", gain, shift)])


def feed_forward_case(gated: bool) -> Case:
    x = matrix(40, ROWS, FEATURES)
    up = (matrix(41, HIDDEN, FEATURES, 0.3), vector(42, HIDDEN, 0.3))
    gate = (matrix(43, HIDDEN, FEATURES, 0.3), vector(44, HIDDEN, 0.3))
    down = (matrix(45, FEATURES, HIDDEN, 0.3), vector(46, FEATURES, 0.3))
    activation = "silu" if gated else "gelu"
    function = ACTIVATIONS[activation]
    hidden = linear(x, *up)
    if gated:
        hidden = [[function(g) * u for g, u in zip(a, b)] for a, b in zip(linear(x, *gate), hidden)]
    else:
        hidden = [[function(value) for value in row] for row in hidden]
    out = plus(x, linear(hidden, *down))
    node = {"up": 0, "down": 1, "activation": activation, "residual": True}
    weights = [("up", *up), ("down", *down)]
    if gated:
        node["gate"] = 2
        weights.append(("gate", *gate))
    return Case("feed_forward_gated" if gated else "feed_forward", "FeedForward", node, {"x": x}, out, weights)


def linear_case() -> Case:
    x, weight, bias = matrix(50, ROWS, FEATURES), matrix(51, HIDDEN, FEATURES), vector(52, HIDDEN)
    return Case("linear", "Linear", {"weight": 0}, {"x": x}, linear(x, weight, bias), [("weight", weight, bias)])


def norm_case(kind: str) -> Case:
    x, gain, shift = matrix(60, ROWS, FEATURES, 3), vector(61, FEATURES), vector(62, FEATURES)
    expected = layer_norm(x, gain, shift, 1e-5) if kind == "layer" else rms_norm(x, gain, 1e-5)
    return Case(f"norm_{kind}", "Norm", {"weight": 0, "norm_kind": kind, "epsilon": 1e-5}, {"x": x}, expected,
                [("gain", gain, shift if kind == "layer" else None)])


def activation_case(kind: str) -> Case:
    x = matrix(70, ROWS, FEATURES, 2)
    return Case(f"activation_{kind}", "Activation", {"activation": kind}, {"x": x}, [[ACTIVATIONS[kind](value) for value in row] for row in x])


def pair_case(op: str) -> Case:
    a, b = matrix(80, ROWS, FEATURES), matrix(81, ROWS, FEATURES)
    function = (lambda x, y: x + y) if op == "Add" else (lambda x, y: x * y)
    return Case(op.lower(), op, {}, {"a": a, "b": b}, [[function(x, y) for x, y in zip(p, q)] for p, q in zip(a, b)])


def pool_case(kind: str) -> Case:
    x = matrix(90, ROWS, FEATURES)
    columns = list(zip(*x))
    expected = {"first": x[0], "last": x[-1], "mean": [sum(c) / len(c) for c in columns], "max": [max(c) for c in columns]}[kind]
    return Case(f"pool_{kind}", "Pool", {"pool": kind}, {"x": x}, [list(expected)])


def rows_case(op: str) -> Case:
    x = matrix(100, ROWS, FEATURES, 2)
    formula = softmax if op == "Softmax" else lambda row: [value / math.sqrt(sum(v * v for v in row)) for value in row]
    return Case(op.lower(), op, {}, {"x": x}, [formula(row) for row in x])


def concat_case() -> Case:
    a, b = matrix(110, ROWS, FEATURES), matrix(111, ROWS, 5)
    return Case("concat", "Concat", {}, {"a": a, "b": b}, [p + q for p, q in zip(a, b)])


def slice_case() -> Case:
    x = matrix(115, ROWS, FEATURES)
    return Case("slice", "Slice", {"slice_begin": 3, "slice_end": 12}, {"x": x}, [row[3:12] for row in x])


def recurrent_rows(cell: str, x, weight, recurrent):
    """PyTorch's formulas of nn.GRU and nn.LSTM, one direction; weight and recurrent are (matrix, bias)."""
    size, rows = len(recurrent[0][0]), []
    h, memory = [0.0] * size, [0.0] * size
    for a in linear(x, *weight):
        b = linear([h], *recurrent)[0]
        part = [[p[i * size:(i + 1) * size] for i in range(len(p) // size)] for p in (a, b)]
        both = [[p + q for p, q in zip(*pair)] for pair in zip(*part)]
        if cell == "gru":
            r, z = ([sigmoid(value) for value in gate] for gate in both[:2])
            n = [math.tanh(p + gate * q) for p, gate, q in zip(part[0][2], r, part[1][2])]
            h = [(1 - gate) * new + gate * old for gate, new, old in zip(z, n, h)]
        else:
            i, f, o = ([sigmoid(value) for value in both[k]] for k in (0, 1, 3))
            memory = [p * old + q * math.tanh(new) for p, old, q, new in zip(f, memory, i, both[2])]
            h = [gate * math.tanh(value) for gate, value in zip(o, memory)]
        rows.append(h)
    return rows


def recurrent_case(cell: str) -> Case:
    x, rows = matrix(120, ROWS, FEATURES), (3 if cell == "gru" else 4) * FEATURES
    names = ["weight", "recurrent", "backward_weight", "backward_recurrent"]
    weights = [(name, matrix(121 + i, rows, FEATURES, 0.3), vector(131 + i, rows, 0.3)) for i, name in enumerate(names)]
    pairs = [(weight, bias) for _, weight, bias in weights]
    backward = recurrent_rows(cell, x[::-1], *pairs[2:])[::-1]
    expected = [a + b for a, b in zip(recurrent_rows(cell, x, *pairs[:2]), backward)]
    return Case(f"recurrent_{cell}", "Recurrent", {"cell": cell, "direction": "both", **{name: i for i, name in enumerate(names)}}, {"x": x},
                expected, weights)


def additive_case() -> Case:
    x, v = matrix(140, ROWS, FEATURES), vector(141, FEATURES)
    weights = [(name, matrix(142 + i, FEATURES, FEATURES, 0.3), vector(145 + i, FEATURES, 0.3)) for i, name in enumerate(["query", "key"])]
    query, key = (linear(x, weight, bias) for _, weight, bias in weights)
    rows = []
    for q in query:
        share = softmax([sum(c * math.tanh(a + b) for c, a, b in zip(v, q, k)) for k in key])
        rows.append([sum(w * row[i] for w, row in zip(share, x)) for i in range(FEATURES)])
    node = {"query": 0, "key": 1, "score_weight": 2, "score": "additive", "heads": 1, "kv_heads": 1, "head_dim": FEATURES, "value_dim": FEATURES}
    return Case("attention_additive", "Attention", node, {"x": x}, rows, weights + [("v", v, None)])


def key_value_case() -> Case:
    x, memory = matrix(150, ROWS, FEATURES), matrix(151, ROWS, FEATURES)
    names, size = ["query", "key", "value"], FEATURES // HEADS
    weights = [(name, matrix(152 + i, FEATURES, FEATURES, 0.3), vector(155 + i, FEATURES, 0.3)) for i, name in enumerate(names)]
    query, key, value = (linear(rows, weight, bias) for rows, (_, weight, bias) in zip((x, memory, memory), weights))
    heads = {"heads": HEADS, "kv_heads": HEADS, "head_dim": size, "value_dim": size, "scale": as_f32(1 / math.sqrt(size))}
    nodes = [{"op": "KeyValue", "name": "keep", "inputs": [1], "outputs": [], "key": 1, "value": 2, "state": 0},
             {"op": "Attention", "name": "look", "inputs": [0], "outputs": [2], "query": 0, "state": 0, **heads}]
    state = {"name": "memory", "kind": "kv_fixed", "heads": HEADS, "features": size, "value_features": size}
    return Case("key_value", "KeyValue", {}, {"x": x, "memory": memory}, attention(query, key, value, HEADS), weights, nodes, [state])


def state_case(op: str) -> Case:
    x = matrix(160, ROWS, FEATURES)
    nodes = [{"op": "Pool", "name": "last", "inputs": [0], "outputs": [1], "pool": "last"},
             {"op": "StoreState", "name": "keep", "inputs": [1], "outputs": [], "state": 0},
             {"op": "LoadState", "name": "read", "inputs": [], "outputs": [2], "state": 0}]
    return Case(op.lower(), op, {}, {"x": x}, [x[-1]], [], nodes, [{"name": "last", "kind": "recurrent", "features": FEATURES}])


def cases() -> list[Case]:
    return [embed_case(), attention_case(), feed_forward_case(False), feed_forward_case(True), linear_case(), norm_case("layer"),
            norm_case("rms"), *(activation_case(kind) for kind in ACTIVATIONS), pair_case("Add"), pair_case("Mul"), rows_case("Softmax"),
            *(pool_case(kind) for kind in ("first", "mean", "max", "last")), rows_case("L2Normalize"),
            concat_case(), slice_case(), recurrent_case("gru"), recurrent_case("lstm"), additive_case(), key_value_case(),
            state_case("LoadState"), state_case("StoreState")]


def graph_json(case: Case) -> dict:
    inputs = []
    for value, (name, data) in enumerate(case.inputs.items()):
        ids = not isinstance(data[0], list)
        inputs.append({"name": name, "value": value, "type": "i32" if ids else "f32", "features": 1 if ids else len(data[0]), "max_rows": 32})
    count = len(inputs)
    nodes = case.nodes or [{"op": case.op, "name": case.name, "inputs": list(range(count)), "outputs": [count], **case.node}]
    last = nodes[-1]["outputs"][0]
    graph = {"name": "main", "values": last + 1, "inputs": inputs, "outputs": [{"name": "y", "value": last}], "nodes": nodes}
    weights = [{"name": name, **({"bias_name": name + ".bias"} if bias else {})} for name, _, bias in case.weights]
    return {"version": 1, "graphs": [graph], "weights": weights, "states": case.states, "metadata": {"source": "tools/golden/tiny.py", "licence": "Apache-2.0"}}


def write_case(case: Case, folder: pathlib.Path):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "graph.json").write_text(json.dumps(graph_json(case), indent=1) + "\n")
    tensors = {}
    for name, values, bias in case.weights:
        shape = [len(values), len(values[0])] if isinstance(values[0], list) else [len(values)]
        tensors[name] = (shape, flat(values) if len(shape) == 2 else values)
        if bias:
            tensors[name + ".bias"] = ([len(bias)], bias)
    write_safetensors(folder / "weights.safetensors", tensors)
    for name, data in case.inputs.items():
        if isinstance(data[0], list):
            write_npy(folder / f"{name}.npy", (len(data), len(data[0])), flat(data))
        else:
            write_npy(folder / f"{name}.npy", (len(data),), data, "<i4")
    write_npy(folder / "expected.npy", (len(case.expected), len(case.expected[0])), flat(case.expected))


# ---- A tiny BERT: a checkpoint folder as Hugging Face has them ----

VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "cat", "dog", "sat", "on", "the", "mat", "##s", "##ting", "run", ".", "!",
              "\u4e2d", "\u6587", "\"", "<", "script", ">", "/", "##a", "##t", "c", "s"]
BERT_FEATURES, BERT_HIDDEN, BERT_POSITIONS, BERT_LAYERS = 8, 16, 24, 1


def bert_tensors() -> dict[str, tuple[list[int], list[float]]]:
    tensors, source = {}, random.Random(7)

    def add(name: str, *shape: int, around: float = 0.0):
        tensors[name] = (list(shape), [around + as_f32(source.gauss(0, 0.4)) for _ in range(math.prod(shape))])

    def add_linear(name: str, rows: int, cols: int):
        add(name + ".weight", rows, cols)
        add(name + ".bias", rows)

    def add_norm(name: str):
        add(name + ".weight", BERT_FEATURES, around=1.0)
        add(name + ".bias", BERT_FEATURES)

    add("embeddings.word_embeddings.weight", len(VOCABULARY), BERT_FEATURES)
    add("embeddings.position_embeddings.weight", BERT_POSITIONS, BERT_FEATURES)
    add("embeddings.token_type_embeddings.weight", 2, BERT_FEATURES)
    add_norm("embeddings.LayerNorm")
    for layer in range(BERT_LAYERS):
        block = f"encoder.layer.{layer}."
        for name in ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"):
            add_linear(block + name, BERT_FEATURES, BERT_FEATURES)
        add_norm(block + "attention.output.LayerNorm")
        add_linear(block + "intermediate.dense", BERT_HIDDEN, BERT_FEATURES)
        add_linear(block + "output.dense", BERT_FEATURES, BERT_HIDDEN)
        add_norm(block + "output.LayerNorm")
    return tensors


def write_bert(folder: pathlib.Path):
    folder.mkdir(parents=True, exist_ok=True)
    config = {"model_type": "bert", "architectures": ["BertModel"], "vocab_size": len(VOCABULARY), "hidden_size": BERT_FEATURES,
              "num_hidden_layers": BERT_LAYERS, "num_attention_heads": 2, "intermediate_size": BERT_HIDDEN, "hidden_act": "gelu",
              "max_position_embeddings": BERT_POSITIONS, "type_vocab_size": 2, "layer_norm_eps": 1e-05,
              "hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1}
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": True, "tokenizer_class": "BertTokenizer"}) + "\n")
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 16, "do_lower_case": False}) + "\n")
    modules = [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")]
    (folder / "modules.json").write_text(json.dumps(
        [{"idx": i, "name": str(i), "path": path, "type": "sentence_transformers.models." + kind} for i, (path, kind) in enumerate(modules)]) + "\n")
    (folder / "1_Pooling").mkdir(exist_ok=True)
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(
        {"word_embedding_dimension": BERT_FEATURES, "pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True,
         "pooling_mode_max_tokens": False, "pooling_mode_mean_sqrt_len_tokens": False}) + "\n")
    write_safetensors(folder / "model.safetensors", bert_tensors())


def write_all(folder: pathlib.Path):
    for case in cases():
        write_case(case, folder / case.name)
    write_bert(folder / "bert")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    write_all(pathlib.Path(sys.argv[1]))

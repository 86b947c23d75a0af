"""The graphs `encode` and `decode` of each translator, in the JSON form of schemas/model.fbs.

SPDX-License-Identifier: Apache-2.0
"""
import math

from text import ATTACHED

LONGEST_SOURCE = 64
# How text.py reads English and writes French; ids as data.py orders the special words.
ENGLISH = {"kind": "word", "unknown": 0, "apostrophe": "begins", "endings": ["n't"], "closing": ".,!?;:"}
FRENCH = {"kind": "word", "unknown": 0, "prefix": [1], "suffix": [2], "apostrophe": "ends", "endings": list(ATTACHED), "closing": ".,"}


class Builder:
    """Collects nodes of one graph; values are numbers, weights are named once for each use that asks for another shape."""

    def __init__(self, model: "Model", name: str, features: str, rows: int):
        self.model, self.name, self.nodes, self.values = model, name, [], 1
        self.inputs = [{"name": features, "value": 0, "type": "i32", "max_rows": rows}]
        self.outputs: list = []

    def add(self, op: str, name: str, inputs: list, outputs: int = 1, **attributes):
        made = list(range(self.values, self.values + outputs))
        self.values += outputs
        self.nodes.append({"op": op, "name": name, "inputs": inputs, "outputs": made, **attributes})
        return made[0] if outputs == 1 else made

    def output(self, name: str, value: int):
        self.outputs.append({"name": name, "value": value})

    def json(self) -> dict:
        return {"name": self.name, "values": self.values, "inputs": self.inputs, "outputs": self.outputs, "nodes": self.nodes}


class Model:
    def __init__(self):
        self.weights, self.places, self.states, self.graphs = [], {}, [], []

    def weight(self, name: str, bias: str = "", use: str = "") -> int:
        """The place of a weight. A table that is also a matrix (tied embeddings) is named for each use."""
        key = (name, bias, use)
        if key not in self.places:
            self.places[key] = len(self.weights)
            self.weights.append({"name": name, **({"bias_name": bias} if bias else {})})
        return self.places[key]

    def linear(self, name: str, biased: bool = True) -> int:
        return self.weight(name + ".weight", name + ".bias" if biased else "")

    def state(self, **fields) -> int:
        self.states.append(fields)
        return len(self.states) - 1

    def graph(self, name: str, rows: int) -> Builder:
        builder = Builder(self, name, "tokens", rows)
        self.graphs.append(builder)
        return builder

    def json(self, name: str) -> dict:
        metadata = {"source": f"tools/samples/translator/{name}", "licence": "Apache-2.0", "max_context": LONGEST_SOURCE, "tile_rows": 8}
        return {"graphs": [graph.json() for graph in self.graphs], "weights": self.weights, "states": self.states, "metadata": metadata,
                "tokenizer": ENGLISH, "target_tokenizer": FRENCH}


def cell(model: Model, name: str, suffix: str = "") -> tuple[int, int]:
    return tuple(model.weight(f"{name}.weight_{part}_l0{suffix}", f"{name}.bias_{part}_l0{suffix}") for part in ("ih", "hh"))


def attention_fields(model: Model, config: dict) -> tuple[dict, dict, dict]:
    """Fields of the node that keeps keys and values, of the node that reads them, and of their state."""
    kind, encoder = config["attention"], 2 * config["encoder_hidden"]
    width = encoder if kind == "dot" else config["attention_width"]
    score = {"dot": "dot", "qkv": "scaled_dot", "additive": "additive"}[kind]
    keep: dict = {}
    look = {"score": score, "heads": 1, "kv_heads": 1, "head_dim": width, "value_dim": encoder}
    if kind != "dot":
        keep["key"] = model.linear("attention.key", kind == "additive")
        look["query"] = model.linear("attention.query", False)
    if kind == "qkv":
        keep["value"] = model.linear("attention.value", False)
        look["scale"] = 1 / math.sqrt(width)
    if kind == "additive":
        look["score_weight"] = model.weight("attention.score.weight")
    state = {"name": "source", "kind": "kv_fixed", "heads": 1, "features": width, "value_features": encoder, "score": score,
             **({"format": "q8c"} if kind == "dot" else {})}  # without weights nothing else says that int8 will do
    return keep, look, state


def recurrent(config: dict) -> Model:
    model = Model()
    keep, look, source_state = attention_fields(model, config)
    source = model.state(**source_state)
    hidden = model.state(name="hidden", kind="recurrent", features=config["hidden"])
    feeds = config["attention"] != "additive"
    fed = model.state(name="fed", kind="recurrent", features=config["hidden"]) if feeds else -1

    encode = model.graph("encode", LONGEST_SOURCE)
    rows = encode.add("Embed", "source embedding", [0], token=model.weight("source_embedding.weight"))
    forward, backward = cell(model, "encoder"), cell(model, "encoder", "_reverse")
    rows, last = encode.add("Recurrent", "encoder", [rows], 2, cell="gru", direction="both", weight=forward[0], recurrent=forward[1],
                            backward_weight=backward[0], backward_recurrent=backward[1])
    first = encode.add("Linear", "bridge", [last], weight=model.linear("bridge"), activation="tanh")
    encode.add("StoreState", "first hidden", [first], 0, state=hidden)
    encode.add("KeyValue", "source keys", [rows], 0, state=source, **keep)
    encode.output("rows", rows)

    decode = model.graph("decode", 1)
    token = decode.add("Embed", "target embedding", [0], token=model.weight("target_embedding.weight"))
    before = decode.add("LoadState", "hidden before", [], state=hidden)
    first, second = cell(model, "decoder")
    if feeds:
        fed_row = decode.add("LoadState", "fed before", [], state=fed)
    else:
        fed_row = context = decode.add("Attention", "attention", [before], state=source, **look)
    joined = decode.add("Concat", "cell input", [token, fed_row])
    row, last = decode.add("Recurrent", "decoder", [joined, before], 2, cell="gru", weight=first, recurrent=second)
    decode.add("StoreState", "hidden after", [last], 0, state=hidden)
    if feeds:
        context = decode.add("Attention", "attention", [row], state=source, **look)
    joined = decode.add("Concat", "combine input", [row, context] if feeds else [row, context, token])
    combined = decode.add("Linear", "combine", [joined], weight=model.linear("combine"), activation="tanh")
    if feeds:
        decode.add("StoreState", "fed after", [combined], 0, state=fed)
    narrow = decode.add("Linear", "narrow", [combined], weight=model.linear("narrow"))
    decode.output("logits", decode.add("Linear", "output", [narrow], weight=model.weight("target_embedding.weight", "output_bias", "matrix")))
    return model


def transformer(config: dict) -> Model:
    model, width, heads = Model(), config["width"], config["heads"]
    size = {"heads": heads, "kv_heads": heads, "head_dim": width // heads, "value_dim": width // heads, "scale": 1 / math.sqrt(width // heads)}
    kept = {"heads": heads, "features": width // heads, "value_features": width // heads}
    own = [model.state(name=f"decoder.{layer}.self", kind="kv_append", rows=config["longest"], **kept) for layer in range(config["layers"])]
    cross = [model.state(name=f"decoder.{layer}.cross", kind="kv_fixed", **kept) for layer in range(config["layers"])]
    positions = model.weight("positions")

    def norm(name: str) -> dict:
        return {"norm_in": model.linear(name), "epsilon": 1e-5, "residual": True}

    def attend(graph: Builder, name: str, rows: int, **more) -> int:
        parts = {part: model.linear(f"{name}.{part}") for part in ("query", "key", "value", "output")}
        if more.get("state") in cross:
            parts = {"query": parts["query"], "output": parts["output"]}
        return graph.add("Attention", name, [rows], **parts, **size, **norm(name + "_norm"), **more)

    def feed_forward(graph: Builder, name: str, rows: int) -> int:
        return graph.add("FeedForward", f"{name}.feed_forward", [rows], up=model.linear(f"{name}.feed_forward_in"),
                         down=model.linear(f"{name}.feed_forward_out"), activation="relu", **norm(f"{name}.feed_forward_norm"))

    encode = model.graph("encode", config["longest"])
    rows = encode.add("Embed", "source embedding", [0], token=model.weight("source_embedding.weight"), position=positions, scale=math.sqrt(width))
    for layer in range(config["layers"]):
        rows = feed_forward(encode, f"encoder.{layer}", attend(encode, f"encoder.{layer}.self_attention", rows))
    rows = encode.add("Norm", "encoder_norm", [rows], weight=model.linear("encoder_norm"), epsilon=1e-5)
    for layer in range(config["layers"]):
        name = f"decoder.{layer}.cross_attention"
        encode.add("KeyValue", f"{name} keys", [rows], 0, state=cross[layer], key=model.linear(name + ".key"), value=model.linear(name + ".value"))
    encode.output("rows", rows)

    decode = model.graph("decode", 1)  # its logits are wide: a step at a time keeps the arena small
    rows = decode.add("Embed", "target embedding", [0], token=model.weight("target_embedding.weight"), position=positions, scale=math.sqrt(width),
                      state=own[0])
    for layer in range(config["layers"]):
        name = f"decoder.{layer}"
        rows = attend(decode, f"{name}.self_attention", rows, state=own[layer], causal=True)
        rows = feed_forward(decode, name, attend(decode, f"{name}.cross_attention", rows, state=cross[layer]))
    rows = decode.add("Norm", "decoder_norm", [rows], weight=model.linear("decoder_norm"), epsilon=1e-5)
    decode.output("logits", decode.add("Linear", "output", [rows], weight=model.weight("target_embedding.weight", "output_bias", "matrix")))
    return model


def build(name: str, config: dict) -> dict:
    return (transformer if config["attention"] == "transformer" else recurrent)(config).json(name)

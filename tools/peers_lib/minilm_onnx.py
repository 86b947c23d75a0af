"""MiniLM as an ONNX graph, from the same safetensors as heed's: plain operators, or ONNX Runtime's fused ones.

    python minilm_onnx.py MODEL_FOLDER OUT_FOLDER     makes plain.onnx, fused.onnx and their int8 forms

Inputs: ids [batch, rows] and mask [batch, rows] (1 is a token, 0 is padding), both int32. Output: embedding [batch, 384].
SPDX-License-Identifier: Apache-2.0
"""
import json
import math
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "golden"))
import safetensors_file  # noqa: E402

MASKED = -10000.0  # small enough for softmax, large enough for bf16
FUSED = {"domain": "com.microsoft"}


class Graph:
    """Collects nodes and constants; every call returns the name of what it made."""

    def __init__(self, folder: pathlib.Path):
        self.weights = safetensors_file.read(folder / "model.safetensors")
        self.config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        self.nodes: list = []
        self.constants: dict = {}

    def constant(self, name: str, values) -> str:
        self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(values), name)
        return name

    def weight(self, name: str, transposed: bool = False) -> str:
        values = self.weights[name]
        return self.constant(name, values.T if transposed else values)

    def node(self, operator: str, *inputs: str, **attributes) -> str:
        name = f"{operator}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], name=f"node_{name}", **attributes))
        return name

    def linear(self, x: str, name: str) -> str:
        return self.node("Add", self.node("MatMul", x, self.weight(f"{name}.weight", transposed=True)), self.weight(f"{name}.bias"))

    def norm(self, x: str, name: str) -> str:
        return self.node("LayerNormalization", x, self.weight(f"{name}.weight"), self.weight(f"{name}.bias"), axis=-1,
                         epsilon=self.config["layer_norm_eps"])

    def save(self, hidden: str, path: pathlib.Path) -> None:
        """Mean over the tokens, and length 1."""
        counted = self.node("Unsqueeze", self.node("Cast", "mask", to=TensorProto.FLOAT), self.constant("axis_2", np.array([2])))
        axis = self.constant("axis_1", np.array([1]))
        total = self.node("ReduceSum", self.node("Mul", hidden, counted), axis, keepdims=0)
        mean = self.node("Div", total, self.node("ReduceSum", counted, axis, keepdims=0))
        length = self.node("ReduceL2", mean, axes=[1], keepdims=1)
        self.nodes.append(helper.make_node("Div", [mean, length], ["embedding"], name="embedding"))
        inputs = [helper.make_tensor_value_info(name, TensorProto.INT32, ["batch", "rows"]) for name in ("ids", "mask")]
        output = helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["batch", self.config["hidden_size"]])
        graph = helper.make_graph(self.nodes, "minilm", inputs, [output], list(self.constants.values()))
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
        onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)


def plain_attention(graph: Graph, x: str, prefix: str, bias: str) -> str:
    heads = graph.config["num_attention_heads"]
    head_dim = graph.config["hidden_size"] // heads
    split = graph.constant("split", np.array([0, 0, heads, head_dim]))
    join = graph.constant("join", np.array([0, 0, heads * head_dim]))

    def part(name: str, order: list[int]) -> str:
        return graph.node("Transpose", graph.node("Reshape", graph.linear(x, f"{prefix}.self.{name}"), split), perm=order)

    scores = graph.node("MatMul", part("query", [0, 2, 1, 3]), part("key", [0, 2, 3, 1]))
    scaled = graph.node("Mul", scores, graph.constant("scale", np.float32(1 / math.sqrt(head_dim))))
    weights = graph.node("Softmax", graph.node("Add", scaled, bias), axis=-1)
    pooled = graph.node("Transpose", graph.node("MatMul", weights, part("value", [0, 2, 1, 3])), perm=[0, 2, 1, 3])
    return graph.linear(graph.node("Reshape", pooled, join), f"{prefix}.output.dense")


def plain_gelu(graph: Graph, x: str) -> str:
    root = graph.constant("root_2", np.float32(math.sqrt(2)))
    shifted = graph.node("Add", graph.node("Erf", graph.node("Div", x, root)), graph.constant("one", np.float32(1)))
    return graph.node("Mul", graph.node("Mul", x, shifted), graph.constant("half", np.float32(0.5)))


def write_plain(folder: pathlib.Path, path: pathlib.Path) -> None:
    graph = Graph(folder)
    positions = graph.constant("positions", graph.weights["embeddings.position_embeddings.weight"]
                               + graph.weights["embeddings.token_type_embeddings.weight"][0])
    rows = graph.node("Gather", graph.node("Shape", "ids"), graph.constant("one_index", np.array([1])), axis=0)
    used = graph.node("Slice", positions, graph.constant("zero", np.array([0])), rows, graph.constant("axis_0", np.array([0])))
    tokens = graph.node("Gather", graph.weight("embeddings.word_embeddings.weight"), "ids", axis=0)
    x = graph.norm(graph.node("Add", tokens, used), "embeddings.LayerNorm")
    seen = graph.node("Unsqueeze", graph.node("Cast", "mask", to=TensorProto.FLOAT), graph.constant("axes_1_2", np.array([1, 2])))
    hidden = graph.node("Sub", graph.constant("one", np.float32(1)), seen)
    bias = graph.node("Mul", hidden, graph.constant("masked", np.float32(MASKED)))
    for i in range(graph.config["num_hidden_layers"]):
        layer = f"encoder.layer.{i}"
        attended = graph.node("Add", x, plain_attention(graph, x, f"{layer}.attention", bias))
        x = graph.norm(attended, f"{layer}.attention.output.LayerNorm")
        inner = plain_gelu(graph, graph.linear(x, f"{layer}.intermediate.dense"))
        x = graph.norm(graph.node("Add", x, graph.linear(inner, f"{layer}.output.dense")), f"{layer}.output.LayerNorm")
    graph.save(x, path)


def fused_layer(graph: Graph, x: str, layer: str) -> str:
    def product(rows: str, name: str) -> str:
        return graph.node("MatMul", rows, graph.weight(f"{name}.weight", transposed=True))

    def skip_norm(a: str, b: str, name: str, bias: str) -> str:
        return graph.node("SkipLayerNormalization", a, b, graph.weight(f"{name}.weight"), graph.weight(f"{name}.bias"),
                          graph.weight(bias), epsilon=graph.config["layer_norm_eps"], **FUSED)

    attention = f"{layer}.attention"
    parts = [f"{attention}.self.{name}" for name in ("query", "key", "value")]
    matrix = graph.constant(f"{attention}.matrix", np.concatenate([graph.weights[f"{part}.weight"].T for part in parts], axis=1))
    bias = graph.constant(f"{attention}.bias", np.concatenate([graph.weights[f"{part}.bias"] for part in parts]))
    pooled = graph.node("Attention", x, matrix, bias, "mask", num_heads=graph.config["num_attention_heads"], **FUSED)
    x = skip_norm(product(pooled, f"{attention}.output.dense"), x, f"{attention}.output.LayerNorm", f"{attention}.output.dense.bias")
    inner = graph.node("BiasGelu", product(x, f"{layer}.intermediate.dense"), graph.weight(f"{layer}.intermediate.dense.bias"), **FUSED)
    return skip_norm(product(inner, f"{layer}.output.dense"), x, f"{layer}.output.LayerNorm", f"{layer}.output.dense.bias")


def write_fused(folder: pathlib.Path, path: pathlib.Path) -> None:
    graph = Graph(folder)
    segments = graph.node("Sub", "ids", "ids")
    embeddings = [graph.weight(f"embeddings.{name}.weight") for name in ("word_embeddings", "position_embeddings", "token_type_embeddings")]
    norm = [graph.weight("embeddings.LayerNorm.weight"), graph.weight("embeddings.LayerNorm.bias")]
    graph.nodes.append(helper.make_node("EmbedLayerNormalization", ["ids", segments, *embeddings, *norm], ["embedded", "unused"],
                                        name="embed", epsilon=graph.config["layer_norm_eps"], **FUSED))
    x = "embedded"
    for i in range(graph.config["num_hidden_layers"]):
        x = fused_layer(graph, x, f"encoder.layer.{i}")
    graph.save(x, path)


def main() -> None:
    from onnxruntime.quantization import QuantType, quantize_dynamic

    folder, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    write_plain(folder, out / "plain.onnx")
    write_fused(folder, out / "fused.onnx")
    for name in ("plain", "fused"):
        quantize_dynamic(out / f"{name}.onnx", out / f"{name}_int8.onnx", weight_type=QuantType.QInt8, per_channel=True,
                         extra_options={"DefaultTensorType": TensorProto.FLOAT})


if __name__ == "__main__":
    main()

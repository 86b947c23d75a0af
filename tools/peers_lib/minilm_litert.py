"""MiniLM as LiteRT models with dynamic-range int8 weights, from the same safetensors as heed's.

    python minilm_litert.py MODEL_FOLDER OUT_FOLDER ROWS...

makes OUT_FOLDER/litert_ROWS.tflite for exactly that many tokens, and litert_masked.tflite for up to MASKED_ROWS.
SPDX-License-Identifier: Apache-2.0
"""
import json
import pathlib
import sys

import numpy as np
import tensorflow as tf

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "golden"))
import safetensors_file  # noqa: E402

MASKED_ROWS = 256


class MiniLm(tf.Module):
    """Hidden states are [rows, hidden]."""

    def __init__(self, folder: pathlib.Path):
        super().__init__()
        self.config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        self.weights = {name: np.array(array) for name, array in safetensors_file.read(folder / "model.safetensors").items()}

    def linear(self, x, name: str):
        return tf.matmul(x, self.weights[f"{name}.weight"].T.copy()) + self.weights[f"{name}.bias"]

    def norm(self, x, name: str):
        centred = x - tf.reduce_mean(x, axis=-1, keepdims=True)
        variance = tf.reduce_mean(tf.square(centred), axis=-1, keepdims=True)
        return centred * tf.math.rsqrt(variance + self.config["layer_norm_eps"]) * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def attention(self, x, prefix: str, bias):
        heads = self.config["num_attention_heads"]
        rows, hidden = x.shape

        def part(name: str):
            return tf.transpose(tf.reshape(self.linear(x, f"{prefix}.self.{name}"), [rows, heads, hidden // heads]), [1, 0, 2])

        scores = tf.matmul(part("query") * np.float32((hidden // heads) ** -0.5), part("key"), transpose_b=True)
        pooled = tf.matmul(tf.nn.softmax(scores if bias is None else scores + bias), part("value"))
        return self.linear(tf.reshape(tf.transpose(pooled, [1, 0, 2]), [rows, hidden]), f"{prefix}.output.dense")

    def encode(self, ids, mask):
        rows = ids.shape[1]
        positions = self.weights["embeddings.position_embeddings.weight"][:rows] + self.weights["embeddings.token_type_embeddings.weight"][0]
        x = self.norm(tf.gather(self.weights["embeddings.word_embeddings.weight"], ids[0]) + positions, "embeddings.LayerNorm")
        seen = None if mask is None else tf.cast(mask[0], tf.float32)
        bias = None if mask is None else (1.0 - seen)[None, None, :] * -10000.0
        for i in range(self.config["num_hidden_layers"]):
            layer = f"encoder.layer.{i}"
            x = self.norm(x + self.attention(x, f"{layer}.attention", bias), f"{layer}.attention.output.LayerNorm")
            inner = tf.nn.gelu(self.linear(x, f"{layer}.intermediate.dense"), approximate=False)
            x = self.norm(x + self.linear(inner, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
        # A mean and a sum differ by a factor, which the last step takes out.
        total = tf.reduce_sum(x if mask is None else x * seen[:, None], axis=0, keepdims=True)
        return {"embedding": total * tf.math.rsqrt(tf.reduce_sum(tf.square(total)))}


def convert(model: MiniLm, rows: int, masked: bool) -> bytes:
    names = ("ids", "mask") if masked else ("ids",)
    signature = [tf.TensorSpec([1, rows], tf.int32, name=name) for name in names]
    function = tf.function(model.encode if masked else lambda ids: model.encode(ids, None), input_signature=signature)
    converter = tf.lite.TFLiteConverter.from_concrete_functions([function.get_concrete_function()], model)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    return converter.convert()


def main() -> None:
    model, out = MiniLm(pathlib.Path(sys.argv[1])), pathlib.Path(sys.argv[2])
    for rows in map(int, sys.argv[3:]):
        (out / f"litert_{rows}.tflite").write_bytes(convert(model, rows, masked=False))
    (out / "litert_masked.tflite").write_bytes(convert(model, MASKED_ROWS, masked=True))


if __name__ == "__main__":
    main()

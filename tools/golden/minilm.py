#!/usr/bin/python3
"""Reference sentence embeddings: a float64 forward pass of the BERT sentence encoder, written from its formulas.

    tools/golden/minilm.py MODEL_FOLDER TEXTS OUT.npy [--mistake NAME]

MODEL_FOLDER is a sentence-transformers folder (BertModel, mean pooling, normalized); TEXTS holds one text a line.
A mistake makes a reference that is wrong on purpose, to show that a comparison with it fails.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import json
import math
import pathlib

import numpy as np

import environment
import safetensors_file

MISTAKES = ("swapped_norms", "tanh_gelu", "no_segment", "mean_over_padding")
PADDED_BATCH = 8  # texts that mean_over_padding pads to one length


def read_json(path: pathlib.Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


def read_texts(path: pathlib.Path) -> list[str]:
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")


def tokenize(folder: pathlib.Path, texts: list[str]) -> list[list[int]]:
    """Token ids by the reference tokenizer, cut where sentence-transformers cuts."""
    import tokenizers

    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(read_json(folder / "sentence_bert_config.json")["max_seq_length"])
    return [tokenizer.encode(text).ids for text in texts]


def erf(x: np.ndarray) -> np.ndarray:
    """Taylor's series about the nearest 1/256: with these five terms exact to 1e-16."""
    steps = 256
    x = np.clip(x, -6.0, 6.0)
    nearest = np.rint(x * steps)
    points = np.arange(-6 * steps, 6 * steps + 1) / steps
    table = np.array([math.erf(a) for a in points])
    slopes = 2.0 / math.sqrt(math.pi) * np.exp(-points * points)
    index = nearest.astype(np.int32) + 6 * steps
    a = nearest / steps
    d = x - a
    a2 = a * a
    series = 1.0 - d * (a - d * ((2.0 * a2 - 1.0) / 3.0 - d * (a * (2.0 * a2 - 3.0) / 6.0
             - d * ((4.0 * a2 * a2 - 12.0 * a2 + 3.0) / 30.0))))
    return table[index] + slopes[index] * d * series


def gelu(x: np.ndarray) -> np.ndarray:
    return 0.5 * x * (1.0 + erf(x / math.sqrt(2.0)))


def gelu_tanh(x: np.ndarray) -> np.ndarray:
    return 0.5 * x * (1.0 + np.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3)))


class Encoder:
    """Hidden states are [rows, hidden]; the rows of all texts lie one after another, without padding."""

    def __init__(self, folder: pathlib.Path, mistake: str | None = None):
        config = read_json(folder / "config.json")
        pooling = read_json(folder / "1_Pooling" / "config.json")
        assert config["model_type"] == "bert" and config["hidden_act"] == "gelu"
        assert config["position_embedding_type"] == "absolute" and pooling["pooling_mode_mean_tokens"]
        self.weights = {name: array.astype(np.float64)
                        for name, array in safetensors_file.read(folder / "model.safetensors").items()
                        if array.dtype.kind == "f"}
        self.layers = config["num_hidden_layers"]
        self.heads = config["num_attention_heads"]
        self.epsilon = config["layer_norm_eps"]
        self.mistake = mistake

    def linear(self, x: np.ndarray, name: str) -> np.ndarray:
        return x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def norm(self, x: np.ndarray, name: str) -> np.ndarray:
        centred = x - x.mean(axis=1, keepdims=True)
        deviation = np.sqrt((centred * centred).mean(axis=1, keepdims=True) + self.epsilon)
        return centred / deviation * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def embed(self, ids: list[list[int]]) -> np.ndarray:
        tokens = np.concatenate([np.asarray(text) for text in ids])
        positions = np.concatenate([np.arange(len(text)) for text in ids])
        x = (self.weights["embeddings.word_embeddings.weight"][tokens]
             + self.weights["embeddings.position_embeddings.weight"][positions])
        if self.mistake != "no_segment":
            x = x + self.weights["embeddings.token_type_embeddings.weight"][0]
        return self.norm(x, "embeddings.LayerNorm")

    def attention(self, x: np.ndarray, prefix: str, lengths: list[int], visible: list[int]) -> np.ndarray:
        """softmax(q k^T / sqrt(d)) v, for each text and head; only the first `visible` keys of a text count."""
        rows, hidden = x.shape
        q, k, v = (self.linear(x, f"{prefix}.self.{part}").reshape(rows, self.heads, -1).transpose(1, 0, 2)
                   for part in ("query", "key", "value"))
        pooled = np.empty_like(q)
        begin = 0
        for length, keys in zip(lengths, visible):
            mine, seen = slice(begin, begin + length), slice(begin, begin + keys)
            scores = q[:, mine] @ k[:, seen].transpose(0, 2, 1) / math.sqrt(q.shape[2])
            weights = np.exp(scores - scores.max(axis=2, keepdims=True))
            pooled[:, mine] = (weights / weights.sum(axis=2, keepdims=True)) @ v[:, seen]
            begin += length
        return self.linear(pooled.transpose(1, 0, 2).reshape(rows, hidden), f"{prefix}.output.dense")

    def encode(self, ids: list[list[int]]) -> np.ndarray:
        """Embeddings [texts, hidden] of length 1."""
        visible = [len(text) for text in ids]
        if self.mistake == "mean_over_padding":
            longest = max(visible)
            ids = [text + [0] * (longest - len(text)) for text in ids]
        lengths = [len(text) for text in ids]
        first_norm, second_norm = "attention.output.LayerNorm", "output.LayerNorm"
        if self.mistake == "swapped_norms":
            first_norm, second_norm = second_norm, first_norm
        activation = gelu_tanh if self.mistake == "tanh_gelu" else gelu
        x = self.embed(ids)
        for i in range(self.layers):
            layer = f"encoder.layer.{i}"
            x = self.norm(x + self.attention(x, f"{layer}.attention", lengths, visible), f"{layer}.{first_norm}")
            inner = activation(self.linear(x, f"{layer}.intermediate.dense"))
            x = self.norm(x + self.linear(inner, f"{layer}.output.dense"), f"{layer}.{second_norm}")
        means = np.array([part.mean(axis=0) for part in np.split(x, np.cumsum(lengths)[:-1])])
        return means / np.sqrt((means * means).sum(axis=1, keepdims=True))


def encode(folder: pathlib.Path, texts: list[str], mistake: str | None = None) -> np.ndarray:
    """Embeddings [texts, hidden] in float64."""
    ids = tokenize(folder, texts)
    encoder = Encoder(folder, mistake)
    return np.concatenate([encoder.encode(ids[i:i + PADDED_BATCH]) for i in range(0, len(ids), PADDED_BATCH)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model_folder", type=pathlib.Path)
    parser.add_argument("texts", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--mistake", choices=MISTAKES)
    arguments = parser.parse_args()
    embeddings = encode(arguments.model_folder, read_texts(arguments.texts), arguments.mistake)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    np.save(arguments.out, embeddings.astype(np.float32))


if __name__ == "__main__":
    environment.run_in("golden", environment.TOKENIZERS, dependencies=False)
    main()

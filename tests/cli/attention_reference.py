"""The attention of a BERT in double precision, from its formulas and a checkpoint's tensors, and what is said of a matrix.

Knows nothing of heed. Matrices are lists of rows. SPDX-License-Identifier: Apache-2.0
"""
import math

from program import tiny


def shaped(tensors: dict, name: str):
    shape, values = tensors[name]
    return values if len(shape) == 1 else [values[i * shape[1]:(i + 1) * shape[1]] for i in range(shape[0])]


def bert_attention(tensors: dict, ids: list[int], layers: int, heads: int):
    """[layers][heads][rows][rows]."""
    def get(name: str):
        return shaped(tensors, name)

    def linear(x, name: str):
        return tiny.linear(x, get(name + ".weight"), get(name + ".bias"))

    def norm(x, name: str):
        return tiny.layer_norm(x, get(name + ".weight"), get(name + ".bias"), 1e-5)

    words, places, kinds = (get(f"embeddings.{table}_embeddings.weight") for table in ("word", "position", "token_type"))
    x = norm([[a + b + c for a, b, c in zip(words[i], places[place], kinds[0])] for place, i in enumerate(ids)], "embeddings.LayerNorm")
    found = []
    for layer in range(layers):
        block = f"encoder.layer.{layer}."
        query, key, value = (linear(x, block + "attention.self." + name) for name in ("query", "key", "value"))
        size = len(query[0]) // heads
        weights = []
        for head in range(heads):
            part = slice(head * size, (head + 1) * size)
            weights.append([tiny.softmax([sum(a * b for a, b in zip(q[part], k[part])) / math.sqrt(size) for k in key]) for q in query])
        pooled = [[sum(w * v[i] for w, v in zip(weights[i // size][row], value)) for i in range(len(x[0]))] for row in range(len(x))]
        x = norm(tiny.plus(x, linear(pooled, block + "attention.output.dense")), block + "attention.output.LayerNorm")
        hidden = [[tiny.ACTIVATIONS["gelu"](a) for a in row] for row in linear(x, block + "intermediate.dense")]
        x = norm(tiny.plus(x, linear(hidden, block + "output.dense")), block + "output.LayerNorm")
        found.append(weights)
    return found


def mean(heads):
    return [[sum(head[r][c] for head in heads) / len(heads) for c in range(len(heads[0][0]))] for r in range(len(heads[0]))]


def rollout(layers):
    """Abnar and Zuidema, Quantifying Attention Flow in Transformers: (A + I) / 2 of each layer, multiplied, the last leftmost."""
    n = len(layers[0][0])
    product = [[float(r == c) for c in range(n)] for r in range(n)]
    for heads in layers:
        mixed = [[(value + (r == c)) / 2 for c, value in enumerate(row)] for r, row in enumerate(mean(heads))]
        product = [[sum(mixed[r][k] * product[k][c] for k in range(n)) for c in range(n)] for r in range(n)]
    return product


def entropy_bits(matrix) -> float:
    return sum(-w * math.log2(w) for row in matrix for w in row if w > 0) / len(matrix)


def near_diagonal(matrix) -> float:
    return sum(w for r, row in enumerate(matrix) for c, w in enumerate(row) if abs(r - c) <= 1) / sum(map(sum, matrix))


def tops(matrix) -> list[int]:
    return [max(range(len(row)), key=row.__getitem__) for row in matrix]


def crossings(matrix) -> int:
    top = tops(matrix)
    return sum(top[a] > top[b] for b in range(len(top)) for a in range(b))

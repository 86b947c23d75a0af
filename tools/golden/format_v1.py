#!/usr/bin/env python3
"""The file of format version 1 that loads for ever: tools/golden/format_v1.py OUT.heed. Written from FORMAT.md, with flatc and nothing of heed's.

A sentence encoder of 8 features with fixed weights in each format, and a WordPiece tokenizer of 12 pieces. It has made
tests/golden/v1/tiny.heed, which is never made again. At most 4 KB, so that a fuzzer changes what matters.
SPDX-License-Identifier: Apache-2.0
"""
import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FEATURES, HEADS, MAX_ROWS = 8, 2, 8
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "cat", "sat", "on", "mat", "##s", "the", "."]
MASK = (1 << 64) - 1
PRIMES = (11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579, 2870177450012600261)


def rotate(x: int, n: int) -> int:
    return (x << n | x >> (64 - n)) & MASK


def xxh64(data: bytes) -> int:
    """XXH64 with seed 0."""
    p1, p2, p3, p4, p5 = PRIMES

    def mixed(lane: int, word: int) -> int:
        return rotate((lane + word * p2) & MASK, 31) * p1 & MASK

    at, h = 0, p5
    if len(data) >= 32:
        lanes = [(p1 + p2) & MASK, p2, 0, -p1 & MASK]
        for at in range(0, len(data) - 31, 32):
            lanes = [mixed(lane, word) for lane, word in zip(lanes, struct.unpack_from("<4Q", data, at))]
        at += 32
        h = sum(rotate(lane, n) for lane, n in zip(lanes, (1, 7, 12, 18))) & MASK
        for lane in lanes:
            h = ((h ^ mixed(0, lane)) * p1 + p4) & MASK
    h = (h + len(data)) & MASK
    for at in range(at, len(data) - 7, 8):
        h = (rotate(h ^ mixed(0, struct.unpack_from("<Q", data, at)[0]), 27) * p1 + p4) & MASK
    at = len(data) & ~7
    if len(data) - at >= 4:
        h = (rotate(h ^ struct.unpack_from("<I", data, at)[0] * p1 & MASK, 23) * p2 + p3) & MASK
        at += 4
    for byte in data[at:]:
        h = rotate(h ^ byte * p5 & MASK, 11) * p1 & MASK
    h = (h ^ h >> 33) * p2 & MASK
    h = (h ^ h >> 29) * p3 & MASK
    return h ^ h >> 32


class Weights:
    """The weight region and its table."""

    def __init__(self):
        self.region, self.table = bytearray(), []
        self.random = random.Random(1)

    def _numbers(self, count: int) -> list[int]:
        return [self.random.getrandbits(8) % 255 - 127 for _ in range(count)]

    def add(self, rows: int, cols: int, format: str, layout: str, bias=(), input_scale=()) -> int:
        values = self._numbers(rows * cols)
        group = 4 if format == "q8c" else 1
        stored = [0] * ((rows + 15) // 16 * 16 * cols if layout == "panel16" else rows * cols)
        for i, value in enumerate(values):
            r, c = divmod(i, cols)
            at = i if layout == "rows" else ((r // 16 * (cols // group) + c // group) * 16 + r % 16) * group + c % group
            stored[at] = value if format == "q8c" else value / 256
        code = {"q8c": "b", "f16": "e", "f32": "f"}[format]
        pieces = {"data": struct.pack(f"<{len(stored)}{code}", *stored), "bias": struct.pack(f"<{len(bias)}f", *bias)}
        if format == "q8c":
            pieces["scales"] = struct.pack(f"<{rows}f", *[(64 + r) / 16384 for r in range(rows)])
            if layout == "panel16":
                pieces["sums"] = struct.pack(f"<{rows}i", *[sum(values[r * cols:(r + 1) * cols]) for r in range(rows)])
        pieces["input_scale"] = struct.pack(f"<{len(input_scale)}f", *input_scale)
        weight = {"name": f"w{len(self.table)}", "rows": rows, "cols": cols, "format": format, "layout": layout,
                  "data_bytes": len(pieces["data"]), "has_bias": bool(bias), "has_input_scale": bool(input_scale),
                  "checksum": xxh64(b"".join(pieces.values()))}
        for name, piece in pieces.items():
            if piece:
                weight[name] = len(self.region)
                self.region += piece + bytes(-len(piece) % 64)
        self.table.append(weight)
        return len(self.table) - 1


def tokenizer() -> dict:
    """Tables by runtime/text/vocabulary.h and normalizer.h: ASCII, lower-cased."""
    slots = [0] * 16
    for index, piece in enumerate(PIECES):
        h = 2166136261
        for character in piece:
            h = (h ^ ord(character)) * 16777619 & 0xFFFFFFFF
        at = (h ^ h >> 15) % len(slots)
        while slots[at]:
            at = (at + 1) % len(slots)
        slots[at] = h >> 24 << 24 | index + 1
    letter, space, alone, lower = 0, 1, 2, 3
    entries = [0, 1, 2, 32 << 4 | 1 << 2]
    runs = [(0, letter), (32, space), (33, alone), (48, letter), (58, alone), (65, lower), (91, alone), (97, letter), (123, alone), (127, letter)]
    ends = [sum(map(len, PIECES[:i + 1])) for i in range(len(PIECES))]
    return {"kind": "wordpiece", "vocabulary": len(PIECES), "piece_bytes": list("".join(PIECES).encode()), "piece_ends": ends, "slots": slots,
            "unknown": 1, "prefix": [2], "suffix": [3], "continuing_prefix": "##", "longest_piece": max(map(len, PIECES)),
            "direct": [], "runs": [first << 11 | entry for first, entry in runs], "entries": entries, "replacements": [],
            "truncation": MAX_ROWS, "truncation_source": "user"}


def model() -> tuple[dict, bytes]:
    weights = Weights()
    features = [i / 16 for i in range(FEATURES)]

    def matrix(format: str = "q8c", **parts) -> int:
        return weights.add(FEATURES, FEATURES, format, "panel16", **parts)

    norm = weights.add(1, FEATURES, "f32", "rows", bias=features[::-1])
    embed = {"op": "Embed", "inputs": [0], "outputs": [1], "token": weights.add(len(PIECES), FEATURES, "q8c", "rows"),
             "position": weights.add(MAX_ROWS, FEATURES, "f16", "rows"), "norm_out": norm}
    attention = {"op": "Attention", "inputs": [1], "outputs": [2], "query": matrix(bias=features), "key": matrix(), "value": matrix(),
                 "output": matrix(), "heads": HEADS, "kv_heads": HEADS, "head_dim": FEATURES // HEADS, "value_dim": FEATURES // HEADS,
                 "scale": 0.5, "residual": True, "norm_out": norm}
    feed_forward = {"op": "FeedForward", "inputs": [2], "outputs": [3], "up": matrix("f16"), "activation": "gelu", "residual": True,
                    "down": matrix(input_scale=[1 + x for x in features])}
    graph = {"name": "main", "values": 6, "inputs": [{"name": "tokens", "value": 0, "type": "i32", "max_rows": MAX_ROWS}],
             "outputs": [{"name": "embedding", "value": 5}],
             "nodes": [embed, attention, feed_forward, {"op": "Pool", "inputs": [3], "outputs": [4], "pool": "mean"},
                       {"op": "L2Normalize", "inputs": [4], "outputs": [5]}]}
    tables = {"version": 1, "weight_region_bytes": len(weights.region), "graphs": [graph], "weights": weights.table, "tokenizer": tokenizer()}
    return tables, bytes(weights.region)


def main() -> int:
    tables, region = model()
    with tempfile.TemporaryDirectory() as folder:
        text = pathlib.Path(folder) / "tiny.json"
        text.write_text(json.dumps(tables))
        subprocess.run(["flatc", "--binary", "--size-prefixed", "-o", folder, ROOT / "schemas/model.fbs", text], check=True)
        binary = text.with_suffix(".heed").read_bytes()
    sealed = binary + struct.pack("<Q", xxh64(binary))
    pathlib.Path(sys.argv[1]).write_bytes(sealed + bytes(-len(sealed) % 64) + region)
    return 0


if __name__ == "__main__":
    sys.exit(main())

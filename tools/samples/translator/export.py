"""Writes a trained translator, or the mean of several, as a graph folder: export.py MODEL.pt [EARLIER.pt|EARLIER_FOLDER ...] FOLDER

weights.safetensors (float16), config.json, source.txt and target.txt (a piece a line, its id is its line), graph.json.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import json
import pathlib
import struct

import torch

import graphs
from model import positions
from train import read_earlier


def tensors(saved: dict) -> dict:
    """Names as in model.py; a vector that scores is [width]; the table of positions is stored, so that no reader has to make it."""
    weights = {name: tensor for name, tensor in saved["weights"].items()}
    if "attention.score.weight" in weights:
        weights["attention.score.weight"] = weights["attention.score.weight"].flatten()
    if saved["config"]["attention"] == "transformer":
        weights["positions"] = positions(saved["config"]["longest"], saved["config"]["width"])
    return weights


def write_safetensors(path: pathlib.Path, weights: dict):
    header, data = {}, b""
    for name, tensor in sorted(weights.items()):
        encoded = tensor.detach().to(torch.float16).contiguous().numpy().astype("<f2").tobytes()
        header[name] = {"dtype": "F16", "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(encoded)]}
        data += encoded
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def mean(saved: dict, others: list) -> dict:
    """The model with the mean of its own weights and those of others that were trained on from the same ones."""
    sets = [saved["weights"]] + [read_earlier(other)[0] for other in others]
    return {**saved, "weights": {name: sum(weights[name] for weights in sets) / len(sets) for name in saved["weights"]}}


def export(saved: dict, folder: pathlib.Path):
    folder.mkdir(parents=True, exist_ok=True)
    config = {key: value for key, value in saved["config"].items() if key != "dropout"}
    write_safetensors(folder / "weights.safetensors", tensors(saved))
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    (folder / "graph.json").write_text(json.dumps(graphs.build(folder.name, config), indent=1) + "\n")
    for name in ("source", "target"):
        (folder / f"{name}.txt").write_text("".join(word + "\n" for word in saved[name]), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("others", nargs="*", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    arguments = parser.parse_args()
    export(mean(torch.load(arguments.model), arguments.others), arguments.folder)


if __name__ == "__main__":
    main()

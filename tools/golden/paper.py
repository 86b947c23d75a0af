#!/usr/bin/env python3
"""The Transformer paper's base and big shapes as MarianMT folders of random weights, and what transformers on PyTorch generates from them.

    /usr/bin/python3 tools/golden/paper.py             (Debian's python3-torch) makes tests/golden/encoder_decoders/paper.json
    /usr/bin/python3 tools/golden/paper.py SHAPE FOLDER      (numpy alone) makes the checkpoint again from its seed, for the tests

 SPDX-License-Identifier: Apache-2.0
"""
import json
import pathlib
import struct
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RESULTS = ROOT / "tests/golden/encoder_decoders/paper.json"
SHAPES = {"base": (512, 8, 2048), "big": (1024, 16, 4096)}  # features, heads, hidden
LAYERS, VOCABULARY, TOKENS = 6, 4000, 10
PAD, END = VOCABULARY - 1, 0
SOURCE = [17, 3021, 450, 451, 9, 2876, 1333, 64, 3998, 12, 700, END]


class Random:
    """Numbers that depend on the seed alone: bits of PCG64, which numpy keeps for ever."""

    def __init__(self, seed: int):
        self.bits = np.random.PCG64(seed)

    def uniform(self, shape: tuple, deviation: float) -> np.ndarray:
        count = int(np.prod(shape))
        halves = self.bits.random_raw((count + 3) // 4).view(np.uint16)[:count]
        return ((halves.astype(np.float32) / 32768 - 1) * np.float32(deviation * 3 ** 0.5)).astype(np.float16).reshape(shape)


def tensors(shape: str) -> dict:
    features, _, hidden = SHAPES[shape]
    random, found = Random(len(shape)), {}

    def linear(name: str, rows: int, cols: int):
        found[name + ".weight"], found[name + ".bias"] = random.uniform((rows, cols), cols ** -0.5), random.uniform((rows,), 0.1)

    def norm(name: str):
        found[name + ".weight"], found[name + ".bias"] = 1 + random.uniform((features,), 0.1), random.uniform((features,), 0.1)

    found["model.shared.weight"] = random.uniform((VOCABULARY, features), 2 * features ** -0.5)
    found["final_logits_bias"] = random.uniform((1, VOCABULARY), 0.5)
    for side, looks in (("encoder", ["self_attn"]), ("decoder", ["self_attn", "encoder_attn"])):
        for layer in range(LAYERS):
            prefix = f"model.{side}.layers.{layer}."
            for look in looks:
                for part in ("q_proj", "k_proj", "v_proj", "out_proj"):
                    linear(f"{prefix}{look}.{part}", features, features)
                norm(f"{prefix}{look}_layer_norm")
            linear(prefix + "fc1", hidden, features)
            linear(prefix + "fc2", features, hidden)
            norm(prefix + "final_layer_norm")
    return found


def config(shape: str) -> dict:
    features, heads, hidden = SHAPES[shape]
    sides = {f"{side}_{key}": value for side in ("encoder", "decoder")
             for key, value in (("layers", LAYERS), ("attention_heads", heads), ("ffn_dim", hidden))}
    return {"model_type": "marian", "architectures": ["MarianMTModel"], "d_model": features, **sides, "vocab_size": VOCABULARY, "scale_embedding": True,
            "activation_function": "relu", "max_position_embeddings": 64, "pad_token_id": PAD, "eos_token_id": END, "forced_eos_token_id": END, "decoder_start_token_id": PAD,
            "bad_words_ids": [[PAD]], "max_length": TOKENS + 1, "num_beams": 1, "no_repeat_ngram_size": 1}


def write(folder: pathlib.Path, shape: str):
    """The folder of a checkpoint."""
    header, end, values = {}, 0, tensors(shape)
    for name, tensor in values.items():
        header[name] = {"dtype": "F16", "shape": list(tensor.shape), "data_offsets": [end, end + tensor.nbytes]}
        end += tensor.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for tensor in values.values():
            file.write(tensor.tobytes())
    (folder / "config.json").write_text(json.dumps(config(shape)) + "\n")


def reference(shape: str) -> list:
    """Tokens and the logarithms of their probabilities in float64, greedy and with four beams."""
    import torch
    import transformers
    model = transformers.MarianMTModel(transformers.MarianConfig(**config(shape))).eval()
    loaded = model.load_state_dict({name: torch.from_numpy(values.astype(np.float32)) for name, values in tensors(shape).items()}, strict=False)
    assert not loaded.unexpected_keys and not [key for key in loaded.missing_keys if "embed" not in key and "lm_head" not in key], loaded
    torch.set_default_dtype(torch.float64)
    model, ids, cases = model.double(), torch.tensor([SOURCE]), []
    for beams in (1, 4):
        found = model.generate(ids, attention_mask=torch.ones_like(ids), num_beams=beams, length_penalty=1.0, max_length=TOKENS + 1,
                               return_dict_in_generate=True)
        sequence = found.sequences
        logits = model(input_ids=ids, attention_mask=torch.ones_like(ids), decoder_input_ids=sequence).logits[0]
        logs = logits.log_softmax(-1)
        tokens = sequence[0, 1:].tolist()
        tokens = tokens[:tokens.index(END)] if END in tokens else tokens
        cases.append({"shape": shape, "source": SOURCE, "beams": beams, "tokens": tokens, "logs": [float(logs[i, token]) for i, token in enumerate(tokens)]})
        print(cases[-1], flush=True)
    torch.set_default_dtype(torch.float32)
    return cases


def main():
    if sys.argv[1:]:
        return write(pathlib.Path(sys.argv[2]), sys.argv[1])
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
    import environment
    environment.run_in("encoder_decoders", environment.TRANSFORMERS)
    cases = [case for shape in SHAPES for case in reference(shape)]
    RESULTS.write_text("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")


if __name__ == "__main__":
    main()

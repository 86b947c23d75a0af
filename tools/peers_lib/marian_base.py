"""Transformer base in Marian's layout with random weights, for heed and for CTranslate2: python marian_base.py OUT_FOLDER

Makes OUT_FOLDER/marian_base (a Hugging Face folder of MarianMTModel) and OUT_FOLDER/marian_base_ctranslate2 (int8). What is translated
is nonsense; what it costs is not, because nothing in it depends on the weights' values.

SPDX-License-Identifier: Apache-2.0
"""
import json
import pathlib
import struct
import sys

import numpy as np
from ctranslate2.specs import Activation, TransformerSpec

VOCABULARY, WIDTH, HEADS, INNER, LAYERS, POSITIONS, SEED = 59514, 512, 8, 2048, 6, 512, 5
PAD, END = VOCABULARY - 1, 0
CONFIG = {
    "architectures": ["MarianMTModel"], "model_type": "marian", "vocab_size": VOCABULARY, "decoder_vocab_size": VOCABULARY, "d_model": WIDTH,
    "encoder_layers": LAYERS, "decoder_layers": LAYERS, "encoder_attention_heads": HEADS, "decoder_attention_heads": HEADS,
    "encoder_ffn_dim": INNER, "decoder_ffn_dim": INNER, "activation_function": "swish", "max_position_embeddings": POSITIONS,
    "static_position_embeddings": True, "scale_embedding": True, "normalize_before": False, "normalize_embedding": False,
    "add_final_layer_norm": False, "share_encoder_decoder_embeddings": True, "tie_word_embeddings": True, "is_encoder_decoder": True,
    "pad_token_id": PAD, "bos_token_id": END, "eos_token_id": END, "decoder_start_token_id": PAD,
}


def layer(random: np.random.Generator, name: str, cross: bool) -> dict[str, np.ndarray]:
    weights = {}

    def linear(part: str, outputs: int, inputs: int) -> None:
        weights[f"{name}.{part}.weight"] = random.standard_normal((outputs, inputs), np.float32) * np.float32(inputs ** -0.5)
        weights[f"{name}.{part}.bias"] = random.standard_normal(outputs, np.float32) * np.float32(0.02)

    def norm(part: str) -> None:
        weights[f"{name}.{part}.weight"] = np.ones(WIDTH, np.float32)
        weights[f"{name}.{part}.bias"] = np.zeros(WIDTH, np.float32)

    for attention in ("self_attn", *(["encoder_attn"] if cross else [])):
        for part in ("q_proj", "k_proj", "v_proj", "out_proj"):
            linear(f"{attention}.{part}", WIDTH, WIDTH)
        norm(f"{attention}_layer_norm")
    linear("fc1", INNER, WIDTH)
    linear("fc2", WIDTH, INNER)
    norm("final_layer_norm")
    return weights


def make_weights() -> dict[str, np.ndarray]:
    random = np.random.default_rng(SEED)
    weights = {"model.shared.weight": random.standard_normal((VOCABULARY, WIDTH), np.float32) * np.float32(WIDTH ** -0.5),
               "final_logits_bias": np.zeros((1, VOCABULARY), np.float32)}
    for side, cross in (("encoder", False), ("decoder", True)):
        for i in range(LAYERS):
            weights |= layer(random, f"model.{side}.layers.{i}", cross)
    return weights


def write_hugging_face(weights: dict[str, np.ndarray], folder: pathlib.Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    header, end = {}, 0
    for name, array in weights.items():
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [end, end + array.nbytes]}
        end += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(folder / "model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for array in weights.values():
            file.write(array.astype("<f4").tobytes())
    (folder / "config.json").write_text(json.dumps(CONFIG, indent=2) + "\n", encoding="utf-8")


def sinusoids() -> np.ndarray:
    """Marian's: all sines, then all cosines. [POSITIONS, WIDTH]"""
    angles = np.arange(POSITIONS)[:, None] / 10000.0 ** (2 * np.arange(WIDTH // 2) / WIDTH)
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1).astype(np.float32)


def fill(weights: dict[str, np.ndarray], side, name: str) -> None:
    """One side of CTranslate2's model."""
    def linear(spec, *parts: str) -> None:
        spec.weight = np.concatenate([weights[f"{part}.weight"] for part in parts])
        spec.bias = np.concatenate([weights[f"{part}.bias"] for part in parts])

    def norm(spec, part: str) -> None:
        spec.gamma, spec.beta = weights[f"{part}.weight"], weights[f"{part}.bias"]

    side.scale_embeddings = True
    table = side.embeddings[0] if isinstance(side.embeddings, list) else side.embeddings
    table.weight = weights["model.shared.weight"]
    side.position_encodings.encodings = sinusoids()
    for i, spec in enumerate(side.layer):
        at = f"{name}.layers.{i}"
        linear(spec.self_attention.linear[0], *(f"{at}.self_attn.{part}_proj" for part in "qkv"))
        linear(spec.self_attention.linear[1], f"{at}.self_attn.out_proj")
        norm(spec.self_attention.layer_norm, f"{at}.self_attn_layer_norm")
        if hasattr(spec, "attention"):
            linear(spec.attention.linear[0], f"{at}.encoder_attn.q_proj")
            linear(spec.attention.linear[1], f"{at}.encoder_attn.k_proj", f"{at}.encoder_attn.v_proj")
            linear(spec.attention.linear[2], f"{at}.encoder_attn.out_proj")
            norm(spec.attention.layer_norm, f"{at}.encoder_attn_layer_norm")
        linear(spec.ffn.linear_0, f"{at}.fc1")
        linear(spec.ffn.linear_1, f"{at}.fc2")
        norm(spec.ffn.layer_norm, f"{at}.final_layer_norm")


def write_ctranslate2(weights: dict[str, np.ndarray], folder: pathlib.Path) -> None:
    model = TransformerSpec.from_config((LAYERS, LAYERS), HEADS, pre_norm=False, activation=Activation.SWISH)
    fill(weights, model.encoder, "model.encoder")
    fill(weights, model.decoder, "model.decoder")
    model.decoder.projection.weight = weights["model.shared.weight"]
    words = [f"w{i}" for i in range(VOCABULARY)]
    words[END], words[PAD] = "</s>", "<pad>"
    words[1] = "<unk>"
    model.register_source_vocabulary(words)
    model.register_target_vocabulary(words)
    model.config.decoder_start_token = "<pad>"
    model.config.eos_token, model.config.bos_token, model.config.unk_token = "</s>", "<pad>", "<unk>"
    model.config.add_source_eos = model.config.add_source_bos = False
    model.validate()
    model.optimize(quantization="int8")
    folder.mkdir(parents=True, exist_ok=True)
    model.save(str(folder))


def main() -> None:
    out = pathlib.Path(sys.argv[1])
    weights = make_weights()
    write_hugging_face(weights, out / "marian_base")
    write_ctranslate2(weights, out / "marian_base_ctranslate2")


if __name__ == "__main__":
    main()

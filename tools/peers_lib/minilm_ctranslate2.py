"""MiniLM as a CTranslate2 int8 encoder, from the same safetensors as heed's.

    python minilm_ctranslate2.py MODEL_FOLDER OUT_FOLDER     makes OUT_FOLDER/ctranslate2

SPDX-License-Identifier: Apache-2.0
"""
import json
import pathlib
import sys

import numpy as np
from ctranslate2.specs import Activation, TransformerEncoderModelSpec, TransformerEncoderSpec

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "golden"))
import safetensors_file  # noqa: E402


def main() -> None:
    folder, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]) / "ctranslate2"
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    weights = {name: array.copy() for name, array in safetensors_file.read(folder / "model.safetensors").items()}  # changed in place

    def linear(spec, *names: str) -> None:
        spec.weight = np.concatenate([weights[f"{name}.weight"] for name in names])
        spec.bias = np.concatenate([weights[f"{name}.bias"] for name in names])

    def norm(spec, name: str) -> None:
        spec.gamma, spec.beta = weights[f"{name}.weight"], weights[f"{name}.bias"]

    encoder = TransformerEncoderSpec(config["num_hidden_layers"], config["num_attention_heads"], pre_norm=False,
                                     activation=Activation.GELU, layernorm_embedding=True)
    encoder.scale_embeddings = False
    embeddings = encoder.embeddings[0] if isinstance(encoder.embeddings, list) else encoder.embeddings
    embeddings.weight = weights["embeddings.word_embeddings.weight"]
    encoder.position_encodings.encodings = (weights["embeddings.position_embeddings.weight"]
                                            + weights["embeddings.token_type_embeddings.weight"][0])
    norm(encoder.layernorm_embedding, "embeddings.LayerNorm")
    for i, layer in enumerate(encoder.layer):
        name = f"encoder.layer.{i}"
        linear(layer.self_attention.linear[0], *(f"{name}.attention.self.{part}" for part in ("query", "key", "value")))
        linear(layer.self_attention.linear[1], f"{name}.attention.output.dense")
        norm(layer.self_attention.layer_norm, f"{name}.attention.output.LayerNorm")
        linear(layer.ffn.linear_0, f"{name}.intermediate.dense")
        linear(layer.ffn.linear_1, f"{name}.output.dense")
        norm(layer.ffn.layer_norm, f"{name}.output.LayerNorm")
    model = TransformerEncoderModelSpec(encoder)
    model.register_vocabulary((folder / "vocab.txt").read_text(encoding="utf-8").splitlines())
    model.validate()
    model.optimize(quantization="int8")
    out.mkdir(parents=True, exist_ok=True)
    model.save(str(out))


if __name__ == "__main__":
    main()

"""Makes each peer's model once, in the cache folder. SPDX-License-Identifier: Apache-2.0"""
import pathlib
import subprocess
import sys

import environments

HERE = pathlib.Path(__file__).resolve().parent
# What has to be there -> how it is made: environment, script and arguments ({model} and {out} are folders).
RECIPES = {
    "cosine.json": ("tokenizers", "inputs.py", "{model}", "{out}"),
    "fused_int8.onnx": ("onnx", "minilm_onnx.py", "{model}", "{out}"),
    "plain_int8.onnx": ("onnx", "minilm_onnx.py", "{model}", "{out}"),
    "int8.xml": ("nncf", "minilm_nncf.py", "{out}"),
    "litert_masked.tflite": ("tensorflow", "minilm_litert.py", "{model}", "{out}", "16", "128", "512"),
    "marian_base_ctranslate2/model.bin": ("ctranslate2", "marian_base.py", "{out}"),
    "ctranslate2/model.bin": ("ctranslate2", "minilm_ctranslate2.py", "{model}", "{out}"),
}
NEEDS = {
    "heed": ["cosine.json"],
    "openvino": ["cosine.json", "fused_int8.onnx", "int8.xml"],
    "litert": ["cosine.json", "litert_masked.tflite"],
    "ctranslate2": ["cosine.json", "ctranslate2/model.bin"],
    "ctranslate2_translation": ["marian_base_ctranslate2/model.bin"],
    "onnxruntime": ["cosine.json", "fused_int8.onnx"],
    "onnxruntime_plain": ["cosine.json", "plain_int8.onnx"],
}


def make(peer: str, model: pathlib.Path, out: pathlib.Path) -> None:
    """Makes what `peer` needs and does not have yet. Throws CalledProcessError."""
    out.mkdir(parents=True, exist_ok=True)
    for product in NEEDS[peer]:
        if (out / product).exists():
            continue
        environment, script, *arguments = RECIPES[product]
        print(f"peers: making {product}", file=sys.stderr, flush=True)
        filled = [argument.format(model=model, out=out) for argument in arguments]
        subprocess.run([environments.python(environment), HERE / script, *filled], stdout=sys.stderr, check=True)

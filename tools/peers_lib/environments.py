"""The Python environment of each peer, with the versions that were tried. SPDX-License-Identifier: Apache-2.0"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "golden"))
import environment  # noqa: E402

PACKAGES = {
    "tokenizers": [*environment.TOKENIZERS, "numpy"],
    "onnx": ["onnxruntime==1.32.0", "onnx==1.23.2", "sympy"],
    "onnxruntime": ["onnxruntime==1.32.0"],
    "nncf": ["openvino==2026.4.1", "nncf==3.4.0"],
    "openvino": ["openvino==2026.4.1"],
    "tensorflow": ["tensorflow-cpu==2.21.0"],
    "litert": ["ai-edge-litert==2.3.0"],
    "ctranslate2": ["ctranslate2==4.8.5"],
}
SHARED = {"ctranslate2_translation": "ctranslate2"}


def python(name: str) -> pathlib.Path:
    name = SHARED.get(name, name)
    return environment.python_with(f"peers_{name}", PACKAGES[name], system_packages=False)

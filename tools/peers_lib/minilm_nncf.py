"""NNCF's post-training int8 of the plain ONNX graph, for OpenVINO.

    python minilm_nncf.py OUT_FOLDER     reads plain.onnx and calibration.json (token ids), makes int8.xml

SPDX-License-Identifier: Apache-2.0
"""
import json
import pathlib
import sys

import nncf
import numpy as np
import openvino


def feed(ids: list[int]) -> dict:
    return {"ids": np.array([ids], np.int32), "mask": np.ones((1, len(ids)), np.int32)}


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    texts = json.loads((folder / "calibration.json").read_text(encoding="utf-8"))
    model = openvino.Core().read_model(folder / "plain.onnx")
    quantized = nncf.quantize(model, nncf.Dataset(texts, feed), model_type=nncf.ModelType.TRANSFORMER, subset_size=len(texts))
    openvino.save_model(quantized, folder / "int8.xml", compress_to_fp16=False)


if __name__ == "__main__":
    main()

"""ONNX Runtime: dynamic int8, per channel, on the fused graph. SPDX-License-Identifier: Apache-2.0"""
import pathlib

import numpy as np
import onnxruntime


class Peer:
    GRAPH = "fused_int8.onnx"

    def __init__(self, folder: pathlib.Path, threads: int, streams: int, rows: int | None):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(str(folder / self.GRAPH), options, providers=["CPUExecutionProvider"])

    def encode(self, ids: np.ndarray, mask: np.ndarray) -> np.ndarray:
        return self.session.run(None, {"ids": ids, "mask": mask})[0]

"""OpenVINO: int8 by NNCF's post-training quantization. SPDX-License-Identifier: Apache-2.0"""
import pathlib
import threading

import numpy as np
import openvino


class Peer:
    def __init__(self, folder: pathlib.Path, threads: int, streams: int, rows: int | None):
        core = openvino.Core()
        model = core.read_model(folder / "int8.xml")
        if rows:
            model.reshape({"ids": [1, rows], "mask": [1, rows]})
        self.compiled = core.compile_model(model, "CPU", {
            "INFERENCE_NUM_THREADS": threads * streams, "NUM_STREAMS": streams, "INFERENCE_PRECISION_HINT": "f32",
            "PERFORMANCE_HINT": "LATENCY" if streams == 1 else "THROUGHPUT"})
        self.requests = threading.local()  # one for each thread that calls

    def encode(self, ids: np.ndarray, mask: np.ndarray) -> np.ndarray:
        if not hasattr(self.requests, "mine"):
            self.requests.mine = self.compiled.create_infer_request()
        self.requests.mine.infer({"ids": ids, "mask": mask}, share_inputs=True)
        return self.requests.mine.get_output_tensor(0).data

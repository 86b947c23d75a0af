"""LiteRT with XNNPACK: dynamic-range int8, one model for each length. SPDX-License-Identifier: Apache-2.0"""
import pathlib

import numpy as np
from ai_edge_litert.interpreter import Interpreter


class Peer:
    def __init__(self, folder: pathlib.Path, threads: int, streams: int, rows: int | None):
        self.interpreter = Interpreter(str(folder / f"litert_{rows or 'masked'}.tflite"), num_threads=threads)
        self.interpreter.allocate_tensors()
        self.inputs = {("mask" if "mask" in detail["name"] else "ids"): detail for detail in self.interpreter.get_input_details()}
        self.output = self.interpreter.get_output_details()[0]["index"]

    def encode(self, ids: np.ndarray, mask: np.ndarray) -> np.ndarray:
        width = self.inputs["ids"]["shape"][1]
        for name, values in (("ids", ids), ("mask", mask)):
            if name in self.inputs:
                padded = values if values.shape[1] == width else np.pad(values, ((0, 0), (0, width - values.shape[1])))
                self.interpreter.set_tensor(self.inputs[name]["index"], padded)
        self.interpreter.invoke()
        return self.interpreter.get_tensor(self.output)

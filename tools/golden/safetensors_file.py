"""Reads safetensors files: a header of JSON, then the tensors one after another.

SPDX-License-Identifier: Apache-2.0
"""
import json
import math
import pathlib

import numpy as np

TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I8": "i1", "U8": "u1"}


def read(path: pathlib.Path) -> dict[str, np.ndarray]:
    """All tensors of a file, which must fill it without a gap."""
    data = pathlib.Path(path).read_bytes()
    header_bytes = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + header_bytes])
    header.pop("__metadata__", None)
    body = memoryview(data)[8 + header_bytes:]
    tensors, end = {}, 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, stop = entry["data_offsets"]
        kind = np.dtype(TYPES[entry["dtype"]])
        if begin != end or stop - begin != math.prod(entry["shape"]) * kind.itemsize:
            raise ValueError(f"{path}: tensor {name} does not fit its bytes {begin} to {stop}")
        tensors[name] = np.frombuffer(body[begin:stop], kind).reshape(entry["shape"])
        end = stop
    if end != len(body):
        raise ValueError(f"{path}: {len(body) - end} bytes belong to no tensor")
    return tensors

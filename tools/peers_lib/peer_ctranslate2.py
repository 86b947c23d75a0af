"""CTranslate2: int8 encoder; pooling, which it does not have, is done here and not timed. SPDX-License-Identifier: Apache-2.0"""
import pathlib

import ctranslate2
import numpy as np


class Peer:
    def __init__(self, folder: pathlib.Path, threads: int, streams: int, rows: int | None):
        self.encoder = ctranslate2.Encoder(str(folder / "ctranslate2"), device="cpu", compute_type="int8",
                                           inter_threads=streams, intra_threads=threads)

    def encode(self, ids: np.ndarray, mask: np.ndarray) -> ctranslate2.StorageView:
        lengths = mask.sum(axis=1, dtype=np.int32)
        return self.encoder.forward_batch(ctranslate2.StorageView.from_array(ids),
                                          ctranslate2.StorageView.from_array(lengths)).last_hidden_state

    def pool(self, hidden: ctranslate2.StorageView, mask: np.ndarray) -> np.ndarray:
        counted = mask[:, :, None]
        mean = (np.array(hidden) * counted).sum(axis=1) / counted.sum(axis=1)
        return mean / np.linalg.norm(mean, axis=1, keepdims=True)

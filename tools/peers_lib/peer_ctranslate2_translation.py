"""CTranslate2: an int8 encoder-decoder, from ids to ids. SPDX-License-Identifier: Apache-2.0"""
import pathlib

import ctranslate2


class Peer:
    def __init__(self, folder: pathlib.Path, threads: int, streams: int, rows: int | None):
        self.translator = ctranslate2.Translator(str(folder / "marian_base_ctranslate2"), device="cpu", compute_type="int8",
                                                 inter_threads=streams, intra_threads=threads)

    def translate(self, ids: list[int], beams: int, tokens: int) -> list[str]:
        """An output of exactly so many tokens."""
        found = self.translator.translate_batch([[f"w{token}" for token in ids]], beam_size=beams, max_input_length=0,
                                                max_decoding_length=tokens, min_decoding_length=tokens)
        return found[0].hypotheses[0]

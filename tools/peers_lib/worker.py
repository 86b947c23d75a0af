"""Runs one peer in a process of its own: reads a request in JSON on standard input, answers in JSON.

SPDX-License-Identifier: Apache-2.0
"""
import concurrent.futures
import contextlib
import importlib
import json
import os
import pathlib
import resource
import sys
import time

import numpy as np

import amx

LEAST_RUNS = 50
LEAST_SWEEPS = 3


def padded(texts: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Token ids and mask, [texts, longest]."""
    longest = max(map(len, texts))
    ids = np.array([text + [0] * (longest - len(text)) for text in texts], np.int32)
    mask = np.array([[1] * len(text) + [0] * (longest - len(text)) for text in texts], np.int32)
    return ids, mask


def repeat(action, least: int, seconds: float) -> list[float]:
    times, begin = [], time.perf_counter()
    while len(times) < least or time.perf_counter() - begin < seconds:
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return sorted(times)


def latency(peer, request: dict) -> dict:
    ids, mask = padded([request["ids"]])
    repeat(lambda: peer.encode(ids, mask), LEAST_RUNS // 5, request["seconds"] / 5)
    times = repeat(lambda: peer.encode(ids, mask), LEAST_RUNS, request["seconds"])
    return {"runs": len(times), "min_ms": times[0] * 1e3, "median_ms": times[len(times) // 2] * 1e3,
            "process_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def translation(peer, request: dict) -> dict:
    """One input, an output of as many tokens as asked for."""
    def action():
        if len(peer.translate(request["ids"], request["beams"], request["tokens"])) != request["tokens"]:
            raise RuntimeError("the output has another length")

    repeat(action, LEAST_RUNS // 5, request["seconds"] / 5)
    times = repeat(action, LEAST_RUNS, request["seconds"])
    return {"runs": len(times), "min_ms": times[0] * 1e3, "median_ms": times[len(times) // 2] * 1e3}


def embed(peer, request: dict) -> dict:
    rows = []
    for text in request["texts"]:
        ids, mask = padded([text])
        out = peer.encode(ids, mask)
        rows.append((peer.pool(out, mask) if hasattr(peer, "pool") else out)[0].tolist())
    return {"embeddings": rows}


def throughput(peer, request: dict) -> dict:
    """All texts, sorted by length, in batches; as many batches at a time as there are streams."""
    texts, size = sorted(request["texts"], key=len), request["batch"]
    batches = [padded(texts[i:i + size]) for i in range(0, len(texts), size)]
    with concurrent.futures.ThreadPoolExecutor(request["streams"]) as pool:
        def sweep():
            list(pool.map(lambda batch: peer.encode(*batch) is None, batches))

        sweep()
        times = repeat(sweep, LEAST_SWEEPS, request["seconds"])
    return {"sweeps": len(times), "texts_per_s": len(texts) / times[0], "median_texts_per_s": len(texts) / times[len(times) // 2]}


def main() -> None:
    request = json.load(sys.stdin)
    if request["without_amx"]:
        amx.forbid()
    # Libraries print as they like; only the answer goes to standard output.
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    with contextlib.redirect_stdout(sys.stderr):
        module = importlib.import_module(f"peer_{request['peer']}")
        peer = module.Peer(pathlib.Path(request["folder"]), request["threads"], request["streams"], request.get("rows"))
        found = {"latency": latency, "embed": embed, "throughput": throughput, "translation": translation}[request["mode"]](peer, request)
    json.dump(found, answer)


if __name__ == "__main__":
    main()

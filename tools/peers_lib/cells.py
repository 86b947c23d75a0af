"""One measurement of one engine, each in a fresh process. SPDX-License-Identifier: Apache-2.0"""
import dataclasses
import json
import os
import pathlib
import random
import subprocess
import tempfile
import time

import environments
import instructions

HERE = pathlib.Path(__file__).resolve().parent
CLS, SEP, FIRST_WORD, LAST_WORD = 101, 102, 1996, 29611
HEED_SWEEPS = 5


@dataclasses.dataclass
class Setting:
    heed: pathlib.Path       # the program
    model: pathlib.Path      # the .heed file
    folder: pathlib.Path     # what builds.py made
    isa: str
    seconds: float

    def environment(self) -> dict[str, str]:
        return {**os.environ, **instructions.variables(self.isa)}

    def heed_flags(self) -> list[str]:
        return [] if self.isa == "native" else ["--isa", self.isa]


def ask_heed(setting: Setting, *arguments) -> str:
    command = [setting.heed, *map(str, arguments), *setting.heed_flags()]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def ask_peer(setting: Setting, peer: str, **request) -> dict:
    request = {"peer": peer, "folder": str(setting.folder), "threads": 1, "streams": 1, "seconds": setting.seconds,
               "without_amx": setting.isa != "native", **request}
    done = subprocess.run([environments.python(peer), HERE / "worker.py"], input=json.dumps(request), text=True,
                          env=setting.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        raise RuntimeError(f"{peer}: {(done.stderr.strip().splitlines() or ['failed'])[-1]}")
    return json.loads(done.stdout)


def latency(setting: Setting, engine: str, rows: int, threads: int) -> dict:
    if engine == "heed":
        return json.loads(ask_heed(setting, "bench", setting.model, "--rows", rows, "--threads", threads,
                                   "--seconds", setting.seconds, "--json"))
    random_source = random.Random(rows)
    ids = [CLS, *(random_source.randint(FIRST_WORD, LAST_WORD) for _ in range(rows - 2)), SEP]
    return ask_peer(setting, engine, mode="latency", rows=rows, threads=threads, ids=ids)


def translation(setting: Setting, engine: str, rows: int, beams: int, tokens: int) -> dict:
    """One source, one thread."""
    if engine == "heed":
        return json.loads(ask_heed(setting, "bench", setting.model, "--rows", rows, "--generate", tokens, "--beams", beams,
                                   "--seconds", setting.seconds, "--json"))
    random_source = random.Random(rows)
    ids = [random_source.randint(FIRST_WORD, LAST_WORD) for _ in range(rows)]
    return ask_peer(setting, engine, mode="translation", ids=ids, beams=beams, tokens=tokens)


def load_npy(path: pathlib.Path) -> list[list[float]]:
    """A float32 matrix; the system's Python may have no numpy."""
    import array
    import ast

    data = path.read_bytes()
    header_bytes = int.from_bytes(data[8:10], "little")
    _, columns = ast.literal_eval(data[10:10 + header_bytes].decode())["shape"]
    values = array.array("f", data[10 + header_bytes:])
    return [list(values[i:i + columns]) for i in range(0, len(values), columns)]


def cosines(setting: Setting, engine: str) -> tuple[float, float]:
    """Least and mean cosine with the float64 reference."""
    wanted = json.loads((setting.folder / "cosine.json").read_text(encoding="utf-8"))
    if engine == "heed":
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "embedding.npy"
            ask_heed(setting, "run", setting.model, "--texts", setting.folder / "cosine.txt", "--output", f"embedding={out}")
            found = load_npy(out)
    else:
        found = ask_peer(setting, engine, mode="embed", texts=wanted["ids"])["embeddings"]
    values = []
    for a, b in zip(found, wanted["embeddings"], strict=True):
        product, aa, bb = (sum(x * y for x, y in zip(u, v)) for u, v in ((a, b), (a, a), (b, b)))
        values.append(product / (aa * bb) ** 0.5)
    return min(values), sum(values) / len(values)


def heed_throughput(setting: Setting, threads: int) -> dict:
    """From text to embeddings: the whole program's time less that of a run with one text."""
    sentences = setting.folder / "sentences.txt"
    count = len(sentences.read_text(encoding="utf-8").splitlines())
    with tempfile.TemporaryDirectory() as folder:
        one = pathlib.Path(folder) / "one.txt"
        one.write_text(sentences.read_text(encoding="utf-8").splitlines()[0] + "\n", encoding="utf-8")

        def seconds(texts: pathlib.Path) -> float:
            start = time.perf_counter()
            ask_heed(setting, "run", setting.model, "--texts", texts, "--threads", threads, "--output", f"embedding={folder}/out.npy")
            return time.perf_counter() - start

        idle = min(seconds(one) for _ in range(HEED_SWEEPS))
        times = sorted(seconds(sentences) - idle for _ in range(HEED_SWEEPS))
    return {"sweeps": HEED_SWEEPS, "texts_per_s": count / times[0], "median_texts_per_s": count / times[len(times) // 2]}


def throughput(setting: Setting, engine: str, threads: int, batch: int) -> dict:
    if engine == "heed":
        return heed_throughput(setting, threads)
    texts = json.loads((setting.folder / "sentences.json").read_text(encoding="utf-8"))
    return ask_peer(setting, engine, mode="throughput", texts=texts, batch=batch, streams=threads)

"""Runs inside the emulator: python counted.py PEER SITE FOLDER ROWS PASSES prints the embedding, of the last pass, as JSON.

SPDX-License-Identifier: Apache-2.0
"""
import importlib
import json
import pathlib
import sys

CLS, SEP, WORD = 101, 102, 1996  # "the"


def main() -> None:
    name, site, folder, rows, passes = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5])
    sys.path.insert(0, site)
    import numpy as np

    peer = importlib.import_module(f"peer_{name}").Peer(folder, 1, 1, rows)
    ids = np.array([[CLS, *[WORD] * (rows - 2), SEP]], np.int32)
    mask = np.ones_like(ids)
    for _ in range(passes):
        out = peer.encode(ids, mask)
    print(json.dumps((peer.pool(out, mask) if hasattr(peer, "pool") else out)[0].tolist()))


if __name__ == "__main__":
    main()

"""Throw-away Python environments: the system's Python plus a few pinned packages, made once and kept in the cache folder.

SPDX-License-Identifier: Apache-2.0
"""
import fcntl
import hashlib
import os
import pathlib
import subprocess
import sys

TOKENIZERS = ["tokenizers==0.22.1"]
TRANSFORMERS = ["transformers==4.40.2", "tokenizers==0.19.1", "safetensors==0.4.5", "huggingface-hub==0.23.5", "sentencepiece==0.2.0"]


def cache_folder() -> pathlib.Path:
    return pathlib.Path(os.environ.get("HEED_CACHE") or pathlib.Path.home() / ".cache" / "heed")


def python_with(name: str, packages: list[str], system_packages: bool = True, dependencies: bool = True) -> pathlib.Path:
    """The interpreter of an environment that has `packages`; made under a lock if it is not there."""
    folder = cache_folder() / "python"
    folder.mkdir(parents=True, exist_ok=True)
    wanted = hashlib.sha256("\n".join([*packages, str(system_packages)]).encode()).hexdigest()
    home, stamp = folder / name, folder / name / "complete"
    with open(folder / f"{name}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists() or stamp.read_text(encoding="utf-8") != wanted:
            system = ["--system-site-packages"] if system_packages else []
            subprocess.run(["/usr/bin/python3", "-m", "venv", "--clear", *system, home], check=True)
            pip = [home / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            subprocess.run([*pip, *([] if dependencies else ["--no-deps"]), *packages], check=True, stdout=sys.stderr)
            stamp.write_text(wanted, encoding="utf-8")
    return home / "bin" / "python"


def run_in(name: str, packages: list[str], **options) -> None:
    """Starts the running script again inside the environment, unless it already runs there."""
    python = python_with(name, packages, **options)
    if pathlib.Path(sys.prefix) != python.parent.parent:
        os.execv(python, [str(python), *sys.argv])

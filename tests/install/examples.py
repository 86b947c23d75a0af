"""README.md's examples: the code blocks whose first line names a file. SPDX-License-Identifier: Apache-2.0"""
import os
import pathlib
import re
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def examples() -> dict[str, str]:
    blocks = re.findall(r"^```(?:c|cpp)\n((?://|/\*) (\S+\.(?:c|cpp)): .*?)^```$", (ROOT / "README.md").read_text(), re.M | re.S)
    return {name: code for code, name in blocks}


def command(*arguments, **environment: str) -> str:
    """What a command prints; an AssertionError with its output where it fails."""
    done = subprocess.run([str(argument) for argument in arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          env={**os.environ, **environment})
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, arguments))} answered {done.returncode}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout


def write_consumer(folder: pathlib.Path):
    """A CMake project of the examples, which finds heed or, with HEED_SOURCE, builds it."""
    shutil.copytree(ROOT / "tests" / "install" / "consumer", folder, dirs_exist_ok=True)
    for file, code in examples().items():
        (folder / file).write_text(code)

"""How the tools written in Python run other programs. SPDX-License-Identifier: Apache-2.0"""
import os
import subprocess


class Failure(Exception):
    """Says what could not be run, and why."""


def command(*arguments, stdin: str = "", patience: float | None = None, **environment: str) -> str:
    """What a program prints. Throws Failure if it is not there, answers anything but 0, or still runs after `patience` seconds."""
    words = [str(argument) for argument in arguments]
    try:
        done = subprocess.run(words, input=stdin, capture_output=True, text=True, timeout=patience, env={**os.environ, **environment})
    except OSError as error:
        raise Failure(f"{words[0]}: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise Failure(f"{' '.join(words)} still ran after {patience} seconds") from error
    if done.returncode != 0:
        raise Failure(f"{' '.join(words)} answered {done.returncode}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout

"""Peers for aarch64 in the emulator: Debian's Python of arm64 and their wheels, unpacked in the cache folder, never installed.

SPDX-License-Identifier: Apache-2.0
"""
import dataclasses
import hashlib
import pathlib
import shutil
import subprocess
import sys
import tempfile

import environments

DEBIAN_PACKAGES = ("python3-minimal", "libpython3-stdlib", "libstdc++6")
WHEEL_PLATFORMS = ("manylinux2014_aarch64", *(f"manylinux_2_{minor}_aarch64" for minor in (17, 24, 26, 27, 28, 31, 34)))
SITE = "peer"


@dataclasses.dataclass(frozen=True)
class Core:
    """A processor of QEMU's, and the one that /proc/cpuinfo names: peers choose kernels by both."""
    cpu: str
    implementer: int
    part: int
    features: str


# QEMU's `max` is no real processor; without SVE it has what a Cortex-A710 has besides.
CORES = {
    "cortex-a76": Core("cortex-a76", 0x41, 0xD0B, "fp asimd aes pmull sha1 sha2 crc32 atomics fphp asimdhp asimdrdm lrcpc dcpop asimddp"),
    "max,sve=off": Core("max,sve=off", 0x41, 0xD47, "fp asimd aes pmull sha1 sha2 crc32 atomics fphp asimdhp asimdrdm jscvt fcma lrcpc "
                                                    "dcpop sha3 asimddp sha512 asimdfhm i8mm bf16"),
}


def unpack_debian(folder: pathlib.Path) -> None:
    """The packages and all that they depend on, from this machine's own package sources."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        state, cache = pathlib.Path(temporary) / "state", pathlib.Path(temporary) / "cache"
        (state / "lists" / "partial").mkdir(parents=True)
        (cache / "archives" / "partial").mkdir(parents=True)
        (state / "status").touch()
        settings = ("APT::Architecture=arm64", "APT::Architectures::=arm64", f"Dir::State={state}", f"Dir::State::status={state / 'status'}",
                    f"Dir::Cache={cache}", "Debug::NoLocking=1", "APT::Sandbox::User=")
        apt = ["apt-get", "-qq", *(word for setting in settings for word in ("-o", setting))]
        subprocess.run([*apt, "update"], stdin=subprocess.DEVNULL, stdout=sys.stderr, check=True)
        subprocess.run([*apt, "--yes", "--no-install-recommends", "--download-only", "install", *DEBIAN_PACKAGES],
                       stdin=subprocess.DEVNULL, stdout=sys.stderr, check=True)
        for package in sorted((cache / "archives").glob("*.deb")):
            subprocess.run(["dpkg-deb", "--extract", package, folder], check=True)


def python_of(root: pathlib.Path) -> pathlib.Path:
    return root / "usr" / "bin" / (root / "usr" / "bin" / "python3").readlink()


def unpack_wheels(root: pathlib.Path, packages: list[str]) -> None:
    version = python_of(root).name.removeprefix("python")
    platforms = [word for platform in WHEEL_PLATFORMS for word in ("--platform", platform)]
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--root-user-action", "ignore",
                    "--only-binary", ":all:", "--implementation", "cp", "--python-version", version, *platforms,
                    "--target", root / SITE, *packages], stdin=subprocess.DEVNULL, stdout=sys.stderr, check=True)


def root_with(peer: str, cache: pathlib.Path) -> pathlib.Path:
    """The folder that a peer's program finds as /; made if it is not there. Throws CalledProcessError."""
    packages = environments.PACKAGES[peer]
    wanted = hashlib.sha256("\n".join([*DEBIAN_PACKAGES, *packages]).encode()).hexdigest()
    root, stamp = cache / peer, cache / peer / "complete"
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != wanted:
        print(f"arm_peers: unpacking {peer} for aarch64", file=sys.stderr, flush=True)
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir(parents=True)
        unpack_debian(root)
        unpack_wheels(root, packages)
        stamp.write_text(wanted, encoding="utf-8")
    return root


def describe(core: Core, root: pathlib.Path) -> None:
    """One core where peers look for it: else they would read this machine's."""
    text = (f"processor\t: 0\nBogoMIPS\t: 100.00\nFeatures\t: {core.features}\nCPU implementer\t: 0x{core.implementer:02x}\n"
            f"CPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: 0x{core.part:03x}\nCPU revision\t: 0\n\n")
    for name, content in {"proc/cpuinfo": text, "sys/devices/system/cpu/possible": "0\n", "sys/devices/system/cpu/present": "0\n",
                          "sys/devices/system/cpu/online": "0\n"}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content, encoding="utf-8")

"""What heed costs against what it may: budgets_test.py BUILD_FOLDER [--update]. The limits are in tests/budgets.csv.

Code is the text that a linker takes for a program (linked.c), from its map. BUILD_FOLDER holds a Release build with every instruction set
and the heed program; a build for size with one instruction set goes below it.
SPDX-License-Identifier: Apache-2.0
"""
import csv
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "install"))
from examples import command  # noqa: E402

TABLE = ROOT / "tests" / "budgets.csv"
BOARDS = "board_"  # rows of boards_test.py
TEXTS = ROOT / "tools" / "samples" / "sentences.txt"
TEXT = "The cat sat on the mat and looked out of the window."
# An input section that was kept: name, address, size, archive(object). A long name stands on a line of its own.
KEPT = re.compile(r"^ \.text\S*\s+0x([0-9a-f]+)\s+0x([0-9a-f]+)\s+\S*lib(heed_runtime|heed_text)\.a\(", re.M)


def cached(build: pathlib.Path, name: str) -> str:
    return re.search(rf"^{name}:\w+=(.*)$", (build / "CMakeCache.txt").read_text(), re.M)[1]


def text_bytes(build: pathlib.Path, compiler: str, work: pathlib.Path) -> dict[str, int]:
    """Bytes of text that a program takes from each library, by the link map."""
    listing = work / "linked.map"
    command(compiler, "-std=c11", "-Os", ROOT / "tests/budgets/linked.c", f"-I{ROOT / 'runtime/include'}", build / "runtime/libheed_text.a",
            build / "runtime/libheed_runtime.a", "-lm", "-Wl,--gc-sections", f"-Wl,-Map={listing}", "-o", work / "linked")
    sizes = {"heed_runtime": 0, "heed_text": 0}
    for address, size, library in KEPT.findall(listing.read_text().split("Linker script and memory map")[1]):
        if int(address, 16):
            sizes[library] += int(size, 16)
    if not all(sizes.values()):
        sys.exit(f"budgets: {listing} has no text of heed's: is this linker's map in another form?")
    return sizes


def code(build: pathlib.Path):
    work = build / "budgets"
    work.mkdir(exist_ok=True)
    c, cxx = cached(build, "CMAKE_C_COMPILER"), cached(build, "CMAKE_CXX_COMPILER")
    small = work / "avx512vnni"
    command("cmake", "-G", "Ninja", "-S", ROOT, "-B", small, f"-DCMAKE_C_COMPILER={c}", f"-DCMAKE_CXX_COMPILER={cxx}",
            "-DCMAKE_BUILD_TYPE=MinSizeRel", "-DHEED_ISAS=avx512vnni", "-DHEED_BUILD_TOOLS=OFF", "-DHEED_BUILD_TESTS=OFF")
    command("cmake", "--build", small, "--target", "heed_runtime", "heed_text", "-j", "2")
    for name, folder in (("avx512vnni", small), ("all_isas_release", build)):
        sizes = text_bytes(folder, c, work)
        yield f"text_{name}", sum(sizes.values())
        yield f"text_{name}_tokenizers", sizes["heed_text"]


def arena(heed: pathlib.Path, model: pathlib.Path):
    def need(rows: int, threads: int) -> dict:
        return json.loads(command(heed, "inspect", model, "--rows", rows, "--tile-rows", 8, "--threads", threads, "--json"))

    plans = {(rows, threads): need(rows, threads) for rows in (128, 512) for threads in (1, 2, 4)}
    yield "arena_128_rows", plans[128, 1]["arena_bytes"]
    yield "arena_512_rows", plans[512, 1]["arena_bytes"]
    more = [(plans[rows, threads]["arena_bytes"] - plans[rows, 1]["arena_bytes"]) / (threads - 1) for rows, threads in plans if threads > 1]
    yield "arena_each_further_worker", int(max(more))
    yield "arena_above_live_peak", round(max(100 * (p["arena_bytes"] / p["live_peak_bytes"] - 1) for p in plans.values()), 3)


def translators(build: pathlib.Path):
    for name in ("additive", "dot", "qkv", "transformer"):
        model = build / "budgets" / f"{name}.heed"
        command(build / "heed", "convert", ROOT / "tools" / "samples" / "translator" / name, "-o", model)
        yield f"arena_{name}_16_words", json.loads(command(build / "heed", "inspect", model, "--rows", 16, "--json"))["arena_bytes"]


def process_bytes(heed: pathlib.Path, *arguments) -> int:
    """The most bytes that the process of a `heed run` held."""
    child = subprocess.Popen([heed, "run", *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"budgets: heed run answered {child.returncode}")
    return usage.ru_maxrss * 1024


def process(heed: pathlib.Path, model: pathlib.Path):
    for name, *arguments in (("one_text", "--text", TEXT, "--digest"), ("100_texts", "--texts", TEXTS, "--digest"), ("100_texts_json", "--texts", TEXTS, "--json")):
        arena_bytes = json.loads(command(heed, "run", model, *arguments[:2], "--json"))["arena_bytes"]
        yield f"process_{name}_above_file_and_arena", process_bytes(heed, model, *arguments) - model.stat().st_size - arena_bytes


def start(heed: pathlib.Path, model: pathlib.Path):
    # Each is the least of five already; the median of those is far from what another process can add.
    yield "open_and_plan", round(statistics.median(
        json.loads(command(heed, "bench", model, "--rows", 128, "--seconds", 0, "--json"))["open_plan_ms"] for _ in range(5)), 3)


def measure(build: pathlib.Path):
    heed, model = build / "heed", build / "budgets" / "minilm.heed"
    yield from code(build)
    command(heed, "convert", command(ROOT / "tools" / "fetch", "minilm").strip(), "-o", model)
    yield from translators(build)
    for part in (arena, process, start):
        yield from part(heed, model)


def faults(rows: dict[str, dict], found: dict[str, float]):
    for name in rows.keys() ^ found.keys():
        yield f"{name}: not both in tests/budgets.csv and measured"
    for name in rows.keys() & found.keys():
        limit = rows[name]["limit"]
        if limit and found[name] > float(limit):
            yield f"{name}: {found[name]:,} {rows[name]['unit']}, at most {float(limit):,.0f} (recorded: {rows[name]['measured']})"


def write(comment: str, rows: dict[str, dict], found: dict[str, float]):
    lines = [comment, "name,limit,measured,unit"]
    lines += [",".join((name, row["limit"], str(found.get(name, row["measured"])), row["unit"])) for name, row in rows.items()]
    TABLE.write_text("\n".join(lines) + "\n")


def main() -> int:
    build = pathlib.Path(sys.argv[1]).resolve()
    comment, *table = TABLE.read_text().splitlines()
    rows = {row["name"]: row for row in csv.DictReader(table)}
    # The check itself finds growth by one.
    planted = {"a": {"limit": "5", "measured": "5", "unit": "bytes"}}
    if list(faults(planted, {"a": 5})) or "a: 6 bytes" not in "".join(faults(planted, {"a": 6})):
        sys.exit("budgets: growth over a limit is not found")
    found = {}
    for name, value in measure(build):
        found[name] = value
        print(f"{name}: {value:,} {rows.get(name, {}).get('unit', '')}, recorded {rows.get(name, {}).get('measured')}", flush=True)
    if "--update" in sys.argv:
        write(comment, rows, found)
    broken = sorted(faults({name: row for name, row in rows.items() if not name.startswith(BOARDS)}, found))
    print("\n".join(broken or [f"budgets: {len(found)} figures, none above its limit"]))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())

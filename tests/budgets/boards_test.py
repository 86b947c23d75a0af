"""What heed costs on boards against what it may: boards_test.py [--update]. The limits are the rows board_* of tests/budgets.csv.

Instructions are those of a MiniLM pass of 128 tokens, counted in the emulator, whole and by group of kernels: more than 2 % above the
recorded number fails, as does a number above its limit. Size is what a linker takes for a program that has all that MiniLM needs, without ops and tokenizers that it has no use for. Presets
host, aarch64 and armv7 have to be built.
SPDX-License-Identifier: Apache-2.0
"""
import csv
import json
import re
import sys

from budgets_test import BOARDS, ROOT, TABLE, command, write

GROWTH = 1.02
# What a linker kept: section, address, size, archive. A long name stands on a line of its own.
KEPT = re.compile(r"^ \.(?:text|rodata|data)\S*\s+0x([0-9a-f]+)\s+0x([0-9a-f]+)\s+\S*lib(?:heed_runtime|heed_text)\.a\((\w+)\.cpp\.o\)", re.M)
OTHER_TOKENIZERS = {"word", "added", "bpe", "gpt2_words", "sentence", "unigram", "join_subwords"}
MINILM_OPS = {"Embed", "Attention", "FeedForward", "Pool", "L2Normalize"}
# Functions by what their names say, the first that fits: kernels of one kind may share parts or be inlined into each other. The
# namespaces of instruction sets have the hand-written products.
GROUPS = {"products": r"heed\d+(neon|dotprod|i8mm|armv7)\d", "attention": r"softmax_tile|soften|pool_tile|weigh_tile|divide_rows|pack_(keys|values)",
          "quantizing": "quantize|Scales", "finishing": r"finish|activate", "norms": r"normalize"}


def is_of_other_models(file: str) -> bool:
    """Whether a source file, or a long one's part, belongs to an op or a tokenizer that MiniLM does not have."""
    if file in OTHER_TOKENIZERS:
        return True
    ops = re.findall(r"^HEED_OP\((\w+), (\w+)\)", (ROOT / "runtime/ops/op_list.inc").read_text(), re.M)
    owners = [(len(name), op) for op, name in ops if file == name or file.startswith(f"{name}_")]
    return bool(owners) and max(owners)[1] not in MINILM_OPS


def size():
    build = ROOT / "build" / "aarch64"
    listing = build / "linked.map"
    command("aarch64-linux-gnu-gcc", "-std=c11", "-Os", ROOT / "tests/budgets/linked.c", f"-I{ROOT / 'runtime/include'}",
            build / "runtime/libheed_text.a", build / "runtime/libheed_runtime.a", "-lm", "-Wl,--gc-sections", f"-Wl,-Map={listing}",
            "-o", build / "linked")
    kept = KEPT.findall(listing.read_text().split("Linker script and memory map")[1])
    yield f"{BOARDS}size_aarch64", sum(int(count, 16) for address, count, file in kept if int(address, 16) and not is_of_other_models(file))


def group(function: str) -> str | None:
    return next((name for name, pattern in GROUPS.items() if re.search(pattern, function)), None)


def instructions():
    told = json.loads(command(ROOT / "tools" / "count", "--minilm", "--json"))
    for isa, functions in told["instructions"].items():
        yield f"{BOARDS}instructions_{isa}", functions["total"]
        sums = dict.fromkeys(GROUPS, 0)
        for function, count in functions.items():
            if "heed" in function and (name := group(function)):
                sums[name] += count
        for name, count in sums.items():
            yield f"{BOARDS}instructions_{isa}_{name}", count


def faults(rows: dict[str, dict], found: dict[str, int]):
    for name in rows.keys() ^ found.keys():
        yield f"{name}: not both in tests/budgets.csv and measured"
    for name in rows.keys() & found.keys():
        row, count = rows[name], found[name]
        if row["limit"] and count > int(row["limit"]):
            yield f"{name}: {count:,} {row['unit']}, at most {int(row['limit']):,}"
        if row["unit"] == "instructions" and count > GROWTH * int(row["measured"]):
            yield f"{name}: {count:,} instructions, more than 2 % above the recorded {int(row['measured']):,}"


def main() -> int:
    comment, *table = TABLE.read_text().splitlines()
    every = {row["name"]: row for row in csv.DictReader(table)}
    rows = {name: row for name, row in every.items() if name.startswith(BOARDS)}
    planted = {"a": {"limit": "", "measured": "1000", "unit": "instructions"}}
    if list(faults(planted, {"a": 1020})) or not list(faults(planted, {"a": 1021})):
        sys.exit("boards_test: growth by more than 2 % is not found")
    found = {}
    for part in (size(), instructions()):
        for name, value in part:
            found[name] = value
            print(f"{name}: {value:,}, recorded {rows.get(name, {}).get('measured')}", flush=True)
    if "--update" in sys.argv:
        for name in found:
            every.setdefault(name, {"limit": "", "measured": "0", "unit": "bytes" if "size" in name else "instructions"})
        write(comment, every, found)
        return 0
    broken = sorted(faults(rows, found))
    print("\n".join(broken or [f"budgets of boards: {len(found)} figures, none above its limit"]))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())

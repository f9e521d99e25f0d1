#!/usr/bin/env python3
"""The table of docs/reference/fates.md: what each algorithm keeps, and what becomes of it where ranks leave or join, as checkpoints of the program have
it. fates.py PROGRAM PAGE ends with 1 where the page has another table; with --write it gets this one."""

import pathlib
import re
import struct
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

FATES = ("alike", "own", "averaged", "balanced", "cut", "anew", "joint")  # as core/step/fate.hpp numbers them
HEAD = struct.Struct("<BBBqqQ")  # behind an item's name: fate, kind, type, extent, bytes
# Parameters with which an algorithm keeps what it does not keep without.
MORE = {"bytegrad": "error_feedback=on", "qsgd": "error_feedback=on",
        "local_sgd": "every=2", "diloco": "every=2"}
ALONE = {"python_algorithm"}  # which has no mathematics of its own
BEGIN, END = "<!-- table -->\n", "<!-- end of the table -->"


def items(state):
    """Names and fates of what a StateWriter has written, which begins with the number of steps."""
    at = state.index(struct.pack("<Q", 5) + b"steps")
    while at < len(state):
        (length,) = struct.unpack_from("<Q", state, at)
        name = state[at + 8:at + 8 + length].decode()
        fate, _, _, _, _, count = HEAD.unpack_from(state, at + 8 + length)
        yield name, FATES[fate]
        at += 8 + length + HEAD.size + count


def kept(program, name):
    """By its fate, what that algorithm keeps."""
    spec = f"{name}:{MORE[name]}" if name in MORE else name
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([program, "run", "--algorithm", spec, "--workload", "mlp", "--steps", "4", "--ranks", "4", "--checkpoint", f"{folder}/kept",
                               "--checkpoint-every", "2", "--out", f"{folder}/out"], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{spec}: {done.stderr.strip()}")
        found = {}
        for state in sorted(pathlib.Path(folder, "kept").glob("*.rank-*")):
            for item, fate in items(state.read_bytes()):
                if item.startswith("algorithm, "):
                    plain = re.sub(r" \d+\b", "", item.removeprefix("algorithm, ")).replace(", ", " ")
                    found.setdefault(fate, {})[plain] = None
        return spec, {fate: ", ".join(names) for fate, names in found.items()}


def table(program):
    listed = subprocess.run([program, "list", "algorithms"], capture_output=True, text=True, check=True).stdout
    names = [words[1] for words in map(str.split, listed.splitlines()[1:-1]) if len(words) > 1 and words[1] not in ALONE]
    with ThreadPoolExecutor(2) as pool:
        rows = list(pool.map(lambda name: kept(program, name), names))
    yield "| algorithm | keeps, by fate |"
    yield "|---|---|"
    for spec, found in rows:
        if found:
            yield f"| {spec} | " + "; ".join(f"`{fate}`: {found[fate]}" for fate in FATES if fate in found) + " |"
    yield f"| {', '.join(spec for spec, found in rows if not found)} | nothing |"


def main(program, page, *flags):
    page = pathlib.Path(page)
    before, rest = page.read_text("utf-8").split(BEGIN)
    made = before + BEGIN + "\n".join(table(program)) + "\n" + END + rest.split(END)[1]
    if "--write" in flags:
        page.write_text(made, "utf-8")
    elif made != page.read_text("utf-8"):
        sys.exit(f"{page}: algorithms keep other things by now; write the table anew: tests/docs/fates.py {program} {page} --write")


if __name__ == "__main__":
    main(*sys.argv[1:])

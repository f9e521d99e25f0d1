"""table.py notices rows that are open, that name a line which is gone, or that explain what is noticed."""

import sys

sys.dont_write_bytecode = True

from table import wrong_with

FILE = "kernels/cuda/runtime/launch.hpp"
LINE = "inline constexpr unsigned block_threads = 256;"
RIGHT = {"mutation": "turned_comparisons", "reason": "idle", "file": FILE, "line": LINE, "survived": "1", "why": "nothing is left"}
# What is changed of a row, and a part of what is said then; "" for nothing.
ROWS = [
    ({}, ""),
    ({"survived": "0", "reason": "", "why": ""}, ""),
    ({"line": f"{LINE} | inline constexpr unsigned all_lanes = 0xffffffffU;"}, ""),
    ({"reason": ""}, "no reason of"),
    ({"reason": "open"}, "no reason of"),
    ({"why": ""}, "no reason of"),
    ({"survived": "0"}, "although it is noticed"),
    ({"line": "inline constexpr unsigned block_threads = 512;"}, "no such line"),
    ({"line": f"inline constexpr unsigned all_lanes = 0xffffffffU; | {LINE}"}, "no such line"),
    ({"file": "kernels/cuda/runtime/launches.hpp"}, "no such line"),
]


def main():
    missed = [(change, part, wrong_with({**RIGHT, **change})) for change, part in ROWS]
    missed = [row for row in missed if (row[1] not in row[2]) or (not row[1] and row[2])]
    print("\n".join(f"{change}: {found!r} where {part!r} was to be said" for change, part, found in missed) or "noticed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

"""The table of run.py, and what holds of it without a build: each mutant that survives is explained, and each line stands in the tree.

    table.py"""

import csv
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[5]
TABLE = pathlib.Path(__file__).with_name("table.csv")
COLUMNS = ["mutation", "reason", "file", "line", "places", "tried", "survived", "found_by", "why"]
# Why a mutant may survive; `why` of a row says what this is at its line.
REASONS = {
    "equal": "where both sides are equal, either way gives the same value",
    "idle": "where both sides are equal, a loop or a thread goes on with nothing to do",
    "wide": "where both sides are equal, the other of two ways that give the same is taken",
    "unread": "what is another then is written or read, and used nowhere",
    "never": "nothing that may call the kernel makes both sides equal",
    "large": "both sides are equal in vectors that are larger than any case has",
    "seldom": "both sides are equal for few random numbers in billions",
    "order": "other lanes are asked, and the same values meet in the result",
    "guarded": "another barrier stands between, or the kernel ends",
    "rounding": "the difference is lost in what is rounded next, or within a tolerance that exponentials or matrix products have",
}


def key_of(row):
    return row["mutation"], row["file"], row["line"]


def read_table():
    """What was found before, by mutation, file and line."""
    if not TABLE.exists():
        return {}
    with TABLE.open(encoding="utf-8", newline="") as file:
        return {key_of(row): row for row in csv.DictReader(file)}


def sorted_rows(rows):
    """Those that survive first, by their reasons."""
    return sorted(rows, key=lambda row: (row["mutation"], row["reason"] == "", row["reason"], row["why"], row["file"], row["line"]))


def write_table(rows):
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted_rows(rows))


def survives(row):
    return int(row["survived"]) > 0


def stands_there(file, words):
    """Whether the file has that line, or the two lines that " | " joins."""
    path = ROOT / file
    if not path.is_file():
        return False
    lines = [line.strip() for line in path.read_text("utf-8").splitlines()]
    return words in lines or words in (f"{before} | {line}" for before, line in zip(lines, lines[1:]))


def wrong_with(row):
    """What is wrong with a row, in words; "" for nothing."""
    at = f"{row['mutation']} of {row['file']}: {row['line']}"
    if not stands_there(row["file"], row["line"]):
        return f"no such line is there any more: {at}"
    if survives(row) and not (row["reason"] in REASONS and row["why"]):
        return f"nothing notices, and no reason of {', '.join(REASONS)} is given: {at}"
    if not survives(row) and row["reason"]:
        return f"a reason is given although it is noticed: {at}"
    return ""


def main():
    rows = list(read_table().values())
    found = [words for words in map(wrong_with, rows) if words]
    if found:
        found.append("where nvcc is: python3 tests/kernels/cuda/on_ptx/mutations/run.py build/cuda/tests/test_kernels_on_ptx --once --open --write")
    print("\n".join(found) or f"{len(rows)} lines are there, and {sum(map(survives, rows))} on which mutants survive say why")
    return 1 if found or not rows else 0


if __name__ == "__main__":
    sys.exit(main())

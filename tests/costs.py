#!/usr/bin/env python3
"""Prints what the last `./trigram test` took: tests and seconds a preset, and the slowest tests of all, as tables of
Markdown. usage: costs.py [NUMBER] [FILE.xml...]: of these files instead of build/*-tests.xml; 20 tests where no number is given."""

import pathlib
import sys
import xml.etree.ElementTree

BUILD = pathlib.Path(__file__).resolve().parents[1] / "build"


def tests_of(path):
    """(preset, name, seconds, whether it was skipped) of every test in ctest's own report."""
    preset = path.name.removesuffix("-tests.xml")
    for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
        yield preset, case.get("name"), float(case.get("time")), case.get("status") in ("notrun", "disabled")


def tables(paths, number):
    tests = [test for path in paths for test in tests_of(path)]
    lines = ["| preset | tests | skipped | seconds of all tests |", "|---|---|---|---|"]
    for preset in dict.fromkeys(test[0] for test in tests):
        own = [test for test in tests if test[0] == preset]
        lines.append(f"| {preset} | {len(own)} | {sum(test[3] for test in own)} | {sum(test[2] for test in own):.0f} |")
    lines += ["", "| slowest | preset | seconds |", "|---|---|---|"]
    for preset, name, seconds, _ in sorted(tests, key=lambda test: -test[2])[:number]:
        lines.append(f"| {name} | {preset} | {seconds:.1f} |")
    return lines


def main(words):
    number = int(words.pop(0)) if words and words[0].isdigit() else 20
    paths = [pathlib.Path(word) for word in words] or sorted(BUILD.glob("*-tests.xml"))
    if not paths:
        print(f"no test has run here yet: {BUILD} has no *-tests.xml; run ./trigram test first", file=sys.stderr)
        return 2
    print("\n".join(tables(paths, number)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

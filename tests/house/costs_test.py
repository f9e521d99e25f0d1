"""tests/costs.py reads ctest's report: sums, skipped tests, and the slowest first."""

import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import costs

REPORT = """<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="(empty)" tests="3" failures="0" disabled="0" skipped="1" hostname="" time="0">
<testcase name="core" classname="core" time="1.5" status="run"/>
<testcase name="sim" classname="sim" time="20.25" status="run"/>
<testcase name="gpu" classname="gpu" time="0.25" status="notrun"><skipped message=""/></testcase>
</testsuite>
"""
EXPECTED = """| preset | tests | skipped | seconds of all tests |
|---|---|---|---|
| dev | 3 | 1 | 22 |

| slowest | preset | seconds |
|---|---|---|
| sim | dev | 20.2 |
| core | dev | 1.5 |"""


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "dev-tests.xml"
        path.write_text(REPORT)
        found = "\n".join(costs.tables([path], 2))
    if found != EXPECTED:
        print(f"found:\n{found}\nexpected:\n{EXPECTED}")
    return 0 if found == EXPECTED else 1


if __name__ == "__main__":
    sys.exit(main())

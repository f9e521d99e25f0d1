"""Every code block of the pages of docs/ and of README.md does what it says: blocks_test.py basis|whole."""

import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

from blocks import blocks_of

TREE = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ["TRIGRAM_PROGRAM"]
SHIM = f"""#!/bin/sh
case $1 in
  python) shift; exec /usr/bin/python3 "$@" ;;
  launch) exec /usr/bin/python3 -m trigram "$@" ;;
  *) exec "{PROGRAM}" "$@" ;;
esac
"""
EXTENT = "basis"


def pages():
    return {str(path.relative_to(TREE)): path.read_text("utf-8") for path in [TREE / "README.md", *sorted((TREE / "docs").rglob("*.md"))]}


class Page:
    """The folder in which the blocks of one page are run, one after another."""

    def __init__(self, scratch):
        self.folder = pathlib.Path(scratch)
        shim = self.folder / "trigram"
        shim.write_text(SHIM)
        shim.chmod(shim.stat().st_mode | stat.S_IXUSR)
        built = self.folder / "build/release/experiments"
        built.mkdir(parents=True)
        (built / "trigram").symlink_to(PROGRAM)
        self.printed = ""

    def run(self, *command):
        environment = {**os.environ, "PYTHONPATH": str(TREE / "python"), "PYTHONDONTWRITEBYTECODE": "1", "MPLBACKEND": "Agg"}
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, env=environment, stdin=subprocess.DEVNULL)


class Blocks(unittest.TestCase):
    def test_every_block_does_what_it_says(self):
        for name, text in pages().items():
            blocks = blocks_of(name, text)
            if not any(block.kind in ("run", "python") and block.whole == (EXTENT == "whole") for block in blocks) and EXTENT == "whole":
                continue
            with tempfile.TemporaryDirectory() as scratch:
                page = Page(scratch)
                for block in blocks:
                    with self.subTest(str(block)):
                        self.check(page, block)

    def check(self, page, block):
        self.assertNotEqual(block.kind, "unknown", f"{block}: nobody knows what this block is; tests/docs/blocks.py says what it may be")
        if block.kind in ("file", "part"):
            return self.check_file(page, block)
        if block.whole and EXTENT != "whole":
            return None
        if block.kind == "printed":
            return self.assertIn(block.text, page.printed, f"{block}: the command ahead prints something else")
        if block.kind in ("run", "python"):
            command = ["bash", "-euo", "pipefail", "-c", block.text] if block.kind == "run" else ["/usr/bin/python3", "-c", block.text]
            ended = page.run(*command)
            page.printed = ended.stdout
            self.assertEqual(ended.returncode, 0, f"{block}: {ended.stderr[-2000:]}")
        return None

    def check_file(self, page, block):
        if (TREE / block.file).is_file():
            return self.assertIn(block.text, (TREE / block.file).read_text("utf-8"), f"{block}: {block.file} has no such lines")
        self.assertNotEqual(block.kind, "part", f"{block}: there is no {block.file}")
        (page.folder / block.file).write_text(block.text)
        return None

    def test_what_is_run_by_nobody_says_why(self):
        for name, text in pages().items():
            for block in blocks_of(name, text):
                if block.kind == "left" and block.language in ("sh", "python", "cpp"):
                    self.assertRegex(block.reason, "^not run: .{20}|^excerpt$", str(block))


class Forms(unittest.TestCase):
    def test_a_block_of_a_page_is_what_stands_ahead_of_it(self):
        text = ("`a.cfg`:\n\n```\nx = 1\n```\n\n```sh\ntrue\n```\n\n```text\nout\n```\n\n<!-- whole -->\n```python\n1\n```\n\n"
                "<!-- part of: core/a.hpp -->\n```cpp\nint a;\n```\n\n<!-- not run: it takes a GPU -->\n```sh\nfalse\n```\n\n```json\n{}\n```\n")
        blocks = blocks_of("p.md", text)
        self.assertEqual([block.kind for block in blocks], ["file", "run", "printed", "python", "part", "left", "unknown"])
        self.assertEqual([blocks[0].file, blocks[4].file, blocks[1].line, blocks[3].whole], ["a.cfg", "core/a.hpp", 7, True])


if __name__ == "__main__":
    if sys.argv[1:2] in (["basis"], ["whole"]):
        EXTENT = sys.argv.pop(1)
    unittest.main()

"""The script `trigram` in a tree of its own, where a few shell scripts are cmake, apt-get and dpkg."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

TREE = pathlib.Path(__file__).resolve().parents[2]
COMMANDS = {
    "cmake": """echo '[1/2] one'; cat "$HERE/said" 2>/dev/null; ! [ -e "$HERE/said" ]""",
    "id": "echo 0",
    "dpkg-query": """[ ! -e "$HERE/installed" ] || cat "$HERE/installed" """,
    # As apt-get, it waits for no other, and installing takes a moment.
    "apt-get": """echo "$@" >>"$HERE/asked"
[ "$1" = install ] || exit 0
mkdir "$HERE/apt" || { echo 'E: Could not get lock'; exit 100; }
sleep 0.3
printf 'installed %s\\n' "$@" >"$HERE/installed"
rmdir "$HERE/apt" """,
}


class Script(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        for name in ("trigram", *(f"cmake/{path.name}" for path in (TREE / "cmake").glob("debian-packages*.txt"))):
            (self.folder / name).parent.mkdir(exist_ok=True)
            shutil.copy(TREE / name, self.folder / name)
        (self.folder / "bin").mkdir()
        for name, text in COMMANDS.items():
            (self.folder / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
            (self.folder / "bin" / name).chmod(0o755)

    def start(self, *words):
        return subprocess.Popen([self.folder / "trigram", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True, env=os.environ | {"HERE": str(self.folder), "PATH": f"{self.folder}/bin:{os.environ['PATH']}"})

    def end(self, process):
        return process.communicate(timeout=60)[0], process.returncode

    def test_ranks_install_one_after_another_and_nothing_for_tests(self):
        ranks = [self.start("python", "-c", "print('trained')") for _ in range(3)]
        for said, code in map(self.end, ranks):
            self.assertEqual((said.splitlines()[-1], code), ("trained", 0), said)
        asked = (self.folder / "asked").read_text().splitlines()
        self.assertEqual([line.split()[0] for line in asked], ["update", "install"])
        self.assertIn("python3-torch", asked[1])
        self.assertNotIn("mypy", asked[1])

    def test_a_failed_build_says_so(self):
        for said, shown in (("ninja: fatal: killed\n", "ninja: fatal: killed"), (9999 * "x.cpp:1: error: no such thing\n", "error: no such thing")):
            (self.folder / "said").write_text(said)
            text, code = self.end(self.start("list"))
            self.assertEqual(code, 1)
            self.assertIn(shown, text)
            self.assertLess(len(text.splitlines()), 40)
            self.assertIn("trigram: the build failed; its whole output is in ", text)


if __name__ == "__main__":
    unittest.main()

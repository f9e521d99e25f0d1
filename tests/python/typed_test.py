"""The package's annotations hold under mypy --strict, and are there for all of it. Ends with 77 without mypy."""

import pathlib
import subprocess
import sys
import unittest

TREE = pathlib.Path(__file__).resolve().parents[2]


class Typed(unittest.TestCase):
    def check(self, *paths):
        return subprocess.run([sys.executable, "-m", "mypy", "--config-file", TREE / "pyproject.toml", *paths], capture_output=True, text=True)

    def test_the_package(self):
        self.assertTrue((TREE / "python" / "trigram" / "py.typed").is_file())
        ended = self.check(TREE / "python" / "trigram")
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)


if __name__ == "__main__":
    try:
        import mypy
    except ImportError:
        sys.exit(77)
    unittest.main()

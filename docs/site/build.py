#!/usr/bin/env python3
"""Builds the documentation site, offline: build.py PROGRAM FOLDER. Every warning is an error."""

import os
import subprocess
import sys
from pathlib import Path

site = Path(__file__).resolve().parent
tree = site.parents[1]


def doxygen(folder):
    """The headers' comments as XML."""
    settings = (site / "Doxyfile").read_text("utf-8") + f'OUTPUT_DIRECTORY = "{folder}"\nSTRIP_FROM_PATH = "{tree}"\n'
    subprocess.run(["doxygen", "-"], input=settings, text=True, check=True, cwd=tree)


def main(program, folder):
    folder = Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    doxygen(folder)
    sphinx = os.environ.get("SPHINX_PYTHON", "/usr/bin/python3")
    environment = {**os.environ, "TRIGRAM_PROGRAM": str(Path(program).resolve()), "TRIGRAM_DOXYGEN": str(folder / "xml"),
                   "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sphinx, "-m", "sphinx", "-q", "-n", "-W", "--keep-going", "-b", "html", "-c", site, "-d", folder / "read", tree, folder / "html"]
    ended = subprocess.run(command, env=environment)
    if ended.returncode == 0:
        print(folder / "html" / "index.html")
    return ended.returncode


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))

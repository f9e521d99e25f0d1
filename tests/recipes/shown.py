"""Writes the files that CONTRIBUTING's recipes show: shown.py CONTRIBUTING FOLDER puts each at its path below FOLDER, and
prints where. What has not changed is left alone, so that nothing is compiled twice."""

import pathlib
import re
import sys


def shown(text):
    """Text by path: `path/of/file`: and the block that follows."""
    return dict(re.findall(r"^`([^`\n]+)`:\n+```\w*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))


def main(document, folder):
    for path, text in shown(pathlib.Path(document).read_text("utf-8")).items():
        place = pathlib.Path(folder) / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if not place.is_file() or place.read_text("utf-8") != text:
            place.write_text(text, "utf-8")
        print(place)


if __name__ == "__main__":
    main(*sys.argv[1:])

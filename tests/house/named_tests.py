"""Every `ctest ... -R NAME` that a document names finds tests: named_tests.py TREE CTEST BUILD."""

import pathlib
import re
import subprocess
import sys


def named(tree):
    """(document, NAME) of every such command in the tree's documents."""
    for path in subprocess.run(["git", "-C", tree, "ls-files", "*.md"], check=True, capture_output=True, text=True).stdout.split():
        for name in re.findall(r"\bctest\b[^`\n]*? -R ('[^']+'|\S+?)[`\s]", (pathlib.Path(tree) / path).read_text()):
            yield path, name.strip("'")


def found(ctest, build, name):
    """How many tests of the build that command runs."""
    listed = subprocess.run([ctest, "--test-dir", build, "-N", "-R", name], check=True, capture_output=True, text=True).stdout
    return len(re.findall(r"Test +#\d+: ", listed))


def main(tree, ctest, build):
    all_named = list(named(tree))
    missing = [f"{path}: `ctest -R {name}` finds no test" for path, name in all_named if not found(ctest, build, name)]
    if not all_named:
        missing.append("no document names a test by ctest -R any more; this check has nothing to do")
    print("\n".join(missing), end="\n" if missing else "")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

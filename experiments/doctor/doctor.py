"""Examines this machine and prints one page: what is here, and which backends work. Reads from its standard input, as JSON that
`trigram doctor` makes, the facts of the build. Each examination is a file of examinations/ with a TITLE, a PLACE among the others, and
`found(trigram)`, which gives lines. It is started by trigram, as python3 -I, and ends with the program's exit codes."""

import importlib
import json
import os
import sys

INTERRUPTED = 130
HERE = os.path.dirname(os.path.abspath(__file__))


def examinations():
    names = sorted(name[:-3] for name in os.listdir(os.path.join(HERE, "examinations")) if name.endswith(".py"))
    return sorted((importlib.import_module("examinations." + name) for name in names), key=lambda one: one.PLACE)


def lines_of(examination, trigram):
    """An examination that fails is itself a finding: the others still stand on the page."""
    try:
        return examination.found(trigram)
    except Exception as error:
        return [f"could not be examined: {type(error).__name__}: {error}"]


def main():
    trigram = json.load(sys.stdin)
    sys.path.insert(0, HERE)
    try:
        for examination in examinations():
            lines = lines_of(examination, trigram)
            if lines:
                print("\n".join([examination.TITLE, *("  " + line for line in lines)]), flush=True)
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""How far a child is: a bar in a terminal, one line in a notebook, and its own lines elsewhere."""

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

WIDTH = 40
LINE = re.compile(r"(\d+)/(\d+) (\S.*)")


def in_notebook() -> bool:
    return "ipykernel" in sys.modules


@contextmanager
def shown() -> Iterator[Callable[[str], bool]]:
    """Gives a function that shows a line where it is one of progress, and says whether it was. The bar's line ends with
    the block."""
    one_line = in_notebook() or sys.stderr.isatty()
    is_open = False

    def show(line: str) -> bool:
        nonlocal is_open
        found = LINE.fullmatch(line)
        if not found:
            return False
        if one_line:
            print("\r" + bar(int(found[1]), int(found[2]), found[3]), end="", file=sys.stderr, flush=True)
            is_open = True
        else:
            print(line, file=sys.stderr, flush=True)
        return True

    try:
        yield show
    finally:
        if is_open:
            print(file=sys.stderr)


def bar(done: int, total: int, unit: str) -> str:
    filled = WIDTH * done // max(total, 1)
    return f"[{'#' * filled}{'.' * (WIDTH - filled)}] {done}/{total} {unit}"

"""Text files of tools that print for people."""

from torch_trace.json_stream import opened
from unusable import Unusable

MOST = 64 << 20  # characters; such an output is never as long


def lines_of(path):
    """Lines without the blanks around them, numbered from 1."""
    try:
        with opened(path) as file:
            text = file.read(MOST + 1)
    except (OSError, EOFError) as error:
        raise Unusable(f"cannot read '{path}': {getattr(error, 'strerror', None) or error}") from error
    if len(text) > MOST:
        raise Unusable(f"'{path}' is longer than {MOST >> 20} MiB, which no such output is")
    return list(enumerate((line.strip() for line in text.splitlines()), 1))


def numbers_of(line):
    """Its words where the first two are numbers, else None."""
    words = line.split()
    try:
        float(words[0]), float(words[1])
    except (IndexError, ValueError):
        return None
    return words

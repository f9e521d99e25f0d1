"""What is wrong with a folder, for people."""


class Unusable(Exception):
    """A file that cannot be read, drawn or written; says which, where, and why."""


LONGEST_SHOWN = 120


def in_quotes(text):
    """A value of other people between quotes, printable; of a long one, its begin and its length."""
    return repr(text) if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]!r}... ({len(text.encode(errors='replace'))} bytes)"

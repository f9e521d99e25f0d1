"""What our net plugin for NCCL says of this host: its interfaces, what it tells NCCL, and a table of its paths."""

import re

from ask import program
from examinations.backends import command

TITLE = "net plugin"
PLACE = 7
SIGN = "NET/Trigram: "
ADDRESS = re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b|(?<![\w:])[0-9a-f]{1,4}(?::[0-9a-f]{0,4}){2,7}(?:%\w+)?(?![\w:])")


def without_addresses(lines):
    """The same address keeps the same number."""
    numbers = {}
    return [ADDRESS.sub(lambda found: f"address {numbers.setdefault(found[0], len(numbers) + 1)}", line) for line in lines]


def found(trigram):
    said = program(*command(trigram, "net"), seconds=60, NCCL_DEBUG="INFO")
    lines = said.err.splitlines()
    first = next((number for number, line in enumerate(lines) if SIGN in line), None)
    if first is None:
        return [f"it says nothing: {said.last_line}"]
    return without_addresses(line.split(SIGN)[-1].rstrip() for line in lines[first:] if line.strip())

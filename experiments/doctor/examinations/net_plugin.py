"""What our net plugin for NCCL says of this host: its interfaces, what it tells NCCL, and a table of its paths."""

from ask import program, without_addresses
from examinations.backends import LIMIT, command

TITLE = "net plugin"
PLACE = 7
SIGN = "NET/Trigram: "


def found(trigram):
    said = program(*command(trigram, "net"), seconds=LIMIT, NCCL_DEBUG="INFO")
    lines = said.err.splitlines()
    first = next((number for number, line in enumerate(lines) if SIGN in line), None)
    if first is None:
        return [f"it says nothing: {said.last_line}"]
    return without_addresses(line.split(SIGN)[-1].rstrip() for line in lines[first:] if line.strip())

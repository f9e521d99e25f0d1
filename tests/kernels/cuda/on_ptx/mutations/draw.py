"""Which places of kernels are made wrong first: the same in every build, since a place is drawn by what it is and not by where it comes."""

import collections
import hashlib
import re

# A barrier is tried wherever it stands.
ALWAYS = "no_barriers"

Place = collections.namedtuple("Place", "mutation kernel number instruction file line")

# What nvcc calls an anonymous namespace: the file's name between two hashes, at times with a number, which runs into the length of the next name.
ANONYMOUS = re.compile(r"\d+_GLOBAL__N__[0-9a-f]{8}_\d+_(\w+?_cu)_[0-9a-f]{8}_?\d*")


def in_any_build(kernel):
    """The mangled name of a kernel without what differs between builds of it."""
    return ANONYMOUS.sub(r"\1 ", kernel)


def wherever_it_lies(file):
    """The path of a source without the room of kernels/cuda that it is in."""
    return re.sub(r"^kernels/cuda/.*/", "kernels/cuda/", file)


def stands_for(place):
    """What a place is one of: all that a mutation does to one instruction of one line of the source."""
    return place.mutation, place.file, place.line, place.instruction


def in_order(places, seed, once):
    """All that must be tried; then one place that stands for others of each kind, and the rest unless once is enough, in the seed's order."""
    def drawn(place):
        words = place.number, place.instruction, wherever_it_lies(place.file), place.line
        return hashlib.sha256(f"{seed} {in_any_build(place.kernel)} {words}".encode()).digest()

    seen, first, rest = set(), [], []
    for place in sorted(places, key=drawn):
        (rest if stands_for(place) in seen else first).append(place)
        seen.add(stands_for(place))
    always = [place for place in first + rest if place.mutation == ALWAYS]
    return always, [place for place in (first if once else first + rest) if place.mutation != ALWAYS]

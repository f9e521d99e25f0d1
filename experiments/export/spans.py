"""trace.json of a run as spans, by rank and lane, rounds of one collective put together."""

import dataclasses

from torch_trace.json_stream import JsonStream
from unusable import Unusable, in_quotes

WIRE, WAIT = "wire", "wait"


@dataclasses.dataclass
class Span:
    __slots__ = ("lane", "kind", "name", "begin", "end", "bytes", "call", "size", "ranks")

    lane: int
    kind: str  # compute, encode, wire, decode
    name: str
    begin: float  # microseconds
    end: float
    bytes: int  # sent
    call: int  # the lane's collective that it is a part of; 0: none
    size: int  # of that collective, in bytes
    ranks: str  # of its group, as "0-3,8"


def of(folder):
    """By rank its spans in the order of their begin; waiting is none."""
    path = folder / "trace.json"
    if not path.is_file():
        raise Unusable(f"'{folder}' has no trace.json; `trigram run --trace on --out {folder}` leaves one")
    found = {}
    for event in JsonStream(str(path)).events():
        if event.get("ph") != "X":
            continue
        try:
            add(found.setdefault(int(event["pid"]), []), event)
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
            raise Unusable(f"'{path}' is no trace that trigram wrote ({type(error).__name__}: {error})") from error
    if not found:
        raise Unusable(f"'{path}' has no spans")
    return {rank: joined(spans) for rank, spans in sorted(found.items())}


def add(spans, event):
    kind, arguments = str(event["cat"]), event.get("args", {})
    if kind != WAIT:
        begin = float(event["ts"])
        spans.append(Span(int(event["tid"]), kind, str(event["name"]), begin, begin + float(event["dur"]), int(arguments.get("bytes", 0)),
                          int(arguments.get("call", 0)), int(arguments.get("size", 0)), str(arguments.get("ranks", ""))))


def joined(spans):
    """A collective that went round by round is one span; what a lane computed between its rounds, as sums, lies within it."""
    first, kept = {}, []
    for span in sorted(spans, key=lambda one: (one.begin, one.end)):
        whole = first.get((span.lane, span.call)) if span.call else None
        if whole is None:
            kept.append(span)
            if span.call:
                first[(span.lane, span.call)] = span
        else:
            whole.end, whole.bytes = max(whole.end, span.end), whole.bytes + span.bytes
    ends = {}
    outside = []
    for span in kept:
        if span.kind == WIRE or span.end > ends.get(span.lane, float("-inf")):
            outside.append(span)
        if span.call:
            ends[span.lane] = max(span.end, ends.get(span.lane, float("-inf")))
    return outside


def members(text):
    """[0, 1, 2, 3, 8] of "0-3,8"."""
    found = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        if not first.isdigit() or (last and not last.isdigit()):
            raise Unusable(f"{in_quotes(text)} are no ranks of a group, as 0-3,8")
        found += range(int(first), int(last or first) + 1)
    return found

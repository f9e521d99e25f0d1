"""Chakra's execution traces (mlcommons/chakra), NAME.RANK.et of each rank and NAME.groups.json, as ASTRA-sim reads them."""

import bisect
import json

import spans
from chakra_trace import schema, wire
from exported import Exported
from unusable import Unusable, in_quotes

VERSION = "1.0.0"
PARTED = {"all_gather"}  # whose comm_size is one rank's part
ANSWERED = {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast"}  # by ASTRA-sim
TOLERANCE = 1e-6  # of a microsecond, which f64 may be off by after an hour


def exported(run, name):
    if "/" in name or name in ("", ".", ".."):
        raise Unusable(f"--name {in_quotes(name)} begins no file of a folder; give a word, as job")
    by_rank = spans.of(run)
    everybody = list(by_rank)
    result, groups, others, messages = Exported(), {}, set(), 0
    if not any(span.call for own in by_rank.values() for span in own):
        raise Unusable(f"'{run}' has no collectives in its trace, and of messages between two ranks a trace does not say who gets them")
    for rank, own in by_rank.items():
        kept = [span for span in own if span.kind != spans.WIRE or span.call]
        messages += len(own) - len(kept)
        numbers = {span.ranks: group_of(span, groups, everybody) for span in kept if span.call}
        others |= {span.name for span in kept if span.call and span.name not in ANSWERED}
        result.files[f"{name}.{rank}.et"] = file_of(kept, numbers)
    if groups:
        result.files[f"{name}.groups.json"] = (json.dumps({str(number): spans.members(ranks) for ranks, number in groups.items()}) + "\n").encode()
    result.took.append(f"{len(everybody)} ranks, {sum(map(len, by_rank.values()))} spans, {len(groups)} groups beside that of all ranks")
    if messages:
        result.left_out.append(f"{messages} messages outside of collectives, as gossip and questions to a server are: the trace does not say who gets them")
    if others:
        result.left_out.append(f"nothing of {', '.join(sorted(others))}, but ASTRA-sim ends at them: Chakra has a comm_type for each, and ASTRA-sim none")
    return result


def group_of(span, groups, everybody):
    """0 is all ranks; others are numbered as they come."""
    if spans.members(span.ranks) == everybody:
        return 0
    return groups.setdefault(span.ranks, len(groups) + 1)


def file_of(own, numbers):
    whole, ends, owed = [wire.message(wire.bytes_field(1, VERSION.encode()))], Ends(), 0.0  # microseconds that wait for the next whole one
    for i, span in enumerate(own):
        owed += span.end - span.begin
        microseconds = max(0, round(owed))
        owed -= microseconds
        whole.append(wire.message(node(i, span, ends.before(span), microseconds, numbers)))
        ends.add(i, span)
    return b"".join(whole)


class Ends:
    """What a span waited for: the one before it on its lane, and, where the lane was idle in between, what ended last on others."""

    def __init__(self):
        self.of_lane = {}  # (ends, numbers), both in order

    def add(self, number, span):
        ends, numbers = self.of_lane.setdefault(span.lane, ([], []))
        ends.append(span.end)
        numbers.append(number)

    def before(self, span):
        last = {lane: self.last_of(lane, span.begin + TOLERANCE) for lane in self.of_lane}
        own = last.get(span.lane)
        needs = [own[1]] if own else []
        if own is None or span.begin > own[0] + TOLERANCE:
            latest = max((one for one in last.values() if one), default=None)
            if latest and latest != own:
                needs.append(latest[1])
        return needs

    def last_of(self, lane, time):
        ends, numbers = self.of_lane[lane]
        at = bisect.bisect_right(ends, time)
        return (ends[at - 1], numbers[at - 1]) if at else None


def node(number, span, needs, microseconds, numbers):
    kind = schema.COLLECTIVE if span.call else schema.COMPUTE
    text = wire.number_field(1, number) + wire.bytes_field(2, span.name.encode()) + wire.number_field(3, kind)
    text += wire.bytes_field(5, b"".join(map(wire.encoded_varint, needs))) if needs else b""
    text += wire.number_field(6, int(max(0, span.begin))) + wire.number_field(7, microseconds) + attribute("is_cpu_op", 27, 0)
    if not span.call:
        return text
    size = -(-span.size // len(spans.members(span.ranks))) if span.name in PARTED else span.size
    text += attribute("comm_type", 9, schema.COLLECTIVES.index(span.name)) + attribute("comm_size", 9, size)
    return text + (attribute("pg_name", 29, str(numbers[span.ranks]).encode()) if numbers[span.ranks] else b"")


def attribute(name, place, value):
    content = wire.number_field(place, value) if isinstance(value, int) else wire.bytes_field(place, value)
    return wire.bytes_field(10, wire.bytes_field(1, name.encode()) + content)

"""Chakra's messages, as et_def.proto of mlcommons/chakra numbers their fields: what is read of them, and what is written."""

import dataclasses

from chakra_trace import wire

LOAD, STORE, COMPUTE, SEND, RECEIVE, COLLECTIVE = 2, 3, 4, 5, 6, 7  # NodeType
COLLECTIVES = ["all_reduce", "reduce", "all_gather", "gather", "scatter", "broadcast", "all_to_all", "reduce_scatter", "reduce_scatter", "barrier"]
MOST_MICROSECONDS = 1e15
MOST_BYTES = 1e18
# AttributeProto's value, by the number of its field.
VALUES = {3: wire.unpacked("<d"), 5: wire.unpacked("<f"), 7: wire.signed, 9: wire.signed, 11: int, 13: int, 15: wire.unzigzag, 17: wire.unzigzag,
          19: wire.unpacked("<I"), 21: wire.unpacked("<Q"), 23: wire.unpacked("<i"), 25: wire.unpacked("<q"), 27: bool,
          29: lambda value: value.decode("utf-8", "replace")}
READ = {b"is_cpu_op", b"comm_type", b"comm_size", b"pg_name", b"comm_src", b"comm_dst"}


@dataclasses.dataclass
class Node:
    __slots__ = ("id", "name", "type", "on_host", "microseconds", "needs", "operation", "bytes", "group")

    id: int
    name: str
    type: int
    on_host: bool  # is_cpu_op
    microseconds: float
    needs: tuple  # ids: its data_deps, which feeders wait for
    operation: str  # of a collective: as 'all_reduce', '' where no attribute says
    bytes: int  # comm_size
    group: str  # pg_name: '' is all ranks


def attribute(data):
    """(name, value) of an AttributeProto; None for one that nothing is read of, as lists."""
    name, value = b"", None
    for number, content in wire.fields(data):
        if number == 1:
            name = bytes(content)
            if name not in READ:
                return name, None
        elif number in VALUES:
            value = VALUES[number](content)
    return name, value


def metadata(data):
    """The version that a GlobalMetadata names, '' where it names none. Raises Malformed for other messages."""
    version = ""
    for number, value in wire.fields(data):
        if number == 1 and isinstance(value, bytes):
            version = value.decode("utf-8", "strict")
        elif number == 2 and isinstance(value, bytes):
            attribute(value)
        else:
            raise wire.Malformed(f"field {number}, which GlobalMetadata has not")
    return version


def node(data):
    found = Node(0, "", 0, False, 0.0, (), "", 0, "")
    needs, attributes = [], {}
    for number, value in wire.fields(data):
        if number == 1:
            found.id = whole(value, "id")
        elif number == 2:
            found.name = value.decode("utf-8", "replace") if isinstance(value, bytes) else no("name")
        elif number == 3:
            found.type = whole(value, "type")
        elif number == 5:
            needs += wire.whole_numbers(value)
        elif number == 7:
            found.microseconds = float(whole(value, "duration_micros"))
        elif number == 10:
            name, content = attribute(value if isinstance(value, bytes) else no("attr"))
            attributes[name] = content
    found.needs = tuple(needs)
    take(found, attributes)
    return found


def take(found, attributes):
    kind = int(number_of(attributes, b"comm_type", 0))
    found.bytes = int(number_of(attributes, b"comm_size", 0))
    found.on_host = bool(attributes.get(b"is_cpu_op"))
    found.group = str(attributes.get(b"pg_name") or "")
    if found.type == COLLECTIVE and attributes.get(b"comm_type") is not None:
        if not 0 <= kind < len(COLLECTIVES):
            raise wire.Malformed(f"node {found.id} has the comm_type {kind}, and there are 0 (ALL_REDUCE) to {len(COLLECTIVES) - 1} (BARRIER)")
        found.operation = COLLECTIVES[kind]
    if not 0 <= found.bytes <= MOST_BYTES:
        raise wire.Malformed(f"node {found.id} has a comm_size of {found.bytes} bytes")
    if found.microseconds > MOST_MICROSECONDS:
        raise wire.Malformed(f"node {found.id} takes {found.microseconds:.4g} us")
    if found.type > COLLECTIVE:
        raise wire.Malformed(f"node {found.id} has the type {found.type}, and there are 0 to {COLLECTIVE} (COMM_COLL_NODE)")


def number_of(attributes, name, otherwise):
    value = attributes.get(name)
    if value is None:
        return otherwise
    if isinstance(value, str):
        raise wire.Malformed(f"{name.decode()} is the text {value[:40]!r}")
    return value


def whole(value, name):
    return value if isinstance(value, int) else no(name)


def no(name):
    raise wire.Malformed(f"{name} has another type than in et_def.proto")

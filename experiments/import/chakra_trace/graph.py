"""The nodes of one rank's file."""

import dataclasses
import re
import struct

from chakra_trace import schema, wire
from unusable import Unusable

RANK = re.compile(r"\.(\d+)\.et(?:\.gz)?$")


@dataclasses.dataclass
class Graph:
    path: str
    version: str
    nodes: list  # of schema.Node, in the order of the file


def read(path):
    """The file's nodes. Raises Unusable, naming the file, for what is no whole trace."""
    version, nodes, seen = None, [], set()
    for count, data in enumerate(wire.messages(path)):
        try:
            if count == 0:
                version = schema.metadata(data)
                continue
            node = schema.node(data)
        except (struct.error, TypeError, OverflowError, ValueError) as error:
            raise Unusable(f"'{path}' is no trace of Chakra that can be read: message {count + 1} is no {'node' if count else 'GlobalMetadata'}: {error}" +
                           ("; it is JSON, which chakra_converter turns into such a trace" if is_json(path) else "")) from error
        if node.id in seen:
            raise Unusable(f"'{path}' has two nodes of the id {node.id}")
        seen.add(node.id)
        nodes.append(node)
    if version is None:
        raise Unusable(f"'{path}' is empty; a trace of Chakra begins with its GlobalMetadata")
    require_whole(path, nodes, seen)
    return Graph(path, version, nodes)


def is_json(path):
    with wire.opened(path) as file:
        return file.read(64).lstrip()[:1] in (b"{", b"[")


def require_whole(path, nodes, seen):
    for node in nodes:
        absent = next((one for one in node.needs if one not in seen), None)
        if absent is not None:
            raise Unusable(f"'{path}': node {node.id} waits for node {absent}, which the file does not have; it was cut off or is still being written")
    if not any(node.microseconds > 0 and node.type == schema.COMPUTE for node in nodes):
        raise Unusable(f"'{path}' has {len(nodes)} nodes, and none that computes for some time (COMP_NODE with duration_micros): it is of communication alone, or of "
                       "FLOPs, which ASTRA-sim's roofline turns into times")


def rank_of(path, otherwise):
    """Of 'trace.3.et', as ASTRA-sim asks for a rank's file."""
    found = RANK.search(path)
    return int(found[1]) if found else otherwise

"""Steps of one rank's graph taken apart, as those of PyTorch's traces: forward, backward, rest, and when each bucket of gradients was ready."""

import dataclasses
import itertools
import re

from chakra_trace import schema
from chakra_trace.replay import DEVICE, HOST, NETWORK, Replay, lane_of
from torch_trace.collectives import GRADIENT, Transfer
from torch_trace.steps import TO_SECONDS, Ready, Step

BACKWARD = re.compile(r"backward|(?:^|_)bwd(?:_|$)|autograd::engine", re.IGNORECASE)
FORWARD = re.compile(r"^forward|(?:^|_)fwd(?:_|$)", re.IGNORECASE)  # of generators; operators and kernels are not named so as a whole
FORWARD_SHARE = 1 / 3  # of computing, where no name tells: backward takes twice as many operations


@dataclasses.dataclass
class Steps:
    steps: list  # of torch_trace.steps.Step
    named: bool  # names tell backward from the rest
    traced: "float | None"  # seconds of a step by the times that the file has for collectives too


def computes(node):
    return node.type == schema.COMPUTE


def is_backward(node):
    return computes(node) and BACKWARD.search(node.name) is not None


def pieces(nodes):
    """The nodes of each step: one begins with what is named forward behind what is named backward."""
    found, behind_backward = [[]], False
    for node in nodes:
        if is_backward(node):
            behind_backward = True
        elif computes(node) and behind_backward and FORWARD.search(node.name):
            found.append([])
            behind_backward = False
        found[-1].append(node)
    return found


def waited_for(nodes, named):
    """Ids of what a node of backward needs, or, where no name tells, any that computes: activations, whatever they are reduced by."""
    return {need for node in nodes if (is_backward(node) if named else computes(node)) for need in node.needs}


def wait_for_streams(nodes):
    """Adds what data_deps of PyTorch's traces leave out: what a host starts on the network waits for all that it had started on the device."""
    hosts, last = {node.id for node in nodes if lane_of(node) == HOST}, None
    for node in nodes:
        if lane_of(node) == DEVICE:
            last = node.id
        elif lane_of(node) == NETWORK and last is not None and not hosts.isdisjoint(node.needs):
            node.needs += (last,)


def steps_of(graph, world, groups):
    """Changes the graph as `wait_for_streams` does."""
    nodes = sorted(graph.nodes, key=lambda one: one.id)
    wait_for_streams(nodes)
    named = any(map(is_backward, nodes))
    alone = Replay(graph, with_network=False).times
    waited = waited_for(nodes, named)
    parts = pieces(nodes)
    steps = [taken_apart(part, alone, waited, lambda node: len(groups.get(node.group, range(world)))) for part in parts]
    return Steps([one for one in steps if one.step > 0], named, traced_seconds(graph, len(parts)))


def traced_seconds(graph, count):
    if not all(node.microseconds > 0 for node in graph.nodes if lane_of(node) == NETWORK):
        return None
    return TO_SECONDS * max(end for _, end in Replay(graph, with_network=True).times.values()) / count


def taken_apart(nodes, times, waited, size_of):
    """Of the times without a network."""
    own = [times[node.id] for node in nodes if lane_of(node) in (HOST, DEVICE)]
    begin, end = min((one[0] for one in own), default=0.0), max((one[1] for one in own), default=0.0)
    first, last = backward_of(nodes, times, begin, end)
    gradients = sorted((node for node in nodes if is_gradient(node, waited, times, first)), key=lambda node: (times[node.id][1], node.id))

    def share(time):
        return (min(max(time, first), last) - first) / (last - first) if last > first else 1.0

    buckets = [Ready(node.bytes // 4, "float", share(times[node.id][1])) for node in gradients]
    on_network = [node for node in nodes if lane_of(node) == NETWORK and node.operation]
    ends = list(itertools.accumulate(node.microseconds for node in on_network))  # one after the other: a duration is that of one alone
    transfers = [Transfer(at - node.microseconds, at - node.microseconds, at, node.operation, node.bytes, "byte", size_of(node))
                 for node, at in zip(on_network, ends)]
    seconds = [TO_SECONDS * one for one in (end - begin, first - begin, last - first, end - last)]
    return Step(*seconds, exposed=0, hidden=0, others=0, idle=0, loading=0, buckets=buckets, tensors=[], transfers=transfers)


def backward_of(nodes, times, begin, end):
    """From the first to the last of that name, on the device where there is one: kernels have other names than the operators that
    start them, and stand behind them."""
    marked = [i for i, node in enumerate(nodes) if is_backward(node)]
    if not marked:
        return begin + (end - begin) * FORWARD_SHARE, end
    until = next((i for i in range(marked[-1] + 1, len(nodes)) if lane_of(nodes[i]) == HOST), len(nodes)) if on_device(nodes) else marked[-1] + 1
    between = [node for node in nodes[marked[0]:until] if computes(node)]
    model = [node for node in between if lane_of(node) == DEVICE] or between
    return min(times[node.id][0] for node in model), max(times[node.id][1] for node in model)


def on_device(nodes):
    """Whether a host starts what computes."""
    return len({lane_of(node) for node in nodes if computes(node)}) > 1


def is_gradient(node, waited, times, first):
    return (lane_of(node) == NETWORK and node.operation in GRADIENT and node.bytes >= 4 and node.id not in waited and
            times[node.id][1] >= first)

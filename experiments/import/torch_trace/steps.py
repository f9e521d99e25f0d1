"""A step taken apart: forward, backward, the rest, what waits for gradients on the network, and when each gradient was ready. On GPUs the
clock is that of the kernels, which run behind the host; on CPUs that of the operators."""

import bisect
import collections
import dataclasses

from torch_trace import collectives as traced
from torch_trace.intervals import length, united, without
from torch_trace.windows import windows_of

TO_SECONDS = 1e-6


@dataclasses.dataclass
class Ready:
    """What became ready in backward: a bucket or a tensor, at a share of backward's own time."""

    elements: int
    kind: str
    at: float
    dimensions: "tuple | None" = None


@dataclasses.dataclass
class Step:
    """Seconds. step = forward + backward + rest + exposed; idle, loading and others are parts of the first three."""

    step: float
    forward: float
    backward: float
    rest: float
    exposed: float  # neither operators nor kernels, and gradients on the network
    hidden: float  # gradients on the network beside operators or kernels
    others: float  # other collectives that nothing hides
    idle: float  # nothing at all
    loading: float
    buckets: list  # Ready, in the order of backward
    tensors: list
    transfers: list  # of traced.Transfer


class Timeline:
    """What computes, in the order in which it was begun on the host."""

    def __init__(self, trace):
        if trace.on_gpu:
            begun = {correlation: begin for begin, _, correlation, _ in trace.launches}
            work = [(begun.get(tag, begin), begin, end, lane) for begin, end, tag, lane in trace.kernels]
        else:
            work = [(begin, begin, end, 0) for begin, end, _, _ in trace.operators]
        self.work = sorted(work)
        self.begun = [one[0] for one in self.work]
        self.on_gpu = trace.on_gpu
        busy = collections.Counter()
        for _, begin, end, lane in work:
            busy[lane] += end - begin
        self.main = busy.most_common(1)[0][0] if busy else 0  # the stream of the model; what others copy may run ahead of it

    def between(self, begin, end):
        """Work that was begun between two times of the host."""
        return self.work[bisect.bisect_left(self.begun, begin):bisect.bisect_left(self.begun, end)]

    def of_model(self, begin, end):
        return [one for one in self.between(begin, end) if one[3] == self.main]


def steps_of(trace):
    """Steps that are whole, how they were told apart, and how many collectives have no size."""
    windows, how = windows_of(trace)
    timeline = Timeline(trace)
    transfers, unknown = traced.transfers_of(trace)
    steps = []
    for i, window in enumerate(windows):
        borders = device_borders(timeline, windows, i) if trace.on_gpu else (window.begin, window.end)
        if borders:
            own = [one for one in transfers if window.begin <= one.called < window.end]
            steps.append(taken_apart(trace, timeline, window, borders, own))
    return steps, how, unknown


def device_borders(timeline, windows, i):
    """From the first kernel of a step to the first of the next; the last step is whole only where it is alone."""
    first = begin_of(timeline.of_model(windows[i].begin, windows[i].end))
    if first is None:
        return None
    if i + 1 < len(windows):
        following = begin_of(timeline.of_model(windows[i + 1].begin, windows[i + 1].end))
        return None if following is None or following <= first else (first, following)
    return (first, max(one[2] for one in timeline.of_model(windows[i].begin, float("inf")))) if len(windows) == 1 else None


def begin_of(work):
    return min((one[1] for one in work), default=None)


def taken_apart(trace, timeline, window, borders, transfers):
    begin, end = borders
    work = timeline.between(window.begin, window.end)
    backward = [one for one in work if window.backward[0] <= one[0] <= window.backward[1] and one[3] == timeline.main]
    first = begin_of(backward) or window.backward[0]
    last = max((one[2] for one in backward), default=window.backward[1])
    gradients = [one for one in transfers if is_gradient(one, window)]
    others = united((one.begin, one.end) for one in transfers if not is_gradient(one, window))
    computing = united([(one[1], one[2]) for one in timeline_between(timeline, work, borders)])
    busy = united(computing + others)
    sent = united((max(begin, one.begin), min(end, one.end)) for one in gradients)
    exposed = without(sent, busy)
    loading = sum(last - first for first, last in window.loading)
    forward = first - begin - length(exposed, begin, first)
    moved = 0 if trace.on_gpu else min(loading, forward)  # on GPUs waiting for data is time without a kernel
    backward_time = last - first - length(exposed, first, last)
    step = end - begin
    parts = Parts(first, last, exposed, backward_time)
    seconds = [TO_SECONDS * one for one in (
        step, forward - moved, backward_time, step - forward - backward_time - length(exposed) + moved, length(exposed),
        length(sent) - length(exposed), length(without(others, computing), begin, end),
        step - length(united(busy + sent), begin, end), loading)]
    return Step(*seconds, buckets=[parts.ready(one, ready_time(timeline, work, one)) for one in gradients if one.elements],
                tensors=tensors_of(trace, timeline, work, window, parts), transfers=transfers)


def timeline_between(timeline, work, borders):
    """On GPUs a step's work is what it began; on CPUs whatever ran."""
    return work if timeline.on_gpu else timeline.between(*borders)


def is_gradient(transfer, window):
    return transfer.operation in traced.GRADIENT and window.backward[0] <= transfer.called <= window.backward[1]


def ready_time(timeline, work, transfer):
    """When all that was begun before the collective was asked for has ended: what its stream waits for."""
    if not timeline.on_gpu:
        return transfer.called
    return max((one[2] for one in work if one[3] == timeline.main and one[0] < transfer.called), default=transfer.begin)


@dataclasses.dataclass
class Parts:
    """Backward's own clock, which stands still while gradients are waited for."""

    first: float
    last: float
    exposed: list
    own: float

    def share(self, time):
        time = min(max(time, self.first), self.last)
        return (time - self.first - length(self.exposed, self.first, time)) / self.own if self.own > 0 else 0.0

    def ready(self, transfer, time):
        return Ready(transfer.elements, transfer.kind, self.share(time))


def tensors_of(trace, timeline, work, window, parts):
    """Each parameter's gradient, where shapes were recorded; a gradient of 16 bits is a tensor of as many elements."""
    work = [one for one in work if one[3] == timeline.main]
    begun, ends, latest = [one[0] for one in work], [], float("-inf")
    for one in work:
        latest = max(latest, one[2])
        ends.append(latest)
    found = []
    for called, dimensions, kind in trace.gradients:
        if not window.backward[0] <= called <= window.backward[1]:
            continue
        shape = traced.shape_in(dimensions)
        if shape is None:
            return []
        at = bisect.bisect_right(begun, called) - 1
        time = ends[at] if timeline.on_gpu and at >= 0 else called
        elements = 1
        for one in shape:
            elements *= one
        found.append(Ready(elements, kind.lower(), parts.share(time), tuple(shape)))
    return found

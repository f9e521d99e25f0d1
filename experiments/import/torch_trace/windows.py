"""Where steps begin and end on the host."""

import dataclasses


@dataclasses.dataclass
class Window:
    """One step on the host. `backward` is from its first operator to the end of the last one."""

    begin: float
    end: float
    backward: tuple
    updates: list
    loading: list


def windows_of(trace):
    """Steps with a backward pass, in order, and how they were told apart, as a phrase."""
    if trace.steps:
        marks = sorted(trace.steps)
        borders = [begin for begin, _ in marks] + [marks[-1][1]]
        how = "by the annotations ProfilerStep"
    else:
        borders, how = borders_by_updates(trace)
    backward = sorted(zip(trace.backward.begin, trace.backward.end))
    windows = []
    for begin, end in zip(borders, borders[1:]):
        own = [one for one in backward if begin <= one[0] < end]
        if own:
            windows.append(Window(begin, end, (own[0][0], max(last for _, last in own)), inside(trace.updates, begin, end), inside(trace.loading, begin, end)))
    return windows, how


def borders_by_updates(trace):
    """The ends of runs of optimizers between which gradients were computed."""
    marks = [(begin, end, True) for begin, end in trace.updates] + [(begin, end, False) for begin, end in zip(trace.backward.begin, trace.backward.end)]
    borders, last_update = [], None
    for _, end, is_update in sorted(marks):
        if is_update:
            last_update = end
        elif last_update is not None:
            borders.append(last_update)
            last_update = None
    if last_update is not None:
        borders.append(last_update)
    if len(borders) > 1:
        return borders, "by the ends of the optimizers' steps, for want of annotations ProfilerStep"
    first = min(min(trace.operators.begin, default=float("inf")), min(trace.launches.begin, default=float("inf")))
    last = max(max(trace.operators.end, default=0), max(trace.kernels.end, default=0))
    return [first, last], "nowhere: the trace has one step, whose begin and end may be cut off"


def inside(intervals, begin, end):
    return sorted(one for one in intervals if begin <= one[0] < end)

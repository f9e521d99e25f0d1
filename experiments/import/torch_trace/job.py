"""Several ranks and steps of one training as one: a step waits for its slowest rank, and a collective lasts as long as on the rank that came
to it last."""

import collections
import dataclasses

from imported import middle
from torch_trace.intervals import shares
from unusable import Unusable


@dataclasses.dataclass
class Collective:
    """One that is repeated in each step, with the seconds that each took on the rank that waited least. Of several that ran at once, as gloo's
    do, each counts for its share of that time: they are on one wire."""

    operation: str
    bytes: int
    group: int
    seconds: list


@dataclasses.dataclass
class Job:
    traces: list
    steps: list  # of steps.Step, of the slowest rank each
    collectives: list
    how: str
    left_out: int  # steps with other buckets than most
    unknown: int  # collectives whose size no event says

    @property
    def world(self):
        return max(trace.world for trace in self.traces)

    def over_steps(self, name):
        return [getattr(step, name) for step in self.steps]


def structure(step):
    return tuple((one.elements, one.kind) for one in step.buckets)


def computing(step):
    return step.forward + step.backward + step.rest


def job_of(traces, steps_of_ranks, how, unknown):
    require_one_job(traces)
    every = [step for steps in steps_of_ranks for step in steps]
    if not every:
        raise Unusable(f"'{traces[0].path}' has no whole step: trace two steps or more, of which the last is whole on the host only")
    [(usual, _)] = collections.Counter(structure(step) for step in every).most_common(1)
    kept = [[step for step in steps if structure(step) == usual] for steps in steps_of_ranks]
    return Job(traces, slowest(kept), transfers_of(kept), how, len(every) - sum(map(len, kept)), unknown)


def require_one_job(traces):
    seen = {}
    for trace in traces:
        other = seen.setdefault(trace.rank, trace)
        if other is not trace:
            raise Unusable(f"'{trace.path}' and '{other.path}' are both of rank {trace.rank}; give one file for each rank of one job")
        if trace.world != traces[0].world:
            raise Unusable(f"'{trace.path}' is of a job of {trace.world} ranks, '{traces[0].path}' of {traces[0].world}; give files of one job")


def slowest(steps_of_ranks):
    """Where all ranks have as many steps, step i of the rank that computed longest in it; else all steps of all ranks."""
    filled = [steps for steps in steps_of_ranks if steps]
    if len({len(steps) for steps in filled}) == 1:
        return [max(ranks, key=computing) for ranks in zip(*filled)]
    return [step for steps in filled for step in steps]


def transfers_of(steps_of_ranks):
    """The k-th of its kind on each rank is one collective, where all ranks have as many; else each rank's stand alone."""
    by_rank = []
    for steps in steps_of_ranks:
        own = collections.defaultdict(list)
        for step in steps:
            for one, alone in zip(step.transfers, shares([(one.begin, one.end) for one in step.transfers])):
                own[(one.operation, one.bytes, one.group)].append(alone * 1e-6)
        by_rank.append(own)
    found = []
    for key in sorted({key for own in by_rank for key in own}):
        times = [own[key] for own in by_rank if key in own]
        together = len({len(one) for one in times}) == 1 and len(times) > 1
        found.append(Collective(*key, [min(one) for one in zip(*times)] if together else [time for one in times for time in one]))
    return found


def bucket_limit(step):
    """The size at which DistributedDataParallel closed buckets: none but the last is smaller; the first one is, by its own rule."""
    sizes = [4 * one.elements for one in step.buckets]  # simulated gradients are f32, whatever travels
    closed = sizes[:-1] if len(sizes) > 1 else sizes
    return min(closed[1:] if len(closed) > 1 else closed, default=0)


def median_of(steps, name):
    return middle([getattr(step, name) for step in steps])

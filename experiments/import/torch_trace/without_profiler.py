"""Steps as they were without the profiler, which takes time and memory for what it records."""

import dataclasses

from imported import middle, seconds
from torch_trace.job import computing
from unusable import Unusable


def shortened(steps, untraced):
    """`steps`, of which the middle one takes `untraced` seconds, and a sentence. A trace does not show where the profiler was at work, so that
    forward, backward and the rest are shortened by one factor. What of it was hidden behind an exchange of gradients stays in them."""
    traced, computed = middle([one.step for one in steps]), middle([computing(one) for one in steps])
    surplus = traced - untraced
    if surplus <= 0:
        return steps, f"steps of the trace are no longer than the {seconds(untraced)} without the profiler, and stay as they are"
    if surplus >= computed:
        raise Unusable(f"a step of {seconds(untraced)} without the profiler (untraced-step) leaves nothing of computing, which was "
                       f"{seconds(computed)} of the {seconds(traced)} that were traced")
    share = surplus / computed
    return [without(one, share) for one in steps], (f"without the profiler a step is {seconds(untraced)}: forward, backward and the rest are "
                                                    f"shortened by {100 * share:.0f} %, {seconds(surplus)} in all")


def without(step, share):
    parts = {name: getattr(step, name) * (1 - share) for name in ("forward", "backward", "rest")}
    return dataclasses.replace(step, step=step.step - share * computing(step), **parts)

"""Output of ping between two hosts: a cluster's latency."""

import re

from imported import Imported, middle, seconds
from text_lines import lines_of
from unusable import Unusable

REPLY = re.compile(r"\btime[=<]([\d.]+)\s*ms")
SUMMARY = re.compile(r"min/avg/max/?\w*\s*=\s*([\d.]+)/([\d.]+)/([\d.]+)")


def imported(paths, given):
    result, times = Imported(summary="From ping between two hosts."), []
    for path in paths:
        lines = [line for _, line in lines_of(path)]
        own = [float(found[1]) for line in lines if (found := REPLY.search(line))]
        if not own:
            own = [float(one) for line in lines if (found := SUMMARY.search(line)) for one in found.groups()]
        if not own:
            raise Unusable(f"'{path}' has no reply of a ping, as 'time=0.213 ms', and no summary of them")
        times += own
        result.took.append(f"'{path}': {len(own)} round trips")
    halves = [one * 1e-3 / 2 for one in times]
    result.cluster["nic_latency"] = (seconds(middle(halves)),
                                     f"half of the median round trip of {len(times)}, from {seconds(min(halves))} to {seconds(max(halves))}")
    result.unknown.append("bandwidth: ping carries next to nothing; `trigram import iperf3` has it")
    return result

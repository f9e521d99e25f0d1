"""Output of iperf3 --json between two hosts: a cluster's NIC, its latency, and what one connection reaches."""

import json

from imported import Imported, binary, bits_a_second, middle, seconds
from torch_trace.json_stream import opened
from unusable import Unusable


def imported(paths, given):
    result = Imported(summary="From iperf3 between two hosts.")
    rates, latencies, windows, connections = [], [], [], set()
    for path in paths:
        facts = read(path)
        own = [one["sum"]["bits_per_second"] for one in facts.get("intervals", []) if one.get("sum") and not one["sum"].get("omitted")]
        rates += [one for one in own if one > 0] or [received(facts, path)]
        streams = [one.get("sender", {}) for one in facts["end"].get("streams", [])]
        latencies += [one["min_rtt"] * 1e-6 / 2 for one in streams if one.get("min_rtt", 0) > 0]
        windows += [one["max_snd_cwnd"] for one in streams if one.get("max_snd_cwnd", 0) > 0]
        connections.add(len(streams) or 1)
        result.took.append(f"'{path}': {len(own)} intervals of {len(streams) or 1} connections")
    source = f"median of {len(rates)} intervals, from {bits_a_second(min(rates))} to {bits_a_second(max(rates))}"
    result.cluster["nic_bandwidth"] = (bits_a_second(middle(rates)), source + "; payload of TCP, so nic_efficiency stays 1")
    if latencies:
        result.cluster["nic_latency"] = (seconds(min(latencies)), "half of the shortest round trip that TCP saw")
    else:
        result.unknown.append("the latency: the receiver's side and some systems do not report round trips; `trigram import ping` has it")
    if windows:
        result.took.append(f"the largest congestion window was {binary(max(windows))}; nic_window is set by hand where it limits")
    if connections == {1}:
        result.unknown.append("whether the NIC or the one connection was the limit: iperf3 -P 4 shows it")
    return result


def read(path):
    try:
        with opened(path) as file:
            facts = json.load(file)
    except OSError as error:
        raise Unusable(f"cannot read '{path}': {error.strerror}") from error
    except (ValueError, EOFError) as error:
        raise Unusable(f"'{path}' is no JSON ({error}); iperf3 writes it with --json") from error
    if not isinstance(facts, dict) or not isinstance(facts.get("end"), dict):
        raise Unusable(f"'{path}' is JSON, but not of iperf3: it has no 'end'")
    if facts.get("error"):
        raise Unusable(f"'{path}' is of an iperf3 that failed: {facts['error']}")
    return facts


def received(facts, path):
    for name in ("sum_received", "sum"):
        if rate := facts["end"].get(name, {}).get("bits_per_second"):
            return rate
    raise Unusable(f"'{path}' has no rate: neither intervals nor end.sum_received.bits_per_second")

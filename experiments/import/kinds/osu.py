"""Output of OSU micro-benchmarks: osu_latency and osu_bw give a cluster, collectives rows of measurements."""

import re

from imported import Imported, binary, bytes_a_second, seconds
from text_lines import lines_of, numbers_of
from unusable import Unusable

TITLE = re.compile(r"^#\s*OSU\s+(?:MPI\S*\s+)?(.*?)\s+Test", re.IGNORECASE)
COLLECTIVES = {"allreduce": "all_reduce", "reduce_scatter": "reduce_scatter", "bcast": "broadcast",
               "broadcast": "broadcast", "reduce": "reduce"}


def imported(paths, given):
    result = Imported(summary="From OSU micro-benchmarks between two hosts.")
    for path in paths:
        take(result, path)
    return result


def take(result, path):
    title, rows = "", []
    for _, line in lines_of(path):
        if found := TITLE.match(line):
            title = found[1].lower()
        if not line.startswith("#") and (words := numbers_of(line)):
            rows.append((int(float(words[0])), float(words[1])))
    if not title or not rows:
        raise Unusable(f"'{path}' is no output of an OSU micro-benchmark: it has {'no rows' if title else 'no line as: # OSU MPI Latency Test'}")
    words = re.sub(r"[^a-z_ ]", "", title).replace("non-blocking", "").split()
    collective = next((COLLECTIVES[word] for word in words if word in COLLECTIVES), None)
    if collective:
        take_collective(result, path, collective, rows)
    elif "bandwidth" in words and "bidirectional" not in title.replace("-", ""):
        best = max(rate for _, rate in rows)
        result.cluster["nic_bandwidth"] = (bytes_a_second(best * 1e6), f"the most that {path} reaches, of {len(rows)} sizes")
        result.took.append(f"'{path}': nic_bandwidth, the most of {len(rows)} sizes")
    elif "latency" in words:
        size, time = min(rows)
        result.cluster["nic_latency"] = (seconds(time * 1e-6), f"of {size} bytes in {path}")
        result.took.append(f"'{path}': nic_latency, of {size} bytes")
    else:
        raise Unusable(f"'{path}' is of '{title}', of which nothing is taken; there are latency, bandwidth, and the collectives {', '.join(sorted(COLLECTIVES))}")


def take_collective(result, path, collective, rows):
    for size, microseconds in rows:
        if size >= 4 and microseconds > 0:
            result.rows.append({"source": f"osu {collective}", "op": collective, "size": binary(size), "seconds": f"{microseconds * 1e-6:.6g}"})
    result.took.append(f"'{path}': {len(rows)} sizes of {collective}")

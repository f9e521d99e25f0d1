"""Output of nccl-tests (all_reduce_perf and the others): rows of measurements."""

import re

from imported import Imported, binary
from text_lines import lines_of, numbers_of
from unusable import Unusable

OPERATIONS = {"all_reduce": "all_reduce", "all_gather": "all_gather", "reduce_scatter": "reduce_scatter", "alltoall": "all_to_all",
              "broadcast": "broadcast", "reduce": "reduce", "gather": "gather", "scatter": "scatter"}
RANK = re.compile(r"^#\s+Rank\s+(\d+)\b.*\bon\s+(\S+)\s+device")
PROGRAM = re.compile(r"\b(\w+?)_perf\b")
BEFORE_TIME = 5  # columns: size, count, type, redop, root


def imported(paths, given):
    result = Imported()
    for path in paths:
        take(result, path, given["op"])
    result.unknown.append("whether a time is bound by links inside nodes or between them: calibrate --fit says what these rows cannot tell apart")
    return result


def take(result, path, told):
    hosts, operation, rows = {}, told, []
    for number, line in lines_of(path):
        if found := RANK.match(line):
            hosts.setdefault(found[2], set()).add(found[1])
        if not operation and (found := PROGRAM.search(line)):
            operation = OPERATIONS.get(found[1], "")
        words = None if line.startswith("#") else numbers_of(line)
        if words and len(words) > BEFORE_TIME:
            rows.append((number, words))
    if not rows:
        raise Unusable(f"'{path}' has no row of nccl-tests, as '1048576 262144 float sum -1 97.2 10.8 18.9 0 …'")
    if not operation:
        raise Unusable(f"'{path}' does not say of which collective it is (as 'all_reduce_perf'); give --op, as --op all_reduce")
    if operation not in OPERATIONS.values():
        raise Unusable(f"--op '{operation}' is none of {', '.join(sorted(OPERATIONS.values()))}")
    for number, words in rows:
        add(result, path, number, words, operation, hosts)
    where = f"{len(hosts)} hosts of {'/'.join(sorted({str(len(one)) for one in hosts.values()}))} GPUs" if hosts else "hosts that it does not name"
    result.took.append(f"'{path}': {len(rows)} sizes of {operation}, out of place, on {where}")


def add(result, path, number, words, operation, hosts):
    try:
        size, microseconds = int(words[0]), float(words[BEFORE_TIME])
    except ValueError as error:
        raise Unusable(f"'{path}', line {number}: {error}; columns are size, count, type, redop, root, time") from error
    if size < 4 or not 0 < microseconds < float("inf"):
        return  # nccl-tests' own row of nothing
    row = {"source": f"nccl-tests {operation}", "op": operation, "size": binary(size), "seconds": f"{microseconds * 1e-6:.6g}"}
    if hosts and len({len(one) for one in hosts.values()}) == 1:
        row |= {"cluster.nodes": len(hosts), "cluster.gpus_per_node": len(next(iter(hosts.values())))}
    result.rows.append(row)

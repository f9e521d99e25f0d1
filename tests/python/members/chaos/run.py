"""Disturbs jobs of members by chance: run.py [--seeds 0-99] [--newcomers] [--at-once 4] [--minutes M] [--report FILE] [METHODS…]. Each job has 4 to 8 processes, of
which three draws kill, stop, end or cut off some, part them in two, start others, or fill or slow down the disk; with --newcomers two come, who are struck while
they connect. Then what is promised is held to what they did, and weights to what the simulator makes of the same schedule. The same seed has the same faults. Ends
with 1 where a promise broke."""

import argparse
import collections
import functools
import itertools
import json
import math
import os
import pathlib
import select
import statistics
import sys
import tempfile
import time
import traceback

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import member  # noqa: E402
from history import schedule, simulated  # noqa: E402
from job import DisturbedJob  # noqa: E402
from network import Network, are_allowed, leave_the_hosts  # noqa: E402
from faults import PLACES, drawn, drawn_at_newcomers  # noqa: E402
from nursery import Nursery, die_with_parent  # noqa: E402
from promises import Promises  # noqa: E402

METHODS = ["all_reduce", "bytegrad:error_feedback=on", "qsgd", "power_sgd", "diana", "scaffold", "local_sgd:every=2", "diloco:every=3", "decentralized",
           "low_precision_decentralized", "choco_sgd", "no_loco:every=2", "ad_psgd", "moniqua", "async_average", "low_precision_async_average"]
DRAWS_TIMES = {"ad_psgd", "moniqua", "async_average", "low_precision_async_average"}
"""Methods whose weights depend on the clock."""


def replayed(algorithm, links, folder):
    """By the simulator, in a process of its own."""
    nursery = Nursery()
    child = nursery.fork(lambda say: say({"weights": simulated(algorithm, links, folder)}))
    while child.code is None:
        nursery.look(0.1)
    return child.told[0]["weights"] if child.told else "\n".join(child.said)


def difference(algorithm, promises, folder):
    """Whether weights were compared with the simulator's, and how they differ."""
    weights = promises.mean()
    if algorithm in DRAWS_TIMES or weights is None or schedule(promises.links) is None or not promises.are_simulated():
        return False, []
    wanted = replayed(algorithm, promises.links, folder)
    if wanted == weights:
        return True, []
    apart = f"{max(abs(one - other) for one, other in zip(weights, wanted)):g} apart" if isinstance(wanted, list) else wanted
    return True, [f"the simulator makes other weights of the same schedule ({apart}): {schedule(promises.links).splitlines()}"]


def try_one(seed, algorithm, network, draws):
    begun, used = time.monotonic(), sum(os.times()[:4])
    with tempfile.TemporaryDirectory(prefix="members-") as folder:
        job = DisturbedJob(folder, draws(seed, algorithm, network is not None), algorithm, network)
        try:
            job.run()
            promises = Promises(job)
            found = list(promises.broken())
            compared, apart = difference(algorithm, promises, folder) if promises.ends and not found else (False, [])
        finally:
            job.disk.end()
    return {"seed": seed, "algorithm": algorithm, "begin_with": job.draw.begin_with, "faults": job.struck, "stalls": job.stalls, "epochs": len(promises.links),
            "compared": compared, "found": sorted(set(found + apart)),
            "said": {one.number: one.said[-80:] for one in job.children.values()} if found + apart else {}, "wall_s": time.monotonic() - begun, "processor_s": sum(os.times()[:4]) - used}


def work(jobs, mouth, until, draws):
    """One after the other; each result is a line."""
    network = None
    if os.geteuid() == 0 and are_allowed():
        leave_the_hosts()
        network = Network(PLACES)
    for seed, algorithm in itertools.takewhile(lambda _: time.monotonic() < until, jobs):
        os.write(mouth, json.dumps(try_one(seed, algorithm, network, draws)).encode() + b"\n")


def start_worker(jobs, until, draws):
    """Where its results come."""
    ear, mouth = os.pipe()
    if os.fork() == 0:
        code = 1
        try:
            die_with_parent()
            os.close(ear)
            work(jobs, mouth, until, draws)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    os.close(mouth)
    return os.fdopen(ear)


def try_all(jobs, at_once=1, show=lambda _: None, until=math.inf, draws=drawn):
    """A result for each that begins until then, by the clock that cannot go back. `draws`: its faults."""
    ears = [start_worker(jobs[index::at_once], until, draws) for index in range(min(at_once, len(jobs)))]
    results = []
    while ears:
        for ear in select.select(ears, [], [])[0]:
            line = ear.readline()
            if not line:
                ears.remove(ear)
                continue
            results.append(json.loads(line))
            show(results[-1])
    return results


def tell(report, one):
    """On the terminal, and whole in a file of lines."""
    print(f"seed {one['seed']} {one['algorithm']} of {one['begin_with']}, {', '.join(one['faults'])}: {'; '.join(one['found']) or 'all promises hold'}", flush=True)
    if report:
        with open(report, "a", encoding="utf-8") as file:
            file.write(json.dumps(one) + "\n")


def summary(results, wanted):
    """Lines."""
    faults = collections.Counter(kind for one in results for kind in one["faults"])
    yield f"{len(results)} of {wanted} jobs, {sum(bool(one['found']) for one in results)} broke a promise; {sum(one['compared'] for one in results)} compared with the simulator; " \
          f"{sum(one['epochs'] for one in results)} epochs; {sum(one['processor_s'] for one in results):.0f} s of processor"
    for kind, count in faults.most_common():
        stalls = sorted(seconds for one in results for what, seconds in one["stalls"] if what == kind)
        yield f"{kind:10} {count:5} times; longest standstill after it: median {statistics.median(stalls):.2f} s, of a tenth above {stalls[len(stalls) * 9 // 10]:.2f} s, " \
              f"at most {stalls[-1]:.2f} s" if stalls else f"{kind:10} {count:5} times"


def seeds_of(text):
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("methods", nargs="*", default=METHODS)
    parser.add_argument("--seeds", type=seeds_of, default=range(100))
    parser.add_argument("--newcomers", action="store_const", dest="draws", const=drawn_at_newcomers, default=drawn, help="strike those who come while they connect")
    parser.add_argument("--at-once", type=int, default=4)
    parser.add_argument("--minutes", type=float, default=600, help="after which no job begins")
    parser.add_argument("--report", type=pathlib.Path, help="a line for each job; those that are there are not run again")
    told = parser.parse_args()
    member.load()
    jobs = [(seed, method) for seed in told.seeds for method in told.methods]
    results = [json.loads(line) for line in told.report.read_text("utf-8").splitlines()] if told.report and told.report.exists() else []
    known = {(one["seed"], one["algorithm"]) for one in results}
    results += try_all([one for one in jobs if one not in known], told.at_once, functools.partial(tell, told.report), time.monotonic() + 60 * told.minutes, told.draws)
    print("\n".join(summary(results, len(jobs))))
    return 1 if any(one["found"] for one in results) else 0


if __name__ == "__main__":
    sys.exit(main())

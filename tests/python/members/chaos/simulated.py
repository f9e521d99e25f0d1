"""The faults of run.py on a thousand simulated ranks: simulated.py [--seeds 0-4] [--ranks 1000] [METHODS…]. Whom a fault hits of a few processes, it hits of so
many in the same share, at the same steps. Each run ends, with as many members as the schedule says, and with the same weights where replicas are equal. Ends
with 1 where one does not."""

import argparse
import csv
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from faults import drawn  # noqa: E402
from member import STEPS  # noqa: E402
from run import METHODS, seeds_of  # noqa: E402

DIFFER = {"local_sgd:every=2", "diloco:every=3", "scaffold", "decentralized", "low_precision_decentralized", "choco_sgd", "no_loco:every=2", "ad_psgd", "moniqua",
          "async_average", "low_precision_async_average"}
"""Methods whose ranks may have other weights than each other."""
BACK_AFTER = 2
"""Steps until those join again who were stopped or cut off."""
WAYS = {"kill": "lose", "stop": "lose", "cut": "lose", "part": "lose", "kill all": "lose", "end": "leave"}


class Schedule:
    """Of so many ranks."""

    def __init__(self, draw, ranks):
        self.members, self._next, self._unit = list(range(ranks)), ranks, ranks // draw.begin_with
        self.events = []  # (step, line)
        self._back = []
        for fault in draw.faults:
            self._come_back(fault.step + 1)
            self._strike(fault, fault.step + 1)
        self._come_back(STEPS)

    def _strike(self, fault, step):
        if fault.kind == "join":
            self._join(step, self._unit)
        elif fault.kind in WAYS and len(self.members) > 1:
            count = {"part": len(self.members) // 2, "kill all": len(self.members) - 1}.get(fault.kind, min(self._unit, len(self.members) - 1))
            gone = random.Random(fault.draw).sample(self.members, count)
            self.members = [one for one in self.members if one not in gone]
            self.events.append((step, f"{WAYS[fault.kind]} {', '.join(map(str, gone))}"))
            if fault.kind in ("stop", "cut", "part", "kill all"):
                self._back.append((step + BACK_AFTER, count))

    def _come_back(self, before):
        for step, count in [one for one in self._back if one[0] <= before and one[0] < STEPS]:
            self._join(step, count)
        self._back = [one for one in self._back if one[0] > before]

    def _join(self, step, count):
        self.events.append((step, f"join {count}"))
        self.members += range(self._next, self._next + count)
        self._next += count

    def text(self):
        return "".join(f"at {step} {event}\n" for step, event in sorted(self.events, key=lambda one: one[0]))


def try_one(seed, method, ranks):
    """What broke, in words."""
    schedule = Schedule(drawn(seed, method), ranks)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "members.txt")
        path.write_text(schedule.text())
        words = ["run", "--algorithm", method, "--workload", "mlp", "--ranks", str(ranks), "--steps", str(STEPS), "--cluster",
                 f"two_by_four:nodes={ranks}", "--all-reduce", "recursive_doubling", "--global-batch", str(4 * ranks),
                 "--out", f"{folder}/out", *(["--membership", str(path)] if schedule.events else [])]
        done = subprocess.run([os.environ["TRIGRAM_PROGRAM"], *words], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return f"ended with {done.returncode}: {(done.stderr.strip() or 'nothing said').splitlines()[-1]}"
        if method not in DIFFER and re.search(r"weights .*which differ", done.stdout):
            return "ranks have other weights than each other"
        if schedule.events:
            with open(f"{folder}/out/epochs.csv", encoding="utf-8") as file:
                last = list(csv.DictReader(file))[-1]
            if int(last["ranks"]) != len(schedule.members):
                return f"{last['members']} members at the end, and {len(schedule.members)} by the schedule"
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("methods", nargs="*", default=METHODS)
    parser.add_argument("--seeds", type=seeds_of, default=range(1))
    parser.add_argument("--ranks", type=int, default=1000)
    told = parser.parse_args()
    broken = 0
    for method in told.methods:
        for seed in told.seeds:
            begun = time.monotonic()
            found = try_one(seed, method, told.ranks)
            print(f"seed {seed} {method}, {told.ranks} ranks, {time.monotonic() - begun:.1f} s: {found or 'holds'}", flush=True)
            broken += bool(found)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())

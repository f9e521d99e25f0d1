"""Disturbs jobs by chance: chaos.py SEEDS METHODS…, as chaos.py 0-7 all_reduce qsgd. Each seed kills members, stops some for a while, asks some to
end and starts others, at steps that it draws; waits are for what members say, and for no clock. Ends with 1 where a promise broke, and prints
the seed and the method, which repeat it."""

import random
import signal
import subprocess
import sys
import tempfile

from member_script import BATCH, SAMPLES
from members_case import Members

STEPS, BEGIN_WITH, LONGEST_QUIET = 14, 4, "1"
ACTIONS = ["kill", "kill", "stop", "end", "join"]


class Chaos:
    """One job."""

    def __init__(self, folder, seed, method):
        self._random = random.Random(f"{seed} {method}")
        self._members = Members(folder, BEGIN_WITH, method, steps=STEPS, heartbeat=LONGEST_QUIET)
        self._living = list(range(BEGIN_WITH))
        self._stopped = []
        self._spared = set()

    def run(self):
        """What broke, in words."""
        try:
            for step in sorted(self._random.sample(range(1, STEPS - 2), 3)):
                self._members.wait_for_step(step)
                self._act(self._random.choice(ACTIONS))
            for number in self._stopped:
                self._members.all[number].signal(signal.SIGCONT)
            return self._broken(self._members.end(), self._members.left())
        finally:
            self._members.kill()

    def _act(self, action):
        if action == "join" or len(self._living) == 1:
            self._members.start()
            self._spared.add(len(self._members.all) - 1)
            return
        number = self._living.pop(self._random.randrange(len(self._living)))
        if action == "stop":
            self._stopped.append(number)
        self._members.all[number].signal({"kill": signal.SIGKILL, "stop": signal.SIGSTOP, "end": signal.SIGTERM}[action])

    def _broken(self, ends, left):
        for number, (code, said) in ends.items():
            if code != 0 and (number in self._living or number in self._spared or number in self._stopped):
                yield f"member {number} ended with {code}:\n{said}"
        if not left:
            yield "nobody has finished"
            return
        yield from self._wrong_weights(left)
        yield from self._wrong_samples(left)

    def _wrong_weights(self, left):
        first, *others = left.values()
        if first["replicas_are_equal"] and any(not one["weights"].equal(first["weights"]) for one in others):
            yield "those who have finished have other weights than each other"
        if any(not one["weights"].isfinite().all() for one in left.values()):
            yield "weights are not finite"

    def _wrong_samples(self, left):
        """Of each step, in the epoch in which it was done at last, no sample is taken twice, and none is left out where all have told."""
        for step in range(STEPS):
            told = [one["taken"][step] for one in left.values() if step in one["taken"]]
            last = [one for one in told if one["epoch"] == max(one["epoch"] for one in told)]
            samples = [sample for one in last for sample in one["samples"]]
            ranks = {one["ranks"] for one in last}
            if len(set(samples)) < len(samples) or len(ranks) > 1 or len({one["rank"] for one in last}) < len(last):
                yield f"step {step} was taken as {last}"
            if last and ranks == {len(last)} and len(samples) != BATCH:
                yield f"step {step} took {len(samples)} of {BATCH} samples of {SAMPLES}"


def orphans(folder):
    found = subprocess.run(["pgrep", "-f", folder], capture_output=True, text=True)
    return found.stdout.split()


def try_all(seeds, methods):
    """How many of them broke."""
    broken = 0
    for method in methods:
        for seed in seeds:
            with tempfile.TemporaryDirectory() as folder:
                found = list(Chaos(folder, seed, method).run()) + [f"left over: process {one}" for one in orphans(folder)]
            print(f"seed {seed} {method}: {'; '.join(found) or 'all promises hold'}", flush=True)
            broken += bool(found)
    return broken


def seeds_of(text):
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


if __name__ == "__main__":
    sys.exit(1 if try_all(seeds_of(sys.argv[1]), sys.argv[2:]) else 0)

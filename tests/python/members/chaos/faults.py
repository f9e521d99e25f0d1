"""What happens to a job: drawn from its seed alone, so that the same seed has the same faults."""

import random
import signal
from typing import NamedTuple

from member import HEARTBEAT, STEPS

# How often each is drawn, with how long it lasts, in seconds; None: for good.
KINDS = {"kill": (5, None), "stop": (3, (0.2, 12.0)), "end": (3, None), "join": (4, None), "cut": (3, (0.5, 14.0)), "part": (2, (2.0, 14.0)),
         "slow link": (1, (0.5, 3.0)), "full disk": (2, (0.3, 2.0)), "slow disk": (2, (0.5, 3.0)), "kill all": (1, None)}
OF_THE_NETWORK = {"cut", "part", "slow link"}
AT_NEWCOMERS = ["stop", "stop", "stop", "cut", "kill"]
FAULTS, LATEST_S, DELAYS_MS = 3, 0.3, (2, 30)
NEWCOMERS, CONNECTED_S, NEARLY_LOST_S = 2, 0.7, (1.7 * HEARTBEAT, 2.4 * HEARTBEAT)
"""How many come; seconds by which one has connected with the others; and for which it stands still, so that some miss it and others do not."""
NEWEST = 1.0
"""Drawn, it hits the one that came last."""
PLACES = 32
"""For members of one job, those that come later too."""


class Fault(NamedTuple):
    """Once some member is within `step`, and `delay` seconds later."""

    step: int
    delay: float
    kind: str
    draw: float
    """In [0, 1): whom it hits, and how hard; or NEWEST."""
    lasts: float
    """Seconds; 0: for good."""


class Draw(NamedTuple):
    """Of one job."""

    begin_with: int
    least: int
    checkpoint_every: int
    border_every: int
    faults: list


def drawn(seed, algorithm, with_network=True):
    """The same without a network, but for its faults."""
    chance = random.Random(f"{seed} {algorithm}")
    begin_with, least, checkpoint_every = chance.choice([4, 4, 5, 5, 6, 7, 8]), chance.choice([1, 1, 2]), chance.choice([0, 4])
    faults = [one_fault(chance, step) for step in sorted(chance.sample(range(STEPS - 2), FAULTS))]
    border_every = random.Random(f"borders of {seed} {algorithm}").choice([0, 0, 1, 2])
    return Draw(begin_with, least, checkpoint_every, border_every, those_that_can_be(faults, with_network))


def drawn_at_newcomers(seed, algorithm, with_network=True):
    """Some come while others are lost, so that all meet, and each is struck while it connects with them."""
    chance = random.Random(f"newcomers of {seed} {algorithm}")
    faults = []
    for step in sorted(chance.sample(range(1, STEPS - 4), NEWCOMERS)):
        kind = chance.choice(AT_NEWCOMERS)
        faults += [Fault(step, 0.0, "join", NEWEST, 0.0), Fault(step, 0.0, "kill", chance.random(), 0.0),
                   Fault(step, chance.uniform(0, CONNECTED_S), kind, NEWEST, chance.uniform(*NEARLY_LOST_S))]
    return Draw(5, 1, chance.choice([0, 4]), chance.choice([0, 1, 2]), those_that_can_be(faults, with_network))


def those_that_can_be(faults, with_network):
    return [one for one in faults if with_network or one.kind not in OF_THE_NETWORK]


def one_fault(chance, step):
    kind = chance.choices(list(KINDS), [weight for weight, _ in KINDS.values()])[0]
    lasts = KINDS[kind][1]
    return Fault(step, chance.choice([0, chance.uniform(0, LATEST_S)]), kind, chance.random(), chance.uniform(*lasts) if lasts else 0.0)


class Victims:
    """Of one job: who is undisturbed, and what becomes of the others."""

    def __init__(self, job, least):
        self._job, self._least = job, least
        self.able, self.killed, self.asked_to_end, self._ill = [], set(), set(), []
        self._other_side = set()  # of a network in two parts, neither of which may become too small

    def come(self, number):
        self.able.append(number)

    def strike(self, fault):
        """What was done, in a word; where a fault would leave too few, somebody joins instead."""
        takes = {"kill": 1, "stop": 1, "end": 1, "cut": 1, "part": len(self.able) // 2, "kill all": 0}.get(fault.kind, 0)
        fewest = min(len(side) for side in self._sides() if side) if self.able else 0
        kind = "join" if fewest - takes < self._least + (1 if takes else 0) else fault.kind
        getattr(self, "_" + kind.replace(" ", "_"))(fault, self._drawn(fault, takes) if kind == fault.kind else [])
        return kind

    def heal(self, everything=False):
        """Those whose time has come."""
        for until, undo in [one for one in self._ill if everything or one[0] <= self._job.now]:
            undo()
            self._ill.remove((until, undo))

    def _sides(self):
        return [[one for one in self.able if (one in self._other_side) == other] for other in (False, True)]

    def _drawn(self, fault, count):
        if fault.draw == NEWEST:
            return self.able[len(self.able) - count:]
        return random.Random(fault.draw).sample(self.able, count)

    def _ill_for(self, fault, undo):
        self._ill.append((self._job.now + fault.lasts, undo))

    def _out(self, numbers, fault, undo):
        """They may come back as newcomers by themselves, or go on."""
        self.able = [one for one in self.able if one not in numbers]

        def back():
            undo()
            self.able += numbers
        self._ill_for(fault, back)

    def _signal(self, numbers, number):
        for one in numbers:
            self._job.children[one].signal(number)

    def _kill(self, fault, numbers):
        self._signal(numbers, signal.SIGKILL)
        self.killed |= set(numbers)
        self.able = [one for one in self.able if one not in numbers]

    def _end(self, fault, numbers):
        self._signal(numbers, signal.SIGTERM)
        self.asked_to_end |= set(numbers)
        self.able = [one for one in self.able if one not in numbers]

    def _stop(self, fault, numbers):
        self._signal(numbers, signal.SIGSTOP)
        self._out(numbers, fault, lambda: self._signal(numbers, signal.SIGCONT))

    def _join(self, fault, numbers):
        self._job.start()

    def _cut(self, fault, numbers):
        self._job.network.cut(numbers)
        self._out(numbers, fault, lambda: self._job.network.heal(numbers))

    def _part(self, fault, numbers):
        """Either side may go on."""
        self._job.network.part(numbers)
        self._other_side = set(numbers)

        def back():
            self._job.network.heal(numbers)
            self._other_side = set()
        self._ill_for(fault, back)

    def _slow_link(self, fault, numbers):
        slowed = self._drawn(fault, 1)
        self._job.network.slow(slowed)
        self._ill_for(fault, lambda: self._job.network.heal(slowed))

    def _full_disk(self, fault, numbers):
        self._job.disk.fill()
        self._ill_for(fault, self._job.disk.free)

    def _slow_disk(self, fault, numbers):
        low, high = DELAYS_MS
        self._job.disk.be_slow(low + int(fault.draw * (high - low)))
        self._ill_for(fault, lambda: self._job.disk.be_slow(0))

    def _kill_all(self, fault, numbers):
        """As many as began come again."""
        self.heal(everything=True)
        living = [one.number for one in self._job.living()]
        self._kill(fault, living)
        for _ in range(self._job.draw.begin_with):
            self._job.start()

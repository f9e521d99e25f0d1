"""One disturbed job: it begins, is struck, is healed, and ends."""

import functools
import pathlib
import signal

import member
from disk import Disk
from faults import PLACES, Victims
from nursery import Nursery

DETECTION = 6.0 + 2 * member.HEARTBEAT
"""Seconds after which silence is noticed, as the page of members says."""
RESUMED, LOADED = 2.0, 20.0
"""Seconds from there to the next step, and what a busy machine may add."""
NO_HANG = DETECTION + RESUMED + LOADED


class DisturbedJob(Nursery):
    """In a folder of its own; `network`: None where members have none to themselves. `draw`: of the faults, as drawn of faults.py."""

    def __init__(self, folder, draw, algorithm, network):
        super().__init__()
        self.folder, self.algorithm, self.network = pathlib.Path(folder), algorithm, network
        self.draw = draw
        self.disk = Disk(self.folder / "meeting")
        self.struck, self.stalls, self.hangs = [], [], []
        self.left, self._healed = 0, False
        self._victims = Victims(self, self.draw.least)
        self._seen, self._last, self._progressed_at = 0, -1, 0.0

    @property
    def killed(self):
        return self._victims.killed

    @property
    def asked_to_end(self):
        return self._victims.asked_to_end

    def start(self):
        number = len(self.children)
        if number >= PLACES:
            return
        host = self.network.address(number) if self.network else "127.0.0.1"
        self._victims.come(self.fork(functools.partial(self._member, number, host)).number)

    def run(self):
        """Until all have ended, or stand still for too long."""
        try:
            for _ in range(self.draw.begin_with):
                self.start()
            for fault in self.draw.faults:
                self._until(lambda: self._last >= fault.step)
                begun = self.now
                self._until(lambda: self.now >= begun + fault.delay)
                if self.hangs:
                    return
                self._strike(fault)
            self._until(self._ended)
            self._healed = True
            self._victims.heal(everything=True)
            self._progressed_at = self.now
            self._until(lambda: False)
        finally:
            self._tell_places()
            self.left = self.kill()
            if self.network:
                self.network.heal(range(PLACES))
            self.disk.heal()

    def _member(self, number, host, say):
        if self.network:
            self.network.enter(number)
        self.disk.watch()
        member.train(self.algorithm, number, self.draw, self.folder / "meeting", host, say)

    def _strike(self, fault):
        self.struck.append(self._victims.strike(fault))
        self.stalls.append([self.struck[-1], 0.0])
        if self.struck[-1] == "kill all":
            self._last = -1  # whoever comes begins anew, or from a checkpoint
        self._progressed_at = self.now

    def _ended(self):
        """Whether the job has: somebody undisturbed has finished."""
        return any("end" in told for one in self.children.values() for told in one.told[-1:])

    def _until(self, condition):
        """Or until nobody lives, or nothing goes on."""
        while not self.hangs and self.living() and not condition():
            self.look()
            self._victims.heal()
            self._note_progress()

    def _note_progress(self):
        """Of each fault, how long nobody said anything at most, until the next one."""
        seen = sum(len(one.told) + (one.code is not None) for one in self.children.values())
        still = self.now - self._progressed_at
        if self.stalls and not self._healed:
            self.stalls[-1][1] = max(self.stalls[-1][1], still)
        if seen > self._seen:
            self._seen, self._progressed_at = seen, self.now
            alive = [one for one in self.living() if one.number not in self.killed]
            self._last = max((told["step"] for one in alive for told in one.told[-1:] if "step" in told), default=-1)
        elif still > NO_HANG:
            self.hangs.append(f"nobody has gone on for {NO_HANG:g} s, after {', '.join(self.struck) or 'no fault'}: {self._last_words()}")

    def _tell_places(self):
        """Whoever is left says where it stands."""
        for one in self.living():
            one.signal(signal.SIGUSR1)
        until = self.now + 1
        while self.living() and self.now < until:
            self.look()

    def _last_words(self):
        return "; ".join(f"{one.number}: {' | '.join(one.said[-2:])}" for one in self.living())

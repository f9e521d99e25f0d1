"""How members of one epoch become those of the next: they come, or are found to be gone, and whoever sees first that all is clear decides."""

import sys
import time
from typing import NamedTuple, Optional

from .checkpoints import Checkpoints
from .decision import Told, decision, rank_of, resumption
from .folder import Folder
from .lines import Address, Sign

LOOK = 0.01
"""Seconds between two looks at the folder."""
NO_WISH = 1 << 30
"""The number of a process that was started without one."""
TELL_AFTER, TELL_AGAIN = 1.0, 10.0
GATHERING = 30.0
"""Seconds in which a job that has lost all its members waits for as many as it began with."""


class Rules(NamedTuple):
    """Of one job, the same for all its members."""

    begin_with: int = 1
    """How many it begins with."""
    at_least: int = 1
    """Fewer do not train: they wait for others."""
    heartbeat: float = 3.0
    """Seconds; who is silent for two of them is lost."""
    patience: float = 300.0
    """Seconds in which one that lives comes, or is lost."""
    planned: bool = False
    """Whether members come and go by a plan, and no others."""
    border_every: int = 1
    """Steps from one border to the next, which are done by all or by none."""
    checkpoint_every: int = 0
    """Steps from one checkpoint to the next; 0: only where all members leave."""

    @property
    def silence(self) -> float:
        return 2 * self.heartbeat


def more_members(needed: int, here: int) -> str:
    return f"{needed - here} more members, since {needed} are needed and {here} are here"


class Waiting:
    """One line says for whom and since when, once that takes long."""

    def __init__(self, who: str) -> None:
        self._who, self._since, self._next = who, time.monotonic(), TELL_AFTER

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._since

    def tell(self, what: str) -> None:
        if self.seconds >= self._next:
            self._next = self.seconds + TELL_AGAIN
            print(f"trigram: {self._who} has waited {self.seconds:.0f} s for {what}", file=sys.stderr, flush=True)


class Meeting:
    """Of one process."""

    def __init__(self, folder: Folder, name: str, rules: Rules, checkpoints: Checkpoints) -> None:
        self._folder, self._name, self._rules, self._checkpoints = folder, name, rules, checkpoints
        self._checkpoint: Optional[dict[str, Told]] = None
        self._signs: dict[str, Sign] = {}

    def next(self, epoch: int, own: Told, admits: Optional[int]) -> Optional[Told]:
        """What is decided for an epoch, of one that was a member of that before. `admits`: how many newcomers are taken in, and waited
        for; None: all who wait by then. None where the job has finished meanwhile."""
        self._folder.come(epoch, own)
        waiting = Waiting(f"member {own['number']}")
        try:
            while (told := self._folder.decided(epoch)) is None:
                if self._folder.finished():
                    return None
                if what := self._conclude(epoch, admits, waiting):
                    waiting.tell(what)
                    time.sleep(LOOK)
            return told
        finally:
            self._forget_signs()

    def admission(self) -> Optional[Told]:
        """The first decision that makes a member of this process; None where the job has finished."""
        seen, waiting = self._folder.last(), Waiting("a newcomer")
        try:
            while not self._folder.finished():
                while (told := self._folder.decided(seen + 1)) is not None:
                    seen += 1
                    if rank_of(told, self._name) is not None:
                        return told
                waiting.tell(self._begin(seen, waiting) or "the next border of steps")
                time.sleep(LOOK)
            return None
        finally:
            self._forget_signs()

    def _conclude(self, epoch: int, admits: Optional[int], waiting: Waiting) -> str:
        """Decides, or says what is missing for that."""
        came = self._folder.those_who_came(epoch)
        for one in self._folder.epoch(epoch - 1)["members"]:
            if one["name"] not in came and self._trouble(one, self._rules.silence) is None and waiting.seconds < self._rules.patience:
                return f"member {one['number']} on {one['address'][0]}, which lives and has not come"
        newcomers = self._newcomers()
        if newcomers is None:
            return "a sign of life of a newcomer"
        if admits is not None and len(newcomers) < admits:
            return f"{admits - len(newcomers)} newcomers that are to join here"
        return self._decide(decision(epoch, came, newcomers[:admits], self._folder.epoch))

    def _begin(self, last: int, waiting: Waiting) -> str:
        """Where no member is left, newcomers go on from a checkpoint, or begin anew."""
        members = self._folder.epoch(last)["members"] if last >= 0 else []
        if any(self._trouble(one, self._rules.patience) is None for one in members):
            return ""
        newcomers = self._newcomers()
        if newcomers is None:
            return "a sign of life of a newcomer"
        first = newcomers[:self._rules.begin_with] if self._rules.planned else newcomers
        if self._rules.planned and any(self._rules.begin_with <= one["wish"] < NO_WISH for one in first):
            return "the members that are to begin"
        if not first or waiting.seconds < GATHERING and len(first) < self._rules.begin_with:
            return more_members(self._rules.begin_with, len(first))
        return self._decide(resumption(last + 1, self._left_behind(), first, self._folder.epoch))

    def _left_behind(self) -> dict[str, Told]:
        """By members who are gone; looked for once, since whoever plans who comes and goes begins anew, and others read it whole."""
        if self._checkpoint is None:
            self._checkpoint = {} if self._rules.planned else self._checkpoints.newest()
        return self._checkpoint

    def _decide(self, told: Told) -> str:
        count, needed = len(told["members"]), self._rules.begin_with if told["begin"] is None else self._rules.at_least
        if count < needed and not (told["begin"] and count == 0):
            return more_members(needed, count)
        self._folder.decide(told["epoch"], told)
        for one in told["members"]:
            self._folder.wait_no_more(one["name"])
        return ""

    def _newcomers(self) -> Optional[list[Told]]:
        """Those who wait and live; None where that is not known yet of one."""
        alive = []
        for one in self._folder.waiting():
            if self._trouble(one, self._rules.silence) is not None:
                self._folder.wait_no_more(one["name"])
            elif not self._signs[one["name"]].has_answered:
                return None
            else:
                alive.append(one)
        return alive

    def _trouble(self, one: Told, silence: float) -> Optional[str]:
        """As Sign.trouble."""
        name = one["name"]
        if name not in self._signs:
            self._signs[name] = Sign(name, Address(*one["address"]), self._folder.secret)
        return self._signs[name].trouble(silence)

    def _forget_signs(self) -> None:
        for sign in self._signs.values():
            sign.stop()
        self._signs.clear()

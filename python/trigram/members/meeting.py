"""How members of one epoch become those of the next: they come, or are found to be gone, and whoever sees first that all is clear decides."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Optional

from .checkpoints import Checkpoints
from .decision import Told, border_of, decision, rank_of, resumption, those_who_reach_each_other
from .folder import Folder
from .lines import Address, Sign
from .waiting import Waiting

Admits = Callable[[int], int]
NO_WISH = 1 << 30
"""The number of a process that was started without one."""
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
    border_every: int = 0
    """Steps from one border to the next, which are done by all or by none; 0: as few as cost little time."""
    checkpoint_every: int = 0
    """Steps from one checkpoint to the next; 0: only where all members leave."""
    bears_absence: bool = False
    """Whether steps are done without a member that is lost, until the next border."""

    @property
    def silence(self) -> float:
        return 2 * self.heartbeat

    @property
    def absence(self) -> float:
        """As transport.absence_may_take."""
        return self.silence if self.bears_absence else 0.0


def more_members(needed: int, here: int) -> str:
    return f"{needed - here} more members, since {needed} are needed and {here} are here"


class Meeting:
    """Of one process."""

    def __init__(self, folder: Folder, name: str, rules: Rules, checkpoints: Checkpoints) -> None:
        self._folder, self._name, self._rules, self._checkpoints = folder, name, rules, checkpoints
        self._checkpoint: Optional[dict[str, Told]] = None
        self._signs: dict[str, Sign] = {}
        self.is_short = False
        """Whether there were too few to decide anything, when that was tried last."""

    def next(self, epoch: int, own: Told, admits: Optional[Admits], is_over: Callable[[], bool] = lambda: False) -> Optional[Told]:
        """What is decided for an epoch, of one that was a member of that before. `admits`: how many newcomers are taken in, and waited
        for, after so many steps; None: all who wait by then. None where the job has finished meanwhile, or `is_over`."""
        waiting = Waiting(f"member {own['number']}")
        has_come = self.is_short = False
        try:
            while (told := self._folder.decided(epoch)) is None:
                if self._folder.finished() or is_over():
                    return None
                if what := "" if has_come else self._come(epoch, own):
                    waiting.tell(what)
                elif what := self._conclude(epoch, admits, waiting):
                    has_come = True
                    waiting.tell(what)
                if what:
                    waiting.pause()
            return told
        finally:
            self.forget_signs()

    def gather(self, told: Told) -> None:
        """All members of an epoch have what they go on from. Raises RuntimeError where one is lost before."""
        epoch, waiting = told["epoch"], Waiting(f"a member of epoch {told['epoch']}")
        self._folder.be_there(epoch, self._name)
        try:
            while missing := [one for one in told["members"] if not self._folder.is_there(epoch, one["name"])]:
                if why := self.why_over(epoch, missing) or (f"they do not come within {self._rules.patience:g} s" if waiting.seconds > self._rules.patience else None):
                    raise RuntimeError(why)
                waiting.tell(f"member {missing[0]['number']} on {missing[0]['address'][0]}, which fetches what it goes on from")
                waiting.pause()
        finally:
            self.forget_signs()

    def why_over(self, epoch: int, members: Sequence[Told]) -> Optional[str]:
        """Why an epoch cannot begin with these; None as long as it may."""
        for one in members:
            if why := self._trouble(one, self._rules.silence):
                return f"member {one['number']} is lost before epoch {epoch} begins: {why}"
        return f"others go on without epoch {epoch}" if self._folder.is_over(epoch) else None

    def somebody_comes(self) -> bool:
        """Newcomers wait, and answer. At the cost of a look at the folder where nobody does."""
        return self._folder.anybody_waits() and bool(self._newcomers())

    def admission(self, own: Told, is_over: Callable[[], bool] = lambda: False) -> Optional[Told]:
        """The first decision from now on that makes a member of this process; None where the job has finished, or `is_over`. One that brings something
        from a part of the job begins nothing where nobody is left: it goes on there."""
        seen, waiting = self._folder.last(), Waiting("a newcomer")
        if "brings" in own and rank_of(self._folder.epoch(seen), self._name) is not None:
            seen -= 1  # which took it when it had just given up to wait for that
        try:
            while not (self._folder.finished() or is_over()):
                while (told := self._folder.decided(seen + 1)) is not None:
                    seen += 1
                    if rank_of(told, self._name) is not None:
                        self._folder.wait_no_more(self._name)
                        return told
                if not self._folder.waits(self._name):  # whoever did not hear of it for a while has struck it out
                    self._folder.wait_here(own)
                waiting.tell(("" if "brings" in own else self._begin(seen, waiting)) or "the next border of steps")
                waiting.pause()
            self._folder.wait_no_more(self._name)
            return None
        finally:
            self.forget_signs()

    def _come(self, epoch: int, own: Told) -> str:
        """Once it is known whom of the others this process reaches. Says what is missing for that."""
        others = [one for one in self._folder.those_before(epoch) if one["name"] != self._name]
        troubles = [self._trouble(one, self._rules.silence) for one in others]
        for one, trouble in zip(others, troubles):
            if trouble is None and not self._signs[one["name"]].has_answered:
                return f"a sign of life of member {one['number']} on {one['address'][0]}"
        self._folder.come(epoch, own | {"misses": [one["name"] for one, trouble in zip(others, troubles) if trouble is not None]})
        return ""

    def _conclude(self, epoch: int, admits: Optional[Admits], waiting: Waiting) -> str:
        """Decides, or says what is missing for that."""
        came, old = self._folder.those_who_came(epoch), self._folder.those_before(epoch)
        away = [one for one in old if one["name"] not in came]
        for one in away:
            if self._trouble(one, self._rules.silence) is None and waiting.seconds < self._rules.patience:
                return f"member {one['number']} on {one['address'][0]}, which lives and has not come"
        group = those_who_reach_each_other(came, old)
        if self._name not in group and waiting.seconds < self._rules.patience:
            return "those who reach each other"
        silent = sum(not self._signs[one["name"]].gone for one in away)
        if silent >= len(group) and waiting.seconds < 2 * self._rules.silence:
            return f"{silent} silent members, who may reach each other"
        newcomers = self._newcomers()
        if newcomers is None:
            return "a sign of life of a newcomer"
        border = border_of(group, self._rules.bears_absence)
        wanted = None if admits is None else admits(border.steps if border else 0)
        if wanted is not None and len(newcomers) < wanted:
            return f"{wanted - len(newcomers)} newcomers that are to join here"
        return self._decide(decision(epoch, group, newcomers[:wanted], self._folder.epoch, self._rules.bears_absence))

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
        if any("brings" in one for one in first):
            return self._decide(decision(last + 1, {}, first, self._folder.epoch))
        return self._decide(resumption(last + 1, self._left_behind(), first, self._folder.epoch))

    def _left_behind(self) -> dict[str, Told]:
        """By members who are gone; looked for once, since whoever plans who comes and goes begins anew, and others read it whole."""
        if self._checkpoint is None:
            self._checkpoint = {} if self._rules.planned else self._checkpoints.newest()
        return self._checkpoint

    def _decide(self, told: Told) -> str:
        count, needed = len(told["members"]), self._rules.begin_with if told["begin"] is None else self._rules.at_least
        self.is_short = count < needed and not (told["begin"] and count == 0)
        if self.is_short:
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

    def forget_signs(self) -> None:
        """Nobody is asked any more whether it lives."""
        for sign in self._signs.values():
            sign.stop()
        self._signs.clear()

"""The borders of steps that a member can go back to, and what it fetches of others."""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, Optional

from .borders import Border, Moment, ScriptState, mean_of, of_one_back, unpacked
from .decision import APART, NEWCOMER, Told
from .kept import Kept, State, hand_over
from .lines import Address, fetch

STATE, SCRIPT = 0, 1
"""Of a border, as its digests have them."""


def digest_of(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


class Holdings:
    """Of one member: the last border that all had reached, and a later one of its own."""

    def __init__(self, script: ScriptState, secret: bytes, silence: float, of_checkpoint: Callable[[Moment, int, str], bytes]) -> None:
        """`silence`: seconds after which whoever gives nothing is lost. `of_checkpoint`: a part of one, by its digest."""
        self.script, self._secret, self._silence, self._of_checkpoint = script, secret, silence, of_checkpoint
        self._held: dict[Moment, Border] = {}
        self.settled: Optional[Moment] = None
        """The last of which it is known that all hold it."""
        self._aside: Optional[tuple[Optional[Moment], dict[Moment, Border]]] = None
        self._spare: list[Border] = []

    def begin(self) -> Border:
        """Memory for what is to be kept next."""
        return self._spare.pop() if self._spare else Border()

    def keep(self, moment: Moment, border: Border) -> None:
        self._held[moment] = border

    def at(self, moment: Moment) -> Border:
        aside = self._aside
        return aside[1][max(aside[1])] if aside is not None and moment.epoch == APART else self._held[moment]

    def settle(self, moment: Moment) -> None:
        """Nobody goes back behind it, nor on from a later one of before."""
        self.settled = moment
        for other in [one for one in self._held if one != moment]:
            self._spare.append(self._held.pop(other))
        self._aside = None

    def forget(self) -> None:
        self.settled = None
        self._held = {}

    def set_aside(self) -> None:
        """What is held last is what this member brings to others, who have had other epochs since."""
        self._aside = self.settled, self._held
        self.forget()

    def take_back(self) -> None:
        """Others have not taken it."""
        assert self._aside is not None
        (self.settled, self._held), self._aside = self._aside, None

    def told(self) -> list[Told]:
        """For those who decide; nothing of an epoch of others that has not begun, by one that brings something."""
        return [] if self.brings else [self._told(moment) for moment in sorted(self._held)]

    @property
    def brings(self) -> bool:
        """Whether something was set aside."""
        return self._aside is not None

    def brought(self) -> Optional[Told]:
        """The same of what was set aside."""
        return None if self._aside is None else self._told(Moment(APART, max(self._aside[1]).steps))

    def _told(self, moment: Moment) -> Told:
        return {"moment": list(moment), "digests": [digest_of(self.part(moment, part)) for part in (STATE, SCRIPT)]}

    def part(self, moment: Moment, part: int) -> bytes:
        """Of what is kept, for others."""
        held = self.at(moment)
        return held.state.bytes() if part == STATE else held.packed()

    def take_over(self, told: Told, rank: int) -> Optional[Kept]:
        """What this member goes on from, by a decision that gives it that rank; what belongs to the script has gone back by then. None where
        training begins. Raises OSError or EOFError where somebody has gone meanwhile, RuntimeError where what came is not what was told,
        ValueError for what cannot be handed over."""
        if told["begin"] is None:
            return None
        moment, was = Moment(*told["begin"]), told["were"][rank]
        sources, apart = told["sources"], told["apart"]
        own = None if was == NEWCOMER else self.at(Moment(APART, 0)) if self.brings else self._held.get(moment)
        if own is None:
            self.script.go_back(self._mean_script(sources if was == NEWCOMER else [sources[was]], moment))
        elif was in apart:
            others = self._mean_script([one for old, one in enumerate(sources) if old not in apart], moment)
            self.script.go_back(of_one_back(own.own, others) | {"random": own.own["random"]})
        else:
            self.script.go_back(own.own)
        if own is not None and not self.brings:
            self.settle(moment)
        states = self._of_all(sources, moment, STATE, (sources[was]["digests"][STATE], own.state) if own is not None else None)
        return hand_over(states, told["were"], apart, rank)

    def _mean_script(self, sources: Sequence[Optional[Told]], moment: Moment) -> dict[str, Any]:
        mean: dict[str, Any] = mean_of([unpacked(one) for one in self._of_all(sources, moment, SCRIPT, None) if isinstance(one, bytes)])
        return mean

    def _of_all(self, sources: Sequence[Optional[Told]], moment: Moment, part: int, own: "Optional[tuple[str, State]]") -> list[Optional[State]]:
        """By old rank, None of those that were lost; what several hold alike, or this one, is fetched once, or not at all."""
        known: dict[str, State] = dict([own]) if own is not None else {}
        for one in sources:
            if one is not None and one["digests"][part] not in known:
                known[one["digests"][part]] = self._fetched(one, Moment(*one.get("moment", moment)), part)
        return [None if one is None else known[one["digests"][part]] for one in sources]

    def _fetched(self, source: Told, moment: Moment, part: int) -> bytes:
        address, digest = source["address"], source["digests"][part]
        content: Any = (fetch(Address(*address), self._secret, self._silence, "part", list(moment), part) if address
                        else self._of_checkpoint(moment, part, digest))
        if not isinstance(content, bytes) or digest_of(content) != digest:
            giver = address[0] if address else "a checkpoint"
            raise RuntimeError(f"what {giver} gave of step {moment.steps} is not what was told of it, by its digest")
        return content

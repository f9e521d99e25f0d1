"""The borders of steps that a member can go back to, and what it fetches of others."""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, Optional

from .borders import Border, Moment, ScriptState, mean_of, unpacked
from .decision import NEWCOMER, Told
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
        self._spare: list[Border] = []

    def begin(self) -> Border:
        """Memory for what is to be kept next."""
        return self._spare.pop() if self._spare else Border()

    def keep(self, moment: Moment, border: Border) -> None:
        self._held[moment] = border

    def at(self, moment: Moment) -> Border:
        return self._held[moment]

    def settle(self, moment: Moment) -> None:
        """Nobody goes back behind it, nor on from a later one of before."""
        self.settled = moment
        for other in [one for one in self._held if one != moment]:
            self._spare.append(self._held.pop(other))

    def forget(self) -> None:
        self.settled = None
        self._held.clear()

    def told(self) -> list[Told]:
        """For those who decide."""
        def digests(moment: Moment) -> list[str]:
            return [digest_of(self.part(moment, part)) for part in (STATE, SCRIPT)]
        return [{"moment": list(moment), "digests": digests(moment)} for moment in sorted(self._held)]

    def part(self, moment: Moment, part: int) -> bytes:
        """Of what is kept, for others."""
        held = self._held[moment]
        return held.state.bytes() if part == STATE else held.packed()

    def take_over(self, told: Told, rank: int) -> Optional[Kept]:
        """What this member goes on from, by a decision that gives it that rank; what belongs to the script has gone back by then. None where
        training begins. Raises OSError or EOFError where somebody has gone meanwhile, RuntimeError where what came is not what was told,
        ValueError for what cannot be handed over."""
        if told["begin"] is None:
            return None
        moment, was = Moment(*told["begin"]), told["were"][rank]
        sources = told["sources"]
        own = self._held.get(moment) if was != NEWCOMER else None
        if own is not None:
            self.script.go_back(own.own)
            self.settle(moment)
        else:
            packed = self._of_all(sources if was == NEWCOMER else [sources[was]], moment, SCRIPT, None)
            self.script.go_back(mean_of([unpacked(one) for one in packed if isinstance(one, bytes)]))
        states = self._of_all(sources, moment, STATE, (sources[was]["digests"][STATE], own.state) if own is not None else None)
        return hand_over(states, told["were"], rank)

    def _of_all(self, sources: Sequence[Optional[Told]], moment: Moment, part: int, own: "Optional[tuple[str, State]]") -> list[Optional[State]]:
        """By old rank, None of those that were lost; what several hold alike, or this one, is fetched once, or not at all."""
        known: dict[str, State] = dict([own]) if own is not None else {}
        for one in sources:
            if one is not None and one["digests"][part] not in known:
                known[one["digests"][part]] = self._fetched(one, moment, part)
        return [None if one is None else known[one["digests"][part]] for one in sources]

    def _fetched(self, source: Told, moment: Moment, part: int) -> bytes:
        address, digest = source["address"], source["digests"][part]
        content: Any = (fetch(Address(*address), self._secret, self._silence, "part", list(moment), part) if address
                        else self._of_checkpoint(moment, part, digest))
        if not isinstance(content, bytes) or digest_of(content) != digest:
            giver = address[0] if address else "a checkpoint"
            raise RuntimeError(f"what {giver} gave of step {moment.steps} is not what was told of it, by its digest")
        return content

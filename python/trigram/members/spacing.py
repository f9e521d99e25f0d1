"""How many steps there are from one border to the next."""

import math
import time
from collections.abc import Callable, Sequence
from typing import Optional

from .meeting import Rules

SHARE, MOST, GROWTH = 0.02, 1000, 2
"""Of the time, that borders may take where members choose; as many steps apart as they may be at most; and as many times as far as the one before, so
that one border that took long by chance does not put off all others."""


class Spacing:
    """All members come to the same, since each knows the seconds of all."""

    def __init__(self, rules: Rules, asked_for: Callable[[int], Optional[int]] = lambda _: None) -> None:
        """`asked_for`: the first step behind that one after which a schedule has a border, if any."""
        self._every, self._checkpoint_every, self._asked_for = rules.border_every, rules.checkpoint_every, asked_for
        self._border_s = 0.0
        """That the last one took."""
        self._begun = self._come = time.monotonic()
        self._last = self._next = 0
        self._chosen = 1

    def epoch_begins(self, done: int) -> None:
        self._border_s, self._begun = 0.0, time.monotonic()
        self._go_on(done, 1)

    def is_border(self, done: int) -> bool:
        return done >= self._next

    def border_begins(self, done: int) -> list[float]:
        """What the others are to know: the seconds of the last border, and of a step since."""
        self._come = time.monotonic()
        return [self._border_s, (self._come - self._begun) / max(1, done - self._last)]

    def border_ends(self, done: int, told: Sequence[Sequence[float]]) -> None:
        """`told`: by all members."""
        self._begun = time.monotonic()
        self._border_s = self._begun - self._come
        borders, steps = (sum(seconds) for seconds in zip(*told))
        self._go_on(done, min(MOST, GROWTH * self._chosen, max(1, math.ceil(borders / (SHARE * steps)))))

    def _go_on(self, done: int, chosen: int) -> None:
        every, self._chosen = self._every, chosen
        self._last, self._next = done, done + (every - done % every if every else chosen)
        if self._checkpoint_every:
            self._next = min(self._next, done + self._checkpoint_every - done % self._checkpoint_every)
        self.look_ahead(done)

    def look_ahead(self, done: int) -> None:
        """What a schedule asks for may be known only now."""
        if (asked_for := self._asked_for(done)) is not None:
            self._next = min(self._next, asked_for)

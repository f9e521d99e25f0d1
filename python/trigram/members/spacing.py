"""How many steps there are from one border to the next."""

import math
import time
from collections.abc import Sequence

from .meeting import Rules

SHARE, MOST = 0.02, 1000
"""Of the time, that borders may take where members choose, and as many steps apart as they may be at most."""


class Spacing:
    """All members come to the same, since each knows the seconds of all."""

    def __init__(self, rules: Rules) -> None:
        self._every, self._checkpoint_every = rules.border_every, rules.checkpoint_every
        self._border_s = 0.0
        """That the last one took."""
        self._begun = self._come = time.monotonic()
        self._last = self._next = 0

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
        self._go_on(done, min(MOST, max(1, math.ceil(borders / (SHARE * steps)))))

    def _go_on(self, done: int, chosen: int) -> None:
        every = self._every
        self._last, self._next = done, done + (every - done % every if every else chosen)
        if self._checkpoint_every:
            self._next = min(self._next, done + self._checkpoint_every - done % self._checkpoint_every)

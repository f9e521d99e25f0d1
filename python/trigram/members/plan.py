"""Members that come and go by a schedule, as `trigram run --membership FILE` has them: after steps, or by the clock."""

import json
import os
import pathlib
import signal
import threading
import time
from collections.abc import Callable
from typing import Any, Optional

from .. import library

SOON = 0.02
"""Seconds between two looks whether the job has begun."""


class Plan:
    """Of nobody: members come and go as they do."""

    is_by_steps = False
    """Whether members change after the steps that it says, and nobody else comes."""

    def wait_to_come(self, wish: int, begun_at: Callable[[], Optional[float]]) -> None:
        """Until a process that was started as that number is to come. `begun_at`: the time at which the job has begun, if it has."""

    def begin(self, number: int, at: float) -> None:
        """Whoever has that number trains, in a job that has begun at that time."""

    def leaves(self, step: int, number: int) -> bool:
        return False

    def is_lost(self, step: int, number: int) -> bool:
        return False

    def joins(self, step: int, next_number: int) -> int:
        """How many join there, that have not yet."""
        return 0

    def border_behind(self, step: int) -> Optional[int]:
        """The first step behind that one after which members change."""
        return None


class PlanBySteps(Plan):
    """Of one training. Members' numbers are those that `decision` gives."""

    is_by_steps = True

    def __init__(self, epochs: list[dict[str, Any]]) -> None:
        self._epochs = {one["begin"]: one for one in epochs if one["begin"] > 0}

    def leaves(self, step: int, number: int) -> bool:
        return number in self._epochs.get(step, {}).get("left", ())

    def is_lost(self, step: int, number: int) -> bool:
        return number in self._epochs.get(step, {}).get("lost", ())

    def joins(self, step: int, next_number: int) -> int:
        return sum(1 for number in self._epochs.get(step, {}).get("joined", ()) if number >= next_number)

    def border_behind(self, step: int) -> Optional[int]:
        return min((one for one in self._epochs if one > step), default=None)


class PlanByClock(Plan):
    """By the seconds since the first epoch began, on the clocks of all hosts: who is to be lost is killed then, whatever it does, who leaves does
    so at the next border, and who joins waits until then, and comes at the border behind."""

    def __init__(self, changes: list[dict[str, Any]]) -> None:
        self._of = {how: {one["member"]: float(one["second"]) for one in changes if one["how"] == how} for how in ("join", "leave", "lose")}
        self._begun_at: Optional[float] = None

    def wait_to_come(self, wish: int, begun_at: Callable[[], Optional[float]]) -> None:
        if (second := self._of["join"].get(wish)) is None:
            return
        while (begun := begun_at()) is None:
            time.sleep(SOON)
        time.sleep(max(0.0, begun + second - time.time()))

    def begin(self, number: int, at: float) -> None:
        if self._begun_at is not None:
            return
        self._begun_at = at
        if (second := self._of["lose"].get(number)) is not None:
            timer = threading.Timer(max(0.0, at + second - time.time()), os.kill, (os.getpid(), signal.SIGKILL))
            timer.daemon = True
            timer.start()

    def leaves(self, step: int, number: int) -> bool:
        second = self._of["leave"].get(number)
        return second is not None and self._begun_at is not None and time.time() >= self._begun_at + second


def told_by(path: str, ranks: int, steps: int) -> dict[str, Any]:
    """What a schedule says, {"by_clock", "changes"}. Raises ValueError for what is no such file, naming the line."""
    library.check(library.library().trigram_member_changes(pathlib.Path(path).read_text("utf-8").encode(), ranks, steps))
    told: dict[str, Any] = json.loads(library.reply())
    return told


def is_by_steps(path: str, ranks: int) -> bool:
    return not told_by(path, ranks, 0)["by_clock"]


def plan_of(path: Optional[str], ranks: int, steps: int) -> Plan:
    """`steps`: of the training, 0 where they are not known yet; then a plan by steps is nobody's. Raises ValueError for what is no
    schedule."""
    if path is None:
        return Plan()
    told = told_by(path, ranks, steps)
    if told["by_clock"]:
        return PlanByClock(told["changes"])
    return PlanBySteps(told["changes"]) if steps > 0 else Plan()

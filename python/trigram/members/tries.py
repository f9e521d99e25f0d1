"""How often members have tried to begin an epoch, and how long they try."""

import sys

from .decision import Told

CONNECTING = 3.0
"""Seconds in which processes connect that are all there; twice as many with each time that they have not."""
MOST_DOUBLINGS = 20
MOST = 10
"""Times in a row that the same members fail to connect, after which the error stays: nobody was lost meanwhile."""


class Tries:
    """Those of one member, since an epoch began last."""

    _times: int
    _alike: int
    _members: list[str]

    def __init__(self) -> None:
        self.succeeded()

    def another(self, told: Told, patience: float) -> float:
        """Seconds that it may take until all are connected, at most `patience`."""
        members = [one["name"] for one in told["members"]]
        self._alike = self._alike + 1 if members == self._members else 1
        self._members = members
        self._times += 1
        return float(min(CONNECTING * 2**min(self._times - 1, MOST_DOUBLINGS), patience))

    def succeeded(self) -> None:
        self._times = self._alike = 0
        self._members = []

    def failed(self, epoch: int, error: BaseException) -> None:
        """Says why, the second time, the fourth, the eighth and so on: that another one is lost meanwhile may be. Raises ConnectionError where
        nothing has changed for too long."""
        if self._alike >= MOST:
            raise ConnectionError(f"{len(self._members)} members, all of which are there, have tried {self._alike} times in a row to connect: {error}") from error
        if self._times > 1 and self._times & (self._times - 1) == 0:
            print(f"trigram: epoch {epoch} has not begun, after {self._times} tries; members meet anew, since: {error}", file=sys.stderr, flush=True)

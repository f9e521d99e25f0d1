"""Where the processes of an epoch find each other: a store of torch's kind in the folder in which members meet."""

import datetime
import time
import urllib.parse
from collections.abc import Callable, Sequence
from typing import Any, Optional

import torch.distributed as dist

from .folder import Records
from .waiting import LOOK

ASK_EVERY = 0.25
"""Seconds between two questions whether there is still somebody to wait for."""
LONGEST = 20.0
"""Seconds after which whoever waits meets the others anew, whatever they do."""


class EpochStore(dist.Store):  # type: ignore[misc]  # whose types torch does not tell
    """Of one epoch; each key is a file, which is there whole or not at all. Waits end for a reason. By the clock, who is late would be left, and would then wait
    for the connections of those who have left it five times as long, which is gloo's limit: on a busy machine they would come and leave again and again. torch's own
    store in a file never comes back from one whose last record is cut short, as where the disk was full."""

    def __init__(self, records: Records, why_over: Callable[[], Optional[str]]) -> None:
        """`why_over`: why nobody who is missing will come; None as long as they may."""
        super().__init__()
        self._records, self._why_over = records, why_over

    def set(self, key: str, value: Any) -> None:
        self._records.put(named(key), (value if isinstance(value, bytes) else str(value).encode()).hex())

    def get(self, key: str) -> bytes:
        self.wait([key])
        return bytes.fromhex(self._records.get(named(key)) or "")

    def add(self, key: str, amount: int) -> int:
        """Each sum is a file, and whoever puts the next one there first has added."""
        place, total = 0, 0
        while True:
            while (known := self._records.get(f"{named(key)}+{place}")) is not None:
                place, total = place + 1, int(known)
            if amount == 0 or self._records.put_once(f"{named(key)}+{place}", str(total + amount)):
                return total + amount

    def wait(self, keys: Sequence[str], _: Optional[datetime.timedelta] = None) -> None:
        """Raises RuntimeError with the reason where they will not be there."""
        begun = asked = time.monotonic()
        while not all(self._records.has(named(key)) for key in keys):
            if time.monotonic() - asked > ASK_EVERY:
                if why := self._why_over() or (f"others have not come within {LONGEST:g} s" if asked - begun > LONGEST else None):
                    raise RuntimeError(why)
                asked = time.monotonic()
            time.sleep(LOOK)


def named(key: str) -> str:
    """A file."""
    return urllib.parse.quote(key, safe="")

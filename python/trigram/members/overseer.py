"""Notices that the others have given up an epoch in which this member still waits for their messages, as after it has stood still."""

import threading
import time
from collections.abc import Callable
from typing import Optional

from .folder import Folder

LOOK_EVERY, LATE = 0.5, 2.0
"""Seconds between two looks at the folder, and for how long the others may be ahead."""


class Overseer:
    """On a thread of its own, as long as the process lives."""

    def __init__(self, folder: Folder, give_up: Callable[[], None]) -> None:
        """`give_up`: ends all messages that are under way."""
        self._folder, self._give_up = folder, give_up
        self._epoch: Optional[int] = None
        self._since = 0.0
        threading.Thread(target=self._watch, daemon=True).start()

    def oversee(self, epoch: Optional[int]) -> None:
        """None: in none does this member train."""
        self._epoch, self._since = epoch, time.monotonic()

    def _watch(self) -> None:
        while True:
            time.sleep(LOOK_EVERY)
            epoch = self._epoch
            if epoch is None or not self._folder.is_over(epoch):
                self._since = time.monotonic()
            elif time.monotonic() - self._since > LATE and self._epoch == epoch:
                self._epoch = None
                self._give_up()

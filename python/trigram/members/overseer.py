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

    def __init__(self, give_up: Callable[[], None]) -> None:
        """`give_up`: ends all messages that are under way."""
        self._give_up = give_up
        self._watched: Optional[tuple[Folder, int]] = None
        self._since = 0.0
        threading.Thread(target=self._watch, daemon=True).start()

    def oversee(self, folder: Folder, epoch: int) -> None:
        """In which this member trains from now on."""
        self._watched, self._since = (folder, epoch), time.monotonic()

    def rest(self) -> None:
        """In none does this member train."""
        self._watched, self._since = None, time.monotonic()

    def _watch(self) -> None:
        while True:
            time.sleep(LOOK_EVERY)
            watched = self._watched
            if watched is None or not watched[0].is_over(watched[1]):
                self._since = time.monotonic()
            elif time.monotonic() - self._since > LATE and self._watched == watched:
                self._watched = None
                self._give_up()

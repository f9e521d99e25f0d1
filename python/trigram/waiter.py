"""Waits for messages that can be left: gloo wakes nobody whose message was half way through a connection when that broke."""

import datetime
import queue
import threading
from collections.abc import Callable, Sequence
from typing import Any, Optional

LOOK = 0.25
"""Seconds between two looks whether there is still anything to wait for."""
SOON = datetime.timedelta(milliseconds=1)


class Exchange:
    """Messages that are under way together."""

    def __init__(self, works: Sequence[Any], end: datetime.datetime) -> None:
        """`end`: until when they may take."""
        self._works, self._end = works, end
        self.place = 0
        """Of the message that is waited for, or has failed."""

    def wait(self) -> Optional[BaseException]:
        """How one of them has failed; None where all have come."""
        for self.place, work in enumerate(self._works):
            try:
                work.wait(max(self._end - datetime.datetime.now(), SOON))
            except BaseException as error:  # of whatever kind: it must not get lost in a thread
                return error
        return None


class Waiter:
    """A thread that waits for others, for one exchange at a time."""

    def __init__(self) -> None:
        self._exchanges: queue.SimpleQueue[Exchange] = queue.SimpleQueue()
        self._outcomes: queue.SimpleQueue[Optional[BaseException]] = queue.SimpleQueue()
        threading.Thread(target=self._run, daemon=True).start()

    def wait(self, exchange: Exchange, is_over: Callable[[], bool]) -> Optional[BaseException]:
        """As the exchange has it. Raises RuntimeError where it has not come back a moment after all was over: this thread is left behind with it."""
        self._exchanges.put(exchange)
        was_over = False
        while True:
            try:
                return self._outcomes.get(timeout=LOOK)
            except queue.Empty:
                if was_over:
                    raise RuntimeError("its connection broke while it was half way") from None
                was_over = is_over()

    def _run(self) -> None:
        while True:
            self._outcomes.put(self._exchanges.get().wait())

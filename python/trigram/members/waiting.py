"""What a process says that waits for others, or for a disk."""

import sys
import time

LOOK = 0.01
"""Seconds between two looks at the folder."""
TELL_AFTER, TELL_AGAIN = 1.0, 10.0


class Waiting:
    """One line says for whom and since when, once that takes long."""

    def __init__(self, who: str) -> None:
        self._who, self._since, self._next = who, time.monotonic(), TELL_AFTER

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._since

    def pause(self) -> None:
        """Until the next look, which hurries no disk once that takes long."""
        time.sleep(LOOK if self.seconds < TELL_AFTER else 5 * LOOK)

    def tell(self, what: str) -> None:
        if self.seconds >= self._next:
            self._next = self.seconds + TELL_AGAIN
            print(f"trigram: {self._who} has waited {self.seconds:.0f} s for {what}", file=sys.stderr, flush=True)

"""Who has ended after how many steps, for the message of a rank that waits for it: by the store over which processes have met."""

import collections
import threading
from collections.abc import Callable
from typing import Any, Optional

import torch.distributed as dist

from .transport import Members

opened: "collections.Counter[Members]" = collections.Counter()
"""Jobs of this process, by their members, who count alike."""


PATIENCE = 2.0
"""Seconds for the store, whose process may be the one that stands still."""


def soon(asked: Callable[[], Any]) -> Any:
    """What it gives; None where that takes too long."""
    given: list[Any] = []
    thread = threading.Thread(target=lambda: given.append(asked()), daemon=True)
    thread.start()
    thread.join(PATIENCE)
    return given[0] if given else None


class Ends:
    """Of the ranks of one job, where torch.distributed has connected them; else nobody knows."""

    def __init__(self, members: Members, rank: int, ranks: int) -> None:
        self._rank, self._ranks = rank, ranks
        self._store: Optional[Any] = None
        if dist.is_available() and dist.is_initialized():
            self._store = dist.distributed_c10d._get_default_store()
        self._place = f"trigram/ends/{'-'.join(map(str, members or ['all']))}/{opened[members]}"
        opened[members] += 1

    def note(self, steps: int) -> None:
        """That this rank has ended after so many."""
        if self._ranks > 1:
            soon(lambda: self._add(self._rank, 1 + steps))

    def why(self, steps: int) -> str:
        """What to add to an error of this rank, which has begun so many: empty where nobody has ended before."""
        noted = soon(lambda: [self._add(rank, 0) for rank in range(self._ranks)]) if self._ranks > 1 else None
        for rank, after in ((rank, one - 1) for rank, one in enumerate(noted or []) if one):
            if after < steps:
                return (f"; rank {rank} has called finish() after {after} steps, and this rank has begun {steps}: give all ranks as many batches, or "
                        "let loops run within `with job.join():`")
        return ""

    def _add(self, rank: int, number: int) -> int:
        """Gives what a rank has noted, 0 for nothing: unlike `get`, it waits for no rank."""
        try:
            return 0 if self._store is None else int(self._store.add(f"{self._place}/{rank}", number))
        except RuntimeError:  # whoever keeps the store is gone
            return 0

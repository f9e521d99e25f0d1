"""Where the processes of an epoch find each other: torch's store in a file, but that waits in it end for a reason and not by the clock."""

import datetime
from collections.abc import Callable, Sequence
from typing import Any, Optional

import torch.distributed as dist

LOOK = datetime.timedelta(seconds=0.25)
"""Between two questions whether there is still somebody to wait for."""


class EpochStore(dist.Store):  # type: ignore[misc]  # whose types torch does not tell
    """Of one epoch. By the clock, who is late would be left, and would then wait for the connections of those who have left it five times as long,
    which is gloo's limit: on a busy machine they would come and leave again and again."""

    def __init__(self, path: str, ranks: int, why_over: Callable[[], Optional[str]]) -> None:
        """`why_over`: why nobody who is missing will come; None as long as they may."""
        super().__init__()
        self._file, self._why_over = dist.FileStore(path, ranks), why_over

    def set(self, key: str, value: Any) -> None:
        self._file.set(key, value)

    def get(self, key: str) -> bytes:
        value: bytes = self._file.get(key)
        return value

    def add(self, key: str, amount: int) -> int:
        return int(self._file.add(key, amount))

    def delete_key(self, key: str) -> bool:
        return bool(self._file.delete_key(key))

    def num_keys(self) -> int:
        return int(self._file.num_keys())

    def wait(self, keys: Sequence[str], _: Optional[datetime.timedelta] = None) -> None:
        """Raises RuntimeError with the reason where they will not be there."""
        while True:
            try:
                self._file.wait(list(keys), LOOK)
                return
            except RuntimeError:
                if why := self._why_over():
                    raise RuntimeError(why) from None

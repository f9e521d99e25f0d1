"""Where a CachedDataset keeps what it has computed: bytes by key, as long as they last."""

import hashlib
from typing import Optional, Protocol


class Store(Protocol):
    """May forget anything at any time, and answers for what it has lost as for what it never had."""

    def get(self, key: str) -> Optional[bytes]:
        """What was put there, whole and unchanged, or None."""

    def put(self, key: str, value: bytes) -> None:
        """Keeps it, where there is room and a place."""


def shard_of(key: str, shards: int) -> int:
    """Of a key, the same in all processes and on all machines: Python's own hash() is another one in each."""
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest(), "little") % shards

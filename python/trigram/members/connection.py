"""The processes of an epoch, connected by torch.distributed: each time anew, over a file of the meeting folder."""

import os
from typing import Optional

import torch.distributed as dist

from .. import transport
from .store import EpochStore

kept: Optional[EpochStore] = None
"""The present one, since torch keeps only the half of it that is C++."""


def connect(store: EpochStore, rank: int, ranks: int, host: str, seconds: float, absence: float) -> None:
    """`absence`: as transport.absence_may_take. Also sets what launchers set, for whoever reads it. Raises RuntimeError where somebody does not come."""
    transport.cause_may_take = 0.0  # whoever is left finds out who is gone
    transport.meeting_may_take = seconds  # all are there
    transport.absence_may_take = absence
    transport.waits_can_be_left = True  # whatever gloo forgets, others wait for whoever lives
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(ranks), MASTER_ADDR=host)
    global kept
    kept = store
    dist.init_process_group("gloo", store=store, rank=rank, world_size=ranks, timeout=transport.limit(seconds))


def disconnect() -> None:
    if dist.is_initialized():
        dist.destroy_process_group()

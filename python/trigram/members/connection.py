"""How the processes of an epoch are connected, each time anew: by torch.distributed on CPUs, by NCCL on CUDA devices."""

import json
import os
import secrets
from typing import TYPE_CHECKING, Optional, Union

import torch.distributed as dist

from .. import library, transport
from .folder import SECRET_BYTES
from .meeting import Rules
from .store import EpochStore

if TYPE_CHECKING:
    from ..job import Job


class ByGloo:
    """Over a store of the meeting folder."""

    backend = "torch"
    bears_absence = True
    """Whether an exchange can end without who is gone."""

    def __init__(self, rules: Rules) -> None:
        self._absence = rules.absence
        self._store: Optional[EpochStore] = None  # since torch keeps only the half of it that is C++

    def connect(self, store: EpochStore, rank: int, ranks: int, host: str, seconds: float) -> None:
        """Raises RuntimeError where somebody does not come."""
        transport.cause_may_take = 0.0  # whoever is left finds out who is gone
        transport.meeting_may_take = seconds  # all are there
        transport.absence_may_take = self._absence
        transport.waits_can_be_left = True  # whatever gloo forgets, others wait for whoever lives
        tell_the_script(rank, ranks, host)
        self._store = store
        try:
            dist.init_process_group("gloo", store=store, rank=rank, world_size=ranks, timeout=transport.limit(seconds))
        except RuntimeError:
            forget_groups()
            raise

    def disconnect(self) -> None:
        """Also where they are not connected."""
        if dist.is_initialized():
            dist.destroy_process_group()

    def give_up(self, _: "Job") -> None:
        """All messages that are under way, from any thread."""
        transport.give_up()


class ByNccl:
    """Its sessions have a communicator of NCCL for each epoch, and signs of life beside it, since NCCL notices no death of a peer."""

    backend = "gpu"
    bears_absence = False  # NCCL ends no message but with its whole group

    def __init__(self, rules: Rules) -> None:
        self._silence = rules.silence

    def connect(self, store: EpochStore, rank: int, ranks: int, host: str, seconds: float) -> None:
        """Rank 0 listens for the signs, and all have taken their seats there when it returns; the session that comes next does the rest. As that of
        ByGloo."""
        tell_the_script(rank, ranks, host)
        place = {"host": host, "port": 0, "secret": secrets.token_hex(SECRET_BYTES)} if rank == 0 else json.loads(store.get("seats"))
        terms = place | {"rank": rank, "ranks": ranks, "patience": seconds, "silence": self._silence}
        if rank == 0:
            terms["host"] = transport.listening_place(host)
        library.check(library.library().trigram_take_seat(json.dumps(terms).encode()))
        if rank == 0:
            store.set("seats", json.dumps(place | json.loads(library.reply())))
        store.set(f"seat {rank}", "taken")
        store.wait([f"seat {other}" for other in range(ranks)])

    def disconnect(self) -> None:
        """A session leaves by itself."""
        library.library().trigram_leave_seat()

    def give_up(self, job: "Job") -> None:
        """Whatever waits in the job of the present epoch, from any thread."""
        job.give_up("the others go on without this member")


Connection = Union[ByGloo, ByNccl]
CONNECTIONS: dict[str, Union[type[ByGloo], type[ByNccl]]] = {"cpu": ByGloo, "cuda": ByNccl}
"""By the kind of place where the model lies."""


def forget_groups() -> None:
    """torch names each group of a process by how many there were before, those too that were never whole, until the first group of all ends. Who has failed to
    connect more often than others would look for them under other names, and they for it."""
    if not dist.is_initialized():
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    dist.destroy_process_group()


def tell_the_script(rank: int, ranks: int, host: str) -> None:
    """What launchers set, for whoever reads it."""
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(ranks), MASTER_ADDR=host)

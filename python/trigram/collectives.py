"""Collectives on torch tensors, whoever brings them about: the communicator of a job, or a lane of an algorithm."""

import ctypes
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Optional

import torch

from . import library
from .device import CPU, Place
from .modelled import Modelled, costing, modelled_count

TYPES = {torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16", torch.uint8: "u8", torch.int32: "i32", torch.int64: "i64"}


@dataclass
class Call:
    """One collective of one rank, as the library takes it."""

    collective: str
    tensors: Sequence[torch.Tensor]
    op: str = "sum"
    peer: int = 0
    each: int = 0
    """Tensors for each rank of the group, where there have to be so many."""
    peers: list[int] = field(default_factory=list)
    sent: int = 0

    def words(self) -> dict[str, Any]:
        """Beside the tensors."""
        kind = TYPES[self.tensors[0].dtype] if self.tensors else "u8"
        return {"collective": self.collective, "op": self.op, "peer": self.peer, "dtype": kind, "peers": self.peers, "sent": self.sent}

    def in_c(self) -> tuple[Any, ...]:
        """As arguments of the library."""
        addresses, counts = ctypes.c_uint64 * len(self.tensors), ctypes.c_int64 * len(self.tensors)
        return (json.dumps(self.words()).encode(), addresses(*(one.data_ptr() for one in self.tensors)),
                counts(*(one.numel() for one in self.tensors)), len(self.tensors))

    def check(self, size: int, place: Place) -> None:
        """Raises ValueError for tensors that cannot be sent from there."""
        if self.each and len(self.tensors) != self.each * size:
            raise ValueError(f"{self.collective} is given {len(self.tensors)} tensors on {size} ranks; give one for each rank, of what is "
                             "sent and of what is received")
        for one in self.tensors:
            place.check(f"a tensor of {self.collective}", one, "move it there, or give comm.join the device")
            if not one.is_contiguous():
                raise ValueError(f"a tensor of {self.collective} has gaps between its elements; give x.contiguous()")
            if one.dtype not in TYPES or one.dtype != self.tensors[0].dtype:
                raise ValueError(f"a tensor of {self.collective} is of {one.dtype}; give one type, of {', '.join(map(str, TYPES))}")


class Collectives:
    """Those of a group of ranks. All of them make the same calls in the same order, with sizes that fit."""

    rank: int
    """Of this process in the group."""
    size: int
    """How many ranks it has."""
    _place: Place = CPU
    """Of its tensors."""

    def _perform(self, call: Call) -> None:
        raise NotImplementedError

    def _call(self, collective: str, tensors: Sequence[torch.Tensor], op: str = "sum", peer: int = 0, each: int = 0,
              peers: Sequence[int] = (), sent: int = 0) -> None:
        call = Call(collective, tensors, op, peer, each, list(peers), sent)
        with torch._C.DisableTorchFunction():  # nothing is computed, and tensors that stand for larger ones answer slowly
            call.check(self.size, self._place)
            self._perform(call)

    def all_reduce(self, x: torch.Tensor, op: str = "sum") -> torch.Tensor:
        """x = op ("sum", "mean", "min", "max") over all ranks, on every rank."""
        self._call("all_reduce", [x], op=op)
        return x

    def chunk(self, x: torch.Tensor, rank: Optional[int] = None) -> torch.Tensor:
        """The elements of x that reduce_scatter and all_gather_chunks mean by the chunk of a rank, this one unless it is given: a
        flat view. Chunks are even but for their last elements, and for grains of 64 where they are long."""
        begin, end = self._cut(x.numel(), rank)
        part = x.view(-1)[begin:end]
        if not isinstance(x, Modelled):
            return part
        begin, end = self._cut(modelled_count(x), rank)
        return costing(part, end - begin)

    def _cut(self, count: int, rank: Optional[int]) -> tuple[int, int]:
        begin, end = ctypes.c_int64(), ctypes.c_int64()
        library.library().trigram_chunk(count, self.size, self.rank if rank is None else rank, ctypes.byref(begin), ctypes.byref(end))
        return begin.value, end.value

    def reduce_scatter(self, x: torch.Tensor, op: str = "sum") -> torch.Tensor:
        """This rank's chunk of x = op over all ranks; the other chunks are undefined. Returns the chunk."""
        self._call("reduce_scatter", [x], op=op)
        return self.chunk(x)

    def all_gather_chunks(self, x: torch.Tensor) -> torch.Tensor:
        """Each rank brings its chunk of x, and gets all."""
        self._call("all_gather", [x])
        return x

    def all_gather(self, parts: Sequence[torch.Tensor]) -> Sequence[torch.Tensor]:
        """parts[r] = what rank r has there, of any sizes that all ranks know; a tensor for each rank."""
        self._call("all_gather_parts", parts, each=1)
        return parts

    def all_to_all(self, send: Sequence[torch.Tensor], receive: Sequence[torch.Tensor]) -> Sequence[torch.Tensor]:
        """send[r] goes to rank r's receive[rank]: a tensor for each rank, of any sizes that both ends know."""
        self._call("all_to_all", [*send, *receive], each=2)
        return receive

    def broadcast(self, x: torch.Tensor, root: int = 0) -> torch.Tensor:
        """x of the root on every rank."""
        self._call("broadcast", [x], peer=root)
        return x

    def reduce(self, x: torch.Tensor, op: str = "sum", root: int = 0) -> torch.Tensor:
        """x of the root = op over all ranks; elsewhere x is undefined."""
        self._call("reduce", [x], op=op, peer=root)
        return x

    def gather(self, part: torch.Tensor, parts: Sequence[torch.Tensor] = (), root: int = 0) -> Sequence[torch.Tensor]:
        """parts[r] on the root = part of rank r; elsewhere there are no parts."""
        self._call("gather", [part, *self._of_root(parts, root)], peer=root)
        return parts

    def scatter(self, part: torch.Tensor, parts: Sequence[torch.Tensor] = (), root: int = 0) -> torch.Tensor:
        """part of rank r = parts[r] of the root."""
        self._call("scatter", [part, *self._of_root(parts, root)], peer=root)
        return part

    def barrier(self) -> None:
        """Returns when all ranks have called it; on a GPU what its stream does next comes after what theirs had done."""
        self._call("barrier", [])

    def send(self, x: torch.Tensor, to: int) -> None:
        """Returns when x may be written again, on a GPU by its stream; messages of two ranks match in their order."""
        self._call("send", [x], peer=to)

    def receive(self, x: torch.Tensor, source: int) -> torch.Tensor:
        """x = what rank `source` sends, of the same size and type."""
        self._call("receive", [x], peer=source)
        return x

    def exchange(self, sent: "Sequence[tuple[int, torch.Tensor]]", received: "Sequence[tuple[int, torch.Tensor]]") -> None:
        """Messages that progress together: each of `sent` is (rank, tensor), the tensor for that rank, and each of `received`
        (rank, tensor), which gets what that rank sends. Messages of two ranks match in their order, with the same sizes and types."""
        self._exchange("exchange", sent, received)

    def _exchange(self, collective: str, sent: "Sequence[tuple[int, torch.Tensor]]", received: "Sequence[tuple[int, torch.Tensor]]") -> None:
        both = [*sent, *received]
        for first, second in both:
            if isinstance(first, torch.Tensor) or not isinstance(second, torch.Tensor):
                raise ValueError(f"exchange is given ({type(first).__name__}, {type(second).__name__}); a message is (rank, tensor)")
        if both:
            self._call(collective, [one for _, one in both], peers=[peer for peer, _ in both], sent=len(sent))

    def _of_root(self, parts: Sequence[torch.Tensor], root: int) -> Sequence[torch.Tensor]:
        wanted = self.size if self.rank == root else 0
        if len(parts) != wanted:
            raise ValueError(f"rank {self.rank} gives {len(parts)} parts; the root, rank {root}, has one for each of {self.size} ranks, and "
                             "others have none")
        return parts

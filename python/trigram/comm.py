"""The communicator of Trigram on torch tensors, for code of one's own: collectives, sends and receives, groups.

    from trigram import comm                             # mpirun -n 4 python script.py
    world = comm.join()
    x = torch.full((3,), float(world.rank))
    world.all_reduce(x)                                  # 0 + 1 + 2 + 3, in place
    handle = world.begin_broadcast(y, root=2)            # beside what this thread does
    …
    handle.wait()
    pair = world.split(color=world.rank // 2)            # communicators of two ranks each
    loss = comm.sum_over_ranks(pair, model(x)).mean()    # and its gradient
    world.leave()

Tensors are on the CPU, their elements one after another, of float32, float16, bfloat16, uint8, int32 or int64. All ranks of a
communicator make the same calls in the same order, with sizes that fit. What is done in place returns its tensor. Raises
ValueError for tensors and ranks that cannot be, before anything is sent; RuntimeError where a rank has failed, after which no
call can follow."""

import atexit
import ctypes
import json
from collections.abc import Sequence
from typing import Any, Optional

import torch

from . import library, program
from .model import check_launcher, check_place

TYPES = {torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16", torch.uint8: "u8", torch.int32: "i32", torch.int64: "i64"}


class Handle:
    """Something that was begun."""

    def __init__(self, joined: "Joined", number: int, tensors: Sequence[torch.Tensor]) -> None:
        self._joined, self._number, self._tensors = joined, number, tensors

    def done(self) -> bool:
        """Whether it has ended here; never waits."""
        flag = ctypes.c_int()
        self._joined.check(library.library().trigram_group_done(self._joined.handle, self._number, ctypes.byref(flag)))
        return bool(flag.value)

    def wait(self) -> None:
        """Returns when it has ended; the tensors are those of its caller again. Raises what it failed with."""
        self._joined.check(library.library().trigram_group_wait(self._joined.handle, self._number))
        self._tensors = ()


class Joined:
    """This process among the ranks of the job."""

    def __init__(self, flags: dict[str, str]) -> None:
        self.handle = library.Handle()
        library.check(library.library().trigram_group_open(json.dumps(flags).encode(), ctypes.byref(self.handle)))
        atexit.register(self.leave)

    def check(self, status: int) -> None:
        library.check(status)

    def leave(self) -> None:
        atexit.unregister(self.leave)
        if self.handle and not library.library().trigram_group_has_ended(self.handle):
            library.check(library.library().trigram_group_leave(self.handle))

    def __del__(self) -> None:
        if self.handle:
            library.library().trigram_group_close(self.handle)


class Communicator:
    """A group of ranks. Each collective has a twin, begin_NAME, which returns a Handle and runs beside this thread, after what
    was begun before; its tensors are nobody's until the handle's `wait`."""

    rank: int
    """Of this process in the group."""
    size: int
    """How many ranks it has."""

    def __init__(self, joined: Joined) -> None:
        """Of what the library has replied."""
        self._joined = joined
        place = json.loads(library.reply())
        self._group, self.rank, self.size = place["group"], place["rank"], place["size"]

    def __deepcopy__(self, _: object) -> "Communicator":
        """Itself, so that layers that have it can be copied."""
        return self

    def split(self, color: int, key: int = 0) -> "Communicator":
        """The communicator of the ranks that give the same color, ordered by (key, rank). Collective."""
        self._joined.check(library.library().trigram_group_split(self._joined.handle, self._group, color, key))
        return Communicator(self._joined)

    def leave(self) -> None:
        """The end, for all communicators that were made of this one; what was begun is waited for. Collective. The end of the
        script does it too."""
        self._joined.leave()

    def all_reduce(self, x: torch.Tensor, op: str = "sum") -> torch.Tensor:
        """x = op ("sum", "mean", "min", "max") over all ranks, on every rank."""
        self._call("all_reduce", [x], op=op)
        return x

    def begin_all_reduce(self, x: torch.Tensor, op: str = "sum") -> Handle:
        return self._begin("all_reduce", [x], op=op)

    def chunk(self, x: torch.Tensor, rank: Optional[int] = None) -> torch.Tensor:
        """The elements of x that reduce_scatter and all_gather_chunks mean by the chunk of a rank, this one unless it is given: a
        flat view. Chunks are even but for their last elements, and for grains of 64 where they are long."""
        begin, end = ctypes.c_int64(), ctypes.c_int64()
        library.library().trigram_chunk(x.numel(), self.size, self.rank if rank is None else rank, ctypes.byref(begin), ctypes.byref(end))
        return x.view(-1)[begin.value:end.value]

    def reduce_scatter(self, x: torch.Tensor, op: str = "sum") -> torch.Tensor:
        """This rank's chunk of x = op over all ranks; the other chunks are undefined. Returns the chunk."""
        self._call("reduce_scatter", [x], op=op)
        return self.chunk(x)

    def begin_reduce_scatter(self, x: torch.Tensor, op: str = "sum") -> Handle:
        return self._begin("reduce_scatter", [x], op=op)

    def all_gather_chunks(self, x: torch.Tensor) -> torch.Tensor:
        """Each rank brings its chunk of x, and gets all."""
        self._call("all_gather", [x])
        return x

    def begin_all_gather_chunks(self, x: torch.Tensor) -> Handle:
        return self._begin("all_gather", [x])

    def all_gather(self, parts: Sequence[torch.Tensor]) -> Sequence[torch.Tensor]:
        """parts[r] = what rank r has there, of any sizes that all ranks know; a tensor for each rank."""
        self._call("all_gather_parts", parts, each=1)
        return parts

    def begin_all_gather(self, parts: Sequence[torch.Tensor]) -> Handle:
        return self._begin("all_gather_parts", parts, each=1)

    def all_to_all(self, send: Sequence[torch.Tensor], receive: Sequence[torch.Tensor]) -> Sequence[torch.Tensor]:
        """send[r] goes to rank r's receive[rank]: a tensor for each rank, of any sizes that both ends know."""
        self._call("all_to_all", [*send, *receive], each=2)
        return receive

    def begin_all_to_all(self, send: Sequence[torch.Tensor], receive: Sequence[torch.Tensor]) -> Handle:
        return self._begin("all_to_all", [*send, *receive], each=2)

    def broadcast(self, x: torch.Tensor, root: int = 0) -> torch.Tensor:
        """x of the root on every rank."""
        self._call("broadcast", [x], peer=root)
        return x

    def begin_broadcast(self, x: torch.Tensor, root: int = 0) -> Handle:
        return self._begin("broadcast", [x], peer=root)

    def reduce(self, x: torch.Tensor, op: str = "sum", root: int = 0) -> torch.Tensor:
        """x of the root = op over all ranks; elsewhere x is undefined."""
        self._call("reduce", [x], op=op, peer=root)
        return x

    def begin_reduce(self, x: torch.Tensor, op: str = "sum", root: int = 0) -> Handle:
        return self._begin("reduce", [x], op=op, peer=root)

    def gather(self, part: torch.Tensor, parts: Sequence[torch.Tensor] = (), root: int = 0) -> Sequence[torch.Tensor]:
        """parts[r] on the root = part of rank r; elsewhere there are no parts."""
        self._call("gather", [part, *self._of_root(parts, root)], peer=root)
        return parts

    def begin_gather(self, part: torch.Tensor, parts: Sequence[torch.Tensor] = (), root: int = 0) -> Handle:
        return self._begin("gather", [part, *self._of_root(parts, root)], peer=root)

    def scatter(self, part: torch.Tensor, parts: Sequence[torch.Tensor] = (), root: int = 0) -> torch.Tensor:
        """part of rank r = parts[r] of the root."""
        self._call("scatter", [part, *self._of_root(parts, root)], peer=root)
        return part

    def begin_scatter(self, part: torch.Tensor, parts: Sequence[torch.Tensor] = (), root: int = 0) -> Handle:
        return self._begin("scatter", [part, *self._of_root(parts, root)], peer=root)

    def barrier(self) -> None:
        """Returns when all ranks have called it."""
        self._call("barrier", [])

    def begin_barrier(self) -> Handle:
        return self._begin("barrier", [])

    def send(self, x: torch.Tensor, to: int) -> None:
        """Returns when x may be written again; messages of two ranks match in their order."""
        self._call("send", [x], peer=to)

    def begin_send(self, x: torch.Tensor, to: int) -> Handle:
        return self._begin("send", [x], peer=to)

    def receive(self, x: torch.Tensor, source: int) -> torch.Tensor:
        """x = what rank `source` sends, of the same size and type."""
        self._call("receive", [x], peer=source)
        return x

    def begin_receive(self, x: torch.Tensor, source: int) -> Handle:
        return self._begin("receive", [x], peer=source)

    def _of_root(self, parts: Sequence[torch.Tensor], root: int) -> Sequence[torch.Tensor]:
        wanted = self.size if self.rank == root else 0
        if len(parts) != wanted:
            raise ValueError(f"rank {self.rank} gives {len(parts)} parts; the root, rank {root}, has one for each of {self.size} ranks, and "
                             "others have none")
        return parts

    def _words(self, collective: str, tensors: Sequence[torch.Tensor], op: str, peer: int, each: int) -> tuple[Any, ...]:
        if each and len(tensors) != each * self.size:
            raise ValueError(f"{collective} is given {len(tensors)} tensors on {self.size} ranks; give one for each rank, of what is "
                             "sent and of what is received")
        for one in tensors:
            check_place(f"a tensor of {collective}", one)
            if not one.is_contiguous():
                raise ValueError(f"a tensor of {collective} has gaps between its elements; give x.contiguous()")
            if one.dtype not in TYPES or one.dtype != tensors[0].dtype:
                raise ValueError(f"a tensor of {collective} is of {one.dtype}; give one type, of {', '.join(map(str, TYPES))}")
        kind = TYPES[tensors[0].dtype] if tensors else "u8"
        call = json.dumps({"collective": collective, "op": op, "peer": peer, "dtype": kind}).encode()
        addresses, counts = ctypes.c_uint64 * len(tensors), ctypes.c_int64 * len(tensors)
        return (self._joined.handle, self._group, call, addresses(*(one.data_ptr() for one in tensors)),
                counts(*(one.numel() for one in tensors)), len(tensors))

    def _call(self, collective: str, tensors: Sequence[torch.Tensor], op: str = "sum", peer: int = 0, each: int = 0) -> None:
        self._joined.check(library.library().trigram_group_call(*self._words(collective, tensors, op, peer, each)))

    def _begin(self, collective: str, tensors: Sequence[torch.Tensor], op: str = "sum", peer: int = 0, each: int = 0) -> Handle:
        number = ctypes.c_int64()
        words = self._words(collective, tensors, op, peer, each)
        self._joined.check(library.library().trigram_group_begin(*words, ctypes.byref(number)))
        return Handle(self._joined, number.value, list(tensors))


def join(*, backend: str = "mpi", all_reduce: str = "ring") -> Communicator:
    """This process as a rank among all of the job: the communicator of all. `backend`: as "mpi:timeout=60s"; `all_reduce`: one of
    `products("all-reduces")`. Collective. Raises ValueError where the job is none of MPI's, or ranks give other settings."""
    check_launcher()
    return Communicator(Joined({"backend": backend, "all-reduce": program.text_of(all_reduce)}))


class _Sum(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(context: Any, communicator: Communicator, x: torch.Tensor) -> torch.Tensor:
        context.communicator = communicator
        return communicator.all_reduce(x.detach().clone().contiguous())

    @staticmethod
    def backward(context: Any, gradient: torch.Tensor) -> tuple[None, torch.Tensor]:
        return None, context.communicator.all_reduce(gradient.clone().contiguous())


class _Gathered(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(context: Any, communicator: Communicator, x: torch.Tensor) -> torch.Tensor:
        context.communicator = communicator
        whole = x.new_empty((communicator.size, *x.shape))
        whole[communicator.rank] = x
        communicator.all_gather(list(whole))
        return whole

    @staticmethod
    def backward(context: Any, gradient: torch.Tensor) -> tuple[None, torch.Tensor]:
        communicator = context.communicator
        send = [one.contiguous() for one in gradient]
        receive = [torch.empty_like(one) for one in send]
        return None, torch.stack(list(communicator.all_to_all(send, receive))).sum(0)


class _Exchanged(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(context: Any, communicator: Communicator, x: torch.Tensor) -> torch.Tensor:
        context.communicator = communicator
        received = torch.empty_like(x, memory_format=torch.contiguous_format)
        communicator.all_to_all([one.contiguous() for one in x.detach()], list(received))
        return received

    @staticmethod
    def backward(context: Any, gradient: torch.Tensor) -> tuple[None, torch.Tensor]:
        return None, _Exchanged.apply(context.communicator, gradient)


def sum_over_ranks(communicator: Communicator, x: torch.Tensor) -> torch.Tensor:
    """The sum of all ranks' x, on every rank, as a function with a gradient: that of x is the sum over ranks of the gradients
    of the results, so that the sum over ranks of all losses is what is differentiated. Backward is collective too."""
    result: torch.Tensor = _Sum.apply(communicator, x)
    return result


def gathered(communicator: Communicator, x: torch.Tensor) -> torch.Tensor:
    """[size, *x.shape]: the x of all ranks, of one shape, in their order, with a gradient as `sum_over_ranks`."""
    result: torch.Tensor = _Gathered.apply(communicator, x)
    return result


def exchanged(communicator: Communicator, x: torch.Tensor) -> torch.Tensor:
    """x[r] goes to rank r, and what rank r has for this one is at [r] of the result, of the same shape [size, …]: all_to_all
    with a gradient, as experts that lie on different ranks need it."""
    if x.dim() == 0 or x.shape[0] != communicator.size:
        raise ValueError(f"x has shape {list(x.shape)}; its first dimension is one entry for each of {communicator.size} ranks")
    result: torch.Tensor = _Exchanged.apply(communicator, x)
    return result

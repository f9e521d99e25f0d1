"""The communicator of Trigram on torch tensors, for code of one's own: collectives, sends and receives, groups.

    from trigram import comm                             # torchrun --nproc-per-node 4 script.py
    world = comm.join()
    x = torch.full((3,), float(world.rank))
    world.all_reduce(x)                                  # 0 + 1 + 2 + 3, in place
    handle = world.begin_broadcast(y, root=2)            # beside what this thread does
    …
    handle.wait()
    pair = world.split(color=world.rank // 2)            # communicators of two ranks each
    loss = comm.sum_over_ranks(pair, model(x)).mean()    # and its gradient
    world.leave()

Tensors are on the CPU, or all of them on the CUDA device that `join(device="cuda:0")` names, their elements one after another, of
float32, float16, bfloat16, uint8, int32 or int64. On a GPU calls return once they are ordered: behind what the stream that is current
has by then, and before what it is given next; so does `wait` of a handle. All ranks of a
communicator make the same calls in the same order, with sizes that fit. What is done in place returns its tensor. Raises
ValueError for tensors and ranks that cannot be, before anything is sent; RuntimeError where a rank has failed, after which no
call can follow."""

import atexit
import ctypes
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Optional

from .extras import require

require("torch", "trigram.comm")

import torch

from . import launcher, library, program, transport
from .collectives import Call, Collectives
from .device import CurrentStream, Place, place_named, require_cpu


class Handle:
    """Something that was begun."""

    def __init__(self, joined: "Joined", number: int, tensors: Sequence[torch.Tensor]) -> None:
        self._joined, self._number, self._tensors = joined, number, tensors

    def done(self) -> bool:
        """Whether it has ended here; never waits."""
        flag = ctypes.c_int()
        library.check(library.library().trigram_group_done(self._joined.handle, self._number, ctypes.byref(flag)))
        return bool(flag.value)

    def wait(self) -> None:
        """Returns when it has ended, and on a GPU when the caller's stream has been ordered behind it; the tensors are those of its
        caller again. Raises what it failed with."""
        self._joined.call(library.library().trigram_group_wait, self._number)
        self._joined.place.keep(self._tensors)
        self._tensors = ()


class Joined:
    """This process among the ranks of the job."""

    def __init__(self, flags: dict[str, str], place: Place, members: transport.Members = None) -> None:
        self.handle = library.Handle()
        self.place = place
        self._stream = CurrentStream(place)
        transport.offer(flags["backend"], members)
        settings = flags | {key: str(value) for key, value in place.settings.items()}
        with place.current():
            library.check(library.library().trigram_group_open(json.dumps(settings).encode(), ctypes.byref(self.handle)))
        self.membership: dict[str, int] = json.loads(library.reply())
        """Of this process in the group of all: "group", "rank", "size"."""
        atexit.register(self.leave)

    def call(self, function: Callable[..., int], *arguments: Any) -> None:
        """Ordered behind what this thread's stream has by now, and before what it is given next."""
        with self.place.current():
            if (stream := self._stream.changed()) is not None:
                library.check(library.library().trigram_group_follow(self.handle, stream))
            library.check(function(self.handle, *arguments))

    def leave(self) -> None:
        atexit.unregister(self.leave)
        if self.handle and not library.library().trigram_group_has_ended(self.handle):
            self.call(library.library().trigram_group_leave)

    def __del__(self) -> None:
        if self.handle:
            library.library().trigram_group_close(self.handle)


class Communicator(Collectives):
    """A group of ranks. Each collective has a twin, begin_NAME, which returns a Handle and runs beside this thread, after what
    was begun before; its tensors are nobody's until the handle's `wait`."""

    def __init__(self, joined: Joined) -> None:
        """Of what the library has replied."""
        self._joined, self._place = joined, joined.place
        membership = json.loads(library.reply())
        self._group, self.rank, self.size = membership["group"], membership["rank"], membership["size"]

    def __deepcopy__(self, _: object) -> "Communicator":
        """Itself, so that layers that have it can be copied."""
        return self

    def split(self, color: int, key: int = 0) -> "Communicator":
        """The communicator of the ranks that give the same color, ordered by (key, rank). Collective."""
        self._joined.call(library.library().trigram_group_split, self._group, color, key)
        return Communicator(self._joined)

    def leave(self) -> None:
        """The end, for all communicators that were made of this one; what was begun is waited for. Collective. The end of the
        script does it too."""
        self._joined.leave()

    def begin_all_reduce(self, x: torch.Tensor, op: str = "sum") -> Handle:
        return self._begin("all_reduce", [x], op=op)

    def begin_reduce_scatter(self, x: torch.Tensor, op: str = "sum") -> Handle:
        return self._begin("reduce_scatter", [x], op=op)

    def begin_all_gather_chunks(self, x: torch.Tensor) -> Handle:
        return self._begin("all_gather", [x])

    def begin_all_gather(self, parts: Sequence[torch.Tensor]) -> Handle:
        return self._begin("all_gather_parts", parts, each=1)

    def begin_all_to_all(self, send: Sequence[torch.Tensor], receive: Sequence[torch.Tensor]) -> Handle:
        return self._begin("all_to_all", [*send, *receive], each=2)

    def begin_broadcast(self, x: torch.Tensor, root: int = 0) -> Handle:
        return self._begin("broadcast", [x], peer=root)

    def begin_reduce(self, x: torch.Tensor, op: str = "sum", root: int = 0) -> Handle:
        return self._begin("reduce", [x], op=op, peer=root)

    def begin_gather(self, part: torch.Tensor, parts: Sequence[torch.Tensor] = (), root: int = 0) -> Handle:
        return self._begin("gather", [part, *self._of_root(parts, root)], peer=root)

    def begin_scatter(self, part: torch.Tensor, parts: Sequence[torch.Tensor] = (), root: int = 0) -> Handle:
        return self._begin("scatter", [part, *self._of_root(parts, root)], peer=root)

    def begin_barrier(self) -> Handle:
        return self._begin("barrier", [])

    def begin_send(self, x: torch.Tensor, to: int) -> Handle:
        return self._begin("send", [x], peer=to)

    def begin_receive(self, x: torch.Tensor, source: int) -> Handle:
        return self._begin("receive", [x], peer=source)

    def _begin(self, collective: str, tensors: Sequence[torch.Tensor], op: str = "sum", peer: int = 0, each: int = 0) -> Handle:
        number = ctypes.c_int64()
        call = Call(collective, tensors, op, peer, each)
        call.check(self.size, self._place)
        self._place.check_side_by_side(f"begin_{collective}", "wait in the call itself")
        self._joined.call(library.library().trigram_group_begin, self._group, *call.in_c(), ctypes.byref(number))
        return Handle(self._joined, number.value, list(tensors))

    def _perform(self, call: Call) -> None:
        self._joined.call(library.library().trigram_group_call, self._group, *call.in_c())


_standing_in: list[Callable[[], Communicator]] = []


@contextmanager
def standing_in(joined: Callable[[], Communicator]) -> Iterator[None]:
    """While it lasts `join` gives what this does: `simulate` lets each rank's model be made so."""
    _standing_in.append(joined)
    try:
        yield
    finally:
        _standing_in.pop()


def join(*, backend: Optional[str] = None, all_reduce: str = "ring", device: "None | int | str | torch.device" = None) -> Communicator:
    """This process as a rank among all of the job: the communicator of all. `device`: where all tensors lie, the CPU if nothing is
    said, or a CUDA device, as "cuda:0" or 0. `backend`: "gpu" for that, else "mpi" or "torch", by default as whoever
    started the processes wants it, with parameters as "mpi:timeout=60s"; `all_reduce`: one of `products("all-reduces")`.
    Collective. Within the `make()` of `simulate` it is that of the simulated ranks, with the run's own `all_reduce`. Raises
    ValueError where the processes are no job of that backend, or ranks give other settings."""
    place = place_named(device)
    if _standing_in:
        require_cpu(place, "simulated ranks compute on the CPU", "the communicator")
        return _standing_in[-1]()
    flags = {"backend": launcher.backend_of(backend, place, "the communicator"), "all-reduce": program.text_of(all_reduce)}
    return Communicator(Joined(flags, place))


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

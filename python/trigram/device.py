"""Where tensors lie: on the CPU, or on one CUDA device, whose work is ordered on streams. No other file knows of torch.cuda."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Optional

import torch
import torch.distributed as dist

KINDS = {"cpu": "the CPU", "cuda": "CUDA devices"}
"""Of places with ranks, as torch.device.type has them."""
IN_ORDER = "NCCL_LAUNCH_ORDER_IMPLICIT"


def untraced(function: Callable[[], Optional[int]]) -> Callable[[], Optional[int]]:
    """For torch.compile, which would keep the answer of one call for all others; torch before 2.1 has no word for it."""
    disable: Any = getattr(getattr(torch, "compiler", None), "disable", None)
    kept: Callable[[], Optional[int]] = function if disable is None else disable(function)
    return kept


class Place:
    """The CPU, where work is done when the call that asked for it returns."""

    kind = "cpu"
    device = torch.device("cpu")
    settings: dict[str, int] = {}
    """What the library is told of it."""

    def __str__(self) -> str:
        return "the CPU"

    def stream(self) -> Optional[int]:
        """The stream that this thread orders its work on at present, where there is one. Raises RuntimeError where it records for later
        what it is given."""
        return None

    def current(self) -> AbstractContextManager[Any]:
        """Within it the library may make the device current; after it the caller's is again."""
        return nullcontext()

    def on(self, stream: Optional[int]) -> AbstractContextManager[Any]:
        """Within it this thread orders its work on that stream, where the place has such."""
        return nullcontext()

    def check_side_by_side(self, those: str, instead: str) -> None:
        """Raises ValueError where exchanges beside each other, as those of lanes=2, could wait for each other for ever."""

    def keep(self, tensors: Sequence[torch.Tensor]) -> None:
        """Nobody else gets their memory before what this thread's stream has by now is done, whichever they were made on."""

    def synchronize(self) -> None:
        """Returns when all that was ordered is done."""

    def numbers(self, values: Sequence[float]) -> torch.Tensor:
        """[len(values)] float32, for which nothing waits."""
        return torch.tensor(values, dtype=torch.float32, device="cpu")

    def random_states(self) -> list[torch.Tensor]:
        """Of the generators that a model here draws from."""
        return [torch.get_rng_state()]

    def draw_from(self, states: Sequence[torch.Tensor]) -> None:
        """Random numbers are those that come after these states."""
        torch.set_rng_state(states[0])

    def future(self) -> "torch.futures.Future[torch.Tensor]":
        """Whose result is there once the work ordered before set_result() is done."""
        return torch.futures.Future()

    def check(self, name: str, one: torch.Tensor, instead: str) -> None:
        """Raises ValueError for a tensor that lies elsewhere, with what to do `instead`, or whose elements lie nowhere."""
        if one.device != self.device:
            raise ValueError(f"{name} is on {one.device}, and not on {self}; {instead}")
        check_layout(name, one)


class CudaPlace(Place):
    """One CUDA device. Memory of torch's is given back to the stream that it was allocated on; what the library does with it is
    ordered before whatever that stream does next, so that none of it needs Tensor.record_stream but what another stream waits for."""

    kind = "cuda"

    def __init__(self, index: int) -> None:
        self.device = torch.device("cuda", index)
        self.settings = {"device": index}
        self._current = untraced(self._current_stream)

    def __str__(self) -> str:
        return str(self.device)

    def stream(self) -> Optional[int]:
        return self._current()

    def _current_stream(self) -> Optional[int]:
        if torch.cuda.is_current_stream_capturing():
            raise RuntimeError("the current stream captures a CUDA graph, in which ranks cannot meet; call the model, its backward() and "
                               "collectives outside of torch.cuda.graph")
        return int(torch.cuda.current_stream(self.device).cuda_stream)

    def current(self) -> AbstractContextManager[Any]:
        guard: AbstractContextManager[Any] = torch.cuda.device(self.device)
        return guard

    def keep(self, tensors: Sequence[torch.Tensor]) -> None:
        for one in tensors:
            one.record_stream(torch.cuda.current_stream(self.device))

    def on(self, stream: Optional[int]) -> AbstractContextManager[Any]:
        if stream is None:
            return nullcontext()
        guard: AbstractContextManager[Any] = torch.cuda.stream(torch.cuda.ExternalStream(stream, device=self.device))
        return guard

    def check_side_by_side(self, those: str, instead: str) -> None:
        """NCCL reads the variable once, at the first launch of the process; where that was torch's, backend gpu is too late to set it."""
        launched = dist.is_available() and dist.is_initialized() and dist.get_backend() not in ("gloo", "mpi")
        if launched and os.environ.get(IN_ORDER) != "1":
            raise ValueError(f"{those} beside torch.distributed's own NCCL takes {IN_ORDER}=1 in the environment that the processes start "
                             f"with: else ranks may wait for each other for ever; set it there, or {instead}")

    def synchronize(self) -> None:
        torch.cuda.synchronize(self.device)

    def numbers(self, values: Sequence[float]) -> torch.Tensor:
        return super().numbers(values).pin_memory().to(self.device, non_blocking=True)

    def random_states(self) -> list[torch.Tensor]:
        return [*super().random_states(), torch.cuda.get_rng_state(self.device)]

    def draw_from(self, states: Sequence[torch.Tensor]) -> None:
        super().draw_from(states)
        torch.cuda.set_rng_state(states[1], self.device)

    def future(self) -> "torch.futures.Future[torch.Tensor]":
        return torch.futures.Future(devices=[self.device])


CPU = Place()


class CurrentStream:
    """What the library knows of it: threads have each their own, autograd's too, and scripts change theirs."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._told: Optional[int] = None

    def changed(self) -> Optional[int]:
        """The stream that is to be followed from now on, where it is another one than before."""
        stream = self._place.stream()
        if stream == self._told:
            return None
        self._told = stream
        return stream


def place_of(tensors: Iterable[tuple[str, torch.Tensor]]) -> Place:
    """Where a model lies, by its tensors and what to call them. Raises ValueError where that is not one place, or none that has ranks."""
    first: Optional[tuple[str, torch.device]] = None
    for name, one in tensors:
        if one.device.type not in KINDS:
            raise ValueError(f"{name} is on {one.device}; models train on the CPU or on a CUDA device: move all of it to one of them (model.to)")
        check_layout(name, one)
        first = first or (name, one.device)
        if one.device != first[1]:
            raise ValueError(f"{name} is on {one.device}, and {first[0]} on {first[1]}; the model of a rank lies on one device: move all of it "
                             "there (model.to)")
    return of_device(first[1]) if first else CPU


def of_device(device: torch.device) -> Place:
    return CudaPlace(device.index) if device.type == "cuda" else CPU


def place_named(given: "None | int | str | torch.device") -> Place:
    """What a caller names: "cuda:1", "cuda", which is the current one, an index, or "cpu", as if nothing was given. Raises ValueError for
    what is not there."""
    try:
        device = torch.device("cuda", given) if isinstance(given, int) else torch.device("cpu" if given is None else given)
    except RuntimeError as error:
        raise ValueError(f"device={given!r} is none: {str(error).splitlines()[0]}") from error
    if device.type not in KINDS:
        raise ValueError(f"device={given!r} has no ranks; give \"cpu\", or a CUDA device as \"cuda:0\"")
    if device.type == "cuda":
        there = torch.cuda.device_count()
        index = device.index if device.index is not None else (torch.cuda.current_device() if there else 0)
        if index >= there:
            raise ValueError(f"device={given!r} is not there: this process sees {there} CUDA devices")
        device = torch.device("cuda", index)
    return of_device(device)


def check_layout(name: str, one: torch.Tensor) -> None:
    """Raises ValueError for a tensor whose elements do not lie in memory one by one."""
    if one.layout != torch.strided:
        raise ValueError(f"{name} has layout {one.layout}, of which no rank can take bytes; make it dense (to_dense())")


def require_cpu(place: Place, those: str, what: str = "the model") -> None:
    """Raises ValueError where it is elsewhere. `those`: what is on the CPU alone, as "simulated ranks compute on the CPU"."""
    if place.kind != CPU.kind:
        raise ValueError(f"{what} is on {place}, and {those}; have it there too")


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Random numbers within are those of the seed, and later ones as if there had been none."""
    devices = [torch.cuda.current_device()] if torch.cuda.is_initialized() else []
    with torch.random.fork_rng(devices):
        torch.default_generator.manual_seed(seed)  # manual_seed() of torch would seed all GPUs, also those that are not forked
        for _ in devices:
            torch.cuda.manual_seed(seed)
        yield

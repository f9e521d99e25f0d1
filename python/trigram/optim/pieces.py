"""Any optimizer of torch whose rule is elementwise, which steps parameters that lie behind one another as one."""

import functools
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any, Optional

import torch

from ..bucket_memory import Slice, memory_order, placed, slice_of
from .trial import require_elementwise

LIMIT = 1 << 17
"""Elements of a piece on CPUs, which then stays in the cache while one operation after the other passes over it."""


def fuse(optimizer: torch.optim.Optimizer) -> torch.optim.Optimizer:
    """Lets an optimizer step many parameters as one piece of memory, and as one a bucket where a job of with_trigram has them: the same weights
    to the last bit, by the calls that a single tensor takes. On CPUs pieces without a job have as much as a cache holds.

        optimizer = optim.fuse(Lion(model.parameters(), lr=1e-4))          # of torch, of a package, of your own
        trigram.with_trigram(model, [optimizer], "bytegrad")               # or without: it trains alone too

    Parameters move into pieces with the first step, and the optimizer stays the same object, with its groups, schedules and `state_dict()`, which is as
    without; what it keeps lies in `state_dict()`, and in `.state` as of then. Parameters without a gradient are left alone, as ever. A
    closure is called once, before the step. Returns the optimizer. Raises ValueError, by name, for rules that look at whole tensors, as those of LAMB,
    Adafactor and Muon, which a trial of a few numbers finds, and for parameters that are DTensors."""
    for group in optimizer.param_groups:
        if any(hasattr(one, "device_mesh") for one in group["params"]):
            raise ValueError("a parameter is a DTensor, of which each rank holds a part; fuse optimizers of whole parameters")
    require_elementwise(optimizer)
    FusedSteps(optimizer).take_over()
    return optimizer


class Piece:
    """Parameters in memory behind one another, their gradients, and one tensor of each thing that the optimizer keeps."""

    def __init__(self, members: Sequence[torch.nn.Parameter], place: Optional[Slice], kept: Callable[[torch.Tensor], dict[str, Any]]) -> None:
        """`place`: of all of them, where a job has them in a bucket; else they move. `kept`: of a parameter, so far."""
        self.members = list(members)
        sizes = [one.numel() for one in members]
        if place is None:
            weights = torch.cat([flat(one.detach(), one) for one in members])
            gradients = torch.zeros_like(weights)
        else:
            weights, gradients = (all_of[place.bucket][place.begin:place.end] for all_of in (place.memory.weights, place.memory.sums))
        self.state = joined(members, kept)
        self.whole = torch.nn.Parameter(weights)
        self.whole.grad = gradients
        self._bounds = list(zip(members, weights.split(sizes), gradients.split(sizes)))
        if place is None:
            for one, part, _ in self._bounds:
                one.data = placed(part, one)
        self._gradients = [placed(part, one) for one, _, part in self._bounds]
        self._places = [part.data_ptr() for _, part, _ in self._bounds]

    def stays(self) -> bool:
        """Whether its parameters are still where it put them."""
        return all(one.data_ptr() == place for one, place in zip(self.members, self._places))

    def gather(self) -> None:
        """The gradients, which may have come elsewhere."""
        there = [one.grad for one in self.members]
        moved = [(mine, came) for mine, came in zip(self._gradients, there) if came is not None and came.data_ptr() != mine.data_ptr()]
        if moved and hasattr(torch, "_foreach_copy_"):
            torch._foreach_copy_(*map(list, zip(*moved)))
        else:
            for mine, came in moved:
                mine.copy_(came)

    def kept(self, state: dict[str, Any]) -> list[dict[str, Any]]:
        """By parameter, what the optimizer keeps of it: views of what it keeps of the piece."""
        sizes = [one.numel() for one in self.members]
        parts = {name: value.split(sizes) for name, value in state.items() if is_by_element(value, self.whole)}
        return [{name: placed(parts[name][index], one) if name in parts else value.clone() if isinstance(value, torch.Tensor) else value
                 for name, value in state.items()} for index, one in enumerate(self.members)]


class Alone(Piece):
    """A parameter that is stepped as it is: a large one; and one without dimensions, of which nobody could tell what is kept by element."""

    def __init__(self, member: torch.nn.Parameter, kept: Callable[[torch.Tensor], dict[str, Any]]) -> None:
        self.members, self.whole, self.state = [member], member, kept(member)

    def stays(self) -> bool:
        return True

    def gather(self) -> None:
        pass

    def kept(self, state: dict[str, Any]) -> list[dict[str, Any]]:
        return [state]


class FusedSteps:
    """In place of an optimizer's own step: its groups have pieces for parameters while it steps."""

    def __init__(self, optimizer: torch.optim.Optimizer) -> None:
        self._optimizer = optimizer
        self._pieces: list[list[Piece]] = []  # by group
        self._present: list[list[int]] = []  # parameters that have them, by `id`
        self._state: Any = {}  # by what stands for a piece
        self._tried = len(optimizer.param_groups)

    def take_over(self) -> None:
        step, state_dict, load = (getattr(self._optimizer, name) for name in ("step", "state_dict", "load_state_dict"))
        get_state = getattr(self._optimizer, "__getstate__", None)

        @functools.wraps(step)
        def fused(_: torch.optim.Optimizer, closure: Optional[Callable[[], Any]] = None) -> Any:
            loss = None
            if closure is not None:
                with torch.enable_grad():
                    loss = closure()
            self._step(step)
            return loss

        def loaded(state: dict[str, Any]) -> None:
            load(state)
            self._pieces, self._present = [], []

        vars(self._optimizer).update(step=types.MethodType(fused, self._optimizer), load_state_dict=loaded,
                                     state_dict=lambda *given, **named: self._spread() or state_dict(*given, **named))
        if get_state is not None:
            vars(self._optimizer)["__getstate__"] = lambda: self._spread() or get_state()

    def _step(self, step: Callable[[], Any]) -> None:
        groups = self._optimizer.param_groups
        present = [[one for one in group["params"] if one.grad is not None] for group in groups]
        ids = [[id(one) for one in those] for those in present]
        if ids != self._present or not all(piece.stays() for pieces in self._pieces for piece in pieces):
            self._form(present, ids)
        own, state = [group["params"] for group in groups], self._optimizer.state
        for group, pieces in zip(groups, self._pieces):
            for piece in pieces:
                piece.gather()
            group["params"] = [piece.whole for piece in pieces]
        self._optimizer.state = self._state
        try:
            step()
        finally:
            self._optimizer.state = state
            for group, parameters in zip(groups, own):
                group["params"] = parameters

    @torch.no_grad()  # type: ignore[misc]
    def _form(self, present: Sequence[Sequence[torch.nn.Parameter]], ids: list[list[int]]) -> None:
        require_elementwise(self._optimizer, self._tried)
        self._tried = len(self._optimizer.param_groups)
        self._spread()
        kept = lambda one: self._optimizer.state.get(one, {})  # noqa: E731
        self._pieces = [pieces_of(those, kept) for those in present]
        self._present = ids
        self._state = type(self._optimizer.state)(dict, {piece.whole: piece.state for pieces in self._pieces for piece in pieces if piece.state})

    @torch.no_grad()  # type: ignore[misc]
    def _spread(self) -> None:
        """The optimizer has what it keeps by parameter."""
        for piece in (piece for pieces in self._pieces for piece in pieces):
            if state := self._state.get(piece.whole):
                for one, mine in zip(piece.members, piece.kept(state)):
                    self._optimizer.state[one] = mine


def pieces_of(parameters: Sequence[torch.nn.Parameter], kept: Callable[[torch.Tensor], dict[str, Any]]) -> list[Piece]:
    """Parameters of one kind and one past together; those of a bucket where they lie behind one another in it."""
    alike: dict[Any, list[torch.nn.Parameter]] = {}
    pieces: list[Piece] = []
    for one in parameters:
        if one.dim() == 0:
            pieces.append(Alone(one, kept))
        elif one.numel():
            alike.setdefault(past(one, kept(one)), []).append(one)
    for members in alike.values():
        places = {id(one): place for one in members if (place := slice_of(one)) is not None}
        for run in filled([one for one in members if id(one) not in places]):
            pieces.append(Piece(run, None, kept) if len(run) > 1 else Alone(run[0], kept))
        ordered = sorted((one for one in members if id(one) in places), key=lambda one: (places[id(one)].bucket, places[id(one)].begin))
        for run in neighbours(ordered, places):
            pieces.append(Piece(run, places[id(run[0])]._replace(end=places[id(run[-1])].end), kept))
    return pieces


def filled(members: Sequence[torch.nn.Parameter]) -> list[list[torch.nn.Parameter]]:
    """As many together as have LIMIT elements, and larger ones alone."""
    small = [one for one in members if one.numel() < limit_of(one)]
    runs = [[one] for one in members if one.numel() >= limit_of(one)]
    size = 0
    for one in small:
        if size == 0 or size + one.numel() > limit_of(one):
            runs.append([])
            size = 0
        runs[-1].append(one)
        size += one.numel()
    return runs


def limit_of(one: torch.Tensor) -> int:
    return LIMIT if one.device.type == "cpu" else sys.maxsize


def neighbours(ordered: Sequence[torch.nn.Parameter], places: dict[int, Slice]) -> list[list[torch.nn.Parameter]]:
    """Those that lie behind one another, of each bucket."""
    runs: list[list[torch.nn.Parameter]] = []
    before: Optional[Slice] = None
    for one in ordered:
        here = places[id(one)]
        follows = before is not None and before.memory is here.memory and (before.bucket, before.end) == (here.bucket, here.begin)
        if follows:
            runs[-1].append(one)
        else:
            runs.append([one])
        before = here
    return runs


def past(one: torch.nn.Parameter, state: dict[str, Any]) -> tuple[Any, ...]:
    """What parameters of a piece have in common: what is kept beside their elements, as the number of steps."""
    def said(value: Any) -> Any:
        return None if is_by_element(value, one) else str(value.tolist()) if isinstance(value, torch.Tensor) else repr(value)

    return (one.dtype, one.device, *((name, said(value)) for name, value in state.items()))


def joined(members: Sequence[torch.nn.Parameter], kept: Callable[[torch.Tensor], dict[str, Any]]) -> dict[str, Any]:
    """What is kept of all of them, as of one."""
    first = kept(members[0])
    return {name: torch.cat([flat(kept(one)[name], one) for one in members]) if is_by_element(value, members[0])
            else value.clone() if isinstance(value, torch.Tensor) else value for name, value in first.items()}


def is_by_element(value: Any, of: torch.Tensor) -> bool:
    return isinstance(value, torch.Tensor) and value.shape == of.shape


def flat(value: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """Its elements in the order in which those of `like` lie in memory."""
    return value.permute(memory_order(like)).reshape(-1)

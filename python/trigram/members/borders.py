"""What a member keeps at a border of steps: all that it needs to be there again, and that others need who come."""

import copy
import io
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import torch

from ..model import place_of_model
from .kept import Kept


class Moment(NamedTuple):
    """A border of steps, as members of an epoch have it; later ones are greater."""

    epoch: int
    steps: int


class Stateful(Protocol):
    """As schedules of learning rates, and moving averages."""

    def state_dict(self) -> Any: ...

    def load_state_dict(self, state: Any) -> Any: ...


class Border:
    """Of one moment. Memory is used anew for a later one."""

    def __init__(self) -> None:
        self.state = Kept()
        """What the library keeps: weights, and what the algorithm has."""
        self.own: dict[str, Any] = {}
        """What the script keeps: optimizers, buffers, and others with a state."""

    def packed(self) -> bytes:
        """What the script keeps, but for random numbers, which are each member's own."""
        return packed({name: one for name, one in self.own.items() if name != "random"})


def packed(own: dict[str, Any]) -> bytes:
    stream = io.BytesIO()
    torch.save(own, stream)
    return stream.getvalue()


def unpacked(own: bytes) -> dict[str, Any]:
    told: dict[str, Any] = torch.load(io.BytesIO(own), weights_only=False)  # of members that know the secret
    return told


class ScriptState:
    """What a script holds beside weights."""

    def __init__(self, model: torch.nn.Module, optimizers: Sequence[torch.optim.Optimizer], also: Sequence[Stateful]) -> None:
        self._model, self._held = model, [*optimizers, *also]
        self._place = place_of_model(model)

    def keep(self, into: dict[str, Any]) -> dict[str, Any]:
        """Copies on the CPU, in memory of `into` where it fits."""
        now = {"held": [one.state_dict() for one in self._held], "buffers": list(self._model.buffers()), "random": self._place.random_states()}
        kept: dict[str, Any] = copied(now, into)
        return kept

    def go_back(self, own: dict[str, Any]) -> None:
        for one, state in zip(self._held, own["held"]):
            one.load_state_dict(on_devices_of(one.state_dict(), copy.deepcopy(state)))
        with torch.no_grad():
            for mine, then in zip(self._model.buffers(), own["buffers"]):
                mine.copy_(then)
        if "random" in own:  # a newcomer has its own
            self._place.draw_from(own["random"])


def on_devices_of(now: Any, kept: Any) -> Any:
    """What was kept, each tensor where the same one is now. Optimizers bring others to their parameters themselves."""
    if isinstance(kept, torch.Tensor):
        return kept.to(now.device) if isinstance(now, torch.Tensor) else kept
    if isinstance(kept, dict):
        there = now if isinstance(now, dict) else {}
        return {key: on_devices_of(there.get(key), one) for key, one in kept.items()}
    if type(kept) in (list, tuple):
        those: Sequence[Any] = now if isinstance(now, (list, tuple)) and len(now) == len(kept) else [None] * len(kept)
        return type(kept)(on_devices_of(*both) for both in zip(those, kept))
    return kept


def copied(one: Any, into: Any) -> Any:
    """On the CPU, of containers and tensors; all else is kept as it is, once its copy is."""
    if isinstance(one, torch.Tensor):
        fits = isinstance(into, torch.Tensor) and into.shape == one.shape and into.dtype == one.dtype
        return into.copy_(one.detach()) if fits else one.detach().to("cpu", copy=True)
    if isinstance(one, dict):
        before = into if isinstance(into, dict) else {}
        return {key: copied(value, before.get(key)) for key, value in one.items()}
    if type(one) in (list, tuple):
        known: Sequence[Any] = into if isinstance(into, (list, tuple)) and len(into) == len(one) else [None] * len(one)
        return type(one)(copied(value, then) for value, then in zip(one, known))
    return copy.deepcopy(one)


def of_one_back(own: Any, others: Any) -> Any:
    """What a member goes on from that has trained apart: its own tensors, as momenta, and the others' numbers, as the learning rate and the counts
    of their schedules, also where a tensor has one."""
    if isinstance(others, torch.Tensor):
        return own if isinstance(own, torch.Tensor) and own.shape == others.shape and others.dim() > 0 else others
    if isinstance(others, dict):
        mine = own if isinstance(own, dict) else {}
        return {key: of_one_back(mine.get(key), value) for key, value in others.items()}
    if type(others) in (list, tuple):
        held: Sequence[Any] = own if isinstance(own, (list, tuple)) and len(own) == len(others) else [None] * len(others)
        return type(others)(of_one_back(mine, value) for mine, value in zip(held, others))
    return others


def mean_of(all_of_them: Sequence[Any]) -> Any:
    """What a newcomer begins with, of what old members hold: the mean of numbers of which they hold others, as of momenta, and else what
    the first one has."""
    first: Any = all_of_them[0]
    if isinstance(first, torch.Tensor):
        alike = all(torch.equal(one, first) for one in all_of_them[1:])
        if alike or not first.is_floating_point():
            return first
        return (sum(one.double() for one in all_of_them) / len(all_of_them)).to(first.dtype)
    if isinstance(first, dict):
        return {key: mean_of([one[key] for one in all_of_them if key in one]) for key in first}
    if type(first) in (list, tuple):
        return type(first)(mean_of(same) for same in zip(*all_of_them))
    return first

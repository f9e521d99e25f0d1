"""What an algorithm in Python keeps from one step to the next, item by item, and what becomes of it where ranks leave or join."""

import copy
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import torch

from .collectives import TYPES

if TYPE_CHECKING:
    from .algorithm import Algorithm, Worker

FATES = {"alike": "all ranks hold the same", "own": "each goes on with its own, and a newcomer with the mean", "averaged": "all go on with the mean",
         "balanced": "as own, moved so that the mean over ranks stays where it was",
         "joint": "as balanced, and anew where a rank was lost", "anew": "as setup makes it"}


class WithoutFate(ValueError):
    """A tensor of which nobody says what becomes of it."""


def list_state(algorithm: "Algorithm", worker: "Worker") -> None:
    """Has each item saved, or overwritten, whichever the library is at. Raises ValueError for what nobody could take over, by its name."""
    for name, fate in algorithm.fates.items():
        kept = kept_as(algorithm, name, fate)
        tensors = dict(tensors_in(name, kept))
        require_layout(algorithm, name, tensors)
        for item, one in tensors.items():
            worker._list(item, fate, one)
        if not tensors and (told := worker._list_text(name, fate, text_of(name, kept))) != text_of(name, kept):
            setattr(algorithm, name, json.loads(told))


def kept_as(algorithm: "Algorithm", name: str, fate: str) -> Any:
    if fate not in FATES:
        raise ValueError(f"fates says '{fate}' of '{name}'; give one of {', '.join(f'{word} ({what})' for word, what in FATES.items())}")
    if not hasattr(algorithm, name):
        raise ValueError(f"fates names '{name}', and setup of {type(algorithm).__name__} has made no such attribute")
    return getattr(algorithm, name)


def tensors_in(name: str, kept: Any) -> Iterator[tuple[str, torch.Tensor]]:
    """With their names: "residuals 0", "residuals 1", …"""
    if isinstance(kept, torch.Tensor):
        yield name, kept
    elif isinstance(kept, (list, tuple)):
        for place, one in enumerate(kept):
            yield from tensors_in(f"{name} {place}", one)
    elif isinstance(kept, dict):
        for key, one in kept.items():
            yield from tensors_in(f"{name} {key}", one)


def require_layout(algorithm: "Algorithm", name: str, tensors: dict[str, torch.Tensor]) -> None:
    """Since another object, whose `setup` has just run, is to find them all."""
    for item, one in tensors.items():
        if one.dtype not in TYPES or not one.is_contiguous():
            what = f"is of {one.dtype}" if one.dtype not in TYPES else "has gaps between its elements"
            raise ValueError(f"'{item}' {what}, and others are to take it over; keep a contiguous tensor of {', '.join(map(str, TYPES))}")
    now = {item: (one.dtype, tuple(one.shape)) for item, one in tensors.items()}
    then: dict[str, Any] = algorithm.__dict__.setdefault("_layout", {})
    if then.setdefault(name, now) != now:
        raise ValueError(f"'{name}' has other tensors than setup of {type(algorithm).__name__} has made, so that nobody could take them over; "
                         "make all of them in setup, and change what is in them")


def text_of(name: str, kept: Any) -> str:
    try:
        return json.dumps(kept)
    except TypeError as error:
        raise ValueError(f"'{name}' is a {type(kept).__name__}, which nobody can take over; keep tensors, numbers, texts, or lists of them") from error


def require_fates(algorithm: "Algorithm") -> None:
    """After `setup`: raises WithoutFate where the class keeps a tensor and does not say what becomes of it."""
    for name, kept in vars(algorithm).items():
        if name not in algorithm.fates and any(True for _ in tensors_in(name, kept)):
            raise WithoutFate(f"{type(algorithm).__name__} keeps tensors as '{name}', and does not say what becomes of them where members change; "
                              f"say so in the class, as fates = {{\"{name}\": \"averaged\"}}, with one word of {', '.join(FATES)}")


def state_of(algorithm: "Algorithm") -> dict[str, Any]:
    """Copies of all that has a fate."""
    return {name: copy.deepcopy(kept_as(algorithm, name, fate)) for name, fate in algorithm.fates.items()}


def take_back(algorithm: "Algorithm", state: dict[str, Any]) -> None:
    for name, kept in state.items():
        setattr(algorithm, name, put_into(getattr(algorithm, name, None), kept))


def put_into(mine: Any, kept: Any) -> Any:
    """Tensors into the memory that others may know, where they fit."""
    if isinstance(mine, torch.Tensor) and isinstance(kept, torch.Tensor) and mine.shape == kept.shape and mine.dtype == kept.dtype:
        return mine.copy_(kept)
    if isinstance(mine, (list, tuple)) and isinstance(kept, (list, tuple)) and len(mine) == len(kept):
        return type(mine)(put_into(*both) for both in zip(mine, kept))
    if isinstance(mine, dict) and isinstance(kept, dict):
        return {key: put_into(mine.get(key), one) for key, one in kept.items()}
    return copy.deepcopy(kept)

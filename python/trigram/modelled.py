"""Tensors that stand for larger ones, as on the clock of another model: how many elements they cost goes with them through
arithmetic, as it does with the buffers of methods in C++."""

import contextlib
from collections.abc import Iterator
from typing import Any, Optional

import torch

borrowed = 0
"""Simulations of this process that are on the clock of another model, where tensors stand for larger ones."""


@contextlib.contextmanager
def another_clock() -> Iterator[None]:
    """As long as such a simulation lasts."""
    global borrowed
    borrowed += 1
    try:
        yield
    finally:
        borrowed -= 1


class Modelled(torch.Tensor):  # type: ignore[misc]
    """What is computed of it and has as many elements costs as much; of what has others nobody knows before `costing` says it."""

    modelled_count: Optional[int]

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, arguments: Any = (), named: Any = None) -> Any:
        with torch._C.DisableTorchFunction():
            result = function(*arguments, **(named or {}))
        sources = [one for one in tensors_of([arguments, named or {}]) if isinstance(one, Modelled)]
        written = (named or {}).get("out", arguments[0] if arguments else None)
        if type(written) is torch.Tensor and (result is written or getattr(function, "__name__", "") == "__setitem__"):
            raise written_to(written, sources)
        if isinstance(result, (tuple, list)):  # those with names too, as of topk
            return type(result)(inherited(one, sources) for one in result)
        return inherited(result, sources)


def tensors_of(given: Any) -> Iterator[torch.Tensor]:
    if isinstance(given, torch.Tensor):
        yield given
    elif isinstance(given, (tuple, list)):
        for one in given:
            yield from tensors_of(one)
    elif isinstance(given, dict):
        yield from tensors_of(list(given.values()))


def inherited(result: Any, sources: list[Modelled]) -> Any:
    """As it is where it is no tensor, or has its cost already."""
    if type(result) is not torch.Tensor:
        return result
    counts = {one.modelled_count for one in sources if one.numel() == result.numel()}
    return made(result, counts.pop() if len(counts) == 1 else None)


def written_to(plain: torch.Tensor, sources: list[Modelled]) -> ValueError:
    costs = ", ".join(f"{one.numel()} that cost as {one.modelled_count}" for one in sources)
    return ValueError(f"a tensor of {plain.numel()} elements, which costs as many, is written with {costs}; make it by torch.empty_like(…) or "
                      "x.clone() of one that costs so, or say what it costs by trigram.algorithm.costing(x, elements)")


def made(x: torch.Tensor, count: Optional[int]) -> Modelled:
    one: Modelled = x.as_subclass(Modelled)
    one.modelled_count = count
    return one


def costing(x: torch.Tensor, elements: int) -> torch.Tensor:
    """x, which from here on costs as much as `elements` of its type where it is sent in a simulation on the clock of another model:
    what was selected from a bucket that stands for a larger one. It shares the memory of x. Elsewhere, on the model's own clock and on
    a real cluster, each tensor costs what it is, and this is x itself."""
    if elements < 0:
        raise ValueError(f"{elements} elements cannot be sent; give 0 or more")
    if not borrowed:
        return x
    with torch._C.DisableTorchFunction():
        return made(x.view(x.shape), elements)


def modelled_count(x: torch.Tensor) -> int:
    """Elements of x that cost: its own, or those that it stands for. Raises ValueError where nobody knows."""
    if not isinstance(x, Modelled):
        elements: int = x.numel()
        return elements
    if x.modelled_count is None:
        raise ValueError(f"a tensor of {x.numel()} elements was made of one that stands for a larger one, and what it costs itself nobody "
                         "knows; say it by trigram.algorithm.costing(x, elements)")
    count: int = x.modelled_count
    return count

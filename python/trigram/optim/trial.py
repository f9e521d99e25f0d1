"""Whether an optimizer steps each element by itself: found out by a trial, on a few numbers."""

import collections
from collections.abc import Sequence
from typing import Any

import torch

from ..device import seeded

SHAPES = ((5, 7), (3,), (2, 3, 4), (33,))
STEPS = 4
SMALL = 1e-2  # in place of a learning rate of 0, by which nothing would be seen


def require_elementwise(optimizer: torch.optim.Optimizer, first: int = 0) -> None:
    """Of the groups from `first` on. Raises ValueError, by the optimizer's name, for a rule that looks at more than an element of the weights, its
    gradient and its state, as LAMB, Adafactor and Muon do."""
    name = type(optimizer).__name__
    for group in optimizer.param_groups[first:]:
        like = max(group["params"], key=torch.Tensor.numel)
        try:
            apart, joined = (outcome(optimizer, group, like, shapes) for shapes in (SHAPES, [(sum(map(count, SHAPES)),)]))
        except Exception as error:  # whatever it raises of tensors that it cannot step
            raise ValueError(f"{name} cannot step tensors in one piece: {type(error).__name__}: {error}; step it as it is") from error
        if len(apart) != len(joined) or not all(torch.equal(*both) for both in zip(apart, joined)):
            raise ValueError(f"{name} does not step each element by itself: in a trial of {STEPS} steps, {len(SHAPES)} tensors and one that has the same "
                             "elements became different; step it as it is")


def count(shape: Sequence[int]) -> int:
    return int(torch.Size(shape).numel())


def outcome(optimizer: torch.optim.Optimizer, group: dict[str, Any], like: torch.Tensor, shapes: Sequence[Sequence[int]]) -> list[torch.Tensor]:
    """Weights and what is kept of each element, after some steps of tensors of those shapes, whose elements are the same for all shapes."""
    total = sum(map(count, shapes))
    numbers = [torch.randn(total, generator=torch.Generator().manual_seed(step)).to(like.device, like.dtype) for step in range(STEPS + 1)]

    def cut(flat: torch.Tensor) -> list[torch.Tensor]:
        return [one.reshape(shape) for one, shape in zip(flat.split([count(shape) for shape in shapes]), shapes)]

    parameters = [torch.nn.Parameter(one.clone()) for one in cut(numbers[-1])]
    alone = twin(optimizer, group, parameters)
    for one in parameters:
        if kept := optimizer.state.get(like):  # as Adagrad has before its first step
            alone.state[one] = {name: beginning(value, like, one) for name, value in kept.items()}
    with seeded(0):
        for flat in numbers[:-1]:
            for one, gradient in zip(parameters, cut(flat)):
                one.grad = gradient.clone()
            type(optimizer).step(alone)
    names = list(alone.state[parameters[0]])
    kept = [[alone.state[one].get(name) for one in parameters] for name in names]
    shaped = [values for values in kept if all(isinstance(value, torch.Tensor) and value.shape == one.shape
                                               for value, one in zip(values, parameters))]
    return [torch.cat([value.detach().reshape(-1) for value in values]) for values in (parameters, *shaped)]


def beginning(value: Any, of: torch.Tensor, one: torch.Tensor) -> Any:
    """What is kept of `one` where `value` is kept of another parameter: of each element the same."""
    if not isinstance(value, torch.Tensor):
        return value
    by_element = value.shape == of.shape and value.numel()
    return torch.full_like(one, value.reshape(-1)[0].item(), dtype=value.dtype) if by_element else value.clone()


def twin(optimizer: torch.optim.Optimizer, group: dict[str, Any], parameters: Sequence[torch.nn.Parameter]) -> Any:
    """One of the same class and settings, for those parameters, which shares nothing that a step changes."""
    alone: Any = object.__new__(type(optimizer))
    settings = {key: value.clone() if isinstance(value, torch.Tensor) else value for key, value in group.items() if key != "params"}
    if float(settings.get("lr", SMALL)) == 0:
        settings["lr"] = SMALL
    for key, value in vars(optimizer).items():
        if key not in ("step", "zero_grad", "state_dict", "load_state_dict", "__getstate__"):  # of which schedules and jobs make their own
            vars(alone)[key] = collections.OrderedDict() if key.endswith("_hooks") else value
    alone.param_groups, alone.state = [settings | {"params": list(parameters)}], collections.defaultdict(dict)
    return alone

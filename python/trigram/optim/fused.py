"""What the fused optimizers have in common: tensors as addresses, runs of them that lie in one piece, and state."""

import ctypes
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Optional

import torch

from ..device import CPU

INSTEAD = "these kernels are those of the CPU: on a GPU take torch.optim's class of the same name with fused=True"

Row = tuple[int, ...]
"""Of one tensor: the addresses of its weights, its gradient and its state, and the count of its elements at last."""


class FusedOptimizer(torch.optim.Optimizer):  # type: ignore[misc]
    """Steps parameters of float32 on the CPU, each group by one call for all tensors that are in the same step."""

    state_names: ClassVar[tuple[str, ...]] = ()
    """Of the tensors that it keeps for each parameter, of its shape, as torch names them."""

    def __init__(self, parameters: Iterable[Any], defaults: dict[str, Any], flat: bool) -> None:
        """`flat`: parameters of a group, their gradients and their state move into one piece of memory each, so that a step is
        one loop; then zero_grad() sets gradients to 0 where they are, also where it is told to set them to None. Raises
        ValueError for parameters that kernels cannot step."""
        self._flat = flat
        self._gradients: dict[torch.nn.Parameter, torch.Tensor] = {}
        self._places: dict[tuple[torch.nn.Parameter, str], torch.Tensor] = {}
        super().__init__(parameters, defaults)

    def add_param_group(self, group: dict[str, Any]) -> None:
        """As torch's."""
        super().add_param_group(group)
        parameters = self.param_groups[-1]["params"]
        for number, one in enumerate(parameters):
            name = f"parameter {number} of group {len(self.param_groups) - 1}"
            CPU.check(name, one, INSTEAD)
            if one.dtype != torch.float32 or not one.is_contiguous():
                raise ValueError(f"{name} is of {one.dtype}, with strides {one.stride()}; kernels step torch.float32 without gaps")
        if self._flat:
            self._flatten(parameters)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """As torch's, but for flat ones."""
        if not self._flat:
            super().zero_grad(set_to_none)
            return
        for parameter, view in self._gradients.items():
            view.zero_()
            parameter.grad = view

    @torch.no_grad()  # type: ignore[misc]
    def step(self, closure: Optional[Callable[[], Any]] = None) -> Any:
        """As torch's; parameters without a gradient stay as they are. Raises ValueError for gradients that kernels cannot read."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            if group.get("maximize"):
                raise ValueError("the state that was loaded maximizes, which these kernels do not; go on with torch.optim")
            together: dict[int, list[Row]] = {}
            kept = []  # gradients that had gaps, until the step is over
            for parameter in group["params"]:
                if parameter.grad is not None and parameter.numel():
                    if not parameter.is_contiguous():
                        raise ValueError(f"a parameter has strides {parameter.stride()} by now; convert the model before its optimizer is made")
                    gradient = self._readable(parameter)
                    kept.append(gradient)
                    number, tensors = self._state_of(parameter, group)
                    row = (parameter.data_ptr(), gradient.data_ptr(), *(one.data_ptr() for one in tensors), parameter.numel())
                    together.setdefault(number, []).append(row)
            for number, rows in together.items():
                self._step(group, number, columns(in_one_piece(rows)))
        return loss

    def __getstate__(self) -> dict[str, Any]:
        if self._flat:
            raise TypeError("a flat optimizer cannot be copied; keep its state_dict()")
        state: dict[str, Any] = super().__getstate__()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in (("_flat", False), ("_gradients", {}), ("_places", {})):  # torch calls it for loading too
            self.__dict__.setdefault(name, value)
        super().__setstate__(state)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Of this class or of torch's."""
        super().load_state_dict(state_dict)
        for (parameter, name), place in self._places.items():
            if (loaded := self.state[parameter].get(name)) is not None:
                self.state[parameter][name] = place.copy_(loaded)

    def _state_of(self, parameter: torch.nn.Parameter, group: dict[str, Any]) -> tuple[int, list[torch.Tensor]]:
        """What its step is called with: a number, alike for all that one call can step, and the tensors of its state."""
        raise NotImplementedError

    def _step(self, group: dict[str, Any], number: int, of_tensors: Sequence[Any]) -> None:
        raise NotImplementedError

    def _new_state(self, parameter: torch.nn.Parameter, name: str) -> torch.Tensor:
        place = self._places.get((parameter, name))
        return torch.zeros_like(parameter, memory_format=torch.contiguous_format) if place is None else place.zero_()

    def _readable(self, parameter: torch.nn.Parameter) -> torch.Tensor:
        gradient = parameter.grad
        CPU.check("a gradient", gradient, INSTEAD)
        if gradient.dtype != torch.float32:
            raise ValueError(f"a gradient is of {gradient.dtype}; kernels step by those of torch.float32")
        dense: torch.Tensor = gradient.contiguous()
        return dense

    @torch.no_grad()  # type: ignore[misc]
    def _flatten(self, parameters: Sequence[torch.nn.Parameter]) -> None:
        weights = torch.cat([one.detach().reshape(-1) for one in parameters])
        pieces = [weights, *(torch.zeros_like(weights) for _ in range(1 + len(self.state_names)))]
        begin = 0
        for one in parameters:
            views = [piece[begin:begin + one.numel()].view_as(one) for piece in pieces]
            begin += one.numel()
            one.data = views[0]
            if one.grad is not None:
                views[1].copy_(one.grad)
                one.grad = views[1]
            self._gradients[one] = views[1]
            self._places.update({(one, name): view for name, view in zip(self.state_names, views[2:])})


def in_one_piece(rows: Sequence[Row]) -> list[Row]:
    """Rows whose tensors all lie behind those of the row before become one with it: each element is stepped by itself."""
    joined: list[Row] = []
    for row in rows:
        if joined:
            *begins, count = joined[-1]
            if all(begin + 4 * count == place for begin, place in zip(begins, row[:-1])):
                joined[-1] = (*begins, count + row[-1])
                continue
        joined.append(row)
    return joined


def columns(rows: Sequence[Row]) -> list[Any]:
    """As the library takes them: arrays of addresses, of counts, and how many there are."""
    *places, counts = zip(*rows)
    addresses, lengths = ctypes.c_uint64 * len(rows), ctypes.c_int64 * len(rows)
    return [*(addresses(*column) for column in places), lengths(*counts), len(rows)]


def require_range(name: str, value: float, below: float = float("inf")) -> None:
    if not 0 <= value < below:
        raise ValueError(f"{name}={value} is not in [0, {below})")

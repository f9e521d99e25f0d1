"""Stochastic gradient descent, with momentum (Polyak 1964; Sutskever et al. 2013)."""

from collections.abc import Iterable, Sequence
from typing import Any

import torch

from ..library import check, library
from .fused import FusedOptimizer, require_range


class SGD(FusedOptimizer):
    """torch.optim.SGD: d = g + weight_decay w; u = momentum u + (1 − dampening) d, or d in the first step; w −= lr (d + momentum u)
    with nesterov, else lr u."""

    state_names = ("momentum_buffer",)

    def __init__(self, params: Iterable[Any], lr: float = 1e-3, momentum: float = 0.0, dampening: float = 0.0, weight_decay: float = 0.0,
                 nesterov: bool = False, *, flat: bool = False) -> None:
        """As torch's; `flat`: see FusedOptimizer."""
        for name, value in (("lr", lr), ("momentum", momentum), ("weight_decay", weight_decay)):
            require_range(name, value)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError(f"nesterov needs momentum above 0 and no dampening, not momentum={momentum} and dampening={dampening}")
        super().__init__(params, {"lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay,
                                  "nesterov": nesterov}, flat)

    def _state_of(self, parameter: torch.nn.Parameter, group: dict[str, Any]) -> tuple[int, list[torch.Tensor]]:
        """The number: whether it is the first step."""
        if group["momentum"] == 0:
            return 0, []
        state = self.state[parameter]
        if state.get("momentum_buffer") is not None:
            return 0, [state["momentum_buffer"]]
        state["momentum_buffer"] = self._new_state(parameter, "momentum_buffer")
        return 1, [state["momentum_buffer"]]

    def _step(self, group: dict[str, Any], number: int, of_tensors: Sequence[Any]) -> None:
        *places, counts, tensors = of_tensors
        velocities = places[2] if len(places) == 3 else None
        check(library().trigram_sgd_step(places[0], places[1], velocities, counts, tensors, float(group["lr"]), group["momentum"],
                                         group["dampening"], group["weight_decay"], group["nesterov"], number))

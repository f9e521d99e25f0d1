"""Adam (Kingma & Ba 2015, arXiv:1412.6980) and AdamW (Loshchilov & Hutter 2019, arXiv:1711.05101)."""

from collections.abc import Iterable, Sequence
from typing import Any

import torch

from ..library import check, library
from .fused import FusedOptimizer, require_range


class Adam(FusedOptimizer):
    """torch.optim.Adam without amsgrad: m = β₁ m + (1 − β₁) g, v = β₂ v + (1 − β₂) g², w −= lr m̂ / (√v̂ + eps), where weight decay is
    added to g."""

    state_names = ("exp_avg", "exp_avg_sq")
    decoupled = False

    def __init__(self, params: Iterable[Any], lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
                 weight_decay: float = 0.0, *, flat: bool = False) -> None:
        """As torch's; `flat`: see FusedOptimizer."""
        for name, value in (("lr", lr), ("eps", eps), ("weight_decay", weight_decay)):
            require_range(name, value)
        for number, beta in enumerate(betas):
            require_range(f"betas[{number}]", beta, below=1.0)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": False}, flat)

    def _state_of(self, parameter: torch.nn.Parameter, group: dict[str, Any]) -> tuple[int, list[torch.Tensor]]:
        """The number: which step of this parameter it is, from 1."""
        if group.get("amsgrad"):
            raise ValueError("the state that was loaded is one of amsgrad, which these kernels do not know; go on with torch.optim")
        state = self.state[parameter]
        if not state:
            state["step"] = torch.tensor(0.0)
            state.update({name: self._new_state(parameter, name) for name in self.state_names})
        state["step"] += 1
        return int(state["step"]), [state[name] for name in self.state_names]

    def _step(self, group: dict[str, Any], number: int, of_tensors: Sequence[Any]) -> None:
        check(library().trigram_adam_step(*of_tensors, float(group["lr"]), *group["betas"], group["eps"], group["weight_decay"], number,
                                          self.decoupled))


class AdamW(Adam):
    """torch.optim.AdamW without amsgrad: Adam, whose weight decay shrinks weights beside the gradient, w −= lr weight_decay w."""

    decoupled = True

    def __init__(self, params: Iterable[Any], lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
                 weight_decay: float = 0.01, *, flat: bool = False) -> None:
        """As torch's; `flat`: see FusedOptimizer."""
        super().__init__(params, lr, betas, eps, weight_decay, flat=flat)

"""A look at how far the first step moves weights, before a loss can say that training diverges."""

import warnings
from collections.abc import Iterable

import torch

Named = Iterable[tuple[str, torch.Tensor]]

TOO_FAR = 0.5
"""Of a weight, in root mean square. Steps along gradients move weights by some hundredths of it at most, and so do Adam's."""
ELEMENTS = 1 << 16  # of a tensor that are looked at


class FirstStep:
    """Warns where the first step moved weights by as much as they are, as steps by signs do at a learning rate that suits gradients."""

    def __init__(self, algorithm: str) -> None:
        self._algorithm = algorithm
        self._name = ""
        self._before = torch.empty(0)
        self._steps = 0

    def begin_step(self, named: Named, learning_rate: float) -> None:
        """`named`: weights, in one order, as they are at the begin of this step, the second of which is judged. The largest that is not 0
        stands for all."""
        self._steps += 1
        if self._steps == 1:
            self._keep_one(named)
        elif self._steps == 2 and self._name:
            self._judge(dict(named)[self._name], learning_rate)
            self._before = torch.empty(0)

    def _keep_one(self, named: Named) -> None:
        for name, weights in sorted(named, key=elements_of, reverse=True):
            part = part_of(weights)
            if part.any():
                self._name, self._before = name, part.clone()
                return

    def _judge(self, weights: torch.Tensor, learning_rate: float) -> None:
        moved = float((part_of(weights) - self._before).norm() / self._before.norm())
        if moved > TOO_FAR:
            warnings.warn(f"the first step moved the weights of '{self._name}' by {moved:.0%} of what they are: learning rate {learning_rate:g} is "
                          f"large for algorithm '{self._algorithm}' here, and training may diverge; try a tenth or a hundredth of it. Methods that step "
                          "by signs, as demo, move every weight by the learning rate", stacklevel=2)


def elements_of(named: tuple[str, torch.Tensor]) -> int:
    return int(named[1].numel())


def part_of(weights: torch.Tensor) -> torch.Tensor:
    return weights.detach().reshape(-1)[:ELEMENTS].float()

"""Steps of mixed precision that are left out as a whole, since the gradients of some rank overflowed."""

import copy
import math
from collections.abc import Sequence
from typing import Any, Optional, Protocol

import torch

from . import algorithm as algorithms
from .device import Place
from .library import Session, require_gradients_only

LEFT_OUT = "so a step that a grad_scaler leaves out would be half done; leave grad_scaler out: each rank then leaves out its own steps"


def overflowed(gradients: torch.Tensor) -> torch.Tensor:
    """Whether, where the gradients lie, so that nothing waits for a device."""
    return torch.isfinite(gradients).all().logical_not()


class Scaler(Protocol):
    """What scales the loss, as torch's GradScaler."""

    def get_scale(self) -> float:
        """By what it does so in the next step."""


def in_use(scaler: Optional[Scaler]) -> Optional[Scaler]:
    """None where it scales nothing, as torch's own where it is not enabled."""
    return scaler if scaler is None or getattr(scaler, "is_enabled", lambda: True)() else None


def check_algorithm(spec: str, algorithm: Optional[algorithms.Algorithm]) -> None:
    """Raises ValueError for one that works on more than gradients."""
    if algorithm is None:
        require_gradients_only(spec, LEFT_OUT)
    elif not isinstance(algorithm, algorithms.GradientMethod):
        raise ValueError(f"algorithm {type(algorithm).__name__} is no GradientMethod, {LEFT_OUT}")


class Overflow:
    """Of one session. A tensor with an infinity or NaN of this rank is exchanged as 0, whatever a codec would make of it; then the
    gradients of all ranks are infinite, for all scalers to see, and what the algorithm keeps is as it was before the step. It
    follows the scale of the loss, too, but for what one in Python keeps."""

    def __init__(self, session: Session, scaler: Scaler, place: Place, algorithm: Optional[algorithms.Algorithm] = None,
                 alone: Sequence[torch.nn.Parameter] = ()) -> None:
        """`alone`: parameters that this rank exchanges with nobody, which the step leaves out too."""
        self._session, self._scaler, self._algorithm, self._alone = session, scaler, algorithm, alone
        self.scale = 0.0
        """Of the loss, in the last step; 0: none yet."""
        self._ended = False  # a step, whose overflow nobody has looked at
        self._kept: dict[str, Any] = {}  # of an algorithm in Python
        self._came = place.numbers([0.0])  # in how many tensors, and then on how many ranks

    def begin(self) -> None:
        """Before each step."""
        scale = float(self._scaler.get_scale())
        self.settle()
        if self.scale not in (0.0, scale) and math.isfinite(scale / self.scale):
            self._session.rescale(scale / self.scale)
        self.scale = scale
        self._session.keep()
        if self._algorithm is not None:
            self._kept = copy.deepcopy(self._algorithm.state_dict())
        self._came.zero_()

    def look(self, gradients: torch.Tensor) -> None:
        """Before the session is told that they are there."""
        with torch.no_grad():
            came = overflowed(gradients)
            gradients.masked_fill_(came, 0)
            self._came += came

    def agree(self, gradients: Sequence[torch.Tensor]) -> None:
        """All of them, once they have been exchanged, in which a sum of 16 bits may have overflowed too. Collective."""
        with torch.no_grad():
            alone = [one.grad for one in self._alone if one.grad is not None]
            for one in (*gradients, *alone):
                self._came += overflowed(one)
            self._session.sum(self._came.data_ptr(), 1)
            for one in (*gradients, *alone):
                one.masked_fill_(self._came[0] > 0, math.inf)

    def came(self) -> bool:
        """In the step that is under way, once ranks agree. Waits for the device."""
        return bool(self._came.item() > 0)

    def end(self) -> None:
        """After the step."""
        self._ended = True

    def settle(self) -> None:
        """Has what the algorithm keeps as it should be, if the last step was none: before the next one, or before anybody looks. Waits
        for the device."""
        if self._ended and self.came():
            self._session.go_back()
            if self._algorithm is not None:
                self._algorithm.load_state_dict(self._kept)
        self._ended = False

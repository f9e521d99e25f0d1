"""What a rank of a real job has to tell of its training: rows, scores and spans, as the program's files have them."""

import math
import pathlib
import time
from collections.abc import Callable, Sequence
from typing import Any, Optional

import torch

from . import record, results
from .bucket_memory import BucketMemory
from .device import Place
from .library import Session
from .masters import lead

PIECE = 4096


def numbers_of(scored: Any) -> tuple[float, float]:
    """A loss, or loss and accuracy, of which the accuracy may be missing: NaN. Raises ValueError for more."""
    both = list(scored) if isinstance(scored, (tuple, list)) else [scored]
    if not 1 <= len(both) <= 2:
        raise ValueError(f"score gave {len(both)} values; give the loss, or loss and accuracy")
    return float(both[0]), float(both[1]) if len(both) == 2 else math.nan


class Losses:
    """By step, kept where they were computed until somebody asks, since to look at one waits for its device."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._pieces: list[torch.Tensor] = []

    def note(self, step: int, loss: "float | torch.Tensor") -> None:
        """Raises ValueError for more than one number."""
        one = loss.detach() if isinstance(loss, torch.Tensor) else torch.tensor(float(loss), dtype=torch.float64)
        if one.numel() != 1:
            raise ValueError(f"a loss of shape {list(one.shape)} is not one number; give its mean")
        while len(self._pieces) * PIECE <= step:
            self._pieces.append(torch.full((PIECE,), math.nan, dtype=torch.float64, device=self._device))
        self._pieces[step // PIECE][step % PIECE].copy_(one.reshape(()), non_blocking=True)

    def all(self) -> list[float]:
        """By step, NaN where none was told, up to some step after the last."""
        return [loss for piece in self._pieces for loss in piece.tolist()]


class Recording:
    """Of one rank. Scores take real time, which its clock leaves out, as the program's does."""

    def __init__(self, session: Session, place: Place) -> None:
        self._session = session
        self._place = place
        self._losses = Losses(place.device)
        self._pauses: list[tuple[int, float]] = []  # after so many steps, seconds
        self._spans: list[record.Row] = []
        self.evals: list[record.Row] = []

    def loss(self, step: int, loss: "float | torch.Tensor") -> None:
        self._losses.note(step, loss)

    def rows(self) -> list[record.Row]:
        """A row a step."""
        rows, losses = self._session.rows(), self._losses.all()
        for row in rows:
            row["loss"] = losses[row["step"]] if row["step"] < len(losses) else math.nan
            row["time_s"] -= sum(seconds for after, seconds in self._pauses if after <= row["step"])
        return rows

    def evaluate(self, model: torch.nn.Module, memory: BucketMemory, score: Callable[[torch.nn.Module], Any]) -> None:
        """A row of the mean model and of the worst rank. `memory`: where the model's parameters lie, of which those of all
        ranks are added up in their order. Collective, between two steps."""
        self._place.synchronize()  # what came before is no part of the pause
        begun = time.perf_counter()
        rows, ranks, rank = self.rows(), self._session.ranks, self._session.rank
        own = memory.kept()
        distance = self._bring_mean(memory.summands(), own)
        memory.hand_out()
        try:
            mean = self._score(model, score)
        finally:
            memory.put_back(own)
        accuracies = torch.zeros(ranks, device=self._place.device)
        accuracies[rank] = mean[1] if distance == 0 else self._score(model, score)[1]
        self._sum(accuracies)
        self.evals.append({"step": len(rows), "time_s": rows[-1]["time_s"] if rows else 0.0, "loss": mean[0], "accuracy": mean[1],
                           "worst_accuracy": float(accuracies.min()), "consensus_distance": distance,
                           "bytes_mean": float(sum(row["bytes_sent"] for row in rows))})
        self._pauses.append((len(rows), time.perf_counter() - begun))

    def keep_spans(self) -> None:
        """Of all ranks, once the session has finished."""
        self._spans = [span for rank in range(self._session.ranks) for span in self._session.spans(rank)]

    def spans(self) -> list[record.Row]:
        """Raises ValueError where none were kept."""
        if not self._spans:
            raise ValueError("there are no spans: give with_trigram trace=True, and ask after finish()")
        return self._spans

    def save(self, folder: "str | pathlib.Path", facts: dict[str, Any]) -> results.Run:
        record.write(pathlib.Path(folder), facts, self.rows(), self.evals, self._spans or None)
        return results.Run(folder)

    def _bring_mean(self, weights: Sequence[torch.Tensor], own: Sequence[torch.Tensor]) -> float:
        """Puts the mean over ranks into `weights`, and returns how far ranks are from it: √(1/n Σ‖x_i − x̄‖²)."""
        for one in weights:
            mean = one.float()  # the same tensor where it is in f32
            self._sum(mean)
            mean /= self._session.ranks
            if mean is not one:
                lead(mean, one)
        squares = torch.stack([(mine - mean).double().square().sum() for mine, mean in zip(own, weights)]).sum().float().reshape(1)
        self._sum(squares)
        return math.sqrt(float(squares) / self._session.ranks)

    def _sum(self, numbers: torch.Tensor) -> None:
        self._session.sum(numbers.data_ptr(), numbers.numel())

    @staticmethod
    def _score(model: torch.nn.Module, score: Callable[[torch.nn.Module], Any]) -> tuple[float, float]:
        modes = {module: module.training for module in model.modules()}
        try:
            return numbers_of(score(model.eval()))
        finally:
            for module, mode in modes.items():
                module.training = mode


def facts_of(model: torch.nn.Module, flags: dict[str, str], ranks: int, samples: Optional[int]) -> dict[str, Any]:
    return {"description": type(model).__name__, "flags": flags, "ranks": ranks, "samples": samples or 0}

"""One simulated rank's share of PyTorch: its modules, buffers, optimizer and random numbers. Weights and gradients are
brought to one place for whichever rank is computing."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Optional

import torch

Named = list[tuple[str, torch.nn.Parameter]]


def trained(model: torch.nn.Module) -> Named:
    return [(name, one) for name, one in model.named_parameters() if one.requires_grad]


class SimulatedRank:
    """Its parameters are views of `weights`, and their gradients of `gradients`, which all ranks share."""

    def __init__(self, model: torch.nn.Module, weights: torch.Tensor, gradients: torch.Tensor,
                 make_optimizer: "Optional[Callable[[torch.nn.Module], torch.optim.Optimizer]]") -> None:
        self._model = model
        self._parameters = [one for _, one in trained(model)]
        self._gradients: list[torch.Tensor] = []
        self._all_gradients = gradients
        begin = 0
        for one in self._parameters:
            end = begin + one.numel()
            one.data = weights[begin:end].view_as(one)
            self._gradients.append(gradients[begin:end].view_as(one))
            begin = end
        self._optimizer = make_optimizer(model) if make_optimizer is not None else None
        self._rates = [float(group["lr"]) for group in self._optimizer.param_groups] if self._optimizer is not None else []
        self._random = torch.get_rng_state()

    @property
    def name(self) -> str:
        return type(self._model).__name__

    @property
    def learning_rate(self) -> Optional[float]:
        return self._rates[0] if self._rates else None

    @property
    def has_buffers(self) -> bool:
        return any(True for _ in self._model.buffers())

    def begin_as(self, first: "SimulatedRank", buffers: list[torch.Tensor]) -> None:
        """With what rank 0 has of what is not trained."""
        for mine, theirs in zip(self._model.parameters(), first._model.parameters()):
            if not mine.requires_grad:
                mine.data = theirs.data
        self.take(buffers)

    def buffers(self) -> list[torch.Tensor]:
        """Copies, as those of batch norm."""
        return [one.detach().clone() for one in self._model.buffers()]

    def take(self, buffers: list[torch.Tensor]) -> None:
        with torch.no_grad():
            for mine, theirs in zip(self._model.buffers(), buffers):
                mine.copy_(theirs)

    def gradients(self, loss: Callable[[torch.nn.Module], torch.Tensor]) -> float:
        """At the weights that are there; what the loss does not depend on has gradient 0."""
        self._model.train()
        self._all_gradients.zero_()
        for parameter, view in zip(self._parameters, self._gradients):
            parameter.grad = view
        with self.own_random_numbers():
            value = loss(self._model)
            value.backward()
        with torch.no_grad():
            for parameter, view in zip(self._parameters, self._gradients):
                if parameter.grad is None:
                    view.zero_()
                elif parameter.grad.data_ptr() != view.data_ptr():
                    view.copy_(parameter.grad)  # as after zero_grad() within the loss
        return float(value.detach())

    def update(self, chosen: list[int], learning_rate: float) -> int:
        """Steps these parameters along the gradients that are there; the schedule's share of the first group's rate is
        that of all. Returns how many elements of state the optimizer keeps for each of theirs."""
        assert self._optimizer is not None
        for index, (parameter, view) in enumerate(zip(self._parameters, self._gradients)):
            parameter.grad = view if index in chosen else None
        for group, rate in zip(self._optimizer.param_groups, self._rates):
            group["lr"] = rate if learning_rate == self._rates[0] else rate * learning_rate / self._rates[0]
        with self.own_random_numbers():
            self._optimizer.step()
        first = self._parameters[chosen[0]]
        state: dict[str, Any] = self._optimizer.state.get(first, {})
        return sum(1 for one in state.values() if torch.is_tensor(one) and one.shape == first.shape and one.dim() > 0)

    def score(self, score: Callable[[torch.nn.Module], Any], buffers: list[torch.Tensor]) -> Any:
        """With these buffers: the rank itself may have gone on."""
        own = self.buffers()
        self.take(buffers)
        try:
            with torch.no_grad(), self.own_random_numbers():
                return score(self._model.eval())
        finally:
            self.take(own)

    def alone(self, weights: torch.Tensor, buffers: list[torch.Tensor]) -> torch.nn.Module:
        """The model with these weights and buffers, in memory of its own, in evaluation mode."""
        self.take(buffers)
        begin = 0
        for one in self._parameters:
            one.data = weights[begin:begin + one.numel()].clone().view_as(one)
            one.grad = None
            begin += one.numel()
        return self._model.eval()

    @contextmanager
    def own_random_numbers(self) -> Iterator[None]:
        """Torch's, those of a process of its own, which began with the model."""
        torch.set_rng_state(self._random)
        try:
            yield
        finally:
            self._random = torch.get_rng_state()

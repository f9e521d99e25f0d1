"""One simulated rank's share of PyTorch: its modules, buffers, optimizer and random numbers. Weights and gradients are
brought to one place for whichever rank is computing."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Optional

import torch

from .model import only_on_this_rank
from .simulated_comm import ModelThread
from .simulated_lane import Asked

Named = list[tuple[str, torch.nn.Parameter]]


def trained(model: torch.nn.Module) -> Named:
    """What all ranks have, and algorithms exchange."""
    own = only_on_this_rank(model)
    return [(name, one) for name, one in model.named_parameters() if one.requires_grad and id(one) not in own]


def trained_alone(model: torch.nn.Module) -> Named:
    """What each rank has and trains for itself, as experts."""
    own = only_on_this_rank(model)
    return [(name, one) for name, one in model.named_parameters() if one.requires_grad and id(one) in own]


class SimulatedRank:
    """Its parameters are views of `weights`, and their gradients of `gradients`, which all ranks share."""

    def __init__(self, model: torch.nn.Module, thread: ModelThread, weights: torch.Tensor, gradients: torch.Tensor,
                 make_optimizer: "Optional[Callable[[torch.nn.Module], torch.optim.Optimizer]]", accumulate: int) -> None:
        """`thread`: where the model computes. `accumulate`: micro-batches of a step."""
        self._model, self._thread, self._accumulate = model, thread, accumulate
        self.trained = trained(model)
        """By name, as what is there at present has it."""
        self._parameters = [one for _, one in self.trained]
        self._own = [one for _, one in trained_alone(model)]
        self._own_gradients: dict[torch.nn.Parameter, Optional[torch.Tensor]] = {}  # until they are stepped along
        own = only_on_this_rank(model)
        self._shared_buffers = [one for one in model.buffers() if id(one) not in own]
        self._gradients: list[torch.Tensor] = []
        self._all_weights, self._all_gradients = weights, gradients
        self._aside: list[torch.Tensor] = []
        self._loss = 0.0
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
    def communicates(self) -> bool:
        """Whether its model has asked for a communicator."""
        return self._thread.communicates

    @property
    def has_buffers(self) -> bool:
        return bool(self._shared_buffers)

    def begin_as(self, first: "SimulatedRank", buffers: list[torch.Tensor]) -> None:
        """With what rank 0 has of what is not trained."""
        own = only_on_this_rank(self._model)
        for mine, theirs in zip(self._model.parameters(), first._model.parameters()):
            if not mine.requires_grad and id(mine) not in own:
                mine.data = theirs.data
        self.take(buffers)

    def buffers(self) -> list[torch.Tensor]:
        """Copies, as those of batch norm."""
        return [one.detach().clone() for one in self._shared_buffers]

    def take(self, buffers: list[torch.Tensor]) -> None:
        with torch.no_grad():
            for mine, theirs in zip(self._shared_buffers, buffers):
                mine.data.copy_(theirs)  # a forward pass may be waiting, whose backward must not take this for a change

    def gradients(self, loss: Callable[[torch.nn.Module], torch.Tensor], begins_step: bool) -> Asked:
        """Of a micro-batch at the weights that are there; what the loss does not depend on has gradient 0. Those of what only this
        rank has add up within a step. Ends with {"ask": "nothing", "loss"}; before that it may come to a collective of the
        model's, and is to go on with what comes of it."""
        if begins_step:
            self._own_gradients.clear()
        with self.own_random_numbers():
            return self._turned(self._thread.begin(lambda: self._compute(loss)))

    def go_on(self, payload: bytes) -> Asked:
        """With its own weights and gradients, though others have computed meanwhile."""
        with torch.no_grad():
            for one, kept in zip((self._all_weights, self._all_gradients), self._aside):
                one.copy_(kept)
        with self.own_random_numbers():
            return self._turned(self._thread.go_on(payload))

    def end(self) -> None:
        """Nothing of the model runs when it returns."""
        self._thread.end()

    def _turned(self, asked: Asked) -> Asked:
        words, payload = asked
        if words["ask"] == "nothing":
            return words | {"loss": self._loss}, payload
        self._aside = [self._all_weights.clone(), self._all_gradients.clone()]
        return asked

    def _compute(self, loss: Callable[[torch.nn.Module], torch.Tensor]) -> None:
        self._model.train()
        self._all_gradients.zero_()
        for parameter, view in zip(self._parameters, self._gradients):
            parameter.grad = view
        for one in self._own:
            one.grad = self._own_gradients.get(one)
        value = loss(self._model)
        value.backward()
        with torch.no_grad():
            for parameter, view in zip(self._parameters, self._gradients):
                if parameter.grad is None:
                    view.zero_()
                elif parameter.grad.data_ptr() != view.data_ptr():
                    view.copy_(parameter.grad)  # as after zero_grad() within the loss
        self._own_gradients = {one: one.grad for one in self._own}
        self._loss = float(value.detach())

    def update(self, chosen: list[int], learning_rate: float) -> int:
        """Steps these parameters along the gradients that are there, and, with the first of a step, what only this rank has; the
        schedule's share of the first group's rate is that of all. Returns how many elements of state the optimizer keeps for each of theirs."""
        assert self._optimizer is not None
        for index, (parameter, view) in enumerate(zip(self._parameters, self._gradients)):
            parameter.grad = view if index in chosen else None
        for one in self._own:
            one.grad = self._own_gradients.pop(one, None)
            if one.grad is not None and self._accumulate > 1:
                one.grad /= self._accumulate
        for group, rate in zip(self._optimizer.param_groups, self._rates):
            group["lr"] = rate if learning_rate == self._rates[0] else rate * learning_rate / self._rates[0]
        with self.own_random_numbers():
            self._optimizer.step()
        first = self._parameters[chosen[0]]
        state: dict[str, Any] = self._optimizer.state.get(first, {})
        return sum(1 for one in state.values() if torch.is_tensor(one) and one.shape == first.shape and one.dim() > 0)

    def score(self, score: Callable[[torch.nn.Module], Any], buffers: list[torch.Tensor]) -> Any:
        """With these buffers: the rank itself may have gone on, and be in the midst of a forward pass."""
        own, mode = self.buffers(), self._model.training
        self.take(buffers)
        try:
            with torch.no_grad(), self.own_random_numbers():
                return score(self._model.eval())
        finally:
            self.take(own)
            self._model.train(mode)

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
    def standing_still(self) -> Iterator[None]:
        """Within `own_random_numbers`: others draw theirs meanwhile."""
        self._random = torch.get_rng_state()
        try:
            yield
        finally:
            torch.set_rng_state(self._random)

    @contextmanager
    def own_random_numbers(self) -> Iterator[None]:
        """Torch's, those of a process of its own, which began with the model."""
        torch.set_rng_state(self._random)
        try:
            yield
        finally:
            self._random = torch.get_rng_state()

"""A mixture of experts that lie on different ranks (Shazeer et al. 2017, arXiv:1701.06538; GShard, arXiv:2006.16668)."""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from ..comm import Communicator, exchanged
from ..device import seeded
from .gating import Assignment, capacity_of, top1, top2


class MoEOutput(NamedTuple):
    """What a forward pass gives."""

    output: torch.Tensor
    """Of the input's shape."""
    balance_loss: torch.Tensor
    """A scalar with a gradient, of this rank's tokens; add it to the loss, times 0.01 or so."""
    counts: torch.Tensor
    """[experts] int64: how often this rank's tokens chose each expert."""
    dropped: int
    """Choices of this rank that found no slot: a token none of whose choices did has output 0."""


class _GradientTimes(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(context: Any, x: torch.Tensor, factor: float) -> torch.Tensor:
        context.factor = factor
        return x.view_as(x)

    @staticmethod
    def backward(context: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        return gradient * context.factor, None


class ExpertsOfThisRank(torch.nn.ModuleList):  # type: ignore[misc]
    """Their parameters and buffers are this rank's own: with_trigram neither averages nor overwrites them."""

    only_on_this_rank = True


class MoE(torch.nn.Module):  # type: ignore[misc]
    """A gate, which all ranks have alike, and experts, of which each rank has its share: tokens travel to their experts and
    back by all_to_all, twice in a forward pass and twice in backward, with 4 C d E (n−1)/n bytes from each rank each time, for
    capacity C, width d, E experts and n ranks.

    Expert parameters get the gradient of the mean over ranks of their losses, as with_trigram gives it to all others, so that
    one learning rate fits both (in Bagua, the sum over ranks); with_trigram takes the gate up and leaves them to the optimizer,
    which has both. Each rank saves its own experts. Without experts of its own a rank cannot be."""

    def __init__(self, width: int, expert: Callable[[], torch.nn.Module], *, experts: int, communicator: Communicator, choices: int = 1,
                 capacity_factor: float = 1.0, evaluation_capacity_factor: float = 2.0, least_capacity: int = 4,
                 explores: bool = True) -> None:
        """`expert()` makes one, from [rows, width] to the same, each row by itself: rows that no token has are 0. It is called
        with a stream of random numbers for each of all experts, so that ranks that seeded torch alike begin with the same model
        on any number of ranks. `choices`: experts a token, 1 or 2. Capacities: slots a rank has at each expert, in even shares
        of its choices, in training and in evaluation. `explores`: in training, second choices and the tokens that are dropped
        by top-1 are drawn at random. Raises ValueError where experts cannot be shared out evenly."""
        super().__init__()
        if choices not in (1, 2) or experts < choices:
            raise ValueError(f"choices={choices} of {experts} experts; a token goes to 1 or 2 of them")
        if experts % communicator.size:
            raise ValueError(f"{experts} experts cannot lie evenly on {communicator.size} ranks; give a multiple of {communicator.size}")
        self.communicator, self.width, self.count, self.choices = communicator, width, experts, choices
        self.capacity_factor, self.evaluation_capacity_factor = capacity_factor, evaluation_capacity_factor
        self.least_capacity, self.explores = least_capacity, explores
        self.gate = torch.nn.Linear(width, experts, bias=False)
        seed = int(torch.randint(2**62, ()))
        own = range(communicator.rank * experts // communicator.size, (communicator.rank + 1) * experts // communicator.size)
        self.experts = ExpertsOfThisRank(made(expert, seed + number) for number in own)

    def forward(self, x: torch.Tensor) -> MoEOutput:
        """x: [..., width], any number of tokens, other ranks' too, none included. Collective."""
        tokens = x.reshape(-1, self.width)
        slots = self._slots(tokens)
        given = self._assign(self.gate(tokens), slots)
        places = (given.experts * slots + given.slots)[given.kept]
        choosers = torch.arange(len(tokens), device=x.device).expand_as(given.kept)[given.kept]
        sent = tokens.new_zeros((self.count * slots, self.width)).index_copy(0, places, tokens[choosers])
        came = self._through_experts(sent, slots)[places] * given.weights[given.kept][:, None].to(tokens.dtype)
        output = torch.zeros_like(tokens).index_add(0, choosers, came)
        return MoEOutput(output.view_as(x), given.balance_loss, given.counts, int((~given.kept).sum()))

    def _slots(self, tokens: torch.Tensor) -> int:
        """Of the rank that needs most, since all to all is of equal parts."""
        factor = self.capacity_factor if self.training else self.evaluation_capacity_factor
        own = capacity_of(len(tokens), self.count, self.choices, factor, self.least_capacity)
        return int(self.communicator.all_reduce(torch.tensor([own], device=tokens.device), op="max"))

    def _assign(self, logits: torch.Tensor, slots: int) -> Assignment:
        logits = logits.float()
        explores = self.training and self.explores
        if self.choices == 1:
            return top1(logits, slots, torch.rand_like(logits) if explores else None)
        return top2(logits, slots, -torch.empty_like(logits).exponential_().log() if explores else None)

    def _through_experts(self, sent: torch.Tensor, slots: int) -> torch.Tensor:
        """[E · slots, width] of this rank's tokens, to what the experts make of them."""
        ranks, own = self.communicator.size, len(self.experts)
        came = exchanged(self.communicator, sent.view(ranks, own, slots, self.width)).transpose(0, 1)
        came = _GradientTimes.apply(came, float(ranks))
        made = [expert(rows.reshape(ranks * slots, self.width)).view(ranks, slots, self.width) for expert, rows in zip(self.experts, came)]
        back = _GradientTimes.apply(torch.stack(made, dim=1), 1 / ranks)
        return exchanged(self.communicator, back).view(-1, self.width)


def made(expert: Callable[[], torch.nn.Module], seed: int) -> torch.nn.Module:
    with seeded(seed):
        return expert()

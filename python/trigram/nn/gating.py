"""Which experts a token goes to, and in which of their slots: top-1 (Switch Transformers, arXiv:2101.03961) and top-2
(GShard, arXiv:2006.16668) as DeepSpeed and Bagua have them, with a capacity and a loss that balances experts."""

import dataclasses
import math
from typing import Optional

import torch


@dataclasses.dataclass(frozen=True)
class Assignment:
    """Of T tokens to E experts, k for each token."""

    experts: torch.Tensor
    """[k, T] int64: the expert of each choice."""
    slots: torch.Tensor
    """[k, T] int64: its slot there, below the capacity where it is kept."""
    kept: torch.Tensor
    """[k, T] bool: whether there was a slot for it."""
    weights: torch.Tensor
    """[k, T]: what its output counts for, with a gradient; 0 where it is not kept."""
    balance_loss: torch.Tensor
    """E Σ (mean gate of e) (share of tokens whose first choice is e): 1 where all are alike."""
    counts: torch.Tensor
    """[E] int64: choices of each expert, kept or not."""


def capacity_of(tokens: int, experts: int, choices: int, factor: float, least: int) -> int:
    """Slots of each expert: its even share of all choices, times `factor`, and `least` anyway."""
    return max(math.ceil(choices * tokens / experts * factor), least)


def balance_loss(gates: torch.Tensor, first: torch.Tensor) -> torch.Tensor:
    if not len(gates):
        return gates.sum()  # 0, with a gradient
    return gates.shape[1] * (gates.mean(0) * first.mean(0)).sum()


def one_hot(chosen: torch.Tensor, experts: int) -> torch.Tensor:
    return torch.nn.functional.one_hot(chosen, experts)


def before(chosen: torch.Tensor) -> torch.Tensor:
    """[T]: how many tokens before each chose the same; `chosen` [T, E] of 0 and 1."""
    return ((chosen.cumsum(0) - 1) * chosen).sum(1)


def top1(logits: torch.Tensor, capacity: int, priority: Optional[torch.Tensor] = None) -> Assignment:
    """`logits` [T, E]. Where more tokens choose an expert than it has slots, the first ones are kept, or those of highest
    `priority` [T, E], which are random numbers where no place in a batch shall be better than another."""
    gates = logits.softmax(1)
    chosen = gates.argmax(1)
    mask = one_hot(chosen, logits.shape[1])
    order = torch.arange(len(chosen), device=chosen.device)
    if priority is not None:
        order = priority.gather(1, chosen[:, None])[:, 0].argsort(descending=True, stable=True)
    ahead = torch.empty_like(chosen)
    ahead[order] = before(mask[order])
    kept = ahead < capacity
    weights = gates.gather(1, chosen[:, None])[:, 0] * kept
    slots = before(mask * kept[:, None])
    return Assignment(chosen[None], slots[None], kept[None], weights[None], balance_loss(gates, mask.to(gates.dtype)), mask.sum(0))


def top2(logits: torch.Tensor, capacity: int, noise: Optional[torch.Tensor] = None) -> Assignment:
    """`logits` [T, E]. The second choice is the best but for the first, of logits + `noise` [T, E]: Gumbel noise draws it in
    proportion to its gate. First choices have slots before second ones; the weights of those that a token keeps add up to 1."""
    gates = logits.softmax(1)
    first = gates.argmax(1)
    mask = one_hot(first, logits.shape[1])
    second = (logits if noise is None else logits + noise).masked_fill(mask.bool(), -math.inf).argmax(1)
    other = one_hot(second, logits.shape[1])
    slots = torch.stack([before(mask), before(other) + mask.sum(0)[second]])
    kept = slots < capacity
    experts = torch.stack([first, second])
    weights = gates.gather(1, experts.t()).t() * kept
    weights = weights / weights.sum(0).clamp(min=torch.finfo(gates.dtype).eps)
    return Assignment(experts, slots, kept, weights, balance_loss(gates, mask.to(gates.dtype)), (mask + other).sum(0))

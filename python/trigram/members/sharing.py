"""Which samples a member takes in a step: each once an epoch of the data, the same at any membership."""

import functools

import torch


@functools.lru_cache(2)
def order(samples: int, seed: int, epoch: int) -> torch.Tensor:
    """Of an epoch of the data: of all samples, from a seed of its own."""
    generator = torch.Generator().manual_seed((seed * 1_000_003 + epoch) % 2**63)
    return torch.randperm(samples, generator=generator)


def batch_of(step: int, samples: int, size: int, seed: int) -> torch.Tensor:
    """The samples of a step, of all members together: the next ones, across the end of an epoch too."""
    places = torch.arange(step * size, (step + 1) * size)
    epochs = (places // samples).unique().tolist()
    return torch.cat([order(samples, seed, epoch)[places[places // samples == epoch] % samples] for epoch in epochs])


def share_of(batch: torch.Tensor, rank: int, ranks: int) -> torch.Tensor:
    """A rank's, one more or less than another's."""
    return batch[len(batch) * rank // ranks:len(batch) * (rank + 1) // ranks]

"""Samplers that give all ranks of a synchronous job samples of similar cost in each step, so that none waits for the one
whose sentences are longest. After Bagua's sampler of that name (Gan et al., VLDB 2022, arXiv:2107.01499)."""

import itertools
from collections.abc import Callable, Iterator, Sequence, Sized

import torch


def steps_of_similar_cost(costs: Sequence[float], ranks: int, drop_last: bool) -> list[list[int]]:
    """The samples of each step, one for each rank: neighbours among all samples in the order of their costs. Where the
    last step is short, it is dropped, or it takes the most expensive ones again, whose costs are most like its own.
    Every second step is given to the ranks in reverse: evenly spaced costs add up alike, and what any two ranks get in
    whole steps differs by no more than the most expensive sample does from the cheapest. Bagua gives the last rank the
    most of every step."""
    order = sorted(range(len(costs)), key=lambda index: costs[index])
    steps = [order[begin:begin + ranks] for begin in range(0, len(order), ranks)]
    if len(steps[-1]) < ranks:
        short = steps.pop()
        if not drop_last:
            steps.append(order[-ranks:] if len(order) >= ranks else list(itertools.islice(itertools.cycle(short), ranks)))
    return [step[::-1] if number % 2 else step for number, step in enumerate(steps)]


class LoadBalancingDistributedSampler(torch.utils.data.Sampler):  # type: ignore[misc]
    """The indices of one rank, for DataLoader's `sampler`. Every rank has as many; those at the same place of all ranks
    are of similar cost. It is deterministic: all ranks give the same arguments but for `rank`."""

    def __init__(self, dataset: Sized, cost: Callable[[int], float], *, ranks: int, rank: int, shuffle: bool = True, seed: int = 0,
                 drop_last: bool = False, randomness: float = 0.0) -> None:
        """`cost(index)`: of a sample, in any unit; asked for once each, here. `shuffle`: steps come in another order in each
        epoch. `randomness` in [0, 1]: up to this share of the range of costs is added at random before they are ordered,
        so that other samples meet in each epoch. `drop_last`: the samples that are too few for a last step are left out;
        else some come twice. Raises ValueError where a rank would get none."""
        if not 0 <= rank < ranks:
            raise ValueError(f"rank {rank} is none of 0 to {ranks - 1}")
        if len(dataset) == 0 or (drop_last and len(dataset) < ranks):
            raise ValueError(f"{len(dataset)} samples are too few for {ranks} ranks: some would get none; give more"
                             + (", or drop_last=False" if drop_last and len(dataset) else ""))
        if not 0 <= randomness <= 1:
            raise ValueError(f"randomness={randomness} is not in [0, 1]")
        self.costs = [float(cost(index)) for index in range(len(dataset))]
        self.ranks, self.rank = ranks, rank
        self._shuffle, self._seed, self._drop_last, self._randomness = shuffle, seed, drop_last, randomness
        self._epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Before the epoch begins, on all ranks: the seed of its order."""
        self._epoch = epoch

    def steps(self) -> list[list[int]]:
        """The samples of each step of the epoch, one a rank; the same on all ranks."""
        generator = torch.Generator().manual_seed(self._seed + self._epoch)
        costs = self.costs
        if self._randomness:
            most = self._randomness * (max(costs) - min(costs))
            costs = [cost + most * noise for cost, noise in zip(costs, torch.rand(len(costs), generator=generator).tolist())]
        steps = steps_of_similar_cost(costs, self.ranks, self._drop_last)
        if not self._shuffle:
            return steps
        return [steps[number] for number in torch.randperm(len(steps), generator=generator).tolist()]

    def indices_of(self, rank: int) -> list[int]:
        """What that rank gets in this epoch."""
        return [step[rank] for step in self.steps()]

    def __iter__(self) -> Iterator[int]:
        return iter(self.indices_of(self.rank))

    def __len__(self) -> int:
        whole, rest = divmod(len(self.costs), self.ranks)
        return whole + bool(rest and not self._drop_last)


class LoadBalancingDistributedBatchSampler(torch.utils.data.Sampler):  # type: ignore[misc]
    """The batches of one rank, of any lengths, for DataLoader's `batch_sampler`; every rank has as many."""

    def __init__(self, sampler: LoadBalancingDistributedSampler, batches: Callable[[list[int]], list[list[int]]], *,
                 drop_last: bool = False) -> None:
        """`batches(indices)`: what a rank's indices become, as batches of no more than so many tokens; it is asked for
        every rank on each of them, and must answer alike. Ranks with fewer batches than others begin again at their
        first; with `drop_last` those with more leave out their last. Raises ValueError where a rank would get none."""
        self._sampler, self._batches, self._drop_last = sampler, batches, drop_last
        self._made: list[list[int]] = []
        self.set_epoch(0)

    def set_epoch(self, epoch: int) -> None:
        """Before the epoch begins, on all ranks: of the sampler too."""
        self._sampler.set_epoch(epoch)
        steps = self._sampler.steps()
        of_ranks = [self._batches([step[rank] for step in steps]) for rank in range(self._sampler.ranks)]
        for rank, batches in enumerate(of_ranks):
            if not batches:
                raise ValueError(f"batches() makes no batch of the {len(steps)} samples of rank {rank}; make one at least")
        count = (min if self._drop_last else max)(map(len, of_ranks))
        self._made = list(itertools.islice(itertools.cycle(of_ranks[self._sampler.rank]), count))

    def __iter__(self) -> Iterator[list[int]]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)

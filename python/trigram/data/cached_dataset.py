"""A data set whose samples are computed once, by whoever needs them first (Bagua's CachedDataset)."""

import pickle
from typing import Any

import torch

from .stores import Store


UNREADABLE = (pickle.UnpicklingError, AttributeError, ImportError, EOFError, IndexError, KeyError, TypeError, ValueError)


class CachedDataset(torch.utils.data.Dataset):  # type: ignore[misc]
    """Samples of `dataset` by their indices, kept in a store; what the store lacks, has lost or cannot read is computed, and
    put there again. Ranks and workers of a DataLoader share a store, each writing what it computes.

    What is kept must be the same each time: wrap what decodes and resizes, and put random augmentation around this. Values
    are pickled, and whoever can write to a store can run code where it is read."""

    def __init__(self, dataset: Any, store: Store, *, name: str = "") -> None:
        """`store`: a `Folder`, or `RedisServers`. `name`: of the data set and of how it is computed, where a store has several;
        give another one when the computation changes."""
        self.dataset, self.store, self.name = dataset, store, name

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, index: int) -> Any:
        key = f"{self.name}_{index}"
        kept = self.store.get(key)
        if kept is not None:
            try:
                return pickle.loads(kept)
            except UNREADABLE:  # as of a class that has another name now
                pass
        sample = self.dataset[index]
        self.store.put(key, pickle.dumps(sample, protocol=pickle.HIGHEST_PROTOCOL))
        return sample

"""Data of distributed training: samplers that give ranks the same work, and data sets that are computed once.

    from trigram import data

    sampler = data.LoadBalancingDistributedSampler(texts, cost=lambda i: len(texts[i]), ranks=4, rank=rank)
    loader = torch.utils.data.DataLoader(texts, sampler=sampler, batch_size=32)
    images = data.CachedDataset(Decoded(files), data.Folder("/var/tmp/decoded", capacity=50 * 10**9))

Needs torch."""

from ..extras import require

require("torch", "trigram.data")

from .cached_dataset import CachedDataset
from .folder_store import Folder
from .load_balancing import LoadBalancingDistributedBatchSampler, LoadBalancingDistributedSampler
from .redis_store import RedisServers
from .stores import Store

__all__ = ["LoadBalancingDistributedSampler", "LoadBalancingDistributedBatchSampler", "CachedDataset", "Store", "Folder",
           "RedisServers"]

"""Data of distributed training: samplers that give ranks the same work, and data sets that are computed once.

    from trigram import data

    sampler = data.LoadBalancingDistributedSampler(texts, cost=lambda i: len(texts[i]), ranks=4, rank=rank)
    loader = torch.utils.data.DataLoader(texts, sampler=sampler, batch_size=32)

Needs torch."""

from .load_balancing import LoadBalancingDistributedBatchSampler, LoadBalancingDistributedSampler

__all__ = ["LoadBalancingDistributedSampler", "LoadBalancingDistributedBatchSampler"]

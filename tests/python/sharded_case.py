"""What cases of sharded models share: a model that fully_shard has cut over one dimension of a 2×2 mesh, and what one process makes of it."""

import unittest

import torch
import torch.distributed as dist
import torch.nn.functional as F

import trigram
from job_case import STEPS, JobCase, batch, momentum, seeded

BUCKETS = {"backend": "torch:timeout=60s", "bucket_size": "64B"}


class Rows(torch.nn.Module):
    """Layers of which two ranks have unequal shards, and one has none."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.last = torch.nn.Linear(6, 8), torch.nn.Linear(8, 5), torch.nn.Linear(5, 3)
        self.scale = torch.nn.Parameter(torch.ones(1, 5))

    def forward(self, x):
        return self.last(torch.tanh(self.second(torch.tanh(self.first(x)))) * self.scale)


def whole(model):
    """Its parameters, gathered."""
    return [one.full_tensor().detach() if hasattr(one, "full_tensor") else one.detach() for one in model.parameters()]


def far(model, other):
    return max(float((a - b).abs().max()) for a, b in zip(whole(model), whole(other)))


class ShardedCase(JobCase):
    def mesh(self):
        try:
            from torch.distributed.fsdp import fully_shard
        except ImportError:
            raise unittest.SkipTest("this torch has no fully_shard") from None
        if self.ranks != 4:
            raise unittest.SkipTest("a mesh of 2×2 takes four ranks")
        self.fully_shard = fully_shard
        mesh = dist.device_mesh.init_device_mesh("cpu", (2, 2), mesh_dim_names=("replicas", "shards"))
        self.replica, self.shard = mesh.get_coordinate()
        return mesh

    def cut(self, mesh, make=Rows, **options):
        model = seeded(make)
        for layer in (model.first, model.second, model):
            self.fully_shard(layer, mesh=mesh, **options)
        return model, momentum(model)

    def of_island(self, number):
        """The batches of both ranks that have one model's shards."""
        both = [batch(2 * self.replica + shard, number) for shard in range(2)]
        return torch.cat([x for x, _ in both]), torch.cat([y for _, y in both])

    def step(self, model, optimizer, batch_of_step):
        x, y = batch_of_step
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()

    def train_shards(self, mesh, algorithm, steps=STEPS, **options):
        """Shards, along the other dimension."""
        model, optimizer = self.cut(mesh["shards"])
        trigram.with_trigram(model, [optimizer], algorithm, **(BUCKETS | options))
        for number in range(steps):
            self.step(model, optimizer, batch(self.rank, number))
        return model

    def train_whole(self, mesh, algorithm):
        """The whole model on each rank, with the batches of its island, along that dimension."""
        model = seeded(Rows)
        optimizer = momentum(model)
        trigram.with_trigram(model, [optimizer], algorithm, mesh=mesh["replicas"], **BUCKETS)
        for number in range(STEPS):
            self.step(model, optimizer, self.of_island(number))
        model.trigram.finish()
        return model

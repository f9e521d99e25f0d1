"""Layers whose ranks work together on a batch, on the communicator of torch tensors.

    from trigram import comm, nn

    world = comm.join()                                        # mpirun -n 4 python train.py
    model = nn.convert_sync_batchnorm(ResNet(), world)         # statistics of the batches of all ranks
    layer = nn.MoE(512, lambda: FeedForward(512), experts=8, communicator=world)   # two experts on each of four ranks

Their forward passes in training are collective, MoE's in evaluation too, and so are the backward passes: all ranks make
them in the same order. The same model runs in `simulate`, where `comm.join()` within `make` gives the simulated ranks' communicator,
and what the layers send takes the network's time. Needs torch."""

from ..extras import require

require("torch", "trigram.nn")

from .experts import MoE, MoEOutput
from .gating import Assignment, capacity_of, top1, top2
from .sync_batch_norm import SyncBatchNorm, convert_sync_batchnorm

__all__ = ["SyncBatchNorm", "convert_sync_batchnorm", "MoE", "MoEOutput", "Assignment", "capacity_of", "top1", "top2"]

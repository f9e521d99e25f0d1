"""The one call that makes a PyTorch model a rank."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Optional, TypeVar

if TYPE_CHECKING:
    import torch

    from .hook import Hook

    Model = TypeVar("Model", bound=torch.nn.Module)


def with_trigram(model: "Model", optimizers: "Sequence[torch.optim.Optimizer]", algorithm: str = "all_reduce", *,
                 broadcast_buffers: bool = True, find_unused_parameters: bool = False, learning_rate: Optional[float] = None,
                 **flags: object) -> "Model":
    """Trains `model` together with those of the other processes of a job, by any algorithm of `products("algorithms")`.

        model = Net()                                                     # mpirun -n 4 python train.py
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        trigram.with_trigram(model, [optimizer], "bytegrad:error_feedback=on")
        for x, y in loader:                                               # each rank its own samples
            optimizer.zero_grad()
            loss(model(x), y).backward()                                  # gradients are final when it returns
            optimizer.step()                                              # and weights when this does
        model.trigram.finish()

    All processes call it, with rank 0's weights to begin with. Parameters move into buckets, which `p.data` and `p.grad`
    are views of; gradients begin every step at 0. `model.trigram` is the Job: its `rank` and `ranks`, `no_sync()` for
    accumulation, `steps()`, `state_dict()` and `load_state_dict()` for checkpoints, `finish()`.

    `broadcast_buffers`: at the begin of each step all ranks take rank 0's buffers, as those of batch norm.
    `find_unused_parameters`: those that no rank has used in a step get gradient None, as in DistributedDataParallel, at the
    price of a small exchange; else 0, which momentum and weight decay step along.
    An algorithm that steps the weights by itself, as one_bit_adam, is given no optimizer but a `learning_rate`, as no other, and
    `model.trigram.step()` takes the place of `optimizer.step()`.
    `flags` are those of `trigram run`: lanes, overlap, hierarchy, all_reduce, bucket_size, seed, and backend, as
    "mpi:timeout=60s". Returns the model. Raises ValueError for what cannot be trained so, with the reason."""
    from .job import Job
    model.trigram = Job(model, optimizers, algorithm, broadcast_buffers, find_unused_parameters, learning_rate, flags)
    return model


def ddp_hook(model: "torch.nn.parallel.DistributedDataParallel", algorithm: str = "bytegrad", *,
             optimizer: "Optional[torch.optim.Optimizer]" = None, **flags: object) -> "Hook":
    """Lets a model that DistributedDataParallel has wrapped average its gradients by a gradient method of Trigram, as
    bytegrad, qsgd or power_sgd; the first two steps average plainly, while DDP finds its buckets.

        model = DistributedDataParallel(Net())                            # mpirun -n 4, and init_process_group
        hook = trigram.ddp_hook(model, "bytegrad:error_feedback=on", optimizer=optimizer)
        …                                                                 # train as before
        hook.finish()

    `optimizer` tells the learning rate, which residuals of codecs follow where it changes. `flags` as in `with_trigram`.
    Returns the Hook: its `steps()` and `finish()`. Raises ValueError for other
    methods."""
    from .hook import Hook
    return Hook(model, algorithm, optimizer, flags)

"""A gradient method below DistributedDataParallel, as its communication hook."""

from typing import Any, Optional

import torch
import torch.distributed as dist

from . import overflow
from .device import Place
from .library import require_gradients_only
from .masters import tell_what_travels
from .model import check_bucket, check_memory
from .rank import Rank

PLAIN = 2
"""Iterations until the sizes and places of DDP's buckets stay: it makes them anew after the first one. They average by DDP's own
communicator, and later ones by ours: on GPUs both are NCCL's, and what two of them launch must not wait for each other in other
orders on other ranks. So ours is made when nothing of DDP's is under way, and what DDP itself still sends, as buffers before a
forward pass, is ordered on the same stream as our hooks."""


class Hook(Rank):
    """What DDP calls for each bucket, in their order."""

    def __init__(self, model: torch.nn.parallel.DistributedDataParallel, algorithm: str,
                 optimizer: Optional[torch.optim.Optimizer], grad_scaler: Optional[overflow.Scaler], flags: dict[str, object]) -> None:
        super().__init__()
        self._place: Place = check_memory(model.module, [(name, one) for name, one in model.module.named_parameters() if one.requires_grad])
        require_gradients_only(algorithm, "which is all that a hook sees; use with_trigram")
        self._group = model.process_group
        self._settings = self.settings(algorithm, flags | {"bucket_size": 0}, self._place)
        self._optimizer = optimizer
        self._scaler = overflow.in_use(grad_scaler)
        self._overflow: Optional[overflow.Overflow] = None  # once there is a session
        self._iteration = 0
        self._seen: list[torch.Tensor] = []
        self._waiting: list[tuple["torch.futures.Future[torch.Tensor]", torch.Tensor]] = []
        self._places: list[int] = []
        self._sums: list[torch.Tensor] = []  # by bucket: itself, or its copy in f32, in which ranks add
        # Without annotations, of which DDP would allow none but its own.
        model.register_comm_hook(self, lambda hook, bucket: hook._exchange(bucket))

    def _exchange(self, bucket: Any) -> "torch.futures.Future[torch.Tensor]":
        if self._finished:
            raise RuntimeError("the hook has finished, or a failure has ended its session; no step can follow. DistributedDataParallel "
                               "keeps a hook for ever: wrap the model anew to train on")
        return self._average(bucket) if self._iteration < PLAIN else self._by_the_algorithm(bucket)

    def _average(self, bucket: Any) -> "torch.futures.Future[torch.Tensor]":
        self._seen.append(bucket.buffer())
        if bucket.is_last():
            self._iteration += 1
            if self._iteration == PLAIN:
                try:
                    self._open()
                except Exception:
                    self._leave()
                    raise
            self._seen.clear()
        sums = dist.all_reduce(bucket.buffer(), group=self._group, async_op=True).get_future()
        return sums.then(lambda done: done.value()[0].div_(dist.get_world_size(self._group)))

    def _open(self) -> None:
        """Of one tensor a bucket, which stands for its weights too, at which no gradient method looks. The plan has the last tensor first."""
        for index, one in enumerate(self._seen):
            check_bucket(index, one, self._place)
        self._place.synchronize()
        backwards = self._seen[::-1]
        self._open_session(self._settings, [{"name": f"bucket {len(backwards) - 1 - index}", "count": one.numel(), "dimensions": [one.numel()]}
                                            for index, one in enumerate(backwards)], loop_updates=True, place=self._place)
        self._require_the_group()
        tell_what_travels(self.rank, [one.dtype for one in self._seen], "buckets")
        if self._scaler is not None:
            self._overflow = overflow.Overflow(self._session, self._scaler, self._place)
        self._places = [one.data_ptr() for one in self._seen]
        self._sums = [one if one.dtype == torch.float32 else one.float() for one in self._seen]
        gradients = [one.data_ptr() for one in self._sums[::-1]]
        self._session.adopt(gradients, gradients, [one.numel() for one in backwards])

    def _require_the_group(self) -> None:
        members = dist.get_world_size(self._group)
        if members != self.ranks:
            text = (f"DistributedDataParallel averages over {members} processes of its process group, and the job has {self.ranks}, "
                    "which the algorithm would average over; give it a group of all of them")
            self._fail(text)
            raise ValueError(text)

    def _by_the_algorithm(self, bucket: Any) -> "torch.futures.Future[torch.Tensor]":
        index, gradients = bucket.index(), bucket.buffer()
        if index >= len(self._places) or gradients.data_ptr() != self._places[index]:
            raise RuntimeError(f"DistributedDataParallel has moved its bucket {index}; give it static_graph=True, or a model whose "
                               "parameters are used alike in all steps")
        if index == 0:
            if self._overflow is not None:
                self._overflow.begin()
            self._session.begin(float(self._optimizer.param_groups[0]["lr"]) if self._optimizer is not None else 1.0)
        sums = self._sums[index]
        if sums.data_ptr() != gradients.data_ptr():
            sums.copy_(gradients)
        if self._overflow is not None:
            self._overflow.look(sums)
        self._session.tensor_ready(len(self._places) - 1 - index)
        future = self._place.future()
        self._waiting.append((future, gradients))
        if bucket.is_last():
            self._session.gradients_end()
            if self._overflow is not None:
                self._overflow.agree(self._sums)
            self._session.end()
            if self._overflow is not None:
                self._overflow.end()
            for (waiting, whole), mean in zip(self._waiting, self._sums):
                waiting.set_result(whole if whole.data_ptr() == mean.data_ptr() else whole.copy_(mean))
            self._waiting.clear()
        return future

    def finish(self) -> None:
        """After the last step, on all ranks."""
        if not self._finished and self._iteration == PLAIN:
            self._session.finish()
        self._leave()

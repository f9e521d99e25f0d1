"""A gradient method between islands of FSDP2, as the all-reduce hook of its modules."""

import functools
from typing import Any, Optional

import torch

from .device import CPU, require_cpu
from .library import require_gradients_only
from .masters import tell_what_travels
from .mesh import members_of, tell_of_sums
from .model import check_memory
from .parts import Shard, fsdp_modules, groups_of, parts_of, reshard
from .rank import Rank
from .shard_exchange import ShardExchange, require_codecs


class Island:
    """What one module of FSDP reduces at once, as the session has it: shards behind one another, with their padding."""

    def __init__(self, module: Any, group: Any) -> None:
        self.module = module
        self.shards = [Shard(one) for one in group.fsdp_params if one.sharded_param.requires_grad]
        self._sizes = [one.memory.numel() for one in self.shards]
        self.gradients = torch.zeros(sum(self._sizes))

    def take(self, reduced: torch.Tensor) -> None:
        """Leaves 0, which FSDP adds to what gradients are already. Raises RuntimeError for what does not fit."""
        if reduced.numel() != self.gradients.numel():
            raise RuntimeError(f"FSDP reduces {reduced.numel()} gradients at once, of shards of {self.gradients.numel()} elements; have a gradient "
                               "for each parameter of a module")
        self.gradients.copy_(reduced)
        reduced.zero_()

    def give(self) -> None:
        """Adds what ranks have made of them to the gradients of this rank, in their type."""
        for shard, mine in zip(self.shards, self.gradients.split(self._sizes)):
            mean = mine.view(shard.memory.shape).to(shard.memory.dtype, copy=True)
            if (gradient := shard.gradient) is None:
                shard.attach(mean)
            else:
                gradient += shard.without_padding(mean)


class FsdpHook(Rank):
    """What FSDP calls for each of its modules, in the order of their backward passes."""

    def __init__(self, model: torch.nn.Module, algorithm: str, optimizer: Optional[torch.optim.Optimizer], mesh: Any,
                 gather: Optional[str], reduce: Optional[str], flags: dict[str, object]) -> None:
        super().__init__()
        encodes = gather is not None or reduce is not None
        if encodes:
            require_codecs(gather, reduce)
        reshard(model)
        named = [(name, one) for name, one in model.named_parameters() if one.requires_grad]
        parts = parts_of(model, [one for _, one in named])
        require_cpu(check_memory(model, named, parts), "models that fully_shard has cut train on the CPU, by backend torch")
        require_gradients_only(algorithm, "which is all that a hook sees; use with_trigram")
        self._islands = [Island(module, group) for module in fsdp_modules(model) for group in groups_of(module)]
        check_hooks(self._islands, [name for (name, _), one in zip(named, parts) if not isinstance(one, Shard)])
        settings = self.settings(algorithm, flags | {"bucket_size": 0}, CPU)
        sizes = [one.gradients.numel() for one in self._islands]
        self._optimizer = optimizer
        self._reduced: set[int] = set()  # in this backward pass
        self._open_session(settings, [{"name": f"module {index}", "count": size, "dimensions": [size]} for index, size in enumerate(sizes)],
                           loop_updates=True, place=CPU, members=members_of(model, mesh, settings["backend"]))
        gradients = [one.gradients.data_ptr() for one in self._islands]
        self._session.adopt(gradients, gradients, sizes)  # they stand for weights too, at which no gradient method looks
        for index, one in enumerate(self._islands):
            one.module.set_all_reduce_hook(functools.partial(self._reduce, index))
        tell_of_sums(self.rank, model)
        tell_what_travels(self.rank, [one.memory.dtype for one in parts], "parameters")
        self._shards = ShardExchange(model, gather, reduce, flags) if encodes else None

    def bytes_sent(self) -> dict[str, int]:
        """By this rank, encoded, among shards so far: {"gather": …, "reduce": …}; `steps()` has those between islands."""
        return {"gather": 0, "reduce": 0} if self._shards is None else self._shards.bytes_sent()

    def _reduce(self, index: int, reduced: torch.Tensor) -> None:
        if self._finished:
            raise RuntimeError("the hook has finished, or a failure has ended its session; no step can follow")
        if index in self._reduced:
            raise RuntimeError("FSDP reduces gradients of a module twice in one backward pass; call the module once in a forward pass")
        if not self._reduced:
            for one in self._islands:
                one.gradients.zero_()
            self._session.begin(float(self._optimizer.param_groups[0]["lr"]) if self._optimizer is not None else 1.0)
            torch.autograd.Variable._execution_engine.queue_callback(self._end)
        self._reduced.add(index)
        self._islands[index].take(reduced)
        self._session.tensor_ready(index)

    def _end(self) -> None:
        """Of a backward pass: gradients are the ranks' when it returns."""
        self._session.gradients_end()
        self._session.end()
        self._reduced.clear()
        for one in self._islands:
            one.give()

    def finish(self) -> None:
        """After the last step, on all ranks."""
        if not self._finished:
            self._session.finish()
            if self._shards is not None:
                self._shards.finish()
        self._leave()


def check_hooks(islands: list[Island], others: list[str]) -> None:
    """Raises ValueError where FSDP would not call a hook for all gradients, or divide them after it."""
    if islands and not hasattr(islands[0].module, "set_all_reduce_hook"):
        raise ValueError(f"torch {torch.__version__} has no FSDPModule.set_all_reduce_hook, which came with 2.7; take with_trigram, which needs none")
    if not islands:
        raise ValueError("no part of the model is one that fully_shard has cut; call it first, or trigram.ddp_hook for a model below "
                         "DistributedDataParallel")
    if others:
        raise ValueError(f"parameter '{others[0]}' is in no module of FSDP, whose hook would not see its gradient; call fully_shard for the whole model")
    if any(getattr(group, "force_sum_reduction_for_comms", False) for one in islands for group in groups_of(one.module)):
        raise ValueError("set_force_sum_reduction_for_comms(True) lets FSDP divide after the hook; leave it False")

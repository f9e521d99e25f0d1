"""What can be trained: refused at the start, before any rank begins."""

from collections.abc import Sequence
from typing import Optional

import torch
from torch.nn.parallel import DistributedDataParallel

from . import device
from .masters import TYPES as MASTERED
from .parts import Shard, Whole

Named = Sequence[tuple[str, torch.nn.Parameter]]


def check_model(model: torch.nn.Module, named: Named, parts: Sequence[Whole] = ()) -> device.Place:
    """Where it lies. `parts` as in `check_memory`. Raises ValueError for what no bucket can hold."""
    other = getattr(model, "trigram", None)
    if other is not None and not other.finished:
        raise ValueError("the model has a session that is not finished; call model.trigram.finish() first")
    if any(isinstance(module, DistributedDataParallel) for module in model.modules()):
        raise ValueError("the model is wrapped by DistributedDataParallel, which averages gradients already; give with_trigram the "
                         "module inside (model.module), or call trigram.ddp_hook(model, ...) in its place")
    if any(hasattr(module, "_fsdp_wrapped_module") for module in model.modules()):
        raise ValueError("the model is wrapped by FullyShardedDataParallel, which hides its parameters; shard it by fully_shard, which leaves them "
                         "where they were")
    if not named:
        raise ValueError("the model has no parameter that requires a gradient; there is nothing to train")
    place = check_memory(model, named, parts)
    if any(isinstance(one, Shard) for one in parts):
        device.require_cpu(place, "models that fully_shard has cut train on the CPU, by backend torch")
    for name, module in model.named_modules():
        if getattr(module, "sparse", False):
            raise ValueError(f"module '{name}' has sparse gradients, which no bucket holds; make it with sparse=False")
    return place


def require_same_parameters(model: torch.nn.Module, names: Sequence[str], known: Sequence[torch.nn.Parameter],
                            own: Sequence[torch.nn.Parameter]) -> None:
    """Raises RuntimeError, by its name, for a parameter that is trained by now and was not when with_trigram was called, so that each rank
    would train one of its own; and for one that the model has no more. `own`: of this rank alone."""
    ids = {id(one) for one in known}
    there = {id(one): one for one in model.parameters()}
    more = {key for key, one in there.items() if key not in ids and one.requires_grad} - {id(one) for one in own}
    if more:
        name = next(name for name, one in model.named_parameters() if id(one) in more)
        raise RuntimeError(f"parameter '{name}' is trained by now and was not when with_trigram was called, so that each rank would train its "
                           f"own; {ANEW}")
    gone = [name for name, one in zip(names, known) if id(one) not in there]
    if gone:
        raise RuntimeError(f"parameter '{gone[0]}' of the model is another one than when with_trigram was called, as after "
                           f"load_state_dict(assign=True) or with a new head; {ANEW}")


ANEW = "call job.finish() and then with_trigram again, on all ranks, with optimizers that have it"


def only_on_this_rank(model: torch.nn.Module) -> set[int]:
    """By `id`: parameters and buffers that ranks do not have in common, as experts have them: those of modules with the mark
    `only_on_this_rank = True`."""
    marked = [module for module in model.modules() if getattr(module, "only_on_this_rank", False)]
    return {id(one) for module in marked for one in (*module.parameters(), *module.buffers())}


def check_memory(model: torch.nn.Module, named: Named, parts: Sequence[Whole] = ()) -> device.Place:
    """Where the model lies. Raises ValueError for what the library cannot read: it takes addresses of whole tensors in one place,
    and those of the parameters in `named` as f32, or of masters in f32. `parts`: of those, in their order, where parameters may be shards."""
    shards = {id(one.parameter) for one in parts if isinstance(one, Shard)}
    for name, one in named:
        if hasattr(one, "device_mesh") and id(one) not in shards:
            raise ValueError(f"parameter '{name}' is a DTensor, of which each rank holds a part, and fully_shard has not made it; give whole "
                             "parameters, or call fully_shard for the model")
        if one.dtype not in (torch.float32, *MASTERED):
            raise ValueError(f"parameter '{name}' is of {one.dtype}, of which no master in float32 can be made; keep parameters in torch.float32 "
                             "(model.float()), or in " + ", ".join(map(str, MASTERED)))
    return place_of_model(model)


def place_of_model(model: torch.nn.Module) -> device.Place:
    """Raises ValueError where it lies in several places, or in one that has no ranks."""
    listed = (("parameter", model.named_parameters()), ("buffer", model.named_buffers()))
    return device.place_of((f"{kind} '{name}'", one) for kind, tensors in listed for name, one in tensors)


def require_f32(named: Named, instead: str) -> None:
    """Raises ValueError for a parameter of another type, for which nobody keeps a master there, with what to do instead."""
    for name, one in named:
        if one.dtype != torch.float32:
            raise ValueError(f"parameter '{name}' is of {one.dtype}; keep parameters in torch.float32 (model.float()), and {instead}")


def check_bucket(index: int, gradients: torch.Tensor, place: device.Place) -> None:
    """Raises ValueError for a bucket of DistributedDataParallel that is not where its model is."""
    place.check(f"bucket {index} of DistributedDataParallel", gradients, "move the model before DistributedDataParallel wraps it")


def check_optimizers(named: Named, own: Named, optimizers: Sequence[torch.optim.Optimizer], learning_rate: Optional[float]) -> None:
    """Raises ValueError for a parameter that none of the optimizers has, of all ranks or this rank's own, and where a learning
    rate is missing or useless."""
    if optimizers and learning_rate is not None:
        raise ValueError(f"learning_rate={learning_rate} would do nothing beside optimizers, whose own they step with; leave it out")
    if not optimizers and learning_rate is None:
        raise ValueError("neither optimizers nor a learning_rate were given: an algorithm that steps the weights by itself, as "
                         "one_bit_adam, needs a learning_rate, and all others optimizers that have the model's parameters")
    if not optimizers and own:
        raise ValueError(f"parameter '{own[0][0]}' is on this rank only, and an algorithm that steps the weights by itself steps those "
                         "that all ranks have; take one that leaves the step to optimizers")
    owned = {id(one) for optimizer in optimizers for group in optimizer.param_groups for one in group["params"]}
    for name, one in [*named, *own]:
        if optimizers and id(one) not in owned:
            raise ValueError(f"parameter '{name}' is in no optimizer; give it to one, or set requires_grad to False")

"""What FSDP2 gathers and reduces among the shards of one model, by codecs: weights come encoded, gradients go encoded."""

import ctypes
import json
from collections.abc import Sequence
from typing import Any, Optional

import torch
import torch.distributed as dist

from . import library, program
from .comm import Joined
from .device import CPU, require_cpu
from .model import check_memory
from .parts import fsdp_modules, groups_of, parts_of, reshard

SETTERS = "set_custom_all_gather", "set_custom_reduce_scatter"
OPS = {dist.ReduceOp.SUM: "sum", dist.ReduceOp.AVG: "mean"}


class ShardExchange:
    """Of the modules of a model that fully_shard has cut, until it has finished; FSDP exchanges plainly from then on."""

    FLAGS = "backend", "seed"
    """Of those of `trigram run`, what it heeds."""

    def __init__(self, model: torch.nn.Module, gather: Optional[str], reduce: Optional[str], flags: dict[str, object]) -> None:
        """Collective over the ranks that have shards of one model. Raises ValueError for what FSDP or the codecs cannot."""
        require_codecs(gather, reduce)
        reshard(model)
        named = [(name, one) for name, one in model.named_parameters() if one.requires_grad]
        require_cpu(check_memory(model, named, parts_of(model, [one for _, one in named])),
                    "models that fully_shard has cut train on the CPU, by backend torch")
        modules = [one for one in fsdp_modules(model) if groups_of(one)]
        members = shard_ranks(modules)
        self._finished = False
        self._sent: dict[str, int] = {"gather": 0, "reduce": 0}
        self._seed, self._first_chunk = int(str(flags.get("seed") or 0)), members[0] * len(members)
        backend = str(flags.get("backend") or "torch")
        if backend.split(":")[0] != "torch":
            raise ValueError(f"shards exchange by backend torch, and not by '{backend}'; leave backend out, and start the script with torchrun")
        self._joined = Joined({"backend": backend, "all-reduce": "ring"}, CPU, members)
        require_order(members, self._joined.membership["rank"])
        for index, module in enumerate(modules):
            one = OfModule(self, index)
            module.set_custom_all_gather(Gather(one, gather))
            module.set_custom_reduce_scatter(ReduceScatter(one, reduce))

    def bytes_sent(self) -> dict[str, int]:
        """By this rank, encoded, among shards so far: {"gather": …, "reduce": …}; 0 of what no codec was given for."""
        return dict(self._sent)

    @property
    def finished(self) -> bool:
        """Whether FSDP exchanges plainly by now."""
        return self._finished

    def finish(self) -> None:
        """After the last step, on all ranks: weights are gathered as they are from now on."""
        if not self._finished:
            self._finished = True
            self._joined.leave()

    def call(self, what: str, codec: str, numbers: torch.Tensor, index: int, step: int, **words: str) -> None:
        """Of f32 numbers, as many of each rank behind one another; `step` and `index` tell random numbers apart."""
        asked = {"codec": codec, "seed": self._seed, "step": step, "bucket": index,
                 "chunk": self._first_chunk if what == "reduce" else 0} | words
        sent = ctypes.c_int64()
        function = getattr(library.library(), f"trigram_group_{what}_encoded")
        self._joined.call(function, 0, json.dumps(asked).encode(), numbers.data_ptr(), numbers.numel(), ctypes.byref(sent))
        self._sent[what] += sent.value


class OfModule:
    """One module of FSDP. Gathers for forward and backward passes of the same weights draw the same random numbers: those of the
    reductions so far."""

    def __init__(self, exchange: ShardExchange, index: int) -> None:
        self.exchange, self.index = exchange, index
        self.reductions = 0

    def allocate(self, size: Sequence[int], *, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
        return torch.empty(*size, dtype=dtype, device=device)


class Gather:
    """What FSDP calls for the parameters of a module, an AllGather of torch."""

    def __init__(self, module: OfModule, codec: Optional[str]) -> None:
        self._module, self._codec = module, codec
        self.allocate = module.allocate

    def __call__(self, output_tensor: torch.Tensor, input_tensor: torch.Tensor, group: Any, async_op: bool = False) -> Any:
        """Of which this rank's own part comes decoded too, so that all ranks have the same weights."""
        exchange = self._module.exchange
        if self._codec is None or exchange.finished or dist.get_world_size(group) == 1:
            return dist.all_gather_into_tensor(output_tensor, input_tensor, group=group, async_op=async_op)
        own = output_tensor.chunk(dist.get_world_size(group))[dist.get_rank(group)]
        if own.data_ptr() != input_tensor.data_ptr():
            own.copy_(input_tensor)
        numbers = as_f32(output_tensor, "gathers parameters")
        exchange.call("gather", self._codec, numbers, self._module.index, self._module.reductions)
        if numbers is not output_tensor:
            output_tensor.copy_(numbers)
        return None


class ReduceScatter:
    """What FSDP calls for the gradients of a module, a ReduceScatter of torch."""

    def __init__(self, module: OfModule, codec: Optional[str]) -> None:
        self._module, self._codec = module, codec
        self.allocate = module.allocate

    def __call__(self, output_tensor: torch.Tensor, input_tensor: torch.Tensor, group: Any, op: Any, async_op: bool = False) -> Any:
        exchange, step = self._module.exchange, self._module.reductions
        self._module.reductions += 1
        if self._codec is None or exchange.finished or dist.get_world_size(group) == 1:
            return dist.reduce_scatter_tensor(output_tensor, input_tensor, group=group, op=op, async_op=async_op)
        named = next((name for known, name in OPS.items() if op == known), None)
        if named is None:
            raise RuntimeError(f"FSDP reduces gradients by {op}, and codecs by a sum or a mean; leave set_gradient_divide_factor out")
        numbers = as_f32(input_tensor, "reduces gradients")
        exchange.call("reduce", self._codec, numbers, self._module.index, step, op=named)
        output_tensor.copy_(numbers.chunk(dist.get_world_size(group))[dist.get_rank(group)])
        return None


def as_f32(numbers: torch.Tensor, does: str) -> torch.Tensor:
    """Themselves, where they are. Raises RuntimeError for what is no number of one type."""
    if not numbers.is_floating_point():
        raise RuntimeError(f"FSDP {does} of several types as bytes, which no codec knows; let all parameters of a module have one param_dtype")
    return numbers.float()


def frame_bytes(codec: str, count: int) -> int:
    """Of so many elements. Raises ValueError for what is no codec."""
    size = ctypes.c_int64()
    library.check(library.library().trigram_codec_bytes(program.text_of(codec).encode(), count, ctypes.byref(size)))
    return size.value


def require_codecs(*codecs: Optional[str]) -> None:
    """Raises ValueError for what is none, and for a torch that takes none."""
    for codec in (one for one in codecs if one is not None):
        frame_bytes(codec, 1)
    from torch.distributed import fsdp
    missing = [name for name in SETTERS if not hasattr(getattr(fsdp, "FSDPModule", None), name)]
    if missing:
        raise ValueError(f"torch {torch.__version__} has no FSDPModule.{missing[0]}, by which a codec gets between shards; take a newer one, "
                         "or leave gather and reduce out")


def shard_ranks(modules: Sequence[Any]) -> tuple[int, ...]:
    """Those among which FSDP gathers and reduces. Raises ValueError where they are not the same for all modules."""
    if not modules:
        raise ValueError("no part of the model is one that fully_shard has cut; call it first")
    several = next((one for one in modules if len(groups_of(one)) > 1), None)
    if several is not None:
        raise ValueError(f"fully_shard has cut parameters of one {type(several).__name__} over several meshes, of which FSDP lets no codec between "
                         "shards; call fully_shard for the parts by themselves")
    ranks = {tuple(dist.get_process_group_ranks(group.mesh_info.shard_process_group)) for module in modules for group in groups_of(module)}
    if len(ranks) > 1:
        raise ValueError(f"fully_shard has cut modules over different ranks, {' and '.join(map(str, sorted(map(list, ranks))))}; give all of them "
                         "one mesh")
    return ranks.pop()


def require_order(members: tuple[int, ...], rank: int) -> None:
    if members[rank] != dist.get_rank():
        raise ValueError(f"the ranks of the mesh of shards, {list(members)}, are in another order than processes; give a mesh whose ranks rise")

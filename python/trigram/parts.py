"""Parameters as this process has them: whole, or the shard that fully_shard has left here."""

from collections.abc import Sequence
from typing import Any, Optional

import torch


class Whole:
    """A parameter of which this process has all elements."""

    def __init__(self, parameter: torch.nn.Parameter) -> None:
        self.parameter = parameter

    @property
    def memory(self) -> torch.Tensor:
        """Its elements, where they are now."""
        return self.parameter.detach()

    def move(self, memory: torch.Tensor) -> None:
        """Its elements are there from now on; of the same shape."""
        self.parameter.data = memory

    @property
    def gradient(self) -> Optional[torch.Tensor]:
        """In memory, of which there may be less than of the parameter: no padding."""
        return self.parameter.grad

    def attach(self, gradient: Optional[torch.Tensor]) -> None:
        """The parameter's gradient is there from now on."""
        self.parameter.grad = gradient

    def without_padding(self, memory: torch.Tensor) -> torch.Tensor:
        """What of memory in the shape of `memory` holds elements of the parameter."""
        return memory

    def settle(self, weights: torch.Tensor) -> None:
        """Its elements are there from now on, in a bucket, and it has no gradient."""
        weights.copy_(self.memory)
        self.move(weights)
        self.attach(None)

    def is_at(self, home: torch.Tensor) -> bool:
        """Whether its elements are still there, where they have settled."""
        return bool(self.memory.data_ptr() == home.data_ptr()) and self.memory.dtype == torch.float32

    def like(self, home: torch.Tensor) -> torch.Tensor:
        """What its elements there would be."""
        return home

    def fits(self, home: torch.Tensor) -> bool:
        """Whether what it is now can be there."""
        return described(self.memory) == described(home)

    def return_to(self, home: torch.Tensor) -> None:
        """What it is now is there."""
        home.copy_(self.memory)
        self.move(home)

    @property
    def needs_sums(self) -> bool:
        """Whether its gradient has to be in a bucket."""
        return True

    @property
    def needs_weights(self) -> bool:
        """Whether its elements have to be there."""
        return True

    def begin(self, view: torch.Tensor) -> None:
        """Its gradient is in that part of a bucket, where 0 is, unless it is frozen."""
        self.attach(view if self.parameter.requires_grad else None)

    def collect(self, view: torch.Tensor) -> None:
        """The same of what its gradient is, wherever that has come; 0 where there is none."""
        gradient = self.gradient
        if gradient is None:
            view.zero_()
        elif gradient.data_ptr() != view.data_ptr():
            self.without_padding(view).copy_(gradient)
        self.begin(view)

    def leave(self, view: torch.Tensor) -> None:
        """It gets memory of its own, and so does its gradient."""
        self.move(self.memory.clone(memory_format=torch.preserve_format))
        if self.gradient is not None:
            self.collect(view)
            self.attach(view.clone(memory_format=torch.preserve_format))


class Shard(Whole):
    """The rows of a parameter that FSDP2 has left on this process, with the padding by which all shards are equally long. FSDP gathers parameters
    from the memory that it is told here, and finds each gradient as a DTensor of it."""

    def __init__(self, of_fsdp: Any) -> None:
        """`of_fsdp`: what FSDP keeps of it, an FSDPParam of torch."""
        super().__init__(of_fsdp.sharded_param)
        self._of_fsdp = of_fsdp
        self._attached: tuple[int, Any] = (0, None)

    @property
    def memory(self) -> torch.Tensor:
        padded: torch.Tensor = self._of_fsdp._sharded_param_data.view(self._of_fsdp.padded_sharded_param_size)
        return padded

    def move(self, memory: torch.Tensor) -> None:
        kept = self.without_padding(memory)
        self._of_fsdp._sharded_param_data = memory.view(-1)
        setattr(self.parameter, "_local_tensor", kept)

    @property
    def gradient(self) -> Optional[torch.Tensor]:
        gradient: Any = self.parameter.grad
        return None if gradient is None else gradient._local_tensor

    def attach(self, gradient: Optional[torch.Tensor]) -> None:
        if gradient is None:
            self.parameter.grad = None
            return
        if self._attached[0] != gradient.data_ptr():
            self._attached = gradient.data_ptr(), self._of_fsdp.to_sharded_dtensor(self.without_padding(gradient))
        self.parameter.grad = self._attached[1]

    def without_padding(self, memory: torch.Tensor) -> torch.Tensor:
        local: torch.Tensor = getattr(self.parameter, "_local_tensor")
        dimension = self._of_fsdp.fsdp_placement.dim
        return memory.narrow(dimension, 0, local.shape[dimension])


def described(one: torch.Tensor) -> str:
    """What a place in a bucket has to fit."""
    return f"{one.dtype} of shape {list(one.shape)} and strides {list(one.stride())} on {one.device}"


def local(one: torch.Tensor) -> torch.Tensor:
    """What this process has of a tensor."""
    mine: torch.Tensor = getattr(one, "_local_tensor", one)
    return mine.detach()


def fsdp_modules(model: torch.nn.Module) -> list[Any]:
    """Those that fully_shard was called for."""
    return [module for module in model.modules() if hasattr(module, "_get_fsdp_state")]


def groups_of(module: Any) -> list[Any]:
    """What a module of FSDP gathers and reduces at once, as torch's FSDPParamGroups."""
    state = module._get_fsdp_state()
    several: Optional[list[Any]] = getattr(state, "_fsdp_param_groups", None)  # one until torch 2.10 or so
    return several if several is not None else [group for group in (state._fsdp_param_group,) if group is not None]


def reshard(model: torch.nn.Module) -> None:
    """Parameters are shards when it returns, and the next forward pass gathers them anew."""
    for module in fsdp_modules(model):
        module.reshard()


def parts_of(model: torch.nn.Module, parameters: Sequence[torch.nn.Parameter]) -> list[Whole]:
    """What this process has of each, all of which are shards or whole at present."""
    shards = {id(one.sharded_param): one for module in fsdp_modules(model) for group in groups_of(module) for one in group.fsdp_params}
    return [Shard(shards[id(one)]) if id(one) in shards else Whole(one) for one in parameters]

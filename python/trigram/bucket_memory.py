"""Where the parameters of a model lie while a job trains it: behind one another, in buckets."""

import weakref
from collections.abc import Sequence
from typing import NamedTuple, Optional

import torch
from torch.utils import dlpack

from .device import Place
from .parts import Whole

INSTEAD = "convert and move the model (model.to) before with_trigram, not after"


def memory_order(one: torch.Tensor) -> list[int]:
    """The dimensions of a tensor in the order of its elements in memory, the longest stride first: that of channels_last stays what it
    is. Of a tensor with gaps, whose elements lie nowhere one by one, the order of its shape."""
    strides = one.stride()
    order = sorted(range(one.dim()), key=lambda dimension: -int(strides[dimension]))
    return order if one.permute(order).is_contiguous() else list(range(one.dim()))


def placed(flat: torch.Tensor, one: torch.Tensor) -> torch.Tensor:
    """The memory of `flat` as a tensor in the shape and the layout of `one`, with a storage of its own: what saves a storage whole then
    saves this tensor alone, and what looks for tensors that share one finds none."""
    alone: torch.Tensor = dlpack.from_dlpack(dlpack.to_dlpack(flat)) if flat.numel() else flat
    has_no_gaps = one.permute(memory_order(one)).is_contiguous()
    return alone.as_strided(one.shape, one.stride()) if has_no_gaps else alone.view(one.shape)


class Slice(NamedTuple):
    """Where a parameter lies: which elements of a bucket it is."""

    memory: "BucketMemory"
    bucket: int
    begin: int
    end: int


def slice_of(parameter: torch.nn.Parameter) -> Optional[Slice]:
    """None where no job has it in a bucket."""
    return next((place for memory in in_use if (place := memory.slices.get(id(parameter))) is not None), None)


class BucketMemory:
    """The weights and gradients of parameters, each a view of its bucket."""

    def __init__(self, names: Sequence[str], parts: Sequence[Whole], buckets: Sequence[Sequence[int]], place: Place) -> None:
        """Moves weights there. `parts`: what this process has of each parameter. `buckets`: which of them each holds, in what order."""
        self.names, self._parts = list(names), list(parts)
        self.parameters = [one.parameter for one in parts]
        self.weights: list[torch.Tensor] = []
        """By bucket."""
        self.sums: list[torch.Tensor] = []
        """The gradients of each bucket."""
        self.slices: dict[int, Slice] = {}
        """By `id` of the parameter, those that are whole."""
        views: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
        with torch.no_grad():
            for indices in buckets:
                total = sum(parts[index].memory.numel() for index in indices)
                bucket = [make(total, device=place.device) for make in (torch.empty, torch.zeros)]
                begin = 0
                for index in indices:
                    one = parts[index].memory
                    end = begin + one.numel()
                    weights, gradients = (placed(flat[begin:end], one) for flat in bucket)
                    weights.copy_(one)
                    parts[index].move(weights)
                    parts[index].attach(None)
                    views[index] = weights, gradients
                    if type(parts[index]) is Whole:
                        self.slices[id(self.parameters[index])] = Slice(self, len(self.weights), begin, end)
                    begin = end
                self.weights.append(bucket[0])
                self.sums.append(bucket[1])
        self.homes = [views[index][0] for index in range(len(parts))]
        """The weights of each parameter."""
        self.gradients = [views[index][1] for index in range(len(parts))]
        """By parameter."""
        self.places = [one.data_ptr() for one in self.homes]
        """The addresses of weights, by parameter."""
        self.indices = {id(one): index for index, one in enumerate(self.parameters)}
        """Of parameters, by `id`."""
        in_use.add(self)

    def bring_home(self) -> None:
        """Weights that somebody has put elsewhere, as optimizers do that give a parameter other memory (p.data = …), come back to their
        bucket. Raises RuntimeError for what does not fit there."""
        for index, part in enumerate(self._parts):
            one = part.memory
            if one.data_ptr() == self.places[index] and one.dtype == torch.float32:
                continue
            home = self.homes[index]
            now, before = described(one), described(home)
            if now != before:
                raise RuntimeError(f"parameter '{self.names[index]}' has left its bucket, since with_trigram moved it there: it is {now}, and "
                                   f"was {before}; {INSTEAD}")
            home.copy_(one)
            part.move(home)

    def zero_gradients(self) -> None:
        """And parameters have them, but those that are frozen."""
        for sums in self.sums:
            sums.zero_()
        for part, view in zip(self._parts, self.gradients):
            part.attach(view if part.parameter.requires_grad else None)

    def gather(self, index: int) -> torch.Tensor:
        """The gradient of a parameter in its bucket, wherever it has come; 0 where there is none."""
        part, view = self._parts[index], self.gradients[index]
        gradient = part.gradient
        with torch.no_grad():
            if gradient is None:
                view.zero_()
            elif gradient.data_ptr() != view.data_ptr():
                part.without_padding(view).copy_(gradient)
        part.attach(view if part.parameter.requires_grad else None)
        return view

    def gradients_here(self) -> list[torch.Tensor]:
        """What this process has of those that parameters have at present."""
        return [gradient for part in self._parts if (gradient := part.gradient) is not None]

    def give_back(self) -> None:
        """Each parameter and its gradient get memory of their own, bucket by bucket, which nobody else may have in use."""
        for index, part in enumerate(self._parts):
            part.move(part.memory.clone(memory_format=torch.preserve_format))
            if part.gradient is not None:
                part.attach(self.gather(index).clone(memory_format=torch.preserve_format))
        self.weights, self.sums, self.homes, self.gradients = [], [], [], []
        in_use.discard(self)


in_use: "weakref.WeakSet[BucketMemory]" = weakref.WeakSet()


def described(one: torch.Tensor) -> str:
    """What a place in a bucket has to fit."""
    return f"{one.dtype} of shape {list(one.shape)} and strides {list(one.stride())} on {one.device}"

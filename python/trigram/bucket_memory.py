"""Where the parameters of a model lie while a job trains it: behind one another, in buckets."""

from collections.abc import Sequence

import torch
from torch.utils import dlpack

from .device import Place
from .model import Named

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


class BucketMemory:
    """The weights and gradients of parameters, each a view of its bucket."""

    def __init__(self, named: Named, buckets: Sequence[Sequence[int]], place: Place) -> None:
        """Moves weights there. `buckets`: which of the parameters each holds, in what order."""
        self.names = [name for name, _ in named]
        self.parameters = [one for _, one in named]
        self.weights: list[torch.Tensor] = []
        """By bucket."""
        self.sums: list[torch.Tensor] = []
        """The gradients of each bucket."""
        views: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
        with torch.no_grad():
            for indices in buckets:
                total = sum(self.parameters[index].numel() for index in indices)
                bucket = [make(total, device=place.device) for make in (torch.empty, torch.zeros)]
                begin = 0
                for index in indices:
                    one = self.parameters[index]
                    end = begin + one.numel()
                    weights, gradients = (placed(flat[begin:end], one) for flat in bucket)
                    weights.copy_(one)
                    one.data, one.grad = weights, None
                    views[index] = weights, gradients
                    begin = end
                self.weights.append(bucket[0])
                self.sums.append(bucket[1])
        self._homes = [views[index][0] for index in range(len(named))]
        self.gradients = [views[index][1] for index in range(len(named))]
        """By parameter."""
        self.places = [one.data_ptr() for one in self._homes]
        """The addresses of weights, by parameter."""
        self.indices = {id(one): index for index, one in enumerate(self.parameters)}
        """Of parameters, by `id`."""

    def bring_home(self) -> None:
        """Weights that somebody has put elsewhere, as optimizers do that give a parameter other memory (p.data = …), come back to their
        bucket. Raises RuntimeError for what does not fit there."""
        for index, one in enumerate(self.parameters):
            if one.data_ptr() == self.places[index] and one.dtype == torch.float32:
                continue
            home = self._homes[index]
            now, before = described(one), described(home)
            if now != before:
                raise RuntimeError(f"parameter '{self.names[index]}' has left its bucket, since with_trigram moved it there: it is {now}, and "
                                   f"was {before}; {INSTEAD}")
            with torch.no_grad():
                home.copy_(one)
            one.data = home

    def zero_gradients(self) -> None:
        """And parameters have them, but those that are frozen."""
        for sums in self.sums:
            sums.zero_()
        for one, view in zip(self.parameters, self.gradients):
            one.grad = view if one.requires_grad else None

    def gather(self, index: int) -> torch.Tensor:
        """The gradient of a parameter in its bucket, wherever it has come; 0 where there is none."""
        one, view = self.parameters[index], self.gradients[index]
        with torch.no_grad():
            if one.grad is None:
                view.zero_()
            elif one.grad.data_ptr() != view.data_ptr():
                view.copy_(one.grad)
        one.grad = view if one.requires_grad else None
        return view

    def give_back(self) -> None:
        """Each parameter and its gradient get memory of their own, bucket by bucket, which nobody else may have in use."""
        for one in self.parameters:
            one.data = one.data.clone(memory_format=torch.preserve_format)
            if one.grad is not None:
                one.grad = one.grad.clone(memory_format=torch.preserve_format)
        self.weights, self.sums, self._homes, self.gradients = [], [], [], []


def described(one: torch.Tensor) -> str:
    """What a place in a bucket has to fit."""
    return f"{one.dtype} of shape {list(one.shape)} and strides {list(one.stride())} on {one.device}"

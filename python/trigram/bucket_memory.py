"""Where the parameters of a model lie while a job trains it: behind one another, in buckets."""

import itertools
import weakref
from collections.abc import Sequence
from typing import NamedTuple, Optional

import torch
from torch.utils import dlpack

from .device import Place
from .masters import Mastered
from .parts import Whole, described

NOTHING = torch.empty(0)
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
        self.names, self._parts, self._buckets = list(names), list(parts), buckets
        self._masters = [(index, part) for index, part in enumerate(parts) if isinstance(part, Mastered)]
        self.parameters = [one.parameter for one in parts]
        self.weights: list[torch.Tensor] = []
        """By bucket; that of its gradients where no parameter has weights in it."""
        self.sums: list[torch.Tensor] = []
        """The gradients of each bucket."""
        self._summed: list[bool] = []  # by bucket; memory that nobody writes takes none of the system's
        self.slices: dict[int, Slice] = {}
        """By `id` of the parameter, those that are whole."""
        views: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
        with torch.no_grad():
            for indices in buckets:
                total = sum(parts[index].memory.numel() for index in indices)
                self._summed.append(any(parts[index].needs_sums for index in indices))
                sums = (torch.zeros if self._summed[-1] else torch.empty)(total, device=place.device)
                weighed = any(parts[index].needs_weights for index in indices)
                bucket = [torch.empty(total, device=place.device) if weighed else sums, sums]
                begin = 0
                for index in indices:
                    one = parts[index].memory
                    end = begin + one.numel()
                    weights, gradients = (placed(flat[begin:end], one) for flat in bucket)
                    parts[index].settle(weights)
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
        """The addresses of those, by parameter."""
        self.indices = {id(one): index for index, one in enumerate(self.parameters)}
        """Of parameters, by `id`."""
        in_use.add(self)

    def tensors(self) -> list[torch.Tensor]:
        """All weights: those of buckets, and parameters that have masters there, or their gradients alone."""
        return [*self.summands(), *(part.memory for _, part in self._masters if part.needs_weights)]

    def summands(self) -> list[torch.Tensor]:
        """Each weight once, in f32 where the algorithm looks at it: whole buckets, but parameters one by one where some have no weights there."""
        return [one for bucket, indices in zip(self.weights, self._buckets) for one in self._weights_of(bucket, indices)]

    def _weights_of(self, bucket: torch.Tensor, indices: Sequence[int]) -> list[torch.Tensor]:
        if all(self._parts[index].needs_weights for index in indices):
            return [bucket]
        return [self._parts[index].memory for index in indices]

    def kept(self) -> list[torch.Tensor]:
        """Copies of all weights, for `put_back`."""
        return [one.clone() for one in self.tensors()]

    def put_back(self, kept: Sequence[torch.Tensor]) -> None:
        """Weights are those of then."""
        with torch.no_grad():
            for mine, then in zip(self.tensors(), kept):
                mine.copy_(then)
        for _, part in self._masters:
            part.forget()

    def bring_home(self) -> None:
        """Weights that somebody has put elsewhere, as optimizers do that give a parameter other memory (p.data = …), come back to their
        bucket. Raises RuntimeError for what does not fit there."""
        for name, part, home in zip(self.names, self._parts, self.homes):
            if part.is_at(home):
                continue
            if not part.fits(home):
                raise RuntimeError(f"parameter '{name}' has left its bucket, since with_trigram moved it there: it is {described(part.memory)}, "
                                   f"and was {described(part.like(home))}; {INSTEAD}")
            part.return_to(home)

    def follow(self) -> None:
        """Masters are what was made of their parameters, of those that are still of their type."""
        with torch.no_grad():
            for index, part in self._masters:
                if part.fits(self.homes[index]):
                    part.return_to(self.homes[index])

    def follow_gradients(self) -> None:
        """The same of gradients, which somebody may have changed in a step, as by clipping."""
        with torch.no_grad():
            for index, part in self._masters:
                part.return_gradient(self.gradients[index])

    def hand_out(self) -> None:
        """Parameters are what was made of their masters."""
        with torch.no_grad():
            for index, part in self._masters:
                part.hand_out(self.homes[index])

    def take_over(self) -> None:
        """Parameters are their masters, which others have left, and nothing of what they were themselves."""
        with torch.no_grad():
            for index, part in self._masters:
                part.memory.copy_(self.homes[index])

    def hand_out_gradients(self) -> None:
        """The same of gradients."""
        with torch.no_grad():
            for index, part in self._masters:
                part.hand_out_gradient(self.gradients[index])

    def zero_gradients(self) -> None:
        """And parameters have them, but those that are frozen."""
        for sums in itertools.compress(self.sums, self._summed):
            sums.zero_()
        for part, view in zip(self._parts, self.gradients):
            part.begin(view)

    def gather(self, index: int) -> torch.Tensor:
        """The gradient of a parameter in its bucket, wherever it has come; 0 where there is none."""
        view = self.gradients[index]
        with torch.no_grad():
            self._parts[index].collect(view)
        return view

    def gradients_here(self) -> list[torch.Tensor]:
        """What this process has of those that parameters have at present."""
        return [gradient for part in self._parts if (gradient := part.gradient) is not None]

    def give_back(self) -> None:
        """Each parameter and its gradient get memory of their own, and that of each bucket goes before the next one's turn; nobody else may
        have it in use."""
        self.homes, self._masters = [], []
        with torch.no_grad():
            for indices in self._buckets:
                for index in indices:
                    self._parts[index].leave(self.gradients[index])
                    self.gradients[index] = NOTHING
                del self.weights[0], self.sums[0]
        self.gradients = []
        in_use.discard(self)


in_use: "weakref.WeakSet[BucketMemory]" = weakref.WeakSet()


"""Parameters of other types than f32, as bf16 and f64: their buckets hold masters of them, or of their gradients alone, in f32, in which methods
add up."""

import collections
import sys
from collections.abc import Iterable, Sequence
from typing import Optional

import torch

from .library import Session
from .parts import Whole

TYPES = torch.bfloat16, torch.float16, torch.float64
"""Beside f32, which needs no master."""
PIECE = 1 << 16
"""Elements, or a row, that are computed at once, so that what is in between stays in the cache."""
INTEGERS = {2: torch.int16, 8: torch.int64}
"""As wide as those types, by bytes."""


class Mastered(Whole):
    """A parameter that stays where and of the type that it is. Its master goes along with every change of it, and it with its master's;
    one is always the other rounded to the type that knows less. Its gradient is copied where somebody reads it."""

    def __init__(self, part: Whole, session: Session) -> None:
        super().__init__(part.parameter)
        self._part, self._type, self._session = part, part.memory.dtype, session
        self._told: Optional[torch.Tensor] = None  # as what its master was handed out last, where others may move that meanwhile

    @property
    def memory(self) -> torch.Tensor:
        return self._part.memory

    def settle(self, weights: torch.Tensor) -> None:
        weights.copy_(self.memory)
        self.attach(None)

    @property
    def gradient(self) -> Optional[torch.Tensor]:
        return self._part.gradient

    def attach(self, gradient: Optional[torch.Tensor]) -> None:
        self._part.attach(gradient)

    def without_padding(self, memory: torch.Tensor) -> torch.Tensor:
        return self._part.without_padding(memory)

    def is_at(self, home: torch.Tensor) -> bool:
        return self.fits(home)

    def like(self, home: torch.Tensor) -> torch.Tensor:
        return home.to(self._type)

    def fits(self, home: torch.Tensor) -> bool:
        return self.memory.dtype is self._type and self.memory.shape == home.shape

    def return_to(self, home: torch.Tensor) -> None:
        follow(home, self.memory, self._told)

    @property
    def needs_sums(self) -> bool:
        return self._session.reads_gradients

    def begin(self, view: torch.Tensor) -> None:
        if not self.parameter.requires_grad:
            self.attach(None)
        elif (gradient := self.gradient) is None:
            self.attach(torch.zeros_like(self.memory))
        else:
            gradient.zero_()

    def collect(self, view: torch.Tensor) -> None:
        gradient = self.gradient
        if gradient is None:
            self.begin(view)
        if not self.needs_sums:
            return
        if gradient is None:
            view.zero_()
        else:
            self.without_padding(view).copy_(gradient)

    def return_gradient(self, view: torch.Tensor) -> None:
        """What somebody has made of its gradient is in the bucket too."""
        if (gradient := self.gradient) is not None and self.needs_sums:
            follow(self.without_padding(view), gradient)

    def hand_out(self, home: torch.Tensor) -> None:
        """The parameter is what ranks have made of its master."""
        lead(home, self.memory)
        if self._session.synchronous:
            return
        if self._told is None:
            self._told = torch.empty_like(self.memory)
        self._told.copy_(self.memory)

    def forget(self) -> None:
        """Both have been put back to what they were when they agreed."""
        self._told = None

    def hand_out_gradient(self, view: torch.Tensor) -> None:
        """The same of the gradient."""
        if (gradient := self.gradient) is not None and self.needs_sums:
            lead(self.without_padding(view), gradient)

    def leave(self, view: torch.Tensor) -> None:
        """Nothing: it has memory of its own."""


class Summed(Mastered):
    """The same where nobody but optimizers looks at weights: its bucket has its gradient alone, and no master."""

    def settle(self, weights: torch.Tensor) -> None:
        self.attach(None)

    @property
    def needs_weights(self) -> bool:
        return False

    def return_to(self, home: torch.Tensor) -> None:
        """Nothing: nobody is there."""

    def hand_out(self, home: torch.Tensor) -> None:
        """The same."""


def pieces(*tensors: torch.Tensor) -> Iterable[tuple[torch.Tensor, ...]]:
    """Of tensors of one shape, some rows at a time."""
    whole = tensors[0]
    if whole.numel() <= PIECE:
        return [tensors] if whole.numel() else []
    rows = max(1, PIECE * whole.shape[0] // whole.numel())
    return zip(*(one.split(rows) for one in tensors))


def agrees(master: torch.Tensor, own: torch.Tensor) -> torch.Tensor:
    """By element, whether one is the other rounded."""
    wide, narrow = (own, master) if own.element_size() > master.element_size() else (master, own)
    return wide.to(narrow.dtype) == narrow


def same(one: torch.Tensor, other: torch.Tensor) -> bool:
    """To the bit, in a fifth of the time of torch.equal, which compares one by one."""
    bits = INTEGERS[one.element_size()]
    return not any(map(bool, (one.view(bits) ^ other.view(bits)).aminmax()))


def follow(master: torch.Tensor, own: torch.Tensor, told: Optional[torch.Tensor] = None) -> None:
    """The master moves by what others have made of its tensor since that was `told`, or else was what it is rounded, and keeps what rounding
    hid there, so that averages of small differences are not lost; but not where the tensor has become so small that it would show, as loaded
    from a file."""
    for mine, theirs, *then in pieces(master, own, *(() if told is None else (told,))):
        before = then[0] if then else mine.to(own.dtype)
        if not then and same(before, theirs):
            continue
        now = theirs.float()
        kept = mine - before.float()
        shown = kept.abs().sub_(now.abs().mul_(torch.finfo(own.dtype).eps / 2))
        if not shown.amax() <= 0:  # NaN shows too
            hidden = shown <= 0
            if then:
                hidden |= ~agrees(mine, before)
            kept = torch.where(hidden, kept, kept.new_zeros(()))
        torch.add(now, kept, out=mine)


def lead(master: torch.Tensor, own: torch.Tensor) -> None:
    """The tensor becomes its master, but where that is as before, which leaves f64 what f32 does not hold."""
    if own.element_size() < master.element_size():
        own.copy_(master)
        return
    for mine, theirs in pieces(master, own):
        theirs.copy_(torch.where(agrees(mine, theirs), theirs, mine.to(own.dtype)))


def mastered(parts: Sequence[Whole], session: Session, hands_over: bool) -> list[Whole]:
    """Each as it is where its type is f32, else with what hooks of `session` read in f32, and other members where it `hands_over` to them."""
    kind = Mastered if session.reads_weights or hands_over else Summed
    return [one if one.memory.dtype == torch.float32 else kind(one, session) for one in parts]


def tell_what_travels(rank: int, types: Sequence[torch.dtype], what: str) -> None:
    """By rank 0, once, where not all of these, `what` they are called, are of f32."""
    others = collections.Counter(kind for kind in types if kind != torch.float32)
    if rank != 0 or not others:
        return
    counts = " and ".join(f"{count} of {kind}" for kind, count in others.items())
    lost = ", by which a gradient in float64 is off by at most 6e-8 of itself" if torch.float64 in others else ""
    print(f"trigram: {counts} among {len(types)} {what}: they keep their type, and what ranks exchange and add is float32, or what a codec or "
          f"gradients=\"bf16\" makes of it{lost}", file=sys.stderr, flush=True)

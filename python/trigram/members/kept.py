"""Bytes that the library holds for this process: states of ranks, without a copy of Python's."""

import ctypes
import json
from collections.abc import Sequence
from typing import Any, Optional, Union

from .. import library


class Kept:
    """Empty at first; whoever fills it again uses its memory anew."""

    def __init__(self) -> None:
        self._library = library.library()
        self.handle = self._library.trigram_kept()

    def __del__(self) -> None:
        self._library.trigram_kept_drop(self.handle)

    def place(self) -> tuple[int, int]:
        """Its address, and how many bytes it has."""
        address, count = ctypes.c_void_p(), ctypes.c_int64()
        self._library.trigram_kept_bytes(self.handle, ctypes.byref(address), ctypes.byref(count))
        return address.value or 0, count.value

    def bytes(self) -> bytes:
        """A copy."""
        address, count = self.place()
        return ctypes.string_at(address, count)


State = Union[Kept, bytes]


def place_of(state: Optional[State]) -> tuple[int, int]:
    if isinstance(state, Kept):
        return state.place()
    return (ctypes.cast(ctypes.c_char_p(state), ctypes.c_void_p).value or 0, len(state)) if state else (0, 0)


def hand_over(states: Sequence[Optional[State]], were: Sequence[int], apart: Sequence[int], rank: int) -> Kept:
    """What `rank` of the new members takes over: by the fates of what ranks keep. `states`: of the old ranks, None of one that was lost;
    `were`: of each new rank the old one, -1 of a newcomer; `apart`: old ranks that trained without the others. Raises ValueError for what cannot be
    handed over, by its name."""
    lost = [rank for rank, one in enumerate(states) if one is None]
    change: dict[str, Any] = {"ranks": len(states), "were": list(were), "lost": lost, "apart": list(apart)}
    places = [place_of(one) for one in states]
    addresses, counts = (ctypes.c_uint64 * len(states))(*(one for one, _ in places)), (ctypes.c_int64 * len(states))(*(one for _, one in places))
    handed = Kept()
    library.check(library.library().trigram_hand_over(json.dumps(change).encode(), addresses, counts, rank, handed.handle))
    return handed

"""The communicator of a model on simulated ranks: what `trigram.comm.join` gives in `simulate`. Its collectives are asked of the
program, on whose simulated network they take their time, while other ranks compute."""

import ctypes
from collections.abc import Callable, Sequence
from typing import Optional

import torch

from .collectives import Call
from .comm import Communicator, Handle
from .simulated_lane import Asked, LaneThread, as_bytes, bytes_of, take, words_of

Perform = Callable[[Call], None]


class SimulatedCommunicator(Communicator):
    """All ranks of the simulation, as one of them has them: collectives within `loss`, none of them beside it."""

    def __init__(self, rank: int, size: int, perform: Perform) -> None:
        self.rank, self.size = rank, size
        self._perform_call = perform

    def split(self, color: int, key: int = 0) -> Communicator:
        raise ValueError("simulated ranks have one communicator for their models, that of all; leave split out")

    def leave(self) -> None:
        """Nothing: they end with the simulation."""

    def _begin(self, collective: str, tensors: Sequence[torch.Tensor], op: str = "sum", peer: int = 0, each: int = 0) -> Handle:
        raise ValueError(f"begin_{collective} runs beside the model, whose simulated time passes layer by layer; call {collective}")

    def _perform(self, call: Call) -> None:
        self._perform_call(call)


class ModelThread:
    """Where a model that communicates computes: a rank can wait there in the midst of forward or backward while others go on."""

    def __init__(self) -> None:
        self.communicates = False  # until the model has asked for its communicator
        self._lane: Optional[LaneThread] = None

    def begin(self, compute: Callable[[], None]) -> Asked:
        """Up to its first collective, which is returned, or its end, "nothing". A model that has no communicator computes on the
        thread that calls, as any function."""
        if not self.communicates:
            compute()
            return {"ask": "nothing"}, b""
        if self._lane is None:
            self._lane = LaneThread(0)
        return self._lane.give_turn(compute)

    def go_on(self, payload: bytes) -> Asked:
        """Up to the next one, or the end; with what has come of the last one."""
        assert self._lane is not None
        return self._lane.give_turn((None, payload))

    def end(self) -> None:
        """Whatever it is doing."""
        if self._lane is not None:
            self._lane.end()

    def perform(self, call: Call) -> None:
        """On the thread itself."""
        if self._lane is None or not self._lane.is_here():
            raise RuntimeError(f"{call.collective} was called outside of loss(model, batch): simulated ranks meet there alone, since make, data "
                               "and score are called for one rank at a time")
        _, after = self._lane.ask((words_of(call), bytes_of(call)))
        take(call, after)


def alike(rank: int, size: int) -> SimulatedCommunicator:
    """Of a rank that is alone and takes all others for itself, as where only shapes count."""
    def perform(call: Call) -> None:
        if call.each:  # all_to_all, all_gather: the last tensors are what the ranks bring
            sent = bytes(as_bytes(call.tensors[rank]))
            for one in call.tensors[-size:]:
                ctypes.memmove(one.data_ptr(), sent, min(len(sent), one.numel() * one.element_size()))
    return SimulatedCommunicator(rank, size, perform)

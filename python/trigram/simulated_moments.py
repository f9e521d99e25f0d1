"""Moments of an algorithm in Python on simulated ranks: each lane of each rank has a thread, which takes turns with the one that
answers the program, so that a rank can wait in the midst of a moment while others go on. No two of them ever run at once."""

import ctypes
import itertools
import queue
import threading
from collections.abc import Callable
from typing import Any, Optional

import torch

from .algorithm import Bucket, Make, Worker, made, of_another_lane, tell
from .collectives import Call

Asked = tuple[dict[str, Any], bytes]
"""What the program is to do for a lane, with the tensors' bytes; "nothing" where the moment has ended."""


class Ended(BaseException):
    """The simulation has ended; raised where a lane waits."""


class LaneThread:
    """What one lane runs."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._to_lane: "queue.SimpleQueue[Any]" = queue.SimpleQueue()
        self._to_server: "queue.SimpleQueue[Asked | BaseException]" = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def give_turn(self, what: Any) -> Asked:
        """A moment to run, as a function, or an answer to what was asked. Raises what the moment raises."""
        self._to_lane.put(what)
        asked = self._to_server.get()
        if isinstance(asked, BaseException):
            raise asked
        return asked

    def ask(self, asked: Asked) -> tuple[Any, bytes]:
        """On the lane's thread: gives the turn, and returns what is answered."""
        if threading.current_thread() is not self._thread:
            raise of_another_lane(self._number)
        self._to_server.put(asked)
        answer = self._to_lane.get()
        if answer is None:
            raise Ended
        return answer[0], answer[1]

    def end(self) -> None:
        """Whatever it is doing."""
        self._to_lane.put(None)
        self._thread.join(timeout=0.1)
        if self._thread.is_alive():  # it computes, as a loop that Ctrl-C found
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._thread.ident or 0), ctypes.py_object(Ended))
            self._thread.join(timeout=2)

    def _run(self) -> None:
        try:
            while (moment := self._to_lane.get()) is not None:
                try:
                    moment()
                except Ended:
                    return
                except BaseException as error:
                    self._to_server.put(error)
                else:
                    self._to_server.put(({"ask": "nothing"}, b""))
        except Ended:
            return


class RankMoments:
    """An algorithm's object and its lanes."""

    def __init__(self, make: Make) -> None:
        self._algorithm = made(make)
        self._lanes: dict[int, LaneThread] = {}
        self._groups: dict[str, tuple[int, int]] = {}
        self._buckets: list[Bucket] = []
        self._bodies: dict[int, Callable[[Worker], None]] = {}
        self._numbers = itertools.count()

    def set_up(self, groups: dict[str, Any], buckets: list[Bucket]) -> None:
        self._groups = {name: (place[0], place[1]) for name, place in groups.items()}
        self._buckets = buckets

    def begin(self, told: dict[str, Any]) -> Asked:
        number = told["lane"]
        if number not in self._lanes:
            self._lanes[number] = LaneThread(number)
        lane = self._lanes[number]
        worker = self._worker(lane, told)
        return lane.give_turn(lambda: tell(self._algorithm, told, worker, self._buckets, self._bodies))

    def go_on(self, lane: int, answer: Any, payload: bytes) -> Asked:
        return self._lanes[lane].give_turn((answer, payload))

    def end(self) -> None:
        for lane in self._lanes.values():
            lane.end()

    def _worker(self, lane: LaneThread, told: dict[str, Any]) -> Worker:
        def ask(what: str, **words: Any) -> Any:
            return lane.ask(({"ask": what} | words, b""))[0]

        def perform(group: str, call: Call) -> None:
            counts = [one.numel() for one in call.tensors]
            _, after = lane.ask(({"ask": "call", "group": group, "counts": counts} | call.words(), bytes_of(call)))
            take(call, after)

        return Worker(self._groups, told, ask, perform, self._begin)

    def _begin(self, body: Callable[[Worker], None]) -> int:
        number = next(self._numbers)
        self._bodies[number] = body
        return number


def as_bytes(one: torch.Tensor) -> Any:
    """The memory of a tensor whose elements lie one after another."""
    return (ctypes.c_char * (one.numel() * one.element_size())).from_address(one.data_ptr()) if one.numel() else b""


def bytes_of(call: Call) -> bytes:
    return b"".join(bytes(as_bytes(one)) for one in call.tensors)


def take(call: Call, after: bytes) -> None:
    """What a collective has left in its tensors."""
    begin = 0
    for one in call.tensors:
        end = begin + one.numel() * one.element_size()
        if one.numel():
            ctypes.memmove(one.data_ptr(), after[begin:end], end - begin)
        begin = end


class SimulatedMoments:
    """Of all ranks. What buckets hold of the rank whose turn it is lies in memory that the program shares."""

    def __init__(self, make: Optional[Make], weights: torch.Tensor, gradients: torch.Tensor) -> None:
        self._make, self._weights, self._gradients = make, weights, gradients
        self._ranks: dict[int, RankMoments] = {}

    def begin(self, rank: int, told: dict[str, Any]) -> Asked:
        assert self._make is not None
        if told.get("moment") == "setup":
            self._ranks[rank] = RankMoments(self._make)
            self._ranks[rank].set_up(told["groups"], self._cut(told["counts"]))
        return self._ranks[rank].begin(told)

    def go_on(self, rank: int, lane: int, answer: Any, payload: bytes) -> Asked:
        return self._ranks[rank].go_on(lane, answer, payload)

    def end(self) -> None:
        """Leaves no thread behind."""
        for one in self._ranks.values():
            one.end()

    def _cut(self, counts: list[int]) -> list[Bucket]:
        return [Bucket(index, *both) for index, both in enumerate(zip(self._weights.split(counts), self._gradients.split(counts)))]

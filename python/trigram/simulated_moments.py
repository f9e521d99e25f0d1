"""Moments of an algorithm in Python on simulated ranks: each lane of each rank has a thread, which takes turns with the one that
answers the program, so that a rank can wait in the midst of a moment while others go on. No two of them ever run at once."""

import itertools
from collections.abc import Callable
from typing import Any, Optional

import torch

from .algorithm import Bucket, Make, Worker, made, tell
from .collectives import Call
from .simulated_lane import Asked, LaneThread, bytes_of, take

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

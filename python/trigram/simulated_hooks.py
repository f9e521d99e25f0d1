"""Hooks of an algorithm in Python on simulated ranks: each lane of each rank has a thread, which takes turns with the one that
answers the program, so that a rank can wait in the midst of a hook while others go on. No two of them ever run at once."""

import contextlib
import itertools
from collections.abc import Callable
from typing import Any, Optional

import torch

from . import modelled
from .algorithm import Bucket, Make, Setting, Worker, made, tell
from .collectives import Call
from .kept_state import require_fates
from .simulated_lane import Asked, LaneThread, Serve, bytes_of, take, words_of


UNANSWERED = {"start", "record", "charge", "communicates", "list"}


class RankHooks:
    """An algorithm's object and its lanes."""

    def __init__(self, make: Make, hands_over: bool) -> None:
        self._algorithm, self._hands_over = made(make), hands_over
        self._silent: set[tuple[Any, ...]] = set()  # hooks that have asked for nothing, as most exchanges on a profile's clock
        self._lanes: dict[int, LaneThread] = {}
        self._setting: Optional[Setting] = None  # until `setup` is told
        self._buckets: list[Bucket] = []
        self._tasks: dict[int, Callable[[Worker], None]] = {}
        self._numbers = itertools.count()

    def set_up(self, setting: Setting, buckets: list[Bucket]) -> None:
        self._setting, self._buckets = setting, buckets

    def begin(self, message: dict[str, Any], serve: Optional[Serve]) -> Asked:
        """`serve`: for hooks that may run on the thread that calls; None where none may."""
        number = message["lane"]
        if number not in self._lanes:
            self._lanes[number] = LaneThread(number)
        lane = self._lanes[number]
        worker = self._worker(lane, message)
        hook = message.get("hook"), message.get("exchange"), message.get("bucket")

        def task() -> None:
            tell(self._algorithm, message, worker, self._buckets, self._tasks)
            if self._hands_over and message.get("hook") == "setup":
                require_fates(self._algorithm)
        if serve is not None and hook in self._silent:
            return lane.run_here(task, serve)
        asked = lane.give_turn(task)
        if "task" not in message and asked[0]["ask"] == "nothing":
            self._silent.add(hook)
        return asked

    def go_on(self, lane: int, answer: Any, payload: bytes) -> Asked:
        return self._lanes[lane].give_turn((answer, payload))

    def end(self) -> None:
        for lane in self._lanes.values():
            lane.end()

    def _worker(self, lane: LaneThread, message: dict[str, Any]) -> Worker:
        def ask(what: str, **words: Any) -> Any:
            asked = {"ask": what} | words
            return lane.ask_later(asked) if what in UNANSWERED else lane.ask((asked, b""))[0]

        def perform(group: str, call: Call) -> None:
            asked = {"group": group} | words_of(call)
            if not any(one.numel() for one in call.tensors):  # as of most buckets on a profile's clock
                return lane.ask_later(asked)
            _, after = lane.ask((asked, bytes_of(call)))
            take(call, after)

        assert self._setting is not None
        return Worker(self._setting, message, ask, perform, self._begin)

    def _begin(self, task: Callable[[Worker], None]) -> int:
        number = next(self._numbers)
        self._tasks[number] = task
        return number


class SimulatedHooks:
    """Of all ranks. What buckets hold of the rank whose turn it is lies in memory that the program shares."""

    def __init__(self, make: Optional[Make], weights: torch.Tensor, gradients: torch.Tensor, hands_over: bool) -> None:
        """`hands_over`: whether ranks leave and join, and others go on from what one keeps."""
        self._make, self._weights, self._gradients, self._hands_over = make, weights, gradients, hands_over
        self._ranks: dict[int, RankHooks] = {}
        self._clock = contextlib.ExitStack()  # of another model, once one is known to be

    def begin(self, rank: int, message: dict[str, Any], serve: Optional[Serve]) -> Asked:
        """As `RankHooks.begin`."""
        assert self._make is not None
        if message.get("hook") == "setup":
            if rank in self._ranks:  # of members that were others
                self._ranks[rank].end()
            self._ranks[rank] = RankHooks(self._make, self._hands_over)
            self._ranks[rank].set_up(Setting.of(message), self._cut(message["counts"], message["modelled_counts"]))
        return self._ranks[rank].begin(message, serve)

    def go_on(self, rank: int, lane: int, answer: Any, payload: bytes) -> Asked:
        return self._ranks[rank].go_on(lane, answer, payload)

    def end(self) -> None:
        """Leaves no thread behind."""
        for one in self._ranks.values():
            one.end()
        self._clock.close()

    def _cut(self, counts: list[int], modelled_counts: list[int]) -> list[Bucket]:
        if not modelled.borrowed and counts != modelled_counts:
            self._clock.enter_context(modelled.another_clock())

        def sized(whole: torch.Tensor) -> list[torch.Tensor]:
            return [one if one.numel() == count else modelled.costing(one, count) for one, count in zip(whole.split(counts), modelled_counts)]

        return [Bucket(index, *both) for index, both in enumerate(zip(sized(self._weights), sized(self._gradients)))]

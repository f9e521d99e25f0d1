"""Hooks of an algorithm in Python as a real rank has them: the library calls, on the threads of its lanes, or where these are streams of a
GPU, on the thread that orders."""

import ctypes
import itertools
import json
import threading
from collections.abc import Callable
from typing import Any, Optional

import torch

from . import library
from .algorithm import Algorithm, Bucket, Setting, Worker, of_another_lane, tell
from .collectives import Call
from .device import CPU, Place

MessageCallback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)


class JobHooks:
    """Those of one session. Has to live as long as that."""

    def __init__(self, algorithm: Algorithm) -> None:
        self._algorithm = algorithm
        self._buckets: list[Bucket] = []
        self._place: Place = CPU
        self._streams: list[int] = []
        self._setting: Optional[Setting] = None  # until `setup` is told
        self._tasks: dict[int, Callable[[Worker], None]] = {}
        self._kept: dict[int, Callable[[Worker], None]] = {}  # until they have ended: on a GPU that is later than they return
        self._numbers = itertools.count()
        self._here = threading.local()  # what the library calls at present on this thread: its lanes, each in the one before
        self.error: Optional[BaseException] = None
        """What ended the session, where that was raised by the algorithm."""
        self._callback = MessageCallback(self._tell)

    def be_next(self) -> None:
        """Of the session that is opened next."""
        library.library().trigram_hooks(ctypes.cast(self._callback, ctypes.c_void_p))

    def adopt(self, weights: list[torch.Tensor], gradients: list[torch.Tensor], place: Place, streams: list[int]) -> None:
        """By bucket, where they lie, and the streams of lanes there, before the first hook."""
        self._place, self._streams = place, streams
        self._buckets = [Bucket(index, *both) for index, both in enumerate(zip(weights, gradients))]

    def _tell(self, lane: int, text: bytes) -> int:
        try:
            message = json.loads(text)
            if message.get("hook") == "setup":
                self._setting = Setting.of(message, self._place)
            self._lanes().append((message["lane"], lane))
            try:
                with self._place.on(self._streams[message["lane"]] if self._streams else None):
                    tell(self._algorithm, message, self._worker(message), self._buckets, self._tasks)
            finally:
                self._lanes().pop()
            return 0
        except BaseException as error:  # of whatever kind, it must not get lost in the library
            self.error = self.error or error
            reason = f"{type(error).__name__} in {type(self._algorithm).__name__}: {error}"
            library.library().trigram_lane_fail(lane, reason.encode())
            return 1

    def _lanes(self) -> list[tuple[int, int]]:
        lanes: list[tuple[int, int]] = self._here.__dict__.setdefault("lanes", [])
        return lanes

    def _worker(self, message: dict[str, Any]) -> Worker:
        def lane() -> int:
            """Which may be that of a later hook than the Worker's, as where what was begun is waited for."""
            if not self._lanes() or self._lanes()[-1][0] != message["lane"]:
                raise of_another_lane(message["lane"])
            return self._lanes()[-1][1]

        def ask(what: str, **words: Any) -> Any:
            self._call(library.library().trigram_lane_ask, lane(), json.dumps({"ask": what} | words).encode())
            answer = json.loads(library.reply())
            if what == "wait" or (what == "done" and answer):
                self._kept.pop(words["number"], None)
            return answer

        def perform(group: str, call: Call) -> None:
            self._call(library.library().trigram_lane_call, lane(), group.encode(), *call.in_c())

        assert self._setting is not None
        return Worker(self._setting, message, ask, perform, self._begin)

    def _call(self, function: Callable[..., int], *arguments: Any) -> None:
        """All that hooks ask of the library goes this way, where doubles of GPUs wait for streams."""
        library.check(function(*arguments))

    def _begin(self, task: Callable[[Worker], None]) -> int:
        number = next(self._numbers)
        self._tasks[number] = self._kept[number] = task
        return number

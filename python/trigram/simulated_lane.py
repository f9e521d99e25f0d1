"""A thread of Python that takes turns with the one that answers the program: what runs there can wait for other simulated ranks
in the midst of what it does. No two of them ever run at once."""

import ctypes
import queue
import threading
from collections.abc import Callable
from typing import Any, Optional

import torch

from .algorithm import of_another_lane
from .collectives import Call
from .modelled import modelled_count

Asked = tuple[dict[str, Any], bytes]
"""What the program is to do for a lane, with the tensors' bytes; "nothing" where the hook has ended."""
Serve = Callable[[Asked], tuple[Any, bytes]]
"""Does what is asked, other ranks' hooks beside it, and gives the answer."""


class Ended(BaseException):
    """The simulation has ended; raised where a lane waits."""


class LaneThread:
    """What one lane runs."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._before: list[dict[str, Any]] = []
        self._serve: Optional[Serve] = None  # while a hook runs on the thread that serves
        self._to_lane: "queue.SimpleQueue[Any]" = queue.SimpleQueue()
        self._to_server: "queue.SimpleQueue[Asked | BaseException]" = queue.SimpleQueue()
        self._thread = self._caller = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def give_turn(self, what: Any) -> Asked:
        """A hook to run, as a function, or an answer to what was asked. Raises what the hook raises."""
        self._to_lane.put(what)
        asked = self._to_server.get()
        if isinstance(asked, BaseException):
            raise asked
        return asked

    def run_here(self, what: Callable[[], None], serve: Serve) -> Asked:
        """A hook that has asked for nothing when it ran before, on the thread that calls: no turn changes. Should it ask now, `serve` answers.
        Raises what the hook raises."""
        self._serve, self._caller = serve, threading.current_thread()
        try:
            what()
        except Ended as ended:
            if ended.__cause__ is not None:
                raise ended.__cause__
        finally:
            self._serve = None
        return self._behind_others(({"ask": "nothing"}, b""))

    def ask(self, asked: Asked) -> tuple[Any, bytes]:
        """On the lane's thread: gives the turn, and returns what is answered."""
        self._require_here()
        if self._serve is not None:
            return self._serve(self._behind_others(asked))
        self._to_server.put(self._behind_others(asked))
        answer = self._to_lane.get()
        if answer is None:
            raise Ended
        return answer[0], answer[1]

    def ask_later(self, asked: dict[str, Any]) -> None:
        """On the lane's thread: what needs no answer, and is done before whatever comes next."""
        self._require_here()
        self._before.append(asked)

    def is_here(self) -> bool:
        """Whether its thread is the one that asks."""
        return threading.current_thread() is (self._thread if self._serve is None else self._caller)

    def end(self) -> None:
        """Whatever it is doing."""
        self._to_lane.put(None)
        self._thread.join(timeout=0.1)
        if self._thread.is_alive():  # it computes, as a loop that Ctrl-C found
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._thread.ident or 0), ctypes.py_object(Ended))
            self._thread.join(timeout=2)

    def _require_here(self) -> None:
        if not self.is_here():
            raise of_another_lane(self._number)

    def _behind_others(self, asked: Asked) -> Asked:
        if not self._before:
            return asked
        before, self._before = self._before, []
        return asked[0] | {"before": before}, asked[1]

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
                    self._to_server.put(self._behind_others(({"ask": "nothing"}, b"")))
        except Ended:
            return


def as_bytes(one: torch.Tensor) -> Any:
    """The memory of a tensor whose elements lie one after another."""
    return (ctypes.c_char * (one.numel() * one.element_size())).from_address(one.data_ptr()) if one.numel() else b""


def words_of(call: Call) -> dict[str, Any]:
    """What asks for it, beside the bytes. Raises ValueError for a tensor of which nobody knows what it costs."""
    return {"ask": "call", "counts": [one.numel() for one in call.tensors],
            "modelled_counts": [modelled_count(one) for one in call.tensors]} | call.words()


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

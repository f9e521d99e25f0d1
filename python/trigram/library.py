"""The session library: functions of C, and their errors as Python's."""

import ctypes
import functools
import json
import os
import pathlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Optional

from . import program
from .device import CurrentStream, Place

if TYPE_CHECKING:
    from .job_hooks import JobHooks

USAGE = 2

Handle = ctypes.c_void_p


def path() -> pathlib.Path:
    """What TRIGRAM_SESSION names, else that of this package, or of the build of the program."""
    if named := os.environ.get("TRIGRAM_SESSION"):
        return pathlib.Path(named)
    name = "libtrigram_session.so"
    places = [program.PACKAGE / "lib" / name]
    if places[0].is_file():
        return places[0]
    if (of_program := program.path()).is_absolute():
        places.append(of_program.parent.parent / "python" / name)
        if places[1].is_file():
            return places[1]
    raise RuntimeError(f"the library {name} is in none of {', '.join(map(str, places))}; CMake builds it as trigram_session; "
                       "set TRIGRAM_SESSION to where it is")


def opened(place: pathlib.Path) -> ctypes.CDLL:
    """Raises RuntimeError where the system lacks what it is linked with."""
    try:
        return ctypes.CDLL(str(place))
    except OSError as error:
        raise RuntimeError(f"cannot load {place}: {error}; {program.NEEDS}") from error


@functools.cache
def library() -> ctypes.CDLL:
    number, floating, text = ctypes.c_int64, ctypes.c_double, ctypes.c_char_p
    addresses, counts = ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(number)
    loaded = opened(path())
    arguments = {"open": [text, ctypes.POINTER(Handle)], "adopt": [Handle, addresses, addresses, counts, ctypes.c_int],
                 "share": [Handle, ctypes.c_uint64, number, ctypes.c_int], "sum": [Handle, ctypes.c_uint64, number],
                 "come_to_rest": [Handle], "global_weights": [Handle], "meet": [Handle],
                 "state": [Handle, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(number)], "go_on_from": [Handle, text, number],
                 "follow": [Handle, ctypes.c_uint64], "begin": [Handle, floating], "tensor_ready": [Handle, ctypes.c_int],
                 "gradients_end": [Handle], "end": [Handle], "finish": [Handle], "rows": [Handle], "spans": [Handle, ctypes.c_int],
                 "has_ended": [Handle], "fail": [Handle, text],
                 "require_gradients_only": [text, text], "close": [Handle], "transport": [ctypes.c_void_p] * 3}
    arguments |= group_arguments() | lane_arguments() | optimizer_arguments() | overflow_arguments() | member_arguments()
    for name, types in arguments.items():
        getattr(loaded, f"trigram_{name}").argtypes = types
    loaded.trigram_reply.restype = text
    loaded.trigram_kept.restype = Handle
    for name in ("fail", "close", "group_close", "chunk", "hooks", "lane_fail", "transport", "kept_bytes", "kept_drop", "leave_seat", "give_up"):
        getattr(loaded, f"trigram_{name}").restype = None
    return loaded


def group_arguments() -> dict[str, list[Any]]:
    """Of what trigram.comm calls."""
    number, text, whole = ctypes.c_int64, ctypes.c_char_p, ctypes.c_int
    call = [Handle, whole, text, ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(number), whole]
    begun = ctypes.POINTER(number)
    return {"group_open": [text, ctypes.POINTER(Handle)], "group_follow": [Handle, ctypes.c_uint64],
            "group_split": [Handle, whole, whole, whole], "group_call": call, "group_begin": [*call, begun],
            "group_done": [Handle, number, ctypes.POINTER(whole)], "group_wait": [Handle, number],
            **{f"group_{what}_encoded": [Handle, whole, text, ctypes.c_uint64, number, begun] for what in ("gather", "reduce")},
            "codec_bytes": [text, number, begun], "chunk": [number, whole, whole, begun, begun], "group_leave": [Handle], "group_has_ended": [Handle], "group_close": [Handle]}


def lane_arguments() -> dict[str, list[Any]]:
    """Of what algorithms in Python call."""
    number, text, whole = ctypes.c_int64, ctypes.c_char_p, ctypes.c_int
    call = [Handle, text, text, ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(number), whole]
    return {"hooks": [ctypes.c_void_p], "lane_call": call, "lane_ask": [Handle, text], "lane_fail": [Handle, text]}


def optimizer_arguments() -> dict[str, list[Any]]:
    """Of what trigram.optim calls."""
    number, floating, whole = ctypes.c_int64, ctypes.c_double, ctypes.c_int
    addresses, counts = ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(number)
    return {"sgd_step": [*[addresses] * 3, counts, whole, *[floating] * 4, whole, whole],
            "adam_step": [*[addresses] * 4, counts, whole, *[floating] * 5, number, whole]}


def overflow_arguments() -> dict[str, list[Any]]:
    """Of what trigram.overflow calls."""
    return {"keep": [Handle], "go_back": [Handle], "rescale": [Handle, ctypes.c_double],
            "state_is_finite": [Handle, ctypes.POINTER(ctypes.c_int)]}


def member_arguments() -> dict[str, list[Any]]:
    """Of what trigram.members calls."""
    number, text, whole = ctypes.c_int64, ctypes.c_char_p, ctypes.c_int
    return {"kept": [], "kept_bytes": [Handle, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(number)], "kept_drop": [Handle],
            "border": [Handle, Handle], "take_over": [Handle, Handle], "member_changes": [text, whole, number],
            "bears_absence": [text, ctypes.POINTER(whole)], "take_seat": [text], "leave_seat": [], "settle": [Handle], "require_whole": [Handle],
            "give_up": [Handle, text],
            "hand_over": [text, ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(number), whole, Handle]}


def reply() -> str:
    text: bytes = library().trigram_reply()
    return text.decode("utf-8", "replace")


def check(status: int) -> None:
    """Raises ValueError for what the user can fix, else RuntimeError, with the library's text."""
    if status != 0:
        raise (ValueError if status == USAGE else RuntimeError)(reply())


def require_gradients_only(algorithm: str, else_text: str) -> None:
    """Raises ValueError for an algorithm that works on more than gradients, with a text of what that is too little for."""
    check(library().trigram_require_gradients_only(algorithm.encode(), else_text.encode()))


def works_on_gradients_alone(algorithm: str) -> bool:
    """So that ranks' weights are equal after each step. Raises ValueError for what is no algorithm."""
    try:
        require_gradients_only(algorithm, (reason := "which is more"))
    except ValueError as error:
        if str(error).endswith(reason):
            return False
        raise
    return True


def bears_absence(algorithm: str) -> bool:
    """Whether a step of it may be done without ranks that are gone. Raises ValueError for what is no algorithm."""
    bears = ctypes.c_int()
    check(library().trigram_bears_absence(algorithm.encode(), ctypes.byref(bears)))
    return bool(bears.value)


class Session:
    """This process as a rank, until it has finished: the hooks of a step, in their order."""

    def __init__(self, flags: dict[str, str], parameters: list[dict[str, Any]], loop_updates: bool, place: Place,
                 ended: Callable[[], None], hooks: "Optional[JobHooks]" = None) -> None:
        """`place`: where all memory lies that hooks are told of. `ended` is called where a failure has ended the session,
        before that is raised. `hooks`: of an algorithm in Python, whose own errors are raised as they are."""
        self._handle = Handle()
        self._library = library()
        self._place = place
        self._stream = CurrentStream(place)
        self._ended = ended
        self._hooks = hooks
        settings = json.dumps({"flags": flags, "parameters": parameters, "loop_updates": loop_updates} | place.settings)
        if hooks is not None:
            hooks.be_next()
        try:
            with place.current():
                check(self._library.trigram_open(settings.encode(), ctypes.byref(self._handle)))
        finally:
            self._library.trigram_hooks(None)
        answer = json.loads(reply())
        self.rank: int = answer["rank"]
        self.ranks: int = answer["ranks"]
        self.order: list[list[int]] = answer["order"]
        self.streams: list[int] = answer["streams"]
        """By lane, on a GPU."""
        self.synchronous: bool = answer["synchronous"]
        """Whether weights change within hooks alone."""
        self.reads_gradients: bool = answer["reads_gradients"]
        """Whether hooks look at gradients."""
        self.reads_weights: bool = answer["reads_weights"]
        """Whether hooks look at weights."""

    def _check(self, status: int) -> None:
        if status != 0 and self._library.trigram_has_ended(self._handle):
            self._ended()
            if self._hooks is not None and self._hooks.error is not None:
                raise self._hooks.error
        check(status)

    def _hook(self, function: Callable[..., int], *arguments: Any) -> None:
        """Ordered behind what this thread's stream has by now, and before what it is given next."""
        with self._place.current():
            if (stream := self._stream.changed()) is not None:
                self._check(self._library.trigram_follow(self._handle, stream))
            self._check(function(self._handle, *arguments))

    def adopt(self, weights: list[int], gradients: list[int], counts: list[int]) -> None:
        addresses, lengths = ctypes.c_uint64 * len(counts), ctypes.c_int64 * len(counts)
        self._hook(self._library.trigram_adopt, addresses(*weights), addresses(*gradients), lengths(*counts), len(counts))

    def share(self, address: int, count: int, root: int = 0) -> None:
        """The root's bytes."""
        self._hook(self._library.trigram_share, address, count, root)

    def come_to_rest(self) -> None:
        """Weights may change until it returns; then none do before the next step."""
        self._hook(self._library.trigram_come_to_rest)

    def global_weights(self) -> None:
        """Into the model's memory, whose own weights the caller has kept."""
        self._hook(self._library.trigram_global_weights)

    def meet(self) -> None:
        self._hook(self._library.trigram_meet)

    def sum(self, address: int, count: int) -> None:
        self._hook(self._library.trigram_sum, address, count)

    def settle(self) -> None:
        """Returns when all that was ordered is done. Raises RuntimeError where others have gone on without this rank meanwhile."""
        self._hook(self._library.trigram_settle)

    def require_whole(self) -> None:
        """Raises RuntimeError likewise, without a wait."""
        self._check(self._library.trigram_require_whole(self._handle))

    def give_up(self, reason: str) -> None:
        """From any thread, also when the session has ended: its waits on a device end, where members come and go."""
        self._library.trigram_give_up(self._handle, reason.encode())

    def state(self) -> bytes:
        place, count = ctypes.c_void_p(), ctypes.c_int64()
        self._hook(self._library.trigram_state, ctypes.byref(place), ctypes.byref(count))
        return ctypes.string_at(place, count.value)

    def go_on_from(self, state: bytes) -> None:
        self._hook(self._library.trigram_go_on_from, state, len(state))

    def border(self, kept: Handle) -> None:
        """What other members would go on from, between two steps."""
        self._hook(self._library.trigram_border, kept)

    def take_over(self, handed: Handle) -> None:
        """What members of before have left, before `adopt`."""
        self._check(self._library.trigram_take_over(self._handle, handed))

    def keep(self) -> None:
        """Remembers what the algorithm keeps, before a step."""
        self._hook(self._library.trigram_keep)

    def go_back(self) -> None:
        """After the step, which then was none to the algorithm."""
        self._hook(self._library.trigram_go_back)

    def rescale(self, factor: float) -> None:
        """What the algorithm keeps of gradients, between two steps."""
        self._hook(self._library.trigram_rescale, factor)

    def state_is_finite(self) -> bool:
        """Of what the algorithm keeps, between two steps."""
        finite = ctypes.c_int()
        self._hook(self._library.trigram_state_is_finite, ctypes.byref(finite))
        return bool(finite.value)

    def begin(self, learning_rate: float) -> None:
        self._hook(self._library.trigram_begin, learning_rate)

    def tensor_ready(self, parameter: int) -> None:
        self._hook(self._library.trigram_tensor_ready, parameter)

    def gradients_end(self) -> None:
        self._hook(self._library.trigram_gradients_end)

    def end(self) -> None:
        self._hook(self._library.trigram_end)

    def finish(self) -> None:
        self._hook(self._library.trigram_finish)

    def rows(self) -> list[dict[str, Any]]:
        self._check(self._library.trigram_rows(self._handle))
        rows: list[dict[str, Any]] = json.loads(reply())
        return rows

    def spans(self, rank: int) -> list[dict[str, Any]]:
        """After the session has finished."""
        self._check(self._library.trigram_spans(self._handle, rank))
        spans: list[dict[str, Any]] = json.loads(reply())
        return spans

    def __del__(self) -> None:
        if self._handle:
            self._library.trigram_close(self._handle)

    def fail(self, reason: str) -> None:
        self._library.trigram_fail(self._handle, reason.encode())

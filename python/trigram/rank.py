"""This process as a rank: what its session has told, and how it ends, also where nobody ended it."""

import atexit
import functools
import sys
import threading
from typing import TYPE_CHECKING, Any, NoReturn, Optional

from . import launcher, program, record, tables, transport
from .device import Place
from .job_hooks import JobHooks
from .library import Session
from .recording import Recording

if TYPE_CHECKING:
    import pandas


class Rank:
    """A session of this process: what it has told, and its end."""

    rank: int
    """Of this process."""
    ranks: int
    """How many there are."""
    _session: Session
    of_this_process_alone = True
    """What copies of a model leave out, by `copies`."""

    def __init__(self) -> None:
        self._finished = False

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} is this process as a rank, of which there is no copy; keep its state_dict(), or a copy of the "
                        "model, which has none")

    @staticmethod
    def settings(algorithm: str, flags: dict[str, object], place: Place) -> dict[str, str]:
        """Of the library, which knows them as the program's flags. Raises ValueError for what cannot be in that place."""
        texts = {key.replace("_", "-"): program.text_of(value) for key, value in flags.items() if value is not None}
        if (lanes := texts.get("lanes", "1")) != "1":
            place.check_side_by_side(f"lanes={lanes}", "take lanes=1")
        return texts | {"algorithm": algorithm, "backend": launcher.backend_of(flags.get("backend"), place)}

    def _open_session(self, settings: dict[str, str], parameters: list[dict[str, Any]], loop_updates: bool, place: Place,
                      hooks: Optional[JobHooks] = None, members: transport.Members = None) -> None:
        transport.offer(settings["backend"], members)
        self._session = Session(settings, parameters, loop_updates, place, ended=self._leave, hooks=hooks)
        self.rank, self.ranks = self._session.rank, self._session.ranks
        self._recording = Recording(self._session, place)
        live[self] = None

    def steps(self) -> "pandas.DataFrame":
        """A row a step, in the columns of steps.csv: seconds of this rank (compute_s is what passed outside of Trigram,
        exposed_s inside, both of the host, which does not wait for a GPU), bytes, what the algorithm recorded, and the loss where
        the script told it."""
        rows = self._recording.rows()
        recorded = sorted({column for row in rows for column in row} - set(record.STEP_COLUMNS))
        return tables.pandas_module().DataFrame(rows, columns=record.STEP_COLUMNS + recorded)

    def finish(self) -> None:
        """After the last step, on all ranks."""
        raise NotImplementedError

    @property
    def finished(self) -> bool:
        """Whether the session has ended, well or not."""
        return self._finished

    def _leave(self) -> None:
        self._finished = True
        live.pop(self, None)

    def _fail(self, reason: str) -> None:
        self._session.fail(reason)
        self._leave()


live: dict[Rank, None] = {}
"""In the order in which they opened, which all ranks have alike."""


def watch_exit() -> None:
    """Notes what sys.exit() was called with, since the interpreter tells nobody at its end."""
    leave = sys.exit

    @functools.wraps(leave)
    def noted(status: Any = None, /) -> NoReturn:
        global exit_status
        if threading.current_thread() is threading.main_thread():  # of others it ends only themselves
            exit_status = status
        leave(status)

    sys.exit = noted


exit_status: Any = None
watch_exit()


def why_it_ends() -> str:
    """Empty at the end of a script that went well."""
    error = getattr(sys, "last_value", None)
    if error is not None:
        return f"{type(error).__name__}: {error}"
    return f"sys.exit({exit_status!r}) was called before job.finish()" if exit_status not in (None, 0) else ""


@atexit.register
def end_sessions() -> None:
    """Sessions end before MPI does: well at the end of a script, and as failures where an error ended it."""
    reason = why_it_ends()
    for job in list(live):
        if reason:
            fail_at_the_end(job, reason)
            continue
        try:
            job.finish()
        except Exception as error:
            fail_at_the_end(job, str(error))


def fail_at_the_end(job: Rank, reason: str) -> None:
    print(f"trigram: rank {job.rank} fails: {reason}", file=sys.stderr, flush=True)
    job._fail(reason)

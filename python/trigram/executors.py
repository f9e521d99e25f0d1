"""Studies and fits that an executor makes, as --executor of `trigram study` and of `trigram calibrate` does it."""

import concurrent.futures
import importlib
import os
import pathlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from . import program

UNKNOWN = 64
"""Tasks at a time of an executor that does not say how many it can run."""


def study(study: "str | pathlib.Path", flags: dict[str, object], executor: concurrent.futures.Executor, parallel: int, task_seconds: float) -> None:
    """Makes what is missing and collects it. Raises as commands.study does."""
    with modules() as (cells, conductor), as_errors_of_python(cells):
        own = {key: value for key, value in flags.items() if key not in ("out", "jobs")}
        here = cells.StudyProgram(program.path(), study, program.words_of(own), flags["out"], program.environment())
        code, said = conductor.conduct(here, executor, slots_of(executor, parallel), task_seconds, quiet=True)
        program.judge(code, said.splitlines(), stacklevel=4)


def simulate_fit(flags: dict[str, object], executor: concurrent.futures.Executor, parallel: int, task_seconds: float) -> None:
    """Simulates what `trigram calibrate --from` asks for into its folder `work`. Raises as commands.calibrate does."""
    with modules() as (cells, conductor), as_errors_of_python(cells):
        own = {key: value for key, value in flags.items() if key not in ("work", "jobs")}
        here = cells.FitProgram(program.path(), program.words_of(own), flags["work"], program.environment())
        conductor.make_cells(here, executor, slots_of(executor, parallel), task_seconds)


@contextmanager
def as_errors_of_python(cells: Any) -> Iterator[None]:
    """What the program refuses is a ValueError, and what else goes wrong a RuntimeError."""
    try:
        yield
    except cells.Refused as error:
        raise ValueError(str(error)) from error
    except cells.Failed as error:
        raise RuntimeError(str(error)) from error


def slots_of(executor: concurrent.futures.Executor, parallel: int) -> Callable[[], int]:
    """How many tasks it can run at a time: what was given, else what it says; Dask's workers come and go."""
    if parallel > 0:
        return lambda: parallel
    if hasattr(executor, "_client"):
        client: Any = executor._client
        return lambda: sum(client.nthreads().values())
    said = next((getattr(executor, name) for name in ("num_workers", "_max_workers") if isinstance(getattr(executor, name, None), int)), UNKNOWN)
    return lambda: said


@contextmanager
def modules() -> Iterator[tuple[Any, Any]]:
    """Those that come with the program, which does the same by them."""
    folder = os.fspath(program.shipped("executors"))
    sys.path.insert(0, folder)
    try:
        yield importlib.import_module("study_cells"), importlib.import_module("study_conductor")
    finally:
        sys.path.remove(folder)

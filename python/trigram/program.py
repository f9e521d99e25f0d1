"""Starts the program: its words, its progress, its errors, its end."""

import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO, Any, NoReturn, Union

from . import check_command, progress

USAGE = 2
INTERRUPTED = 130
PATIENCE = 5.0  # seconds until a process that was asked to end is asked again, or made to
PACKAGE = pathlib.Path(__file__).resolve().parent
NOT_LOADED = "error while loading shared libraries"  # as the system's loader says it
NEEDS = ("a Trigram that was built here takes SimGrid, Boost, NLopt and Nettle from the system; on Debian 12: apt-get install "
         "libsimgrid3.32 libboost-program-options1.74.0 libnlopt0 libnettle8; a wheel from elsewhere brings them, if its name has manylinux")

Launcher = Union[str, Sequence[str]]


def path(on_path: bool = True) -> pathlib.Path:
    """The program: what TRIGRAM_PROGRAM names, else that of this package, of the tree around it, or, with `on_path`, of
    PATH. Raises RuntimeError where there is none."""
    if named := os.environ.get("TRIGRAM_PROGRAM"):
        return pathlib.Path(named)
    places = [PACKAGE / "bin" / "trigram", PACKAGE.parent.parent / "build" / "release" / "experiments" / "trigram"]
    for place in places:
        if os.access(place, os.X_OK):
            return place
    for folder in os.get_exec_path() if on_path else []:
        if (found := shutil.which("trigram", path=folder)) and not is_script(found):
            return pathlib.Path(found)
    looked = ", ".join(map(str, places))
    raise RuntimeError(f"the program trigram is in none of {looked}{', nor on PATH' if on_path else ''}; set TRIGRAM_PROGRAM to where it is, "
                       "or build it by ./trigram list")


def is_script(path: str) -> bool:
    """As the command that pip makes of `main`, which would come back here."""
    with open(path, "rb") as file:
        return file.read(2) == b"#!"


def shipped(relative: str) -> pathlib.Path:
    """A file that comes with Trigram: of the tree, or of share/trigram beside the program."""
    roots = [PACKAGE.parent.parent / "experiments", path().resolve().parent.parent / "share" / "trigram"]
    for root in roots:
        if (root / relative).exists():
            return root / relative
    raise RuntimeError(f"'{relative}', which comes with trigram, is in none of: {', '.join(map(str, roots))}")


def words_of(flags: dict[str, object]) -> list[str]:
    """Flags as words of a command line; None leaves a flag out."""
    return [f"--{key.replace('_', '-')}={text_of(value)}" for key, value in flags.items() if value is not None]


def text_of(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)


def start(words: Sequence[str], launcher: Launcher = ()) -> str:
    """Runs the program to its end, below `launcher` where there is one ("mpirun -n 4"), and returns what it printed.
    Raises ValueError for what it refused, RuntimeError for how else it failed, both with its text."""
    before = shlex.split(launcher) if isinstance(launcher, str) else list(launcher)
    command = [*before, str(path()), *words]
    with tempfile.TemporaryFile() as printed:
        with running(command, stdout=printed, stderr=subprocess.PIPE, encoding="utf-8", errors="replace", env=environment()) as process:
            said = follow(process)
        judge(process.returncode, said, stacklevel=4)
        printed.seek(0)
        return printed.read().decode("utf-8", "replace")


@contextmanager
def running(command: Sequence[str], **how: Any) -> Iterator["subprocess.Popen[Any]"]:
    """A process that is followed within, started as subprocess.Popen does, without input. It and what it starts end with an error that
    leaves, and with this process, where the system has words for that. Raises RuntimeError where it cannot be started."""
    try:
        # A session of its own: Ctrl-C reaches Python alone, which then ends all of it.
        process = subprocess.Popen([*ending_with_us(), *command], stdin=subprocess.DEVNULL, start_new_session=True, **how)
    except OSError as error:
        raise RuntimeError(f"cannot start {error.filename}: {error.strerror}") from error
    try:
        yield process
    except BaseException:
        end(process)
        raise


def environment() -> dict[str, str]:
    """Of the program: one that pip has installed draws and searches with this Python, which has the other packages of pip."""
    ours = {"TRIGRAM_PYTHON": sys.executable} if path() == PACKAGE / "bin" / "trigram" else {}
    return {**ours, **os.environ}


def ending_with_us() -> list[str]:
    """Words before a command that end it when this process is killed, where the system has them."""
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", "TERM"] if setpriv else []


def follow(process: "subprocess.Popen[str]") -> list[str]:
    """Shows progress until the process ends; returns the other lines of its standard error."""
    assert process.stderr is not None
    said = []
    try:
        with progress.shown() as show:
            for line in process.stderr:
                if not show(line.rstrip()):
                    said.append(line.rstrip())
    except BaseException:
        threading.Thread(target=read_to_its_end, args=(process.stderr,), daemon=True).start()
        raise
    process.stderr.close()
    process.wait()
    return said


def read_to_its_end(stream: IO[str]) -> None:
    """What is written to a stream that nobody reads ends the writer, who has yet to say what it leaves."""
    with suppress(OSError, ValueError), stream:
        for _ in stream:
            pass


def end(process: "subprocess.Popen[Any]") -> None:
    """Asks the process and what it started to end, and makes them."""
    try:
        for request in (signal.SIGINT, signal.SIGTERM):
            os.killpg(process.pid, request)
            with suppress(subprocess.TimeoutExpired):
                process.wait(PATIENCE)
                break
    except ProcessLookupError:
        pass
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def judge(code: int, said: Sequence[str], stacklevel: int) -> None:
    """Passes on what the program said as it ended: warnings, or an error."""
    if code != 0:
        fail(code, said)
    for line in said:
        warnings.warn(line.removeprefix("trigram: warning: "), stacklevel=stacklevel)


def fail(code: int, said: Sequence[str]) -> NoReturn:
    text = "\n".join(said).removeprefix("trigram: ")
    if code == INTERRUPTED:
        raise KeyboardInterrupt(text)
    if code == USAGE:
        raise ValueError(text)
    how = f"ended by signal {-code}" if code < 0 else f"ended with {code}"
    needs = f"; {NEEDS}" if NOT_LOADED in text else ""
    raise RuntimeError(text + needs or f"trigram {how} and said nothing")


def main() -> NoReturn:
    """The command `trigram` of an installed package: the program in place of this process, but for algorithms in Python and for members."""
    if sys.argv[1:2] == ["launch"]:
        from .launch.command import launch
        launch(sys.argv[2:])
    if check_command.is_meant(sys.argv[1:]):
        check_command.check(sys.argv[2])
    try:
        program = path(on_path=False)  # where this command itself lies
        os.execve(program, [str(program), *sys.argv[1:]], environment())
    except OSError as error:
        sys.exit(f"trigram: cannot start {program}: {error.strerror}")
    except RuntimeError as error:
        sys.exit(f"trigram: {error}")

"""What is to be started where: the members of one job, host by host."""

import argparse
import os
import pathlib
import shlex
import sys
import time
from collections.abc import Sequence
from typing import NamedTuple

from ..members.begin import COUNT, PLACE

NUMBER, HOST = "TRIGRAM_MEMBER", "TRIGRAM_HOST"


class JobOfMembers(NamedTuple):
    """One, as the words of a command line have it."""

    members: int
    first: int
    """The number of the first one that is started here."""
    here: int
    """How many are started here."""
    folder: pathlib.Path
    """Where members meet, and their logs are."""
    max_restarts: int
    grace: float
    """Seconds in which members end that were asked to."""
    command: list[str]

    @property
    def logs(self) -> pathlib.Path:
        return self.folder / "logs"

    def environment(self, number: int) -> dict[str, str]:
        """What tells a member of its job."""
        return {PLACE: f"file:{self.folder / 'meeting'}", COUNT: str(self.members), NUMBER: str(number)}

    def words(self, first: "int | str", count: int) -> list[str]:
        """The command that starts so many of them on another host, whose paths are those of here."""
        flags = {"-n": count, "--first": first, "--members": self.members, "--folder": self.folder, "--max-restarts": self.max_restarts,
                 "--grace": f"{self.grace:g}"}
        return [sys.executable, "-m", "trigram", "launch", *(str(word) for flag in flags.items() for word in flag), "--", *self.command]


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="trigram launch", formatter_class=argparse.RawDescriptionHelpFormatter, description=(
        "Starts a script of PyTorch that calls trigram.with_members, once for each member, and again where one dies.\n"
        "Members write to DIR/logs/member-K.log and, with their numbers before, to standard output. SIGTERM and Ctrl-C let\n"
        "them end in order. It ends with 0 where all have, with 143 or 130 after a signal, else with what a member ended with.\n\n"
        "example: trigram launch -n 4 -- python train.py"))
    made.add_argument("-n", type=int, required=True, metavar="N", help="how many members, or how many on each host of --hosts")
    made.add_argument("--folder", type=pathlib.Path, metavar="DIR", help="of the job, on a disk that all hosts see; results/members-TIME")
    made.add_argument("--hosts", type=pathlib.Path, metavar="FILE", help="a host a line, each of which ssh reaches without a question")
    made.add_argument("--slurm", action="store_true", help="as one job of Slurm, a task a member")
    made.add_argument("--slurm-options", default="", metavar="TEXT", help="for sbatch, as '--partition=gpu --time=60'")
    made.add_argument("--membership", type=pathlib.Path, metavar="FILE", help="starts those who join by it too, and nobody again")
    made.add_argument("--max-restarts", type=int, default=100, metavar="K", help="of each member; 100")
    made.add_argument("--grace", type=float, default=30.0, metavar="S", help="seconds in which members end that were asked to; 30")
    made.add_argument("--dry-run", action="store_true", help="print what would be started, and start nothing")
    made.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    made.add_argument("--members", type=int, help=argparse.SUPPRESS)
    made.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND", help="as python train.py")
    return made


def job_of(told: argparse.Namespace) -> JobOfMembers:
    """Raises ValueError for what is no job."""
    command = told.command[1:] if told.command[:1] == ["--"] else told.command
    if not command:
        raise ValueError("nothing is to be started; give a command behind --, as: trigram launch -n 4 -- python train.py")
    if told.n < 1:
        raise ValueError(f"-n {told.n} is too few; give 1 or more")
    folder = (told.folder or pathlib.Path("results") / time.strftime("members-%Y%m%d-%H%M%S")).absolute()
    joining = 0 if told.membership is None else joins_in(told.membership)
    restarts = 0 if told.membership else told.max_restarts
    return JobOfMembers(told.members or told.n, told.first, told.n + joining, folder, restarts, told.grace, command)


def joins_in(path: pathlib.Path) -> int:
    """How many members join by a file of --membership, which each of them reads for itself."""
    lines = (line.split("#")[0].replace(",", " ").split() for line in path.read_text("utf-8").splitlines())
    return sum(int(words[3]) for words in lines if len(words) == 4 and words[2] == "join" and words[3].isdecimal())


def as_line(words: Sequence[str], **variables: str) -> str:
    """For a shell."""
    return " ".join([*(f"{name}={shlex.quote(value)}" for name, value in variables.items()), shlex.join(words)])


def python_path() -> str:
    """By which another host finds this package too."""
    return os.pathsep.join(filter(None, [str(pathlib.Path(__file__).resolve().parents[2]), os.environ.get("PYTHONPATH", "")]))

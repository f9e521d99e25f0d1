"""The program on one study or fit, taken apart: what is to be made as cells, the command that makes some of them, and the end."""

import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys

USAGE = 2
EXECUTOR_IS_GONE = 75  # as sysexits.h has it for what may be tried again
INTERRUPTED = 130

# One line of a plan. `seconds` is what it is expected to take, None where nobody knows; `failed` whether it was tried before.
Cell = collections.namedtuple("Cell", "name row like seconds failed line")


class Refused(Exception):
    """The program does not take what it was given; its message."""


class Failed(Exception):
    """The program ended otherwise than it should; its message."""


class ExecutorIsGone(Failed):
    """What is finished is kept, and the same command continues."""


class Program:
    """A command that can be taken apart: `begin` are its first words, `words` those that say what is to be made, `out` the folder of
    what was made, which all workers share. `environment` is that of the program."""

    NOUN = "runs"
    FEW = 0  # cells at a time of which nothing is said off a terminal

    def __init__(self, begin, words, out, cells_command, environment=None):
        self.begin, self.words, self.out, self.environment = begin, list(words), pathlib.Path(out), environment
        self.cells_command = [*ending_with_parent(), *cells_command, "--cells=-", "--jobs=1"]

    def plan(self):
        """The cells that are to be made, in the order in which they should be. Raises Refused, Failed."""
        ended = subprocess.run([*self.begin, *(word for word in self.words if not word.startswith("--plot")), "--plan"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
                               env=self.environment)
        judge(ended.returncode, ended.stderr)
        with open(self.out / "plan.jsonl", encoding="utf-8") as lines:
            return [read_cell(line) for line in lines]

    def end(self):
        """The words of the command that puts together what was made."""
        return [*self.begin, *self.words]

    def collect(self, quiet=False):
        """Puts together what was made. Returns the exit code, and what was said beside tables, which are printed unless `quiet`."""
        ended = subprocess.run(self.end(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL if quiet else None,
                               stderr=subprocess.PIPE if quiet else None, text=True, errors="replace", env=self.environment)
        return ended.returncode, ended.stderr or ""


class StudyProgram(Program):
    """`trigram study` on `study`, a name or a file: `words` are flags of its runs and of its pictures."""

    def __init__(self, program, study, words, out, environment=None):
        self.study = os.path.abspath(study) if os.path.exists(study) else str(study)
        super().__init__([str(program), "study", str(study), f"--out={out}"], words, out,
                         [str(program), "study", self.study, f"--out={os.path.abspath(out)}"], environment)

    def end(self):
        return [*super().end(), "--collect"]

    def forget(self, cells):
        """Takes away what cells that failed have left, so that nothing is decided by them before they are made again."""
        for cell in cells:
            shutil.rmtree(self.out / "runs" / cell.name, ignore_errors=True)


class FitProgram(Program):
    """`trigram calibrate --from` with a folder of what was simulated: `words` are its flags. It asks a few simulations at a time, often."""

    NOUN = "simulations"
    FEW = 10

    def __init__(self, program, words, work, environment=None):
        begin = [str(program), "calibrate", f"--work={os.path.abspath(work)}"]
        super().__init__(begin, words, work, begin, environment)


def program_of(plan):
    """What the program has written for an executor."""
    if plan["subcommand"] == "study":
        return StudyProgram(plan["program"], plan["subject"], plan["words"], plan["folder"])
    return FitProgram(plan["program"], plan["words"], plan["folder"])


def read_cell(line):
    facts = json.loads(line)
    return Cell(facts["cell"], sys.intern(facts["row"]), sys.intern(facts["like"]), facts["seconds"], facts.get("failed", False), line)


def judge(code, said):
    text = said.strip().removeprefix("trigram: ")
    if code == USAGE:
        raise Refused(text)
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    if code != 0:
        raise Failed(text or f"trigram ended with {code} and said nothing")


def ending_with_parent():
    """Words before a command that end it when the worker that started it is killed, where the system has them."""
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", "TERM"] if setpriv else []

"""The program on one study, taken apart: what is to be made as cells, the command that makes some of them, and the end."""

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


class StudyProgram:
    """`trigram study` on `study`, a name or a file: `words` are flags of its runs and of its pictures, `out` its folder.
    `environment` is that of the program."""

    def __init__(self, program, study, words, out, environment=None):
        self.begin = [str(program), "study", str(study), f"--out={out}"]
        self.words, self.out, self.environment = list(words), pathlib.Path(out), environment
        self.study = os.path.abspath(study) if os.path.exists(study) else str(study)
        self.cells_command = [*ending_with_parent(), str(program), "study", self.study, f"--out={os.path.abspath(out)}", "--cells=-", "--jobs=1"]

    def plan(self):
        """The cells that are to be made, in the order in which they should be. Raises Refused, Failed."""
        ended = subprocess.run([*self.begin, *(word for word in self.words if not word.startswith("--plot")), "--plan"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
                               env=self.environment)
        judge(ended.returncode, ended.stderr)
        with open(self.out / "plan.jsonl", encoding="utf-8") as lines:
            return [read_cell(line) for line in lines]

    def forget(self, cells):
        """Takes away what cells that failed have left, so that nothing is decided by them before they are made again."""
        for cell in cells:
            shutil.rmtree(self.out / "runs" / cell.name, ignore_errors=True)

    def collect(self, quiet=False):
        """Writes tables and draws. Returns the exit code, and what was said beside tables, which are printed unless `quiet`."""
        ended = subprocess.run([*self.begin, *self.words, "--collect"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL if quiet else None,
                               stderr=subprocess.PIPE if quiet else None, text=True, errors="replace", env=self.environment)
        return ended.returncode, ended.stderr or ""


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

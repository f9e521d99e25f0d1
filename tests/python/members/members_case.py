"""Starts members of a job, hears what they say, and sees that nothing is left of them."""

import multiprocessing
import os
import pathlib
import queue
import re
import signal
import sys
import threading

import member_script
import torch

HERE = pathlib.Path(__file__).resolve().parent
SCRIPT = HERE / "member_script.py"
PATIENCE = 240

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["member_script", "torch.distributed", "trigram.members.begin"])
"""A process that has loaded what members need, and forks each: to load it takes most of the time of a short job."""
os.environ["PYTHONPATH"] = os.pathsep.join([str(HERE), str(HERE.parent), os.environ.get("PYTHONPATH", "")])  # where that process finds it


def begin(mouth, variables, body, algorithm, out, told):
    """In a process of its own."""
    for stream in (1, 2):
        os.dup2(mouth.fileno(), stream)
    mouth.close()
    sys.stdout.reconfigure(line_buffering=True)
    os.environ |= variables
    body(algorithm, out, told)


class Member:
    """One process. What it says is heard by a thread."""

    def __init__(self, number, variables, body, told, heard):
        self.number, self.said = number, []
        self._heard = heard
        ear, mouth = FORKS.Pipe(duplex=False)
        self.process = FORKS.Process(target=begin, args=(mouth, variables, body, *told))
        self.process.start()
        mouth.close()
        self._ear = threading.Thread(target=self._hear, args=(ear,), daemon=True)
        self._ear.start()

    def _hear(self, ear):
        with os.fdopen(os.dup(ear.fileno()), encoding="utf-8", errors="replace") as lines:
            ear.close()
            for line in lines:
                self.said.append(line.rstrip())
                self._heard.put((self.number, line.rstrip()))
        self._heard.put((self.number, None))

    def signal(self, number):
        if self.process.exitcode is None:
            os.kill(self.process.pid, number)

    def wait(self):
        """Its exit code."""
        self.process.join(PATIENCE)
        assert self.process.exitcode is not None, f"process {self.number} has not ended within {PATIENCE} s: {self.said[-5:]}"
        return self.process.exitcode

    def end(self):
        """Its exit code, and all that it said."""
        code = self.wait()
        self._ear.join(PATIENCE)
        return code, "\n".join(self.said)


class Members:
    """Those of one job, in a folder of its own."""

    body = staticmethod(member_script.main)
    variables = {}

    def __init__(self, folder, begin_with, algorithm, **told):
        self.out = pathlib.Path(folder)
        self.heard = queue.Queue()
        self.all = {}
        self._told = algorithm, self.out, {key: str(value) for key, value in told.items()}
        self._variables = self.variables | {"TRIGRAM_RENDEZVOUS": f"file:{self.out / 'meeting'}", "TRIGRAM_MEMBERS": str(begin_with)}
        for _ in range(begin_with):
            self.start()

    def start(self, **told):
        """One more, which is told this besides."""
        number, (algorithm, out, of_all) = len(self.all), self._told
        more = {key: str(value) for key, value in told.items()}
        self.all[number] = Member(number, self._variables | {"TRIGRAM_MEMBER": str(number)}, self.body, (algorithm, out, of_all | more), self.heard)
        return self.all[number]

    def wait_for_step(self, step, number=None):
        """Until that member, or any, is within it or a later one."""
        while True:
            who, line = self.heard.get(timeout=PATIENCE)
            found = re.match(r"step (\d+) ", line or "")
            if found and int(found[1]) >= step and number in (None, who):
                return

    def wait_for_line(self, text):
        """Of any member."""
        while text not in (self.heard.get(timeout=PATIENCE)[1] or ""):
            pass

    def end(self):
        """Exit codes and what was said, by the number of the process."""
        return {number: one.end() for number, one in self.all.items()}

    def kill(self):
        for one in self.all.values():
            one.signal(signal.SIGKILL)
            one.end()

    def left(self):
        """What members have left, by their numbers."""
        return {int(path.stem): torch.load(path) for path in self.out.glob("*.pt")}

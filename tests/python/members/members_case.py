"""Starts members of a job, hears what they say, and sees that nothing is left of them."""

import os
import pathlib
import queue
import re
import signal
import subprocess
import sys
import threading

import torch

HERE = pathlib.Path(__file__).resolve().parent
SCRIPT = HERE / "member_script.py"
PATIENCE = 240


class Member:
    """One process. What it says is heard by a thread."""

    def __init__(self, number, words, variables, heard):
        self.number, self.said = number, []
        self._heard = heard
        self.process = subprocess.Popen([sys.executable, "-B", *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, env={**os.environ, **variables})
        self._ear = threading.Thread(target=self._hear, daemon=True)
        self._ear.start()

    def _hear(self):
        for line in self.process.stdout:
            self.said.append(line.rstrip())
            self._heard.put((self.number, line.rstrip()))
        self._heard.put((self.number, None))

    def signal(self, number):
        if self.process.poll() is None:
            self.process.send_signal(number)

    def end(self):
        """Its exit code, and all that it said."""
        code = self.process.wait(PATIENCE)
        self._ear.join(PATIENCE)
        self.process.stdout.close()
        return code, "\n".join(self.said)


class Members:
    """Those of one job, in a folder of its own."""

    def __init__(self, folder, begin_with, algorithm, **told):
        self.out = pathlib.Path(folder)
        self.heard = queue.Queue()
        self.all = {}
        self._words = [SCRIPT, algorithm, self.out, *(f"{key}={value}" for key, value in told.items())]
        self._variables = {"TRIGRAM_RENDEZVOUS": f"file:{self.out / 'meeting'}", "TRIGRAM_MEMBERS": str(begin_with)}
        for _ in range(begin_with):
            self.start()

    def start(self):
        number = len(self.all)
        self.all[number] = Member(number, self._words, self._variables | {"TRIGRAM_MEMBER": str(number)}, self.heard)
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

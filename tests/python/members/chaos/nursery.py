"""Members that cost no start of Python: this process has loaded what they need, and forks each. It may have no thread by then."""

import ctypes
import faulthandler
import json
import os
import select
import signal
import sys
import threading
import time
import traceback

DIE_WITH_PARENT = 1
LONGEST_LOOK = 0.25
"""Seconds that count at most from one look to the next: whoever is frozen, or gets no processor, has seen no member stand still."""


class Child:
    """A process, with what it says: lines that are JSON, and others."""

    def __init__(self, number, process, ear):
        self.number, self.process, self.ear = number, process, ear
        self.told, self.said, self.code = [], [], None
        self._rest = b""

    def hear(self):
        """False where it has no more to say."""
        read = os.read(self.ear, 1 << 16)
        *lines, self._rest = (self._rest + read).split(b"\n")
        for line in lines:
            if line.startswith(b"{"):
                self.told.append(json.loads(line))
            elif line:
                self.said.append(line.decode(errors="replace"))
        return bool(read)

    def signal(self, number):
        if self.code is None:
            os.kill(self.process, number)

    def end(self):
        os.close(self.ear)
        self.code = os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])


class Nursery:
    """Children of this process, and a clock of the time in which it could hear them."""

    def __init__(self):
        self.children = {}
        self.now, self._looked = 0.0, time.monotonic()

    def fork(self, run):
        """`run(say)` in a process of its own, which says JSON by `say`, whatever its threads print amid it, and ends with 0, or with 1 after an error."""
        assert len(os.listdir("/proc/self/task")) == 1, "this process has threads, which a fork would lose"
        ear, mouth = os.pipe()
        process = os.fork()
        if process == 0:
            become_child(run, mouth)
        os.close(mouth)
        child = Child(len(self.children), process, ear)
        self.children[child.number] = child
        return child

    def living(self):
        return [one for one in self.children.values() if one.code is None]

    def look(self, seconds=0.02):
        """Hears who says something within that time."""
        ears = {one.ear: one for one in self.living()}
        for ear in select.select(ears, [], [], seconds)[0] if ears else []:
            if not ears[ear].hear():
                ears[ear].end()
        if not ears:
            time.sleep(seconds)
        looked = time.monotonic()
        self.now += min(looked - self._looked, LONGEST_LOOK)
        self._looked = looked

    def kill(self):
        """How many were left."""
        left = self.living()
        for one in left:
            one.signal(signal.SIGKILL)
            one.end()
        return len(left)


def die_with_parent():
    ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL)


def become_child(run, mouth):
    """Never returns."""
    code = 1
    try:
        die_with_parent()
        os.dup2(mouth, 1)
        os.dup2(mouth, 2)
        os.close(mouth)
        faulthandler.register(signal.SIGUSR1)
        run(lambda told: os.write(1, b"\n" + json.dumps(told).encode() + b"\n"))
        code = 0
    except SystemExit as end:
        code = int(end.code or 0)
    except BaseException:
        traceback.print_exc()
    for thread in threading.enumerate():
        if thread is not threading.main_thread() and not thread.daemon:
            thread.join()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)

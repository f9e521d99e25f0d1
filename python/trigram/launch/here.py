"""Members on this machine: each has a loop that starts it again, and a log."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from typing import IO, Optional

from ..program import ending_with_us

SHORT_LIFE, SHORT_LIVES = 10.0, 3
"""Seconds, and how many lives in a row that were shorter and ended with an exit code, after which an error is the script's."""
SHELLS_OFFSET = 128


class Started(threading.Thread):
    """Starts a command and starts it again, until it ends with 0 or too often otherwise."""

    def __init__(self, name: str, command: Sequence[str], variables: Mapping[str, str], log: "str | os.PathLike[str]", max_restarts: int) -> None:
        super().__init__(daemon=True)
        self._label, self._command, self._variables, self._log_path = name, [*ending_with_us(), *command], variables, log
        self._left = max_restarts
        self._short = 0
        self._process: Optional[subprocess.Popen[bytes]] = None
        self._ending = False
        self._lock = threading.RLock()  # a signal may come amid `end`
        self.code = 0
        """As a shell has it, once the thread has ended."""

    def run(self) -> None:
        with open(self._log_path, "ab") as log:
            while self._begin():
                begun = time.monotonic()
                self._pass_on(log)
                assert self._process is not None
                code = self._process.wait()
                self.code = SHELLS_OFFSET - code if code < 0 else code
                if not self._goes_on(code, time.monotonic() - begun):
                    return

    def end(self, number: int) -> None:
        """Asks it to, and starts it no more."""
        with self._lock:
            self._ending = True
            if self._process is not None and self._process.poll() is None:
                self._process.send_signal(number)

    def _begin(self) -> bool:
        with self._lock:
            if not self._ending:
                self._process = subprocess.Popen(self._command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                                 env={**os.environ, **self._variables}, start_new_session=True)
            return not self._ending

    def _pass_on(self, log: "IO[bytes]") -> None:
        assert self._process is not None and self._process.stdout is not None
        for line in self._process.stdout:
            log.write(line)
            log.flush()
            sys.stdout.write(f"[{self._label}] {line.decode('utf-8', 'replace')}")
            sys.stdout.flush()

    def _goes_on(self, code: int, lived: float) -> bool:
        self._short = self._short + 1 if code > 0 and lived < SHORT_LIFE else 0
        if code == 0 or self._ending:
            return False
        if self._left == 0 or self._short == SHORT_LIVES:
            say(f"member {self._label} has ended with {self.code} and is not started again")
            return False
        self._left -= 1
        say(f"member {self._label} has ended with {self.code} after {lived:.0f} s and is started again")
        return True


def say(text: str) -> None:
    print(f"trigram: {text}", file=sys.stderr, flush=True)


class Watched:
    """All that was started, until all have ended."""

    def __init__(self, started: Sequence[Started], grace: float) -> None:
        self._started, self._grace = started, grace
        self._asked = 0

    def run(self) -> int:
        """The exit code of all: 0, that of a signal that came, or the first that is not 0."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._ask)
        for one in self._started:
            one.start()
        deadline = float("inf")
        while any(one.is_alive() for one in self._started):
            if self._asked and deadline == float("inf"):
                deadline = time.monotonic() + self._grace
            if time.monotonic() > deadline:
                for one in self._started:
                    one.end(signal.SIGKILL)
            time.sleep(0.05)
        return SHELLS_OFFSET + self._asked if self._asked else next((one.code for one in self._started if one.code), 0)

    def _ask(self, number: int, _: object) -> None:
        self._asked = self._asked or number
        for one in self._started:
            one.end(signal.SIGTERM)

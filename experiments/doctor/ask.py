"""How examinations ask the machine: by files of the kernel, and by programs that have a limit."""

import os
import re
import shutil
import signal
import subprocess
from dataclasses import dataclass

ADDRESS = re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b|(?<![\w:])[0-9a-f]{1,4}(?::[0-9a-f]{0,4}){2,7}(?:%\w+)?(?![\w:])")


def text_of(path, otherwise=""):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return otherwise


@dataclass
class Said:
    """How a program ended. `code` is None where it took too long and was ended."""
    code: int | None
    out: str
    err: str

    @property
    def last_line(self):
        lines = [line for line in (self.err + "\n" + self.out).splitlines() if line.strip()]
        own = [line for line in lines if line.startswith("trigram: ")]
        return (own or lines or ["it says nothing"])[-1].removeprefix("trigram: ")


def program(*words, seconds=10, **variables):
    """Runs it in a group of its own, all of which ends when time is over; None where there is no such program."""
    if shutil.which(words[0]) is None:
        return None
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                               start_new_session=True, env={**os.environ, **variables})
    try:
        out, err = process.communicate(timeout=seconds)
        return Said(process.returncode, out, err)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        return Said(None, out, err)


def without_addresses(lines):
    """The same address keeps the same number."""
    numbers = {}
    return [ADDRESS.sub(lambda found: f"address {numbers.setdefault(found[0], len(numbers) + 1)}", line) for line in lines]

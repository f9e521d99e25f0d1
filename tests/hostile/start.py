"""Starts one process, waits for its end with a limit, and says how it ended.

The limit is no clock's, so that a busy machine makes nothing hang: a process has hung that has worked for longer than its
patience on each processor, or that has neither ended nor worked for as long."""

import dataclasses
import os
import resource
import select
import subprocess
import time

import sessions

ADDRESS_SPACE = 6 << 30  # a guard for the machine; what is judged is the resident set
FILE_SIZE = 1 << 30
SAID = 200_000  # bytes of output that are looked at
PROCESSORS = os.cpu_count() or 1  # all of which one command may work on
LOOKS = 0.5  # seconds between two looks at how much a process has worked
IDLE = 0.02  # seconds of work between two looks that are none
ORPHANS_END = 10  # seconds that processes may take to end behind their leader


@dataclasses.dataclass
class Ending:
    status: int  # exit status, or minus the signal that ended it
    said: bytes  # standard output
    complained: bytes  # standard error
    seconds: float
    cpu_seconds: float
    resident: int  # bytes, the most of it and of every process that it waited for
    hung: bool
    orphans: list  # names of processes that it left behind
    stuck: list = dataclasses.field(default_factory=list)  # and of those that were there when it had hung


def limit_this_process():
    """Limits that all processes started later inherit."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_SIZE, FILE_SIZE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def begin(words, scratch, environment=None, output=None):
    """The process as leader of a session of its own, its words in files beside the place."""
    said = open(output or scratch.root / "said" / "out", "wb")
    complained = open(scratch.root / "said" / "err", "wb")
    with said, complained:
        return subprocess.Popen(words, cwd=scratch.place, env={**scratch.environment, **(environment or {})},
                                stdin=subprocess.DEVNULL, stdout=said, stderr=complained, start_new_session=True)


def finish(process, scratch, patience, begun):
    """Waits for the process, kills it where it has hung, and whatever it has left behind in its session."""
    hung = not ends_within(process, patience)
    stuck = [name for _, name in sessions.members(process.pid)] if hung else []
    if hung:
        sessions.kill_all(process.pid)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    seconds = time.monotonic() - begun
    orphans = [] if hung else sessions.left_after(process.pid, min(patience, ORPHANS_END))
    sessions.kill_all(process.pid)
    return Ending(os.waitstatus_to_exitcode(status), read(scratch, "out"), read(scratch, "err"), seconds,
                  usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, hung, orphans, stuck)


def run(words, scratch, patience, environment=None, output=None):
    begun = time.monotonic()
    return finish(begin(words, scratch, environment, output), scratch, patience, begun)


def ends_within(process, patience):
    """Whether the process ends before it has hung."""
    descriptor = os.pidfd_open(process.pid)
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        worked, idle_since = 0.0, time.monotonic()
        while not poll.poll(min(LOOKS, patience) * 1000):
            now, before = time.monotonic(), worked
            worked = max(worked, sessions.worked(process.pid))
            if worked - before > IDLE:
                idle_since = now
            if worked > patience * PROCESSORS or now - idle_since > patience:
                return False
        return True
    finally:
        os.close(descriptor)


def read(scratch, name):
    try:
        with open(scratch.root / "said" / name, "rb") as file:
            return file.read(SAID)
    except FileNotFoundError:
        return b""

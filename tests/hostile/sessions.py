"""The processes of a session, found in /proc: whoever a command has started, wherever in its tree."""

import os
import signal
import time


def alive(session):
    """(pid, name, what follows the name in /proc/PID/stat) of the processes of a session that are alive."""
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:
                text = file.read()
        except OSError:
            continue
        fields = text[text.rindex(")") + 2:].split()
        if int(fields[3]) == session and fields[0] != "Z":
            yield int(entry), text[text.index("(") + 1:text.rindex(")")], fields


def members(session):
    """(pid, name) of the processes of a session that are alive."""
    return [(pid, name) for pid, name, _ in alive(session)]


def worked(session):
    """Seconds of processors that the processes of a session have taken, and those that they have waited for."""
    return sum(int(ticks) for _, _, fields in alive(session) for ticks in fields[11:15]) / os.sysconf("SC_CLK_TCK")


def left_after(session, seconds):
    """Names of the processes that are still there after so many seconds."""
    end = time.monotonic() + seconds
    while left := members(session):
        if time.monotonic() > end:
            return [name for _, name in left]
        time.sleep(0.05)
    return []


def kill_all(session):
    for pid, _ in members(session):
        send(pid, signal.SIGKILL)


def send(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass

"""The processes of a session, found in /proc: whoever a command has started, wherever in its tree."""

import os
import signal
import time


def members(session):
    """(pid, name) of the processes of a session that are alive."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:
                text = file.read()
        except OSError:
            continue
        name = text[text.index("(") + 1:text.rindex(")")]
        fields = text[text.rindex(")") + 2:].split()
        if int(fields[3]) == session and fields[0] != "Z":
            found.append((int(entry), name))
    return found


def worked(session):
    """Seconds of processors that the processes of a session have taken, and those that they have waited for."""
    ticks = 0
    for pid, _ in members(session):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                text = file.read()
        except OSError:
            continue
        ticks += sum(map(int, text[text.rindex(")") + 2:].split()[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def is_empty_within(session, seconds):
    end = time.monotonic() + seconds
    while members(session):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def kill_all(session):
    for pid, _ in members(session):
        send(pid, signal.SIGKILL)


def send(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass

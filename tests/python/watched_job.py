"""Jobs of several processes that say where they hung."""

import os
import pathlib
import signal
import subprocess
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "hostile"))
import sessions

ABORTS = 60  # seconds that aborted processes may take to say where they were


def start(words, environment, folder):
    """A job whose processes show their stacks when they are aborted."""
    return subprocess.Popen(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            start_new_session=True, env=os.environ | {"PYTHONFAULTHANDLER": "1"} | environment)


def last_words(job):
    """What a job has printed so far, and where each of its processes of Python is; then none of it is left. They end one after the other, or
    their lines would mix, and whoever started them stands still meanwhile, or it would end the others."""
    of_python = [process for process, name in sessions.members(job.pid) if name.startswith("python")]
    starters = [process for process, _ in sessions.members(job.pid) if process not in of_python]
    for one in starters:
        sessions.send(one, signal.SIGSTOP)
    for one in of_python:
        sessions.send(one, signal.SIGABRT)
        wait_for(job.pid, one)
    for one in starters:
        sessions.send(one, signal.SIGCONT)
    try:
        return job.communicate(timeout=ABORTS)[0]
    except subprocess.TimeoutExpired:
        sessions.kill_all(job.pid)
        return job.communicate()[0]
    finally:
        sessions.kill_all(job.pid)


def wait_for(session, process):
    """Until it has ended, or has had time to."""
    end = time.monotonic() + ABORTS
    while time.monotonic() < end and process in (one for one, _ in sessions.members(session)):
        time.sleep(0.02)


def ended(words, environment, folder, patience):
    """Exit status and output; of one that lasts longer, None and its last words."""
    with start(words, environment, folder) as job:
        try:
            said, _ = job.communicate(timeout=patience)
            return job.returncode, said
        except subprocess.TimeoutExpired:
            return None, f"no end after {patience} s\n{last_words(job)}"

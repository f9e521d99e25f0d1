"""The lock of a journal that several machines write to: a file that only one of them can create, which NFS has since its third version. Who is
killed while he has it leaves the file behind, so that one that has stayed the same for long is taken away; Optuna's own waits for ever."""

import contextlib
import os
import time
import uuid

PATIENCE = 30  # seconds; a line is written in milliseconds
LONGEST_WAIT = 0.2


class JournalLock:
    """As Optuna's storages take it, which call `acquire` before they append to a journal, and `release` behind it."""

    def __init__(self, path):
        self.path, self.mine = os.fspath(path), None

    def acquire(self):
        seen, since, wait = None, 0.0, 0.001
        while not self.create():
            there = version_of(self.path)
            if there != seen:
                seen, since = there, time.monotonic()
            elif time.monotonic() - since > PATIENCE:
                self.take_away(seen)
            time.sleep(wait)
            wait = min(2 * wait, LONGEST_WAIT)
        return True

    def create(self):
        try:
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        except FileExistsError:
            return False
        self.mine = version_of(self.path)
        return True

    def take_away(self, version):
        """That version of the file and no other: of several who wait, one is the first, and another may have the lock by now."""
        aside = f"{self.path}-{uuid.uuid4()}"
        with contextlib.suppress(FileNotFoundError):
            os.rename(self.path, aside)
            if version_of(aside) != version:
                with contextlib.suppress(FileExistsError):
                    os.link(aside, self.path)
            os.unlink(aside)

    def release(self):
        """Does nothing where the lock was taken away meanwhile."""
        if self.mine == version_of(self.path):
            os.unlink(self.path)


def version_of(path):
    """By which one file is told from another of the same name; None where there is none."""
    try:
        facts = os.stat(path)
    except FileNotFoundError:
        return None
    return facts.st_ino, facts.st_mtime_ns

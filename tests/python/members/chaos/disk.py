"""A small disk that members share, which fills up and slows down."""

import contextlib
import errno
import mmap
import os
import pathlib
import subprocess
import sys
import time

SIZE, PIECE = "16m", 1 << 16
WAITS = {"open", "os.rename", "os.link", "os.mkdir", "os.listdir", "os.scandir", "os.remove"}


class Disk:
    """A file system of its own, in memory, mounted at `path` in the namespace of this process."""

    def __init__(self, path):
        self._path = pathlib.Path(path)
        self._path.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "none", str(path)], check=True)
        self._delay = mmap.mmap(-1, 1)  # milliseconds, which processes that this one forks see too

    def be_slow(self, milliseconds):
        """0: as fast as it is."""
        self._delay[0] = milliseconds

    def fill(self):
        with contextlib.suppress(OSError), open(self._path / "filler", "ab", buffering=0) as file:
            for piece in (PIECE, 1):
                fill_by(file, piece)

    def free(self):
        (self._path / "filler").unlink(missing_ok=True)

    def heal(self):
        self.free()
        self.be_slow(0)

    def watch(self):
        """Whatever Python does with its files in this process takes as long as the disk is slow."""
        place = str(self._path)

        def wait(event, words):
            if self._delay[0] and event in WAITS and str(words[0]).startswith(place):
                time.sleep(self._delay[0] / 1000)
        sys.addaudithook(wait)

    def end(self):
        subprocess.run(["umount", "--lazy", str(self._path)], check=True)


def fill_by(file, piece):
    try:
        while True:
            file.write(bytes(piece))
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise


def is_full(path):
    return os.statvfs(path).f_bavail == 0

"""What tests of the package share: a folder of their own, silence on the way, and which processes are left of them."""

import contextlib
import io
import pathlib
import signal
import tempfile
import time
import unittest

signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell lets a test in the background ignore


def processes_of(word):
    """Command lines of the processes whose command line has this word, by their numbers."""
    found = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            line = path.read_bytes()
            if str(word).encode() in line:
                found[int(path.parent.name)] = line
    return found


class Case(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        silence = contextlib.redirect_stderr(io.StringIO())
        self.shown = silence.__enter__()
        self.addCleanup(silence.__exit__, None, None, None)

    def assert_gone(self, word):
        """Who is killed ends by itself, soon."""
        deadline = time.monotonic() + 120
        while processes_of(word) and time.monotonic() < deadline:
            time.sleep(0.02)
        self.assertEqual(processes_of(word), {})

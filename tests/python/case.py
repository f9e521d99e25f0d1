"""What tests of the package begin with: a folder of their own, and nobody sees what is shown on the way."""

import contextlib
import io
import pathlib
import tempfile
import unittest


class Case(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        silence = contextlib.redirect_stderr(io.StringIO())
        self.shown = silence.__enter__()
        self.addCleanup(silence.__exit__, None, None, None)

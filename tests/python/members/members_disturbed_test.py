"""Jobs that chance disturbs keep their promises: a draw of chaos/run.py, whose other seeds are one flag away. Ends with 77 without torch."""

import importlib.util
import pathlib
import sys
import unittest

if importlib.util.find_spec("torch") is None:
    sys.exit(77)
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent / "chaos"), str(pathlib.Path(__file__).resolve().parent)]

import member  # noqa: E402
from run import METHODS, summary, try_all  # noqa: E402

SEED = 321  # of which the jobs have every kind of fault


class Disturbed(unittest.TestCase):
    def test_a_draw_of_every_kind_of_fault(self):
        member.load()
        jobs = [(SEED, method) for method in METHODS[::2]]
        results = try_all(jobs, at_once=6)
        self.assertEqual([one["found"] for one in results], [[]] * len(jobs), "\n".join(summary(results, len(jobs))))


if __name__ == "__main__":
    unittest.main()

"""Jobs that chance disturbs keep their promises: a few seeds of chaos.py. Ends with 77 without torch."""

import importlib.util
import pathlib
import sys
import unittest

if importlib.util.find_spec("torch") is None:
    sys.exit(77)
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from chaos import try_all  # noqa: E402


class Disturbed(unittest.TestCase):
    def test_methods_of_gradients(self):
        self.assertEqual(try_all(range(2), ["all_reduce", "bytegrad:error_feedback=on"]), 0)

    def test_methods_of_weights(self):
        self.assertEqual(try_all([3], ["local_sgd:every=2", "decentralized"]), 0)


if __name__ == "__main__":
    unittest.main()

"""`trigram.check` of algorithms in Python: honest ones hold, wrong ones are told by the claim that they break. Ends with 77 without torch."""

import importlib.util
import pathlib
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent


def ring_of(step, rank, ranks, counts):
    """Bytes of a ring's all-reduce: every chunk but this rank's own, of sums, and every one but its successor's, of what they came to."""
    def chunk(count, index):
        return count // ranks + (index % ranks < count % ranks)
    return sum(4 * (2 * count - chunk(count, rank) - chunk(count, rank + 1)) for count in counts)


class Check(unittest.TestCase):
    def test_honest_ones_hold(self):
        for name, make in honest.TWINS.items():
            with self.subTest(name):
                came = trigram.check(make, ranks=(1, 4))
                self.assertTrue(came.holds, came)
                claims = {one.claim for one in came.findings}
                self.assertLessEqual({"training", "communication", "mean", "direction", "influence", "members", "bits"}, claims)
                self.assertEqual("replicas" in claims, name in ("all_reduce", "local_sgd:every=2"))
                self.assertIn("4 ranks of 2 nodes by leader", str(came))

    def test_wrong_ones_are_told(self):
        for kind, claim in wrong.WRONG.items():
            with self.subTest(kind.__name__):
                came = trigram.check(kind, ranks=(4,))
                self.assertFalse(came.holds)
                self.assertIn(claim, {one.claim for one in came.findings if one.wrong}, came)
                self.assertIn(f"algorithm {kind.__name__} does not hold what it says:\n4 ranks", str(came))

    def test_what_is_kept_goes_over_to_other_members(self):
        came = trigram.check(wrong.Corrected, ranks=(4,))
        self.assertTrue(came.holds and "members" in str(came), came)
        came = trigram.check(wrong.KeepsItsCorrections, ranks=(4,))
        self.assertRegex(str(came), "4 ranks: members: where rank 0 leaves after 4 steps, and one joins after 8: after step [4-9] the mean of weights")

    def test_bytes_are_those_of_a_formula(self):
        came = trigram.check(honest.AllReduce, ranks=(2, 3), bytes_sent=ring_of)
        self.assertTrue(came.holds and "bytes" in str(came), came)
        came = trigram.check(honest.AllReduce, ranks=(3,), bytes_sent=lambda *words: ring_of(*words) + 1)
        self.assertRegex(str(came), r"3 ranks: bytes: in step 0 rank 0 sends \d+ bytes, and the formula says \d+, of buckets of \[")

    def test_in_a_shell(self):
        for place, code, text in ((f"{HERE / 'python_algorithms.py'}:LocalSgd", 0, "algorithm LocalSgd holds what it says: training, communication"),
                                  (f"{HERE / 'wrong_algorithms.py'}:Sums", 1, "Sums does not hold what it says"),
                                  (f"{HERE / 'wrong_algorithms.py'}:Sum", 1, "has no Sum; give FILE.py:CLASS"),
                                  ("nowhere.py:Sums", 1, "there is no file nowhere.py")):
            ended = subprocess.run([sys.executable, "-B", "-m", "trigram", "check", place], capture_output=True, text=True, timeout=600)
            self.assertEqual(ended.returncode, code, ended)
            self.assertIn(text, ended.stdout + ended.stderr)


if __name__ == "__main__":
    if not all(importlib.util.find_spec(name) for name in ("pandas", "torch")):
        sys.exit(77)
    import python_algorithms as honest
    import wrong_algorithms as wrong

    import trigram
    unittest.main()

"""The loop that was closed on emulated hosts (loop), from the files that it left: the trace and the calibrations predict what they predicted
then, or nearly where the simulator has learned since that a burst hides no announcement, and that is within what experiments/studies/closed_loop.md says of it."""

import os
import pathlib
import shutil
import statistics
import tempfile
import unittest

from closed_loop.agreement import Row, read_csv, row_of, summary
from closed_loop.networks import NETWORKS, OTHERS, TRACED
from closed_loop.predicted import predict

LEFT = pathlib.Path(__file__).resolve().parents[2] / "experiments/studies/closed_loop"
MODEL = "conv"  # whose traces were kept
BURSTS_BEFORE_ANNOUNCEMENTS = "200 Mbit/s, 5 ms"


class ClosedLoop(unittest.TestCase):
    def test_traces_predict_what_ran(self):
        then = {(row.network, row.method): row for row in read_csv(LEFT / "loop.csv") if row.model == MODEL}
        with tempfile.TemporaryDirectory() as scratch:
            out = pathlib.Path(shutil.copytree(LEFT, pathlib.Path(scratch, "loop")))
            now = [row_of(MODEL, network, method, then[network.about, method].measured / 1e3, said)
                   for (network, method), said in predict(os.environ["TRIGRAM_PROGRAM"], MODEL, list(NETWORKS.values()), out).items()]
        self.assertEqual(len(now), len(then))
        for row in now:
            with self.subTest(row):
                ratio = row.predicted / then[row.network, row.method].predicted
                self.assertGreater(ratio, 0.995)
                self.assertLess(ratio, 1.07 if row.network == BURSTS_BEFORE_ANNOUNCEMENTS else 1.005)
        others = [row for row in now if row.network in [network.about for network in OTHERS]]
        self.assertLess(statistics.mean(abs(row.error) for row in others), 10)
        self.assertGreaterEqual(statistics.mean(row.within(95) for row in others), 0.9)


class Agreement(unittest.TestCase):
    def test_what_rows_amount_to(self):
        def row(method, measured, predicted, fastest, network=OTHERS[0].about):
            return Row("conv", network, method, measured, predicted, 0.9 * predicted, 1.1 * predicted, 0.8 * predicted, 1.2 * predicted, fastest)

        rows = [row("qsgd", 100, 105, 0.95), row("bytegrad", 110, 132, 0.05),  # called, rightly; the other is outside of 68 %
                row("qsgd", 100, 50, 0.99, OTHERS[1].about), row("bytegrad", 90, 90, 0.01, OTHERS[1].about),  # called, wrongly
                row("qsgd", 100, 900, 1, TRACED.about)]  # does not count
        self.assertEqual(summary(rows), "4 steps on networks that were not traced: 18.8 % off on average, 50.0 % at worst\n"
                                        "ranges of 68 % hold 50 %, ranges of 95 % hold 75 %\n"
                                        "the fastest method was called on 2 of 2 networks, rightly on 1\n")


if __name__ == "__main__":
    unittest.main()

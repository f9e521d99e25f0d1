"""What a map's picture calls, and how probable it says that a row is the fastest: by each run's own error bar, as the tables decide it, or by draws. Ends
with 77 where matplotlib is missing."""

import pathlib
import tempfile
import unittest

import drawing  # which finds the modules below
import map_plot
import numpy as np

AXES = [{"key": "cluster.nic_bandwidth", "values": ["1Gbps", "10Gbps"]}, {"key": "cluster.nic_latency", "values": ["1us", "100us"]}]


def study(runs):
    """Of rows → (seconds, error bar or None) at each place, those of the first latency first."""
    facts = {"axes": AXES, "rows": [{"name": row} for row in runs], "map": {"against": next(iter(runs)), "error": 0.1}}
    places = [(x, y) for y in AXES[1]["values"] for x in AXES[0]["values"]]
    rows = [{"row": row, "measure": str(seconds), "cluster.nic_bandwidth": x, "cluster.nic_latency": y,
             "json": {"error_bar": error and {"error": error}}}
            for row, all_of in runs.items() for (x, y), (seconds, error) in zip(places, all_of)]
    return facts, rows


class Map(unittest.TestCase):
    def advised(self, runs):
        times, errors, _, _ = map_plot.times_of(*study(runs))
        near = map_plot.not_called(np.array(list(times.values())), np.array(list(errors.values())))
        return [list(runs)[i] for i in map_plot.advised(near).ravel()]

    def test_each_run_has_its_own_bar(self):
        # Two bars of 12 % leave 1.1 s below 1 s with 28 %, two of 5 % with 8 %; without bars of their own 10 % are taken, by which 1.2 s
        # is below with 9 %. One bar for all places would decide the first two the same way.
        self.assertEqual(self.advised({"first": [(1.1, 0.12), (1.1, 0.05), (1.1, None), (1.2, None)],
                                       "best": [(1.0, 0.12), (1.0, 0.05), (1.0, None), (1.0, None)]}),
                         ["first", "best", "first", "best"])

    def test_both_bars_count(self):
        self.assertEqual(self.advised({"first": [(1.2, 0.01)] * 4, "best": [(1.0, 0.25)] * 4}), ["first"] * 4)
        self.assertEqual(self.advised({"first": [(1.2, 0.25)] * 4, "best": [(1.0, 0.01)] * 4}), ["first"] * 4)

    def test_chances_are_those_of_normal_logarithms(self):
        # Two that are off by e^0.3 each, and 0.3 apart: the nearer is less with the probability of 1/sqrt(2) deviations, 0.760.
        logs = np.array([[[0.0]], [[0.3]]])
        found = map_plot.chances(logs, np.full((2, 1, 1), np.expm1(0.3)), draws=40_000)
        self.assertAlmostEqual(found[0, 0, 0], 0.760, delta=0.01)
        self.assertAlmostEqual(found.sum(), 1)

    def test_rows_without_a_bar_are_told_apart(self):
        self.assertEqual(self.advised({"first": [(1.2, 1e-9)] * 4, "best": [(1.0, 1e-9)] * 4}), ["best"] * 4)

    def test_draws_are_those_of_winners_csv_in_the_order_of_positions(self):
        facts, _ = study({"first": [(1, None)] * 4, "best": [(1, None)] * 4})
        facts["axes"] = [{**AXES[0], "values": ["10Gbps", "1Gbps"]}, AXES[1]]  # positions go up all the same
        lines = ["kind,cluster.nic_bandwidth,cluster.nic_latency,best,not_called,chances"]
        for x, y, share in (("10Gbps", "1us", 0.9), ("10Gbps", "100us", 0.8), ("1Gbps", "1us", 0.7), ("1Gbps", "100us", 0.6)):
            lines.append(f"iteration,{x},{y},best,{'best' if share == 0.9 else 'first best'},{1 - share:.1f} {share}")
        with tempfile.TemporaryDirectory() as place:
            folder = pathlib.Path(place)
            (folder / "winners.csv").write_text("\n".join(lines) + "\n")
            self.assertIsNone(map_plot.by_draws(folder, facts, "iteration", ["first", "best"]), "nothing was drawn")
            (folder / "uncertainty.csv").write_text("")
            probable, near = map_plot.by_draws(folder, facts, "iteration", ["first", "best"])
            self.assertEqual(probable[1].tolist(), [[0.7, 0.9], [0.6, 0.8]])
            self.assertEqual(near[0].tolist(), [[1, 0], [1, 1]])
            self.assertIsNone(map_plot.by_draws(folder, facts, "iteration", ["first"]), "not of these rows")


if __name__ == "__main__":
    unittest.main()

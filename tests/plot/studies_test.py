"""What pictures of studies show: which runs are in which panel, medians and ranges, and bars as long as their seconds. Ends with 77
where matplotlib is missing."""

import json
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

PLOT = pathlib.Path(__file__).resolve().parent.parent.parent / "experiments" / "plot"
sys.path.insert(0, str(PLOT))

BREAKDOWN = {"compute_s": 4.0, "exposed_s": 1.0, "encode_s": 0.5, "wire_s": 2.0, "decode_s": 0.25}


def curve(loss, accuracy=None):
    return [{"step": 10 * s, "time_s": 3.0 * s, "bytes_mean": 200.0 * s, "loss": loss / (s + 1), "accuracy": accuracy} for s in range(3)]


class Pictures(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.drawn = {}

    def draw(self, rows, runs, axes=(), **more):
        """The figures of a study by name; `rows` are name → panel, `runs` have a row, a measure, a loss and swept values."""
        study = {"name": "mine", "title": "t", "measure": {"label": "y", "x_label": ""}, "axes": list(axes), "published": [],
                 "rows": [{"name": name, "series": name, "panel": panel} for name, panel in rows.items()], **more}
        (self.folder / "study.json").write_text(json.dumps(study))
        keys = [axis["key"] for axis in axes]
        lines = [",".join(["row", "series", "variant", "folder", "measure", *keys])]
        for place, (row, measure, loss, *values) in enumerate(runs):
            folder = self.folder / "runs" / f"{row}-{place}"
            folder.mkdir(parents=True)
            (folder / "run.json").write_text(json.dumps({"summary": {"breakdown": BREAKDOWN}, "curve": curve(loss)}))
            lines.append(",".join([row, row, "", f"runs/{folder.name}", str(measure), *values]))
        (self.folder / "runs.csv").write_text("\n".join(lines) + "\n")

        def keep(figure, _, name):
            self.drawn[name] = figure
            self.addCleanup(plt.close, figure)
            return []

        with unittest.mock.patch("style.save", keep):
            study_plots.draw(self.folder)
        return self.drawn

    def test_rows_stand_in_the_order_of_their_medians_with_ranges(self):
        runs = [("far", 9, 1), ("near", 5, 1), ("near", 2, 1), ("near", 3, 1), ("base", 4, 1), ("lost", "nan", 1)]
        axes = self.draw({"base": "", "far": "p", "near": "p", "lost": "p"}, runs)["mine"].axes[0]
        self.assertEqual([label.get_text() for label in axes.get_yticklabels()], ["near", "base", "far"])
        drawn = [line.get_xydata().tolist() for line in axes.lines if len(line.get_xydata()) > 0]
        self.assertIn([[2, 0], [5, 0]], drawn)  # the range of `near`
        self.assertIn([[3, 0]], drawn)  # its median
        self.assertIn([[4, 0], [4, 1]], drawn)  # a line down from the row that others are compared with
        self.assertEqual([text.get_text() for text in axes.get_legend().get_texts()], ["p"])

    def test_curves_of_a_panel_have_its_rows_and_those_of_all(self):
        runs = [("base", 1, 1.0), ("one", 1, 2.0), ("one", 1, 4.0), ("two", 1, 3.0)]
        figures = self.draw({"base": "", "one": "p", "two": "q"}, runs)
        self.assertEqual([name for name in figures if name.startswith("curves")], ["curves_p", "curves_q"])
        by_steps, by_time, by_bytes = figures["curves_p"].axes
        self.assertEqual([line.get_label() for line in by_steps.lines], ["base", "one"])
        self.assertEqual(by_steps.lines[1].get_xydata().tolist(), [[0, 3], [10, 1.5], [20, 1]])  # the median of both
        self.assertEqual(by_time.lines[1].get_xdata().tolist(), [0, 3, 6])
        self.assertEqual(by_bytes.lines[1].get_xdata().tolist(), [0, 200, 400])

    def test_a_sweep_has_a_panel_for_those_that_rows_name(self):
        axis = {"key": "ranks", "values": ["2", "4"]}
        runs = [(row, measure, 1, value) for row, measure in (("base", 1), ("one", 2), ("two", 3)) for value in axis["values"]]
        left, right = self.draw({"base": "", "one": "p", "two": "q"}, runs, [axis])["mine"].axes
        self.assertEqual([axes.get_title() for axes in (left, right)], ["p", "q"])
        shown = [[line.get_ydata().tolist() for line in axes.lines if len(line.get_ydata()) > 0] for axes in (left, right)]
        self.assertEqual(shown, [[[1, 1], [2, 2]], [[1, 1], [3, 3]]])
        self.assertEqual(left.lines[0].get_color(), right.lines[0].get_color())

    def test_bars_are_as_long_as_their_seconds(self):
        axis = {"key": "ranks", "values": ["2", "4", "8"]}
        panels = self.draw({"base": ""}, [("base", 1, 1, value) for value in axis["values"]], [axis])["breakdown"].axes
        self.assertEqual([axes.get_title() for axes in panels], ["ranks 2", "ranks 4", "ranks 8"])
        bars = [(bar.get_x(), bar.get_width()) for bar in panels[0].patches]
        self.assertEqual(bars, [(0, 4), (4, 1), (0, 0.5), (0.5, 2), (2.5, 0.25)])
        self.assertEqual([text.get_text() for text in panels[-1].get_legend().get_texts()],
                         ["compute", "exposed wait", "encode", "wire", "decode"])

    def test_a_panel_that_is_no_name_is_refused(self):
        with self.assertRaisesRegex(unusable.Unusable, r"rows.a.panel: '\.\./x' is no name"):
            self.draw({"a": "../x"}, [("a", 1, 1)])


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    try:
        import matplotlib
    except ImportError:
        sys.exit(77)
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    import study_plots
    import unusable
    unittest.main()

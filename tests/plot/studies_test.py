"""What pictures of studies show: which runs are in which panel, medians and ranges, and bars as long as their seconds. Ends with 77
where matplotlib is missing."""

import json
import math
import pathlib
import tempfile
import unittest
import unittest.mock

import drawing  # which finds the modules below
import matplotlib.pyplot as plt
import study_plots
import style
import unusable

BREAKDOWN = {"compute_s": 4.0, "exposed_s": 1.0, "encode_s": 0.5, "wire_s": 2.0, "decode_s": 0.25}
RUN = {"workload": {"description": "a model"}, "configuration": {"flags": {"algorithm": "all_reduce"}}}


def curve(loss, accuracy=None, step_s=0.3):
    return [{"step": 10 * s, "time_s": 10 * step_s * s, "bytes_mean": 200.0 * s, "loss": loss / (s + 1), "accuracy": accuracy} for s in range(3)]


def failed(row, axes, **more):
    return {"row": row, "series": row, "variant": "", "axes": axes, "phase": "runs", "folder": f"runs/{row}-x", "message": "a\nb", "command": "c"} | more


def numbers(points):
    """Without places that are no numbers, which are gaps."""
    return [point for point in points.tolist() if not any(map(math.isnan, point))]


class Pictures(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.drawn = {}

    def draw(self, rows, runs, axes=(), step_s=0.3, **more):
        """The figures of a study by name; `rows` are name → panel, `runs` have a row, a measure, a loss and swept values; `step_s` is
        the time of a step, or a row's → time."""
        study = {"name": "mine", "title": "t", "measure": {"label": "y", "x_label": ""}, "axes": list(axes), "published": [],
                 "rows": [{"name": name, "series": name, "panel": panel} for name, panel in rows.items()], **more}
        (self.folder / "study.json").write_text(json.dumps(study))
        keys = [axis["key"] for axis in axes]
        lines = [",".join(["row", "series", "variant", "folder", "measure", *keys])]
        for place, (row, measure, loss, *values) in enumerate(runs):
            folder = self.folder / "runs" / f"{row}-{place}"
            folder.mkdir(parents=True, exist_ok=True)
            points = curve(loss, step_s=step_s if isinstance(step_s, float) else step_s[row])
            (folder / "run.json").write_text(json.dumps(RUN | {"summary": {"breakdown": BREAKDOWN}, "curve": points}))
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

    def test_values_of_several_units_stand_where_they_are(self):
        axes = [{"key": "mean", "values": ["1h", "10min", "90s"]}]
        drawn = self.draw({"a": ""}, [("a", 1, 1.0, "1h"), ("a", 2, 1.0, "10min"), ("a", 3, 1.0, "90s")], axes)["mine"].axes[0]
        self.assertEqual(numbers(drawn.lines[0].get_xydata()), [[90, 3], [600, 2], [3600, 1]])
        self.assertEqual(drawn.get_xlabel(), "mean (s)")

    def test_bars_are_as_long_as_their_seconds(self):
        axis = {"key": "ranks", "values": ["2", "4", "8"]}
        panels = self.draw({"base": ""}, [("base", 1, 1, value) for value in axis["values"]], [axis])["breakdown"].axes
        self.assertEqual([axes.get_title() for axes in panels], ["ranks 2", "ranks 4", "ranks 8"])
        bars = [(bar.get_x(), bar.get_width()) for bar in panels[0].patches]
        self.assertEqual(bars, [(0, 4), (4, 1), (0, 0.5), (0.5, 2), (2.5, 0.25)])
        self.assertEqual([text.get_text() for text in panels[-1].get_legend().get_texts()],
                         ["compute", "exposed wait", "encode", "wire", "decode"])

    def test_what_failed_is_marked_where_it_is_missing_and_named(self):
        axis = {"key": "lanes", "values": ["1", "2", "4"]}
        runs = [(row, value, 1, value) for row in ("one", "two") for value in axis["values"] if (row, value) != ("one", "2")]
        whole = self.draw({"one": "", "two": ""}, runs, [axis])["mine"].axes[0]
        lost = [failed("one", {"lanes": "2"}), failed("one", {"lanes": "4"}, phase="runs to choose lr"), failed("two", {}, variant="own network")]
        figures = self.draw({"gone": "", "one": "", "two": ""}, runs, [axis], failed=[failed("gone", {"lanes": x}) for x in "124"] + lost)
        axes = figures["mine"].axes[0]
        one = next(line for line in axes.lines if line.get_label() == "one")
        self.assertEqual(numbers(one.get_xydata()), [[1, 1], [4, 4]])
        self.assertTrue(math.isnan(one.get_ydata()[1]), "a line has a gap where its run failed")
        crosses = {(line.get_color(), x) for line in axes.lines if line.get_marker() == "x" for x in line.get_xdata()}
        colours = style.colours_of(["gone", "one", "two"])
        self.assertEqual(crosses, {(colours["gone"], 1), (colours["gone"], 2), (colours["gone"], 4), (colours["one"], 2)})
        self.assertIn("a run failed", [text.get_text() for text in axes.get_legend().get_texts()])
        self.assertNotIn("a run failed", [text.get_text() for text in whole.get_legend().get_texts()])
        missing = "Missing, since runs failed: gone, lanes = 1; gone, lanes = 2; gone, lanes = 4; one, lanes = 2."
        for name in ("mine", "breakdown"):
            self.assertIn(missing, figures[name].notes)
        self.assertIn("Missing, since runs failed: gone, lanes = 2; one, lanes = 2.", figures["curves_2"].notes)

    def test_nothing_but_failures_is_drawn_as_such(self):
        axis = {"key": "lanes", "values": ["1", "2"]}
        figures = self.draw({"one": ""}, [], [axis], failed=[failed("one", {"lanes": "1"}), failed("one", {"lanes": "2"})])
        self.assertEqual(figures["mine"].notes, ["Missing, since runs failed: one, lanes = 1; one, lanes = 2."])

    def test_a_measure_over_seeds_has_whiskers_and_says_what_never_gets_there(self):
        lanes, seed = {"key": "lanes", "values": ["1", "2"]}, {"key": "seed", "values": ["1", "2", "3"]}
        measures = {("all", "1"): "3 1 2", ("all", "2"): "5 4 9", ("some", "1"): "1 nan 4", ("some", "2"): "nan nan 1", ("none", "1"): "nan nan nan"}
        runs = [(row, value, 1, lane, s) for (row, lane), values in measures.items() for s, value in zip("123", values.split())]
        figure = self.draw({"all": "", "some": "", "none": ""}, runs, [lanes, seed],
                           measure={"value": "time_to_goal_s", "label": "y", "x_label": ""})["mine"]
        axes = figure.axes[0]
        lines = {line.get_label(): numbers(line.get_xydata()) for line in axes.lines}
        self.assertEqual([lines[row] for row in ("all", "some", "none")], [[[1, 2], [2, 5]], [[1, 4]], []])
        whiskers = [numbers(segment) for bar in axes.containers for segment in bar.lines[2][0].get_segments()]
        self.assertEqual([ends for ends in whiskers if ends], [[[1, 1], [1, 3]], [[2, 4], [2, 9]], [[1, 1], [1, 4]]])
        edge = {(line.get_color(), *line.get_xdata()) for line in axes.lines if line.get_marker() == "^" and line.get_linestyle() == "None" and len(line.get_xdata())}
        colours = style.colours_of(["all", "some", "none"])
        self.assertEqual(edge, {(colours["some"], 2), (colours["none"], 1)})
        self.assertIn([[1, 4]], [numbers(line.get_xydata()) for line in axes.lines if line.get_markerfacecolor() == "white"])
        texts = [text.get_text() for text in axes.get_legend().get_texts()]
        self.assertEqual(texts[3:], ["half of the runs never get there", "some runs never get there"])
        self.assertIn("Medians over 3 runs; whiskers are their range.", figure.notes)

    def test_curves_say_what_their_bands_are(self):
        figures = self.draw({"one": "", "two": ""}, [("one", 1, 1.0), ("one", 1, 2.0), ("two", 1, 3.0)])
        self.assertEqual(figures["curves"].notes, ["Medians over 1 to 2 runs; bands are their range."])
        self.assertEqual(len(figures["curves"].axes[0].collections), 1)

    def test_time_is_logarithmic_where_lines_are_many_times_as_long(self):
        rows, runs = {"fast": "", "slow": ""}, [("fast", 1, 1.0), ("slow", 1, 1.0)]
        scales = [[axes.get_xscale() for axes in self.draw(rows, runs, step_s={"fast": 0.1, "slow": slow})["curves"].axes] for slow in (0.45, 0.55)]
        self.assertEqual(scales, [["linear", "linear", "linear"], ["linear", "symlog", "linear"]])

    def test_a_study_says_how_curves_are_drawn(self):
        view = {"against": ["bytes", "time"], "scores": ["loss"], "x_axis": "log", "ranges": {"bytes": [0, 100], "loss": [0.5, 2]}}
        by_bytes, by_time = self.draw({"one": ""}, [("one", 1, 1.0)], curves=view)["curves"].axes
        self.assertEqual([axes.get_xscale() for axes in (by_bytes, by_time)], ["symlog", "symlog"])
        self.assertEqual((by_bytes.get_xlim(), by_bytes.get_ylim(), by_time.get_ylim()), ((0, 100), (0.5, 2), (0.5, 2)))
        with unittest.mock.patch("against.given", {"against": ["step"], "x_axis": "linear"}):
            (by_step,) = self.draw({"one": ""}, [("one", 1, 1.0)], curves=view)["curves"].axes
        self.assertEqual(by_step.get_xlabel(), "steps")
        with self.assertRaisesRegex(unusable.Unusable, "cannot be drawn against money; they have step, time, bytes"):
            self.draw({"one": ""}, [("one", 1, 1.0)], curves={"against": ["money"]})

    def test_lines_are_told_apart_in_grey_and_keep_their_names(self):
        rows = {f"method_{i}": "" for i in range(24)}
        axes = self.draw(rows, [(row, 1, 1.0) for row in rows])["curves"].axes[0]
        self.assertEqual([text.get_text() for text in axes.figure.axes[2].get_legend().get_texts()], list(rows))
        looks, marks = style.looks_of(rows), style.marks_of(rows, 3)
        self.assertEqual(len({(looks[row]["linestyle"], marks[row]["marker"]) for row in rows}), 24)
        self.assertEqual([line.get_marker() for line in axes.lines], [marks[row]["marker"] for row in rows])

    def test_a_panel_that_is_no_name_is_refused(self):
        with self.assertRaisesRegex(unusable.Unusable, r"rows\[0\].panel: '\.\./x' is no name"):
            self.draw({"a": "../x"}, [("a", 1, 1)])


if __name__ == "__main__":
    unittest.main()

"""Mangled folders are refused with one message that names the file, never with a traceback; whole ones are drawn the
same whatever lies around. Ends with 77 where matplotlib is missing.

Of the mangled folders one in MANGLED_EVERY is tried, all without that variable."""

import contextlib
import copy
import io
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import drawing  # which finds the modules below
import matplotlib.pyplot as plt
import plot
import style

ACTIVITIES = ["compute_s", "exposed_s", "encode_s", "wire_s", "decode_s"]
RUN = {
    "summary": {"breakdown": dict.fromkeys(ACTIVITIES, 0.25)},
    "curve": [{"step": s, "time_s": s / 2, "bytes_mean": 10.0 * s, "loss": 1.0 / (s + 1), "accuracy": None} for s in range(4)],
    "workload": {"description": "a model of $x"},
    "configuration": {"flags": {"algorithm": "all_reduce"}},
}
STUDY = {
    "name": "s", "title": "a $study", "measure": {"label": "y", "x_label": ""},
    "axes": [{"key": "cluster.nic_bandwidth", "values": ["1Gbps", "20Gbps"]}],
    "rows": [{"name": "a", "series": "a"}, {"name": "b", "series": "b"}],
    "published": [{"series": "a", "x": 1, "value": 3.5}], "goal": {"loss": 0.5},
    "failed": [{"row": "b", "series": "b", "variant": "", "axes": {"cluster.nic_bandwidth": "20Gbps"}, "phase": "runs", "message": "no"}],
    "curves": {"against": ["time", "step"], "scores": ["loss"], "x_axis": "log", "ranges": {"time": [0, 2], "loss": [0.1, 1]}},
    "line_keys": ["row"], "calibration": {"values": {"cluster.nic_cap": "9Gbps"}, "source": "searched"},
}
SEARCH = {
    "plan": {"for": {"measure": "iteration_s", "goal": None}, "choices": [
        {"key": "lr", "when": {}, "range": {"low": 0.1, "high": 1, "unit": "", "whole": False, "log": True}},
        {"key": "hierarchy", "when": {}, "values": ["none", "leader"]}]},
    "trials": [{"trial": 0, "value": 2.0, "chosen": {}}, {"trial": 1, "value": 0.5, "chosen": {"lr": "0.2", "hierarchy": "leader"}},
               {"trial": 2, "value": None, "chosen": {"lr": "0.9", "hierarchy": "none"}}, {"trial": 3, "value": 1.0, "chosen": {"lr": "0.4", "hierarchy": "none"}}],
    "verdict": {"best": 1},
}
STEPS = "step,rank,time_s,loss,staleness\n0,0,1,2.5,\n1,0,2,1.5,3\n2,0,3,nan,4\n"
EVERY = int(os.environ.get("MANGLED_EVERY", 1))
RUNS = "row,series,variant,cluster.nic_bandwidth,folder,measure\n" + "".join(
    f"{row},{row},,{value},runs/{row}-1,{x}\n" for row in "ab" for x, value in enumerate(["1Gbps", "20Gbps"], 1))
JUNK = [None, True, -1, 1e308, float("nan"), 10**400, "", "x", "../x", "/abs/x", "a\u0007b", "\ud800", "y" * 5000, [], {}, [[]], [None], {"a": 1}]


def write_run(folder, run=RUN):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run.json").write_text(json.dumps(run))
    (folder / "steps.csv").write_text(STEPS)


def write_study(folder, study=STUDY, run=RUN):
    for row in "ab":
        write_run(folder / "runs" / f"{row}-1", run)
    (folder / "study.json").write_text(json.dumps(study))
    (folder / "runs.csv").write_text(RUNS)


def paths(value, at=()):
    """The places of all values inside."""
    if at:
        yield at
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inside:
        yield from paths(one, (*at, key))


def mangled(value):
    """Copies with one value removed, or replaced by junk in turn."""
    places = [(path, junk) for index, path in enumerate(paths(value))
              for junk in ["remove", *(JUNK[(index + i * 7) % len(JUNK)] for i in range(3))]]
    for path, junk in places[::EVERY]:
        copied = copy.deepcopy(value)
        place = copied
        for key in path[:-1]:
            place = place[key]
        if junk == "remove":
            del place[path[-1]]
        else:
            place[path[-1]] = junk
        yield copied


class Mangled(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = pathlib.Path(self.scratch.name) / "folder"
        # What is whole enough is not drawn here, which would take a second each.
        patch = unittest.mock.patch("style.save", lambda figure, folder, name: plt.close(figure) or [])
        patch.start()
        self.addCleanup(patch.stop)

    def check(self, what):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = plot.main([str(self.folder)])
        self.assertIn(code, (0, plot.UNUSABLE), f"{out.getvalue()} for {str(what)[:300]}")
        if code != 0:
            self.assertEqual(out.getvalue().count("\n"), 1, out.getvalue())
            self.assertIn(str(self.folder), out.getvalue())
        return code, out.getvalue()

    def test_runs(self):
        write_run(self.folder)
        self.assertEqual(self.check("whole")[0], 0)
        for run in mangled(RUN):
            write_run(self.folder, run)
            self.check(run)

    def test_expenses(self):
        curve = [point | {"energy_J": 2000.0 * point["step"], "money_USD": 3.0 * point["step"]} for point in RUN["curve"]]
        figures = []
        with unittest.mock.patch("style.save", lambda figure, folder, name: figures.append(figure) or []):
            write_run(self.folder, RUN | {"curve": curve})
            self.assertEqual(self.check("whole")[0], 0)
            write_study(self.folder, STUDY | {"curves": {}}, RUN | {"curve": curve})
            self.assertEqual(self.check("study")[0], 0)
        drawn = [figure.axes for figure in figures if len(figure.axes) == 5]
        self.assertEqual(len(drawn), 3)  # of the run, and of the study at two bandwidths
        for *_, energy, money in drawn:
            self.assertEqual([axes.get_xlabel() for axes in (energy, money)], ["energy of all ranks (kJ)", "money (USD)"])
            self.assertEqual(energy.lines[0].get_xdata().tolist(), [0, 2, 4, 6])
            self.assertEqual(money.lines[0].get_xdata().tolist(), [0, 3, 6, 9])
        plt.close("all")
        for run in itertools.islice(mangled({"curve": curve}), 0, None, 5):
            write_run(self.folder, RUN | run)
            self.check(run)

    def test_a_run_has_one_colour(self):
        figures = []
        with unittest.mock.patch("style.save", lambda figure, folder, name: (name == "curves" and figures.append(figure)) or []):
            write_run(self.folder)
            self.check("whole")
        self.assertEqual({line.get_color() for axes in figures[0].axes for line in axes.lines}, {style.COLOURS[0]})
        plt.close("all")

    def test_several_runs(self):
        whole = pathlib.Path(self.scratch.name) / "whole"
        write_run(whole)
        drawn = []

        def check():
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                code = plot.main([str(whole), str(self.folder)])
            self.assertIn(code, (0, plot.UNUSABLE), out.getvalue())
            self.assertTrue(code == 0 or str(self.folder) in out.getvalue(), out.getvalue())
            return out.getvalue()

        with unittest.mock.patch("style.save", lambda figure, folder, name: drawn.append((name, figure)) or []):
            write_run(self.folder)
            self.assertEqual(check(), "")
            self.assertEqual([name for name, _ in drawn], ["compared_curves", "compared_breakdown", "compared_steps"])
            self.assertEqual([line.get_label() for line in drawn[2][1].axes[0].lines], ["whole", "folder"])
            self.assertEqual([axes.get_title() for axes in drawn[1][1].axes], ["whole", "folder"])
            self.assertEqual([axes.get_xlabel() for axes in drawn[0][1].axes], ["steps", "time (s)", "sent by a rank, mean (bytes)"])
        plt.close("all")
        for run in itertools.islice(mangled(RUN), 0, None, 3):
            write_run(self.folder, run)
            check()
        (self.folder / "study.json").write_text("{}")
        self.assertIn("holds a study; runs are drawn beside each other", check())
        self.folder = whole
        self.assertIn("is given twice; give the folders of different runs", check())

    def test_studies(self):
        write_study(self.folder)
        self.assertEqual(self.check("whole")[0], 0)
        for study in mangled(STUDY):
            write_study(self.folder, study)
            self.check(study)

    def test_measurements(self):
        measured = [{"row": row, "source": "s", "method": row, "condition": "1Gbps", "used": used, "seconds": 0.5}
                    for row, used in (("a", ""), ("b", "compute"))]
        study = STUDY | {"measurements": measured}
        write_study(self.folder, study)
        self.assertEqual(self.check("whole")[0], 0)
        for one in mangled({"measurements": measured}):
            write_study(self.folder, STUDY | one)
            self.check(one)

    def test_searches(self):
        self.folder.mkdir()
        path = self.folder / "tune.json"
        path.write_text(json.dumps(SEARCH))
        figures = []
        with unittest.mock.patch("style.save", lambda figure, folder, name: figures.append(figure) or []):
            self.assertEqual(self.check("whole")[0], 0)
        history, rate, hierarchy = figures[0].axes
        self.assertEqual(history.lines[1].get_xydata().tolist(), [[0, 2], [1, 0.5], [3, 0.5]])  # the best so far
        self.assertEqual(rate.lines[0].get_xydata().tolist(), [[0.2, 0.5], [0.4, 1]])
        self.assertEqual([label.get_text() for label in hierarchy.get_xticklabels()], ["leader", "none"])
        self.assertEqual([label.get_position()[0] % 1 for label in history.get_xticklabels()], [0] * len(history.get_xticks()))
        self.assertEqual(history.get_xlim(), (-0.5, 3.5))
        self.assertEqual(history.get_yscale(), "log")  # a trial is four times as slow as the best
        self.assertGreater(len([tick for tick in history.get_yticks() if 0.5 <= tick <= 2]), 2)
        plt.close("all")
        for search in itertools.islice(mangled(SEARCH), 0, None, 5):
            path.write_text(json.dumps(search))
            self.check(search)
        path.write_text(json.dumps({"plan": SEARCH["plan"]}))
        self.assertIn("is of a search that has not ended; its command goes on", self.check("begun")[1])

    def test_files(self):
        for name in ("run.json", "steps.csv", "study.json", "runs.csv", "runs/a-1/run.json"):
            for junk in (b"", b"\xff\xfe", b"{", b"[" * 100000, b"\0\0", b"a,b\n1\n", b"row\n", "folder", "absent"):
                with self.subTest(name=name, junk=junk[:5]), tempfile.TemporaryDirectory() as scratch:
                    self.folder = pathlib.Path(scratch)
                    (write_study if "run" in name and name != "run.json" or "study" in name else write_run)(self.folder)
                    path = self.folder / name
                    path.unlink()
                    if junk == "folder":
                        path.mkdir()
                    elif junk != "absent":
                        path.write_bytes(junk)
                    self.check((name, junk))

    def test_recorded_columns(self):
        figures = []
        with unittest.mock.patch("style.save", lambda figure, folder, name: figures.append(figure) or []):
            write_run(self.folder)
            self.assertEqual(self.check("recorded")[0], 0)
        loss, staleness = figures[-1].axes
        self.assertEqual(staleness.get_ylabel(), "staleness")
        self.assertEqual(staleness.lines[0].get_xydata().tolist(), [[2, 3], [3, 4]])
        self.assertEqual(loss.lines[0].get_xydata().tolist(), [[1, 2.5], [2, 1.5]])
        (self.folder / "steps.csv").write_text(STEPS.replace("staleness", "a b"))
        self.assertIn("steps.csv', a column: 'a b' is no name", self.check("column")[1])
        for figure in figures:
            plt.close(figure)

    def test_messages(self):
        write_study(self.folder, STUDY | {"name": "../x"})
        self.assertIn("study.json'.name: '../x' is no name", self.check("name")[1])
        write_study(self.folder)
        (self.folder / "runs.csv").write_text(RUNS.replace("runs/a-1", "../../a"))
        self.assertIn("runs.csv', row 2: '../../a' is no folder of a run", self.check("folder")[1])
        (self.folder / "runs.csv").write_text(RUNS + "a,a\n")
        self.assertIn("row 6: 2 cells where the header has 6", self.check("cells")[1])


class Drawn(unittest.TestCase):
    def draw(self, *words, **options):
        return subprocess.run([sys.executable, "-I", "-B", str(drawing.PLOT / "plot.py"), *map(str, words)], capture_output=True, text=True, **options)

    def test_the_same_wherever_it_is_drawn(self):
        with tempfile.TemporaryDirectory() as scratch:
            scratch = pathlib.Path(scratch)
            write_study(scratch / "here")
            write_study(scratch / "there")
            (scratch / "matplotlibrc").write_text("axes.facecolor: red\nfont.size: 30\nnonsense\n")
            (scratch / "tables.py").write_text("raise SystemExit('not this one')\n")
            odd = os.environ | {"PYTHONPATH": str(scratch), "MPLBACKEND": "none", "MATPLOTLIBRC": str(scratch)}
            self.assertEqual(self.draw(scratch / "here").returncode, 0)
            there = self.draw("there", cwd=scratch, env=odd)
            self.assertEqual((there.returncode, there.stdout.split()[0]), (0, "there/s.png"), there.stdout)
            pictures = sorted(path.name for path in (scratch / "here").glob("*.*g"))
            self.assertEqual(len(pictures), 8)  # a measure, two of curves, a breakdown
            for name in pictures:
                self.assertEqual((scratch / "here" / name).read_bytes(), (scratch / "there" / name).read_bytes(), name)
            self.assertEqual([path.name for path in (scratch / "here").glob(".*")], [])

    def test_pictures_go_where_they_are_told(self):
        with tempfile.TemporaryDirectory() as scratch:
            folders = [pathlib.Path(scratch) / name for name in ("one", "two", "out")]
            for folder in folders[:2]:
                write_run(folder)
            folders[2].mkdir()
            before = sorted(folders[0].iterdir())
            for some in (folders[:2], folders[:1]):
                ended = self.draw("--formats", "svg", "--out", folders[2], *some)
                self.assertEqual(ended.returncode, 0, ended.stdout)
                self.assertTrue(all(pathlib.Path(path).parent == folders[2] and pathlib.Path(path).exists() for path in ended.stdout.split()))
            self.assertEqual(sorted(folders[0].iterdir()), before)

    def test_more_runs_than_colours_are_all_drawn(self):
        with tempfile.TemporaryDirectory() as scratch:
            folders = [pathlib.Path(scratch) / f"run{number}" for number in range(12)]
            for folder in folders:
                write_run(folder)
            ended = self.draw("--formats", "svg", *folders)
            self.assertEqual(ended.returncode, 0, ended.stdout)
            for name in ("compared_curves.svg", "compared_breakdown.svg", "compared_steps.svg"):
                drawing = (folders[0] / name).read_text()
                self.assertEqual([folder.name for folder in folders if f"<!-- {folder.name} -->" not in drawing], [], name)

    def test_pictures_are_as_wide_as_columns_of_a_paper(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch) / "study"
            write_study(folder)
            for columns, inches in ((1, 3.4), (2, 7.0)):
                ended = self.draw("--formats", "png,pdf", "--columns", columns, folder)
                self.assertEqual((ended.returncode, ended.stderr), (0, ""), ended.stdout)
                pictures = sorted(folder.glob("*.png"))
                self.assertEqual(sorted(path.stem for path in folder.glob("*.pdf")), [path.stem for path in pictures])
                self.assertGreater(len(pictures), 3)
                for picture in pictures:
                    self.assertAlmostEqual(int.from_bytes(picture.read_bytes()[16:20], "big") / 150, inches, delta=0.05, msg=picture.name)
            self.assertEqual(list(folder.glob("*.svg")), [])

    def test_what_cannot_be_drawn_whole_leaves_the_pictures_as_they_were(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch) / "-x"  # a name like a flag's
            write_run(folder)
            (folder / "curves.svg").write_text("of before")
            (folder / "steps.csv").write_text(STEPS + "3,0,4\n")
            before = sorted(path.name for path in folder.iterdir())
            ended = self.draw("--formats", "svg", "--", folder.name, cwd=scratch)
            self.assertEqual(ended.returncode, plot.UNUSABLE, ended.stdout)
            self.assertIn("steps.csv', row 5: 3 cells where the header has 5", ended.stdout)
            self.assertEqual(sorted(path.name for path in folder.iterdir()), before)
            self.assertEqual((folder / "curves.svg").read_text(), "of before")

    def test_no_link_is_followed_or_replaced(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch) / "run"
            write_run(folder)
            target = pathlib.Path(scratch) / "target"
            target.write_text("old")
            (folder / "breakdown.png").symlink_to(target)
            ended = self.draw(folder)
            self.assertEqual(ended.returncode, plot.UNUSABLE)
            self.assertIn("breakdown.png': it is no regular file", ended.stdout)
            self.assertEqual(target.read_text(), "old")


if __name__ == "__main__":
    unittest.main()

"""Every study that the program comes with, small: a few steps, rows and values of each key on two nodes, through the program to its
tables and pictures. Ends with 77 where matplotlib is missing."""

import csv
import itertools
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import drawing  # which finds the modules below
import checked
import described
import map_plot
import numpy as np
import tables

PROGRAM = os.environ.get("TRIGRAM_PROGRAM", "")
STUDIES = drawing.PLOT.parent / "studies"
FASHION = pathlib.Path("/usr/share/datasets/fashion-mnist")
ROWS = 4
FEWER = {"steps": "4", "evaluate-every": "2", "evaluate-seconds": "0.5s"}  # an evaluation in the middle: curves are drawn of three
LARGE_CLUSTERS = ("bagua_v100", "dgx_h100")


def sections_of(text):
    """Name → its lines as (key, value), in the order of the file; comments are left out."""
    sections, lines = {}, None
    for line in text.splitlines():
        line = line.split("#")[0].strip()
        if line.startswith("["):
            lines = sections.setdefault(line.strip("[]"), [])
        elif line:
            lines.append(tuple(part.strip() for part in line.split("=", 1)))
    return sections


def small(sections, folder):
    """The same study with less of everything; what names a row that is left out goes with it."""
    rows = [name[4:] for name in sections if name.startswith("row.")]
    named = " ".join(value for name in ("calibrate", "map") for key, value in sections.get(name, []) if key in ("rows", "given", "against")).split()
    kept = list(dict.fromkeys(rows[:ROWS] + named))
    smaller = {}
    for name, lines in sections.items():
        if name.startswith("row.") and name[4:] not in kept:
            continue
        if name.startswith("variant.") and len([one for one in smaller if one.startswith("variant.")]) == 2:
            continue
        smaller[name] = [(key, less_of(name, key, value, kept, folder)) for key, value in lines]
        if name.startswith("variant."):
            smaller[name] = [line for line in smaller[name] if line != ("rows", "")]
    run = dict(smaller["run"])
    if run.get("cluster", "").startswith(LARGE_CLUSTERS):
        smaller["run"].append(("cluster.nodes", "2"))
    return smaller


def less_of(section, key, value, kept, folder):
    words = value.split()
    if section == "sweep" or (section, key) in (("selection", "from"), ("selection", "seeds")):
        return " ".join(words[:2])
    if section.startswith("variant.") and key == "rows":
        return " ".join(word for word in words if word in kept)
    if section in ("run", "learning") or section.startswith("row."):
        return FEWER.get(key, value)
    if (section, key) == ("measurements", "tables"):
        for table in words:
            fewer_measurements(folder / table)
    return value


def fewer_measurements(path):
    """Its comments, its heading, and two measurements, which are of few GPUs as a rule."""
    lines = path.read_text().splitlines()
    comments = [line for line in lines if line.startswith("#")]
    path.write_text("\n".join(comments + [line for line in lines if not line.startswith("#")][:3]) + "\n")


def points_of(sections):
    """How many main runs the study has."""
    rows = max(1, len([name for name in sections if name.startswith("row.")]))
    values = [len(value.split()) for _, value in sections.get("sweep", [])] + [len(dict(sections.get("selection", [])).get("seeds", "1").split())]
    for count in values:
        rows *= count
    return rows


class Shipped(unittest.TestCase):
    def study(self, file):
        """The folder of a small copy's results."""
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        folder = pathlib.Path(scratch.name)
        (folder / "targets").mkdir()
        for target in (STUDIES / "targets").glob("*.csv"):
            (folder / "targets" / target.name).write_text(target.read_text())
        sections = small(sections_of(file.read_text()), folder)
        sections["study"] = [line for line in sections["study"] if line[0] != "notes"]
        (folder / file.name).write_text("".join(f"[{name}]\n" + "".join(f"{key} = {value}\n" for key, value in lines)
                                                for name, lines in sections.items()))
        ended = subprocess.run([PROGRAM, "study", folder / file.name, "--out", folder / "out", "--plot", "off"], capture_output=True, text=True)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        drawn = subprocess.run([PROGRAM, "plot", folder / "out", "--formats", "svg"], capture_output=True, text=True)
        self.assertEqual(drawn.returncode, 0, drawn.stderr)
        return sections, folder / "out", [pathlib.Path(path) for path in drawn.stdout.split()]

    def test_each_comes_to_tables_and_pictures(self):
        for file in sorted(STUDIES.glob("*.cfg")):
            with self.subTest(study=file.stem):
                if "fashion_mnist" in file.read_text() and not FASHION.is_dir():
                    continue
                sections, out, pictures = self.study(file)
                facts = json.loads((out / "study.json").read_text())
                self.assertEqual(facts["failed"], [])
                with open(out / "runs.csv", newline="") as table:
                    main = [row for row in csv.DictReader(table) if not row["variant"]]
                self.assertEqual(len(main), len(facts["rows"]) if "measurements" in sections else points_of(sections))
                self.assertIn(out / f"{file.stem}.svg", pictures)
                drawings = {path.stem: path.read_text() for path in pictures}
                for name, drawing in drawings.items():
                    self.assertTrue(drawing.rstrip().endswith("</svg>"), name)
                text = (out / "table.txt").read_text()
                self.assertTrue(text.startswith(facts["title"]))
                for row in {row["name"] for row in facts["rows"]} if "measurements" not in sections and "map" not in sections else ():
                    self.assertIn(row, text)
                if "map" in sections:
                    self.same_decisions(out)

    def same_decisions(self, out):
        """Tables and pictures call the same order of rows, at every place, by draws or by every run's own error bar, and give the fastest
        the same probability."""
        described.described(out / "study.json")
        study = checked.study(out / "study.json")
        runs = [run for run in checked.runs(out, study) if not run["variant"]]
        times, errors, _, _ = map_plot.times_of(study, runs)
        steps = {"iteration": dict.fromkeys(times, 1), "goal": study["map"].get("steps", {})}
        in_order = [sorted(axis["values"], key=tables.quantity) for axis in study["axes"]]
        with open(out / "winners.csv", newline="") as file:
            for winner in csv.DictReader(file):
                names = [row for row in times if row in steps[winner["kind"]]]
                x, y = (values.index(winner[axis["key"]]) for values, axis in zip(in_order, study["axes"]))
                values = np.array([times[row] * steps[winner["kind"]][row] for row in names])
                bars = np.array([errors[row] for row in names])
                by_draws = map_plot.by_draws(out, study, winner["kind"], names)
                self.assertEqual(by_draws is not None, (out / "uncertainty.csv").exists())
                probable, near = by_draws or (map_plot.chances(np.log(values), bars), map_plot.not_called(values, bars))
                self.assertEqual(list(itertools.compress(names, near[:, y, x])), winner["not_called"].split(), winner)
                self.assertAlmostEqual(probable[names.index(winner["best"]), y, x], float(winner["chance"]), delta=0.05, msg=winner)


if __name__ == "__main__":
    unittest.main()

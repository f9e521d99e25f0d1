"""Learning curves of a study: loss and accuracy, of the mean model and of the worst rank, against steps, time, bytes and expenses."""

import collections
import math
import statistics

import against
import style
import tables
from study_lines import failed_runs, in_panel, line_of, lines_of, missing_note, panels_of_rows, spread_note

LABELS = {"loss": "loss", "accuracy": "accuracy", "worst_accuracy": "accuracy of the worst rank"}


def add_worst_ranks(folder, runs):
    """Puts the worst rank's accuracy, which evals.csv has, into the points of the curves."""
    for run in runs:
        path = folder / run["folder"] / "evals.csv"
        rows = tables.rows_of(path, ["worst_accuracy"]) if path.exists() else []
        curve = run["json"]["curve"]
        if len(rows) != len(curve):
            continue
        for point, row in zip(curve, rows):
            value = tables.number(row["worst_accuracy"])
            point["worst_accuracy"] = value if math.isfinite(value) else None


def curves_by_line(study, runs):
    """A line → the curves of its seeds, which hold what is drawn and what it is drawn against."""
    curves = collections.defaultdict(list)
    for run in runs:
        if run["json"]["curve"]:
            curves[line_of(study, run, "row")].append(run["json"]["curve"])
    return curves


def band(curves, key, scales=()):
    """Median and range over runs of `key`, with medians of what it is drawn against, at each evaluation that all runs have."""
    points = []
    for same in zip(*curves):
        values = [point[key] for point in same if point.get(key) is not None]
        if values:
            place = {x: statistics.median(point[x] for point in same) / divisor for x, divisor, _ in scales}
            points.append({**place, "middle": statistics.median(values), "low": min(values), "high": max(values)})
    return points


def keys_of(curves):
    """What is scored; the worst rank where it differs from the mean model."""
    points = [point for some in curves.values() for curve in some for point in curve]
    keys = [key for key in ("loss", "accuracy") if any(point[key] is not None for point in points)]
    differs = any(point.get("worst_accuracy") not in (None, point["accuracy"]) for point in points)
    return keys + (["worst_accuracy"] if differs else [])


def draw_row(row, curves, key, scales, looks, goal):
    """One score, against each of `scales`, which are a key of the points, what it is divided by, and its label."""
    bands = {label: band(some, key, scales) for label, some in curves.items()}
    for label, points in bands.items():
        for axes, (x, _, _) in zip(row, scales):
            at = [point[x] for point in points]
            axes.plot(at, [point["middle"] for point in points], label=label, **looks[label])
            if len(curves[label]) > 1:
                axes.fill_between(at, [point["low"] for point in points], [point["high"] for point in points],
                                  color=looks[label]["color"], alpha=0.15, linewidth=0)
    if key == "loss" and goal is not None:
        for axes in row:
            axes.axhline(goal, color="grey", linestyle=":", linewidth=1)
    points = [point for some in bands.values() for point in some]
    if key == "loss" and style.spans_decades([point["middle"] for point in points]):
        for axes in row:  # which share one but on paper
            axes.set_yscale("log")
            style.few_ticks(axes.yaxis, [point[end] for point in points for end in ("low", "high") if point[end] > 0])
    row[0].set_ylabel(LABELS[key])


def draw_curves(folder, study, runs, lost, name, title):
    """Medians as lines, ranges over seeds as bands; `lost` are the runs that failed."""
    curves, view = curves_by_line(study, runs), against.view_of(study)
    keys = against.scores(keys_of(curves), view)
    if not keys or all(len(curve) < 3 for some in curves.values() for curve in some):
        return []
    scales = against.scales([point for some in curves.values() for curve in some for point in curve], view)
    figure, grid = style.panels(len(keys), len(scales), (max(4.4 * len(scales), 5.5), 3.4 * len(keys)), sharey="row", sharex="col")
    lines = lines_of(study, runs, "row")
    looks, marks = style.looks_of(lines), style.marks_of(lines, max(len(curve) for some in curves.values() for curve in some))
    for row, key in zip(grid, keys):
        draw_row(row, curves, key, scales, {line: looks[line] | marks[line] for line in lines}, study.get("goal", {}).get("loss"))
        against.limit_y(row, key, view)
    medians = [band(some, keys[0], [(x, 1, "") for x, _, _ in scales]) for some in curves.values()]
    for axes, scale in zip(grid[-1], scales):
        against.scale_x(axes, scale, medians, view)
    figure.suptitle(title, x=0.02, ha="left")
    figure.tight_layout()
    style.legend_outside(grid[0][-1])
    style.note(figure, spread_note([len(some) for some in curves.values()], "bands"))
    style.note(figure, "A dotted line is the goal's loss." if "goal" in study and "loss" in keys else "")
    style.note(figure, missing_note(study, lost))
    return style.save(figure, folder, name)


def safe(text):
    """As a part of a file's name."""
    return "".join(c if c.isascii() and (c.isalnum() or c in ".-") else "_" for c in text)[:100]


def first_axis(study):
    return study["axes"][0] if study["axes"] else {"key": "", "values": [""]}


def pictures(study):
    """Of each picture the value of the first swept key and the panel of rows, and what they add to a title."""
    axis = first_axis(study)
    for value in axis["values"]:
        for panel in panels_of_rows(study):
            yield value, panel, [f"{axis['key']} = {value}"] * bool(value) + [panel] * bool(panel)


def runs_of_picture(study, runs, value, panel):
    return in_panel(study, [run for run in runs if not value or run[first_axis(study)["key"]] == value], panel)


def draw(folder, study, runs):
    """A picture for each value of the first swept key and each panel of rows."""
    paths = []
    for value, panel, said in pictures(study):
        some, lost = (runs_of_picture(study, all_runs, value, panel) for all_runs in (runs, failed_runs(study)))
        name = "_".join(["curves", *map(safe, filter(None, (value, panel)))])
        paths += draw_curves(folder, study, some, lost, name, ", ".join([study["title"], *said]))
    return paths

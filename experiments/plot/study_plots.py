"""Pictures of a study: its measure against what it sweeps, learning curves, and where time goes."""

import collections
import math
import statistics

import matplotlib.pyplot as plt

import against
import agreement_plot
import checked
import map_plot
import style
import tables

TIMES = ("summary.iteration_s", "summary.iteration_median_s", "summary.samples_per_s")
ACTIVITIES = [("compute_s", "compute"), ("exposed_s", "exposed")]


def line_of(study, run, name):
    """`name` of a run ("row" or "series") with the swept keys that make lines of their own, as tables have it."""
    return ", ".join([run[name]] + [f"{key}={run[key]}" for key in study.get("line_keys", [])])


def lines_of(study, runs, name):
    """The lines in the order of the study, without repeats."""
    return list(dict.fromkeys(line_of(study, run, name) for run in runs))


def main_runs(runs):
    return [run for run in runs if not run["variant"]]


def draw_sweep(folder, study, runs):
    """The measure against the first swept key, published points as markers and ours as lines; a panel for each value of the
    facet where the study has one."""
    if not study["axes"] or len(study["axes"][0]["values"]) < 2:
        return []
    axis = study["axes"][0]
    xs = [tables.leading_number(value.split("&")[0]) for value in axis["values"]]
    if None in xs:
        return []
    facet = study["measure"].get("facet")
    panels = next((one["values"] for one in study["axes"] if one["key"] == facet), [None])
    lines = {**study, "line_keys": [key for key in study.get("line_keys", []) if key != facet]}
    size = plt.rcParams["figure.figsize"]
    figure, grid = style.panels(1, len(panels), (size[0] * (1 + 0.7 * (len(panels) - 1)), size[1]), sharey=True)
    seen = []
    for axes, panel in zip(grid[0], panels):
        seen += draw_lines(axes, lines, [run for run in runs if panel is None or run[facet] == panel], axis)
    for axes, panel in zip(grid[0], panels):
        scale_axes(axes, study["measure"], xs, seen)
        unit = axis["values"][0].lstrip("0123456789.")
        key = f"{style.readable(axis['key'].split('.')[-1])}{f' ({unit})' if unit.isalpha() else ''}"
        axes.set_xlabel(study["measure"]["x_label"] or key)
        axes.set_title(study["title"] if panel is None else f"{facet} = {panel}")
    grid[0][0].set_ylabel(study["measure"]["label"])
    if facet:
        figure.suptitle(study["title"], x=0.02, ha="left")
    if study["published"]:
        grid[0][-1].plot([], [], "o", color="grey", markerfacecolor="none", label="published points")
    style.legend_outside(grid[0][-1])
    note_calibration(figure, study.get("calibration", {}))
    return style.save(figure, folder, study["name"])


def draw_lines(axes, study, runs, axis):
    """A line a series; returns the values that were drawn."""
    series = lines_of(study, runs, "series")
    colours, markers = style.colours_of(series), style.markers_of(series)
    published = collections.defaultdict(list)
    for point in study["published"]:
        published[point["series"]].append((point["x"], point["value"]))
    seen = []
    for name in series:
        values, errors = collections.defaultdict(list), {}
        for run in runs:
            if line_of(study, run, "series") == name:
                x = tables.leading_number(run[axis["key"]].split("&")[0])
                values[x].append(tables.number(run["measure"]))
                errors[x] = error_bar(run, study)
        line = sorted((x, statistics.median(y)) for x, y in values.items())
        marker = {} if published[name] else {"marker": markers[name], "ms": 5}
        axes.plot([x for x, _ in line], [y for _, y in line], color=colours[name], label=style.readable(name), **marker)
        if any(errors.values()):
            axes.fill_between([x for x, _ in line], [y * (1 - errors[x]) for x, y in line],
                              [y * (1 + errors[x]) for x, y in line], color=colours[name], alpha=0.15, linewidth=0)
        axes.plot([x for x, _ in published[name]], [y for _, y in published[name]], markers[name], color=colours[name], ms=6,
                  markerfacecolor="none", markeredgewidth=1.3)
        seen += [y for _, y in line] + [y for _, y in published[name]]
    return seen


def is_logarithmic(wanted, values):
    """As the study says, where values allow it, or as they span decades."""
    return min(values, default=0) > 0 if wanted == "log" else not wanted and style.spans_decades(values)


def scale_axes(axes, measure, xs, seen):
    if is_logarithmic(measure.get("x_axis"), xs):
        axes.set_xscale("log")
        style.plain_log(axes.xaxis, xs)
    else:
        axes.set_xticks(xs)
    if is_logarithmic(measure.get("y_axis"), seen):
        axes.set_yscale("log")
        style.plain_log(axes.yaxis)


def error_bar(run, study):
    """How far off its measure may be, as a share, where that is a time on a calibrated cluster; else 0."""
    bar = run["json"].get("error_bar") if study["measure"].get("value") in TIMES else None
    return bar["error"] if bar else 0


def note_calibration(figure, calibration):
    """Says below the picture what was calibrated, and where the values come from."""
    values = ", ".join(f"{style.readable(key.split('.')[-1])} {value}" for key, value in calibration.get("values", {}).items())
    if values:
        figure.text(0.02, -0.02, f"calibrated: {values}, {calibration.get('source', '')}", fontsize=8, color="dimgrey")


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
            points.append({"middle": statistics.median(values), "low": min(values), "high": max(values)}
                          | {x: statistics.median(p[x] for p in same) / divisor for x, divisor, _ in scales})
    return points


def draw_learning(folder, study, runs, name, title):
    """Loss and accuracy against time, bytes, energy and money: medians as lines, ranges over seeds as bands."""
    curves = curves_by_line(study, runs)
    keys = [key for key in ("loss", "accuracy") if any(band(c, key) for c in curves.values())]
    if any(point.get("worst_accuracy") not in (None, point["accuracy"]) for some in curves.values() for c in some for point in c):
        keys.append("worst_accuracy")
    if not keys or all(len(c) < 3 for some in curves.values() for c in some):
        return []
    colours = style.colours_of(lines_of(study, runs, "row"))
    scales = against.scales([point for some in curves.values() for c in some for point in c])
    figure, grid = style.panels(len(keys), len(scales), (5 * len(scales), 3.4 * len(keys)), sharey="row", sharex="col")
    for row, key in zip(grid, keys):
        for label, some in curves.items():
            points = band(some, key, scales)
            for axes, (x, _, _) in zip(row, scales):
                at = [p[x] for p in points]
                axes.plot(at, [p["middle"] for p in points], color=colours[label], label=style.readable(label))
                axes.fill_between(at, [p["low"] for p in points], [p["high"] for p in points], color=colours[label], alpha=0.18, linewidth=0)
        if key == "loss" and "goal" in study:
            for axes in row:
                axes.axhline(study["goal"]["loss"], color="grey", linestyle=":", linewidth=1)
        if key == "loss" and style.spans_decades([p["middle"] for some in curves.values() for p in band(some, key)]):
            row[0].set_yscale("log")
            style.plain_log(row[0].yaxis)
        row[0].set_ylabel("accuracy of the worst rank" if key == "worst_accuracy" else key)
    for axes, (_, _, label) in zip(grid[-1], scales):
        axes.set_xlabel(label)
    style.legend_outside(grid[0][-1])
    figure.suptitle(title, x=0.02, ha="left")
    figure.tight_layout()
    return style.save(figure, folder, name)


def draw_all_learning(folder, study, runs):
    """One picture of curves for each value of the first swept key."""
    if not study["axes"]:
        return draw_learning(folder, study, runs, "curves", study["title"])
    paths = []
    key = study["axes"][0]["key"]
    for value in study["axes"][0]["values"]:
        some = [run for run in runs if run[key] == value]
        safe = "".join(c if c.isascii() and (c.isalnum() or c in ".-") else "_" for c in value)[:100]
        paths += draw_learning(folder, study, some, f"curves_{safe}", f"{study['title']}, {key} = {value}")
    return paths


def draw_breakdown(folder, study, runs):
    """Compute and exposed seconds of a step, a bar a line, at the ends of the first swept key."""
    values = study["axes"][0]["values"] if study["axes"] else [None]
    ends = list(dict.fromkeys([values[0], values[-1]]))
    names = lines_of(study, runs, "row")
    figure, grid = style.panels(1, len(ends), (4.8 * len(ends) + 1, 0.36 * len(names) + 1.6), sharey=True)
    for axes, value in zip(grid[0], ends):
        left = dict.fromkeys(names, 0.0)
        for i, (key, label) in enumerate(ACTIVITIES):
            seconds = collections.defaultdict(list)
            for run in runs:
                if value is None or run[study["axes"][0]["key"]] == value:
                    seconds[line_of(study, run, "row")].append(run["json"]["summary"]["breakdown"][key])
            widths = [statistics.median(seconds[name]) if seconds[name] else 0.0 for name in names]
            axes.barh([style.readable(name) for name in names], widths, left=[left[name] for name in names], color=style.COLOURS[i], label=label)
            left = {name: left[name] + width for name, width in zip(names, widths)}
        axes.set_title("" if value is None else f"{study['axes'][0]['key']} = {value}")
        axes.set_xlabel("seconds a step, rank 0")
        axes.grid(axis="y", visible=False)
    grid[0][0].invert_yaxis()
    style.legend_outside(grid[0][-1])
    figure.tight_layout()
    return style.save(figure, folder, "breakdown")


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


def draw(folder):
    study = checked.study(folder / "study.json")
    runs = main_runs(checked.runs(folder, study))
    add_worst_ranks(folder, runs)
    if study.get("measurements"):
        return agreement_plot.draw(folder, study, runs)
    if study.get("map"):
        return map_plot.draw(folder, study, runs)
    return draw_sweep(folder, study, runs) + draw_all_learning(folder, study, runs) + draw_breakdown(folder, study, runs)

"""Pictures of a study: its measure against what it sweeps or by row, learning curves, and where time goes."""

import collections
import statistics

import matplotlib.pyplot as plt

import agreement_plot
import breakdown_plot
import checked
import learning_plot
import map_plot
import rows_plot
import style
import tables
from study_lines import in_panel, line_of, lines_of, panels_of_rows

TIMES = ("summary.iteration_s", "summary.iteration_median_s", "summary.samples_per_s")


def parts_of(study, runs):
    """What each panel of the figure shows: its title and its runs. A panel is a value of the facet, or one that rows name."""
    facet = study["measure"].get("facet")
    if facet:
        values = next(axis["values"] for axis in study["axes"] if axis["key"] == facet)
        return [(f"{facet} = {value}", [run for run in runs if run[facet] == value]) for value in values]
    return [(style.readable(panel) or study["title"], in_panel(study, runs, panel)) for panel in panels_of_rows(study)]


def draw_sweep(folder, study, runs):
    """The measure against the first swept key, published points as markers and ours as lines."""
    if not study["axes"] or len(study["axes"][0]["values"]) < 2:
        return []
    axis = study["axes"][0]
    xs = [tables.leading_number(value.split("&")[0]) for value in axis["values"]]
    if None in xs:
        return []
    parts = parts_of(study, runs)
    lines = {**study, "line_keys": [key for key in study.get("line_keys", []) if key != study["measure"].get("facet")]}
    series = lines_of(lines, runs, "series")
    size = plt.rcParams["figure.figsize"]
    figure, grid = style.panels(1, len(parts), (size[0] * (1 + 0.7 * (len(parts) - 1)), size[1]), sharey=True)
    seen = []
    for axes, (_, some) in zip(grid[0], parts):
        seen += draw_lines(axes, lines, some, axis, series)
    for axes, (title, _) in zip(grid[0], parts):
        scale_axes(axes, study["measure"], xs, seen)
        unit = axis["values"][0].lstrip("0123456789.")
        key = f"{style.readable(axis['key'].split('.')[-1])}{f' ({unit})' if unit.isalpha() else ''}"
        axes.set_xlabel(study["measure"]["x_label"] or key)
        axes.set_title(title)
    grid[0][0].set_ylabel(study["measure"]["label"])
    if len(parts) > 1:
        figure.suptitle(study["title"], x=0.02, ha="left")
    if study["published"]:
        grid[0][-1].plot([], [], "o", color="grey", markerfacecolor="none", label="published points")
    style.legend_outside(grid[0][-1])
    note_calibration(figure, study.get("calibration", {}))
    return style.save(figure, folder, study["name"])


def draw_lines(axes, study, runs, axis, series):
    """A line a series, whose colours are those of all panels; returns the values that were drawn."""
    looks, markers = style.looks_of(series), style.markers_of(series)
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
        axes.plot([x for x, _ in line], [y for _, y in line], label=style.readable(name), **looks[name], **marker)
        if any(errors.values()):
            axes.fill_between([x for x, _ in line], [y * (1 - errors[x]) for x, y in line],
                              [y * (1 + errors[x]) for x, y in line], color=looks[name]["color"], alpha=0.15, linewidth=0)
        axes.plot([x for x, _ in published[name]], [y for _, y in published[name]], markers[name], color=looks[name]["color"], ms=6,
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


def draw(folder):
    study = checked.study(folder / "study.json")
    runs = [run for run in checked.runs(folder, study) if not run["variant"]]
    learning_plot.add_worst_ranks(folder, runs)
    if study.get("measurements"):
        return agreement_plot.draw(folder, study, runs)
    if study.get("map"):
        return map_plot.draw(folder, study, runs)
    return (draw_sweep(folder, study, runs) + rows_plot.draw(folder, study, runs) + learning_plot.draw(folder, study, runs)
            + breakdown_plot.draw(folder, study, runs))

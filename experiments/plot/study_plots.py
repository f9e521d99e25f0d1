"""Pictures of a study: its measure against what it sweeps or by row, learning curves, and where time goes."""

import collections
import functools
import math

import matplotlib.pyplot as plt

import agreement_plot
import breakdown_plot
import checked
import learning_plot
import map_plot
import rows_plot
import style
import tables
from study_lines import error_of, failed_runs, in_panel, line_of, lines_of, missing_note, panels_of_rows, spread_note, spread_of

TIMES = ("summary.iteration_s", "summary.iteration_median_s", "summary.samples_per_s")


def parts_of(study, runs):
    """What each panel of the figure shows: its title and its runs. A panel is a value of the facet, or one that rows name."""
    facet = study["measure"].get("facet")
    if facet:
        values = next(axis["values"] for axis in study["axes"] if axis["key"] == facet)
        return [(f"{facet} = {value}", [run for run in runs if run[facet] == value]) for value in values]
    return [(panel or study["title"], in_panel(study, runs, panel)) for panel in panels_of_rows(study)]


@functools.cache
def numbers_along(values):
    """Of swept values, by their texts, and the unit; of values that go together, the first."""
    return tables.numbers_of([value.split("&")[0] for value in values])


def x_of(axis, value):
    """Where a swept value stands on its axis; None for one that is no number."""
    return numbers_along(tuple(axis["values"]))[0][value.split("&")[0]]


def draw_sweep(folder, study, runs):
    """The measure against the first swept key, published points as markers and ours as lines."""
    if not study["axes"] or len(study["axes"][0]["values"]) < 2:
        return []
    axis = study["axes"][0]
    xs = [x_of(axis, value) for value in axis["values"]]
    if None in xs:
        return []
    lines = {**study, "line_keys": [key for key in study.get("line_keys", []) if key != study["measure"].get("facet")]}
    series = lines_of(lines, runs, "series")
    parts, failed = parts_of(study, runs), parts_of(study, failed_runs(study))
    size = plt.rcParams["figure.figsize"]
    figure, grid = style.panels(1, len(parts), (size[0] * (1 + 0.7 * (len(parts) - 1)), size[1]), sharey=True)
    spreads = [{name: spreads_of(lines, some, axis, name) for name in series} for _, some in parts]
    drawn = [draw_lines(axes, lines, some, axis, spread, xs) for axes, (_, some), spread in zip(grid[0], parts, spreads)]
    lost = [draw_lost(axes, lines, gone, axis, spread) for axes, (_, gone), spread in zip(grid[0], failed, spreads)]
    seen = [value for some in drawn for value in some]
    for axes, (title, _) in zip(grid[0], parts):
        scale_axes(axes, study["measure"], xs, seen)
        unit = numbers_along(tuple(axis["values"]))[1]
        key = f"{axis['key'].split('.')[-1]}{f' ({unit})' if unit.isalpha() else ''}"
        axes.set_xlabel(study["measure"]["x_label"] or key)
        axes.set_title(title)
    grid[0][0].set_ylabel(study["measure"]["label"])
    if len(parts) > 1:
        figure.suptitle(study["title"], x=0.02, ha="left")
    if study["published"]:
        grid[0][-1].plot([], [], "o", color="grey", markerfacecolor="none", label="published points")
    label_lost(grid[0][-1], study, [one for some in lost for one in some])
    style.legend_outside(grid[0][-1])
    add_notes(figure, study, runs)
    return style.save(figure, folder, study["name"])


def spreads_of(study, runs, axis, name):
    """The spread of a line's measures at each x, over all its runs there."""
    values = collections.defaultdict(list)
    for run in runs:
        if line_of(study, run, "series") == name:
            values[x_of(axis, run[axis["key"]])].append(tables.number(run["measure"]))
    return {x: spread_of(some) for x, some in values.items()}


def draw_lines(axes, study, runs, axis, spreads, all_xs):
    """A line for each name of `spreads`, with gaps where it has no number, whose colours are those of all panels, with whiskers over the
    runs of a point and a band as wide as the error bar of predictions; returns the values that were drawn."""
    looks, markers = style.looks_of(spreads), style.markers_of(spreads)
    published = collections.defaultdict(list)
    for point in study["published"]:
        published[point["series"]].append((point["x"], point["value"]))
    seen = []
    for name, at in spreads.items():
        own = [run for run in runs if line_of(study, run, "series") == name]
        errors = {x_of(axis, run[axis["key"]]): error_bar(run, study) for run in own}
        drawn = {x_of(axis, run[axis["key"]]): ends for run in own if (ends := drawn_ends(run))}
        line = sorted((x, *spread) for x, spread in at.items() if spread and spread[0] < math.inf)
        gaps = [(x, *[math.nan] * 4) for x in all_xs if line and x not in [x for x, *_ in line]]
        xs, middles, lows, highs = ([point[i] for point in sorted(line + gaps)] for i in range(4))
        marker = {} if published[name] else {"marker": markers[name], "ms": style.dot(5)}
        axes.plot(xs, middles, label=name, **looks[name], **marker)
        if any(low < high for low, high in zip(lows, highs)):
            axes.errorbar(xs, middles, [[m - low for m, low in zip(middles, lows)], [high - m for m, high in zip(middles, highs)]],
                          fmt="none", ecolor=looks[name]["color"], elinewidth=1, capsize=2.5)
        if drawn or any(errors.values()):
            bands = [drawn.get(x, (y * (1 - errors.get(x, 0)), y * (1 + errors.get(x, 0)))) for x, y in zip(xs, middles)]
            axes.fill_between(xs, *zip(*bands), color=looks[name]["color"], alpha=0.15, linewidth=0)
        axes.plot([x for x, _ in published[name]], [y for _, y in published[name]], markers[name], color=looks[name]["color"], ms=style.dot(6),
                  markerfacecolor="none", markeredgewidth=1.3)
        seen += [value for _, _, low, high, _ in line for value in (low, high)] + [y for _, y in published[name]]
    return seen


LOST = {"failed": "x", "never": "^", "some never": "o"}


def draw_lost(axes, study, failed, axis, spreads):
    """Marks points whose runs failed at the lower edge, and those whose median has no number at the upper one, one above the other; points
    of which some runs have no number are hollow. Returns the kinds that were drawn."""
    looks, kinds = style.looks_of(spreads), []
    at_edges, marked = axes.get_xaxis_transform(), collections.Counter()

    def inwards(kind, x):
        marked[kind, x] += 1
        return 0.035 * marked[kind, x] - 0.015

    for name, at in spreads.items():
        gone = {x_of(axis, run[axis["key"]]) for run in failed if line_of(study, run, "series") == name}
        never = [x for x, spread in at.items() if not spread or spread[0] == math.inf]
        some = [(x, spread[0]) for x, spread in at.items() if spread and spread[3] and spread[0] < math.inf]
        look = {"color": looks[name]["color"], "linestyle": "none", "ms": style.dot(5)}
        for kind, xs, ys, where in (("failed", gone, [inwards("failed", x) for x in gone], {"transform": at_edges}),
                                    ("never", never, [1 - inwards("never", x) for x in never], {"transform": at_edges}),
                                    ("some never", *([point[i] for point in some] for i in (0, 1)), {"markerfacecolor": "white", "zorder": 4})):
            if xs:
                axes.plot([*xs], ys, LOST[kind], **look, **where)
                kinds.append(kind)
    return kinds


def label_lost(axes, study, kinds):
    """Says in the legend what those marks are."""
    never = "never get there" if "_to_goal" in study["measure"].get("value", "") else "have no number"
    labels = {"failed": "a run failed", "never": f"half of the runs {never}", "some never": f"some runs {never}"}
    for kind in LOST:
        if kind in kinds:
            axes.plot([], [], LOST[kind], color="grey", ms=style.dot(5), markerfacecolor="white" if kind == "some never" else "grey", label=labels[kind])


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
        style.few_ticks(axes.yaxis, seen)


def error_bar(run, study):
    """How far off its measure may be, as a share, where that is a time on a calibrated cluster; else 0."""
    return error_of(run) if study["measure"].get("value") in TIMES else 0


def drawn_ends(run):
    """Between which 68 % of draws lie; None of a run that has none, as of all seeds but the first."""
    ends = [tables.number(run.get(name) or "nan") for name in ("least_68", "most_68")]
    return ends if all(math.isfinite(end) for end in ends) else None


def add_notes(figure, study, runs):
    """Says below the picture what whiskers and bands are, what was calibrated and where the values come from, and what is missing."""
    counts = collections.Counter((line_of(study, run, "series"), run[study["axes"][0]["key"]]) for run in runs)
    style.note(figure, spread_note(counts.values(), "whiskers"))
    if any(run.get("least_68") for run in runs):
        style.note(figure, "Bands are where 68 % of draws lie, of what is not known exactly and of the model's own error.")
    elif any(error_bar(run, study) for run in runs):
        style.note(figure, "Bands are the error bar of predictions, from the cluster's calibration.")
    calibration = study.get("calibration", {})
    values = ", ".join(f"{key.split('.')[-1]} {value}" for key, value in calibration.get("values", {}).items())
    style.note(figure, f"Calibrated: {values}, {calibration.get('source', '')}." if values else "")
    style.note(figure, missing_note(study))


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

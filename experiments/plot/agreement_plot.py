"""Predicted against measured seconds of a study of measurements, by source, and their ratio below."""

import matplotlib.pyplot as plt
from matplotlib.ticker import NullLocator

import style
import tables
from study_lines import missing_note

BANDS = ((1.1, "--"), (1.25, ":"))


def points_of(study, runs):
    """Source → (measured, predicted, whether it was used to find a parameter), of what a logarithmic axis can show."""
    predicted = {run["row"]: tables.number(run["measure"]) for run in runs}
    points = {}
    for one in study["measurements"]:
        ours = predicted.get(one["row"], 0)
        if one["seconds"] > 0 and ours > 0:
            points.setdefault(one["source"], []).append((one["seconds"], ours, bool(one["used"])))
    return points


def draw_bands(axes, ends, base):
    """What agrees, and bands around it: `base` of each end."""
    axes.plot(ends, [base(end) for end in ends], color="grey", linewidth=1, label="as measured")
    for factor, line in BANDS:
        for one in (factor, 1 / factor):
            axes.plot(ends, [base(end) * one for end in ends], line, color="grey", linewidth=0.8,
                      label=f"within {round(100 * (factor - 1))} %" if one == factor else None)


def scatter(axes, points, look):
    """Full markers are predictions, hollow ones were used to find a parameter."""
    for used in (False, True):
        some = [(x, y) for x, y, was_used in points if was_used == used]
        axes.plot([x for x, _ in some], [y for _, y in some], look["marker"], color=look["color"], ms=5, alpha=0.8,
                  label=None if used else look["label"], markerfacecolor="none" if used else look["color"],
                  markeredgewidth=1, linestyle="none")


def draw(folder, study, runs):
    points = points_of(study, runs)
    if not points:
        return []
    seen = [value for some in points.values() for x, y, _ in some for value in (x, y)]
    ends = [min(seen) / 1.5, max(seen) * 1.5]
    figure, (above, below) = plt.subplots(2, 1, figsize=(7.5, 8), sharex=True, height_ratios=[2, 1])
    draw_bands(above, ends, lambda end: end)
    draw_bands(below, ends, lambda end: 1)
    colours, markers = style.colours_of(points), style.markers_of(points)
    for source, some in points.items():
        look = {"color": colours[source], "marker": markers[source], "label": source}
        scatter(above, some, look)
        scatter(below, [(x, y / x, used) for x, y, used in some], look)
    if any(used for some in points.values() for _, _, used in some):
        above.plot([], [], "o", color="grey", markerfacecolor="none", linestyle="none", label="used for a parameter")
    for axes in (above, below):
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlim(*ends)
        style.plain_log(axes.yaxis)
    style.plain_log(below.xaxis)
    above.set_ylim(*ends)
    ratios = [0.25, 0.5, 0.8, 1, 1.25, 2, 4]
    below.set_ylim(min(0.25, *(y / x for some in points.values() for x, y, _ in some)),
                   max(4, *(y / x for some in points.values() for x, y, _ in some)))
    below.set_yticks(ratios)
    below.yaxis.set_minor_locator(NullLocator())
    below.set_xlabel("measured seconds of an iteration")
    above.set_ylabel("predicted")
    below.set_ylabel("predicted / measured")
    above.set_title(study["title"])
    style.legend_outside(above)
    figure.tight_layout()
    style.note(figure, missing_note(study))
    return style.save(figure, folder, study["name"])

"""The measure of a study that sweeps nothing: a dot a row at its median, with the range over its runs, best on top."""

import math
import statistics

import matplotlib.pyplot as plt

import style
import tables
from study_lines import panels_of_rows


def measures_of(study, runs):
    """Row → its measures, without those of runs that diverged; rows that have none are left out."""
    values = {row["name"]: [] for row in study["rows"]}
    for run in runs:
        value = tables.number(run["measure"])
        if math.isfinite(value):
            values[run["row"]].append(value)
    return {row: found for row, found in values.items() if found}


def draw(folder, study, runs):
    """Rows of a panel share a colour; rows of every panel, which others are compared with, are black and have a line."""
    values = measures_of(study, runs)
    if study["axes"] or len(values) < 2:
        return []
    names = sorted(values, key=lambda row: statistics.median(values[row]))
    panels = panels_of_rows(study)
    colours = {"": "black"} | style.colours_of(panels)
    panel = {row["name"]: row.get("panel", "") for row in study["rows"]}
    figure, axes = plt.subplots(figsize=(8.6, 0.19 * len(names) + 1.6))
    for one in filter(None, panels):
        axes.plot([], [], "o", color=colours[one], ms=5, label=style.readable(one))
    for place, row in enumerate(names):
        middle, colour = statistics.median(values[row]), colours[panel[row]]
        if panels != [""] and not panel[row]:
            axes.axvline(middle, color="grey", linestyle=":", linewidth=1, zorder=0)
        axes.plot([min(values[row]), max(values[row])], [place, place], color=colour, linewidth=1.4)
        axes.plot(middle, place, "o", color=colour, ms=5)
    axes.set_yticks(range(len(names)), [style.readable(row) for row in names], fontsize=8.5)
    axes.set_ylim(len(names) - 0.3, -0.7)
    if style.spans_decades([value for found in values.values() for value in found]):
        axes.set_xscale("log")
        style.plain_log(axes.xaxis)
    axes.set_xlabel(study["measure"]["label"] + (": median and range" if max(map(len, values.values())) > 1 else ""))
    axes.set_title(study["title"])
    axes.grid(axis="y", alpha=0.15)
    if panels != [""]:
        style.legend_outside(axes)
    return style.save(figure, folder, study["name"])

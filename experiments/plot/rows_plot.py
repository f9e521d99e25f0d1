"""The measure of a study that sweeps nothing: a dot a row at its median, with the range over its runs, best on top."""

import matplotlib.pyplot as plt

import style
import tables
from study_lines import missing_note, panels_of_rows, spread_note, spread_of


def measures_of(study, runs):
    """Row → its measures, in the study's order; rows without runs are left out."""
    values = {row["name"]: [] for row in study["rows"]}
    for run in runs:
        values[run["row"]].append(tables.number(run["measure"]))
    return {row: found for row, found in values.items() if found}


def draw(folder, study, runs):
    """Rows of a panel share a colour; rows of every panel, which others are compared with, are black and have a line."""
    if study["axes"]:
        return []
    values = measures_of(study, runs)
    spreads = {row: spread for row, found in values.items() if (spread := spread_of(found))}
    if len(spreads) < 2:
        return []
    names = sorted(spreads, key=lambda row: spreads[row][0])
    panels = panels_of_rows(study)
    colours = {"": "black"} | style.colours_of(panels)
    panel = {row["name"]: row.get("panel", "") for row in study["rows"]}
    figure, axes = plt.subplots(figsize=(8.6, 0.19 * len(names) + 1.6))
    for one in filter(None, panels):
        axes.plot([], [], "o", color=colours[one], ms=5, label=one)
    for place, row in enumerate(names):
        (middle, low, high, lost), colour = spreads[row], colours[panel[row]]
        if panels != [""] and not panel[row]:
            axes.axvline(middle, color="grey", linestyle=":", linewidth=1, zorder=0)
        axes.plot([low, high], [place, place], color=colour, linewidth=1.4)
        axes.plot(middle, place, "o", color=colour, ms=style.dot(5), markerfacecolor="white" if lost else colour)
    axes.set_yticks(range(len(names)), names, fontsize=min(8.5, plt.rcParams["font.size"]))
    style.keep_apart(figure, len(names))
    axes.set_ylim(len(names) - 0.3, -0.7)
    ends = [end for _, low, high, _ in spreads.values() for end in (low, high)]
    if style.spans_decades(ends):
        axes.set_xscale("log")
        style.few_ticks(axes.xaxis, ends)
    axes.set_xlabel(study["measure"]["label"])
    axes.set_title(study["title"])
    axes.grid(axis="y", alpha=0.15)
    if panels != [""]:
        style.legend_outside(axes)
    style.note(figure, spread_note([len(found) for found in values.values()], "bars"))
    style.note(figure, "A hollow dot is of a row with runs that have no number." if any(lost for *_, lost in spreads.values()) else "")
    style.note(figure, missing_note(study))
    without = [row for row in values if row not in spreads]
    style.note(figure, f"Without a number in any run: {', '.join(without)}." if without else "")
    return style.save(figure, folder, study["name"])

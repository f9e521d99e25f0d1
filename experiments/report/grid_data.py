"""A grid of times as numbers: of each row of a study at each combination of what it sweeps, with error bars."""

import math
import statistics

import map_plot
import style
import tables
from curve_data import rounded
from study_lines import error_of, missing_note

MOST_CELLS = 200_000


def axes_of(study):
    """The swept keys with more than one value, but for seeds, over which medians are taken; numeric ones in the order of their numbers."""
    found = []
    for axis in study["axes"]:
        if axis["key"] == "seed" or len(axis["values"]) < 2:
            continue
        numbers = [tables.quantity(value) for value in axis["values"]]
        values = axis["values"] if None in numbers else [value for _, value in sorted(zip(numbers, axis["values"]))]
        found.append({"key": axis["key"], "label": axis["key"].split(".")[-1], "values": values})
    return found


def measured(study, runs, axes, row):
    """The median measure over seeds and the widest error bar at each place of the grid, the last axis fastest; None where there is none."""
    count = math.prod(len(axis["values"]) for axis in axes)
    values, errors = [[] for _ in range(count)], [0.0] * count
    for run in runs:
        if run["row"] != row:
            continue
        place = 0
        for axis in axes:
            place = place * len(axis["values"]) + axis["values"].index(run[axis["key"]])
        value = tables.number(run["measure"])
        if math.isfinite(value) and value > 0:
            values[place].append(value)
        errors[place] = max(errors[place], error_of(run, study.get("map", {}).get("error", 0.0)))
    return [rounded(statistics.median(some)) if some else None for some in values], [rounded(error) for error in errors]


def of(study, runs):
    """None without something to choose: a row alone, nothing swept, or more cells than a page should hold."""
    axes = axes_of(study)
    rows = [row["name"] for row in study["rows"]]
    if not axes or len(rows) < 2 or len(rows) * math.prod(len(axis["values"]) for axis in axes) > MOST_CELLS:
        return None
    colours = style.colours_of(rows)
    against = study.get("map", {}).get("against", rows[0])
    cells = [(row, *measured(study, runs, axes, row)) for row in rows]
    steps = study.get("map", {}).get("steps", {})
    return {"kind": "grid", "title": "Which is fastest where", "axes": axes, "measure": study["measure"]["label"], "against": against, "goal": study.get("goal", {}).get("loss"), "called": map_plot.CALLED,
            "note": missing_note(study),
            "rows": [{"name": row, "colour": colours[row], "values": values, "errors": errors, "steps": steps.get(row, 0)} for row, values, errors in cells]}

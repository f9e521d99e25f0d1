"""Pictures of one run: loss and accuracy against time, bytes, energy and money, and where its time goes."""

import itertools
import math

import matplotlib.pyplot as plt

import against
import checked
import style
import tables
from checked import ACTIVITIES, EXPENSES

STEP_COLUMNS = {"step", "rank", "time_s", "loss", "bytes_sent", "bytes_between_nodes", *ACTIVITIES, *EXPENSES}
MOST_PANELS = 10


def scored(curve, key):
    return [point for point in curve if point[key] is not None]


def draw_curves(folder, run):
    curve, view = run["curve"], against.view_of({})
    keys = against.scores([key for key in ("loss", "accuracy") if scored(curve, key)], view)
    if not keys:
        return []
    scales = against.scales(curve, view)
    figure, grid = style.panels(len(keys), len(scales), (max(4.5 * len(scales), 5.5), 3 * len(keys)), sharey="row")
    for row, key in zip(grid, keys):
        points = scored(curve, key)
        row[0].set_ylabel(key)
        for axes, scale in zip(row, scales):
            x, divisor, _ = scale
            axes.plot([p[x] / divisor for p in points], [p[key] for p in points], "o-", ms=4, color=style.COLOURS[0])
            against.scale_x(axes, scale, [points], view)
        against.limit_y(row, key, view)
    figure.suptitle(f"{run['workload']['description']}, {run['configuration']['flags']['algorithm']}{checked.early_end(run)}", x=0.02, ha="left")
    figure.tight_layout()
    return style.save(figure, folder, "curves")


def draw_breakdown(folder, run):
    breakdown = run["summary"]["breakdown"]
    seconds, unit = style.time_unit(max(max(breakdown.values()), 1e-9))
    figure, axes = plt.subplots(figsize=(7.5, 2.6))
    for i, key in enumerate(ACTIVITIES):
        value = breakdown[key] / seconds
        axes.barh(i, value, color=style.COLOURS[i])
        axes.annotate(f" {value:.3g}", (value, i), va="center")
    axes.set_yticks(range(len(ACTIVITIES)), [key[:-2] for key in ACTIVITIES])
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.set_xlabel(f"mean of a step ({unit}); compute and exposed add up to it, the others may overlap")
    axes.set_title(f"rank 0's time{checked.early_end(run)}")
    return style.save(figure, folder, "breakdown")


def recorded_columns(path, rows):
    """Those that an algorithm recorded, beside the columns of every run."""
    columns = [column for column in (rows[0] if rows else []) if column not in STEP_COLUMNS]
    for column in columns:
        checked.name(column, f"'{path}', a column")
    return columns


def draw_steps(folder, run):
    path = folder / "steps.csv"
    rows = [row for row in tables.rows_of(path, ["rank", "loss", "time_s"]) if row["rank"] == "0"]
    values = {column: [tables.number(row[column]) for row in rows] for column in ["loss", *recorded_columns(path, rows)]}
    drawn = [column for column, numbers in values.items() if any(map(math.isfinite, numbers))][:MOST_PANELS]
    if not drawn:
        return []
    figure, grid = plt.subplots(len(drawn), figsize=(7.5, 1.2 + 2 * len(drawn)), squeeze=False, sharex=True)
    for axes, column, colour in zip(grid[:, 0], drawn, itertools.cycle(style.COLOURS)):
        points = [(tables.number(row["time_s"]), value) for row, value in zip(rows, values[column]) if math.isfinite(value)]
        axes.plot(*zip(*points), color=colour, linewidth=1)
        axes.set_ylabel("loss of rank 0's batch" if column == "loss" else column)
    grid[0, 0].set_title(checked.early_end(run).strip())
    grid[-1, 0].set_xlabel("time (s)")
    return style.save(figure, folder, "steps")


def draw(folder):
    run = checked.run(folder / "run.json")
    return draw_curves(folder, run) + draw_breakdown(folder, run) + draw_steps(folder, run)

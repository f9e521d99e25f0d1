"""Pictures of one run: loss and accuracy against time and against bytes, and where its time goes."""

import math

import matplotlib.pyplot as plt

import checked
import style
import tables
from checked import ACTIVITIES


def scored(curve, key):
    return [point for point in curve if point[key] is not None]


def draw_curves(folder, run):
    curve = run["curve"]
    keys = [key for key in ("loss", "accuracy") if scored(curve, key)]
    if not keys:
        return []
    figure, grid = plt.subplots(len(keys), 2, figsize=(9, 3 * len(keys)), squeeze=False, sharey="row")
    divisor, unit = style.bytes_unit(max(point["bytes_mean"] for point in curve))
    seconds, seconds_unit = style.time_unit(max(point["time_s"] for point in curve))
    for row, key in zip(grid, keys):
        points = scored(curve, key)
        row[0].plot([p["time_s"] / seconds for p in points], [p[key] for p in points], "o-", ms=4, color=style.COLOURS[0])
        row[1].plot([p["bytes_mean"] / divisor for p in points], [p[key] for p in points], "o-", ms=4, color=style.COLOURS[1])
        row[0].set_ylabel(key)
        row[0].set_xlabel(f"time ({seconds_unit})")
        row[1].set_xlabel(f"sent by a rank, mean ({unit})")
    figure.suptitle(f"{run['workload']['description']}, {run['configuration']['flags']['algorithm']}", x=0.02, ha="left")
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
    axes.set_title("rank 0's time")
    return style.save(figure, folder, "breakdown")


def draw_steps(folder):
    rows = [row for row in tables.rows_of(folder / "steps.csv", ["rank", "loss", "time_s"]) if row["rank"] == "0"]
    losses = [tables.number(row["loss"]) for row in rows]
    if not any(math.isfinite(loss) for loss in losses):
        return []
    figure, axes = plt.subplots(figsize=(7.5, 3.2))
    axes.plot([tables.number(row["time_s"]) for row in rows], losses, color=style.COLOURS[0], linewidth=1)
    axes.set_xlabel("time (s)")
    axes.set_ylabel("loss of rank 0's batch")
    return style.save(figure, folder, "steps")


def draw(folder):
    run = checked.run(folder / "run.json")
    return draw_curves(folder, run) + draw_breakdown(folder, run) + draw_steps(folder)

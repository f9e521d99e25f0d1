"""Pictures of two runs beside each other, as of a real job and of its simulation: loss and accuracy by step and by time, the
loss of each step, and where time goes."""

import math

import matplotlib.pyplot as plt

import checked
import style
import tables
from checked import ACTIVITIES
from unusable import Unusable


def labels_of(folders):
    """What is different at the end of their paths."""
    for parts in range(1, max(len(folder.parts) for folder in folders) + 1):
        labels = ["/".join(folder.parts[-parts:]) for folder in folders]
        if len(set(labels)) == len(labels):
            return [label.replace("$", r"\$") for label in labels]
    raise Unusable(f"'{folders[0]}' is given twice; give the folders of two runs")


def draw_curves(folder, runs, labels):
    keys = [key for key in ("loss", "accuracy") if any(point[key] is not None for run in runs for point in run["curve"])]
    if not keys:
        return []
    figure, grid = plt.subplots(len(keys), 2, figsize=(9, 0.6 + 3 * len(keys)), squeeze=False, sharey="row")
    times = [point["time_s"] for run in runs for point in run["curve"]]
    seconds, unit = style.time_unit(max(times))
    logarithmic = style.spans_decades([run["curve"][-1]["time_s"] for run in runs if run["curve"]])
    for row, key in zip(grid, keys):
        for run, label, colour, marker in zip(runs, labels, style.COLOURS, style.MARKERS):
            points = [point for point in run["curve"] if point[key] is not None]
            look = {"label": label, "color": colour, "marker": marker, "ms": 4}
            row[0].plot([point["step"] for point in points], [point[key] for point in points], **look)
            row[1].plot([point["time_s"] / seconds for point in points], [point[key] for point in points], **look)
        if logarithmic:
            row[1].set_xscale("log", nonpositive="mask")
            style.plain_log(row[1].xaxis)
        row[0].set_ylabel(key)
        row[0].set_xlabel("steps")
        row[1].set_xlabel(f"time ({unit})")
    style.legend_outside(grid[0, 1])
    figure.tight_layout()
    return style.save(figure, folder, "compared_curves")


def draw_breakdowns(folder, runs, labels):
    """Each on its own scale, since one may be a model of another machine."""
    figure, panels = plt.subplots(1, len(runs), figsize=(9, 2.6), sharey=True)
    for axes, run, label, colour in zip(panels, runs, labels, style.COLOURS):
        breakdown = run["summary"]["breakdown"]
        seconds, unit = style.time_unit(max(max(breakdown.values()), 1e-9))
        values = [breakdown[key] / seconds for key in ACTIVITIES]
        axes.barh(range(len(values)), values, color=colour)
        for i, value in enumerate(values):
            axes.annotate(f" {value:.3g}", (value, i), va="center")
        axes.set_yticks(range(len(values)), [key[:-2] for key in ACTIVITIES])
        axes.margins(x=0.2)
        axes.grid(axis="y", visible=False)
        axes.set_xlabel(f"mean of a step of rank 0 ({unit})")
        axes.set_title(label)
    panels[0].invert_yaxis()
    figure.tight_layout()
    return style.save(figure, folder, "compared_breakdown")


def draw_steps(folder, folders, labels):
    figure, axes = plt.subplots(figsize=(7.5, 3.2))
    drawn = False
    for place, label, colour in zip(folders, labels, style.COLOURS):
        rows = [row for row in tables.rows_of(place / "steps.csv", ["step", "rank", "loss"]) if row["rank"] == "0"]
        points = [(tables.number(row["step"]), tables.number(row["loss"])) for row in rows]
        points = [point for point in points if all(map(math.isfinite, point))]
        if points:
            axes.plot(*zip(*points), color=colour, linewidth=1, label=label)
            drawn = True
    if not drawn:
        plt.close(figure)
        return []
    axes.set_xlabel("step")
    axes.set_ylabel("loss of rank 0's batch")
    style.legend_outside(axes)
    figure.tight_layout()
    return style.save(figure, folder, "compared_steps")


def draw(folders):
    for folder in folders:
        if (folder / "study.json").exists():
            raise Unusable(f"'{folder}' holds a study; two runs are drawn beside each other")
    labels = labels_of(folders)
    runs = [checked.run_by_step(folder / "run.json") for folder in folders]
    return draw_curves(folders[0], runs, labels) + draw_breakdowns(folders[0], runs, labels) + draw_steps(folders[0], folders, labels)

"""Pictures of several runs beside each other, as of a real job and of its simulation: loss and accuracy by step, by time and by bytes,
the loss of each step, and where time goes."""

import itertools
import math

import matplotlib.pyplot as plt

import against
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
    raise Unusable(f"'{folders[0]}' is given twice; give the folders of different runs")


def draw_curves(folder, runs, looks):
    curves, view = [run["curve"] for run in runs], against.view_of({})
    keys = [key for key in ("loss", "accuracy") if any(point[key] is not None for curve in curves for point in curve)]
    keys = against.scores(keys, view)
    if not keys:
        return []
    scales = against.scales([point for curve in curves for point in curve], view)
    figure, grid = style.panels(len(keys), len(scales), (max(4 * len(scales), 5.5), 0.6 + 3 * len(keys)), sharey="row")
    for row, key in zip(grid, keys):
        for axes, scale in zip(row, scales):
            x, divisor, _ = scale
            for curve, look in zip(curves, looks):
                points = [point for point in curve if point[key] is not None]
                axes.plot([point[x] / divisor for point in points], [point[key] for point in points], **look)
            against.scale_x(axes, scale, curves, view)
        against.limit_y(row, key, view)
        row[0].set_ylabel(key)
    figure.tight_layout()
    style.legend_outside(grid[0, -1])
    return style.save(figure, folder, "compared_curves")


def draw_breakdowns(folder, runs, looks):
    """Each on its own scale, since one may be a model of another machine."""
    across = min(len(runs), 3)
    down = -(-len(runs) // across)
    figure, grid = style.panels(down, across, (3.5 * across + 2, 2.6 * down), sharey=True)
    for axes, run, look in itertools.zip_longest(grid.flat, runs, looks):
        if run is None:
            axes.set_axis_off()
            continue
        breakdown = run["summary"]["breakdown"]
        seconds, unit = style.time_unit(max(max(breakdown.values()), 1e-9))
        values = [breakdown[key] / seconds for key in ACTIVITIES]
        axes.barh(range(len(values)), values, color=look["color"])
        for i, value in enumerate(values):
            axes.annotate(f" {value:.3g}", (value, i), va="center")
        axes.set_yticks(range(len(values)), [key[:-2] for key in ACTIVITIES])
        axes.margins(x=0.2)
        axes.grid(axis="y", visible=False)
        axes.set_xlabel(f"mean of a step of rank 0 ({unit})")
        axes.set_title(look["label"])
    grid[0, 0].invert_yaxis()
    figure.tight_layout()
    return style.save(figure, folder, "compared_breakdown")


def draw_steps(folder, folders, looks):
    figure, axes = plt.subplots(figsize=(7.5, 3.2))
    drawn = False
    for place, look in zip(folders, looks):
        rows = [row for row in tables.rows_of(place / "steps.csv", ["step", "rank", "loss"]) if row["rank"] == "0"]
        points = [(tables.number(row["step"]), tables.number(row["loss"])) for row in rows]
        points = [point for point in points if all(map(math.isfinite, point))]
        if points:
            axes.plot(*zip(*points), linewidth=1, color=look["color"], linestyle=look["linestyle"], label=look["label"])
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
            raise Unusable(f"'{folder}' holds a study; runs are drawn beside each other")
    runs = [checked.run(folder / "run.json") for folder in folders]
    labels = [label + checked.early_end(run) for label, run in zip(labels_of(folders), runs)]
    looks, marks = style.looks_of(labels), style.marks_of(labels, max(len(run["curve"]) for run in runs))
    looks = [{"label": label, **looks[label], **marks[label]} for label in labels]
    return draw_curves(folders[0], runs, looks) + draw_breakdowns(folders[0], runs, looks) + draw_steps(folders[0], folders, looks)

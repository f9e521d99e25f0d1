"""A winner map: which row is fastest where, over two swept keys, with lines where that changes, and by how much the fastest
beats the row that others are compared with. Between the grid's points times are interpolated, logarithms over logarithms."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap, LogNorm
from matplotlib.patches import Patch

import style
import tables

FINE = 240
SPEEDUPS = [1, 1.5, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000]
NOT_TOLD = {"against": "////", "another": "...."}


def times_of(study, runs):
    """Row → its measures, by value of the second key and of the first, and the positions of those values."""
    xs, ys = ([tables.quantity(value) for value in axis["values"]] for axis in study["axes"])
    if any(value is None or value <= 0 for value in xs + ys) or len(set(xs)) < 2 or len(set(ys)) < 2:
        return None
    places = [{value: i for i, value in enumerate(axis["values"])} for axis in study["axes"]]
    times = {row["name"]: np.full((len(ys), len(xs)), np.nan) for row in study["rows"]}
    for run in runs:
        x, y = (place[run[axis["key"]]] for place, axis in zip(places, study["axes"]))
        times[run["row"]][y, x] = tables.number(run["measure"])
    by_x, by_y = np.argsort(xs), np.argsort(ys)
    times = {row: values[np.ix_(by_y, by_x)] for row, values in times.items()}
    times = {row: values for row, values in times.items() if np.isfinite(values).all() and (values > 0).all()}
    return times, np.log(np.sort(xs)), np.log(np.sort(ys))


def finer(values, xs, ys, fine_xs, fine_ys):
    """Bilinear in logarithms."""
    along = np.array([np.interp(fine_xs, xs, row) for row in np.log(values)])
    return np.array([np.interp(fine_ys, ys, column) for column in along.T]).T


def lines_between(axes, xs, ys, winner):
    """A line wherever another row is fastest."""
    for row in np.unique(winner):
        if (winner != row).any():
            axes.contour(xs, ys, (winner == row).astype(float), levels=[0.5], colors="black", linewidths=0.8)


def hatch(axes, xs, ys, where, pattern):
    if where.any():
        axes.contourf(xs, ys, where.astype(float), levels=[0.5, 1.5], colors="none", hatches=[pattern])


def first_not_told(logs, facts):
    """Of rows that the error bar does not tell from the fastest, the one that stands first in the study."""
    return np.argmax(logs - logs.min(axis=0) < -np.log(1 - facts["error"]), axis=0)


def draw_winners(axes, fine_xs, fine_ys, names, logs, facts, winner, colours):
    order = np.sort(logs, axis=0)
    seen = [i for i in range(len(names)) if (winner == i).any()]
    colour_map = ListedColormap([colours[names[i]] for i in seen])
    axes.pcolormesh(fine_xs, fine_ys, np.searchsorted(seen, winner), cmap=colour_map, vmin=-0.5, vmax=len(seen) - 0.5,
                    alpha=0.75, rasterized=True, shading="nearest")
    lines_between(axes, fine_xs, fine_ys, winner)
    bar = -np.log(1 - facts["error"])
    against = names.index(facts["against"]) if facts["against"] in names else None
    near = logs[against] - order[0] < bar if against is not None else np.zeros_like(winner, dtype=bool)
    hatch(axes, fine_xs, fine_ys, near, NOT_TOLD["against"])
    if len(names) > 1:
        hatch(axes, fine_xs, fine_ys, (order[1] - order[0] < bar) & ~near, NOT_TOLD["another"])
    legend = [Patch(facecolor=colours[names[i]], alpha=0.75, label=style.readable(names[i])) for i in seen]
    percent = f"{100 * facts['error']:.2g} %"
    legend += [Patch(facecolor="none", edgecolor="black", hatch=NOT_TOLD["against"],
                     label=f"{style.readable(facts['against'])} within {percent}"),
               Patch(facecolor="none", edgecolor="black", hatch=NOT_TOLD["another"],
                     label=f"too close to call:\nanother within {percent}")]
    axes.legend(handles=legend, loc="upper center", bbox_to_anchor=(0.5, -0.3), ncols=2, fontsize=8)


def draw_speedup(figure, axes, fine_xs, fine_ys, logs, against):
    speedup = np.exp(logs[against] - logs.min(axis=0))
    top = max(speedup.max(), 1.2)
    shown = axes.pcolormesh(fine_xs, fine_ys, np.maximum(speedup, 1), norm=LogNorm(1, top), cmap="viridis", rasterized=True,
                            shading="nearest")
    levels = [one for one in SPEEDUPS if speedup.min() < one < speedup.max()]
    if levels:
        lines = axes.contour(fine_xs, fine_ys, speedup, levels=levels, colors="white", linewidths=0.8)
        axes.clabel(lines, fmt=lambda value: f"{value:g}x", fontsize=8)
    bar = figure.colorbar(shown, ax=axes)
    ticks = [one for one in SPEEDUPS if one <= top]
    bar.set_ticks(ticks, labels=[f"{one:g}" for one in ticks])
    bar.ax.minorticks_off()


def own_place(facts, fine_xs, fine_ys):
    """Where the cluster itself stands, where the picture shows that."""
    place = [tables.quantity(value) for value in facts.get("own") or []]
    if len(place) != 2 or None in place or min(place) <= 0:
        return None
    x, y = np.log(place)
    return (x, y) if fine_xs[0] <= x <= fine_xs[-1] and fine_ys[0] <= y <= fine_ys[-1] else None


def dress(axes, study, own):
    """Ticks at the values of the study, as it writes them, and a star at the cluster's own."""
    for axis, key, label in ((axes.xaxis, 0, axes.set_xlabel), (axes.yaxis, 1, axes.set_ylabel)):
        swept = study["axes"][key]
        axis.set_ticks([np.log(tables.quantity(value)) for value in swept["values"]], labels=swept["values"])
        label(style.readable(swept["key"].split(".")[-1]))
    axes.tick_params(axis="x", rotation=60)
    axes.grid(visible=False)
    if own:
        axes.plot(*own, "*", color="white", markeredgecolor="black", ms=14, clip_on=False)


def draw_map(folder, study, name, title, found, factors):
    """One picture; `factors` are steps by row, of all that take part."""
    times, xs, ys = found
    names = [row for row in times if row in factors]
    if not names:
        return []
    fine_xs, fine_ys = np.linspace(xs[0], xs[-1], FINE), np.linspace(ys[0], ys[-1], FINE)
    logs = np.array([finer(times[row] * factors[row], xs, ys, fine_xs, fine_ys) for row in names])
    figure, panels = style.panels(1, 3, (17, 6.4))
    grid = panels[0]
    facts, own = study["map"], own_place(study["map"], fine_xs, fine_ys)
    fastest, advised = np.argmin(logs, axis=0), first_not_told(logs, facts)
    colours = style.colours_of([name for i, name in enumerate(names) if (fastest == i).any() or (advised == i).any()])
    draw_winners(grid[0], fine_xs, fine_ys, names, logs, facts, fastest, colours)
    grid[0].set_title("the fastest" + (" (star: the cluster's own network)" if own else ""))
    draw_winners(grid[1], fine_xs, fine_ys, names, logs, facts, advised, colours)
    grid[1].set_title("to use: the first in order within the error bar")
    for axes in grid[:2]:
        dress(axes, study, own)
    if facts["against"] in names:
        draw_speedup(figure, grid[2], fine_xs, fine_ys, logs, names.index(facts["against"]))
        grid[2].set_title(f"how many times as fast as {style.readable(facts['against'])}")
        dress(grid[2], study, own)
    else:
        grid[2].set_axis_off()
        grid[2].set_title(f"{style.readable(facts['against'])} never gets there")
    figure.suptitle(title, x=0.02, ha="left")
    figure.tight_layout()
    return style.save(figure, folder, name)


def draw(folder, study, runs):
    found = times_of(study, runs)
    if found is None or not found[0]:
        return []
    run = study.get("run", {})
    where = ", ".join(run[key] for key in ("workload", "cluster") if key in run)
    title = f"{study['title']}: {where}" if where else study["title"]
    paths = draw_map(folder, study, study["name"], f"{title}\ntime an iteration; not time to a loss", found,
                     dict.fromkeys(found[0], 1))
    steps = {row: count for row, count in study["map"].get("steps", {}).items() if count > 0}
    if steps:
        what = f"time to a loss of {study['goal']['loss']:g}: steps of one learning run x time an iteration"
        paths += draw_map(folder, study, f"{study['name']}_to_goal", f"{title}\n{what}", found, steps)
    return paths

"""A winner map: which row is fastest where, over two swept keys, and with what probability, with lines where that changes, and by how much
the fastest beats the row that others are compared with. Between the grid's points times are interpolated, logarithms over logarithms."""

from statistics import NormalDist

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap, LogNorm
from matplotlib.patches import Patch

import style
import tables
from study_lines import error_of, missing_note

FINE = 240
AS_FAST = "////"
SPEEDUPS = [1, 1.5, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000]
COARSE = 60  # places along each side at which probabilities are drawn
DRAWS = 1000
LEVELS = [0.5, 0.7, 0.9]
CALLED = NormalDist().inv_cdf(0.9)  # deviations between two logarithms from which on their order is called


def chances(logs, bars, draws=DRAWS):
    """Of each row the probability that it is the fastest where all logarithms are off by normal errors of their own; the same draws at
    all places, so that what is drawn is smooth."""
    normal = np.random.default_rng(1).standard_normal((draws, len(logs)))
    least = np.zeros(logs.shape)
    rows = np.arange(len(logs))[:, None, None]
    for one in normal:
        least += rows == np.argmin(logs + np.log1p(bars) * one[:, None, None], axis=0)
    return least / draws


def times_of(study, runs):
    """Row → its measures and their error bars, by value of the second key and of the first, and the positions of those values."""
    xs, ys = ([tables.quantity(value) for value in axis["values"]] for axis in study["axes"])
    if any(value is None or value <= 0 for value in xs + ys) or len(set(xs)) < 2 or len(set(ys)) < 2:
        return None
    places = [{value: i for i, value in enumerate(axis["values"])} for axis in study["axes"]]
    times = {row["name"]: np.full((len(ys), len(xs)), np.nan) for row in study["rows"]}
    errors = {row["name"]: np.full((len(ys), len(xs)), study["map"]["error"]) for row in study["rows"]}
    for run in runs:
        x, y = (place[run[axis["key"]]] for place, axis in zip(places, study["axes"]))
        times[run["row"]][y, x] = tables.number(run["measure"])
        errors[run["row"]][y, x] = error_of(run, study["map"]["error"])
    by_x, by_y = np.argsort(xs), np.argsort(ys)
    whole = [row for row, values in times.items() if np.isfinite(values).all() and (values > 0).all()]
    times, errors = ({row: values[row][np.ix_(by_y, by_x)] for row in whole} for values in (times, errors))
    return times, errors, np.log(np.sort(xs)), np.log(np.sort(ys))


def finer(values, xs, ys, fine_xs, fine_ys):
    """Bilinear."""
    along = np.array([np.interp(fine_xs, xs, row) for row in values])
    return np.array([np.interp(fine_ys, ys, column) for column in along.T]).T


def lines_between(axes, xs, ys, winner):
    """A line wherever another row is fastest."""
    for row in np.unique(winner):
        if (winner != row).any():
            axes.contour(xs, ys, (winner == row).astype(float), levels=[0.5], colors="black", linewidths=0.8)


def hatch(axes, xs, ys, where, pattern):
    if where.any():
        axes.contourf(xs, ys, where.astype(float), levels=[0.5, 1.5], colors="none", hatches=[pattern])


def not_called(values, errors):
    """Of each row, where it is the fastest, or the fastest is faster with less than 90 %."""
    fastest = np.argmin(values, axis=0)[None]
    best, error = (np.take_along_axis(some, fastest, axis=0) for some in (values, errors))
    told = np.log(values / best) >= CALLED * np.hypot(np.log1p(errors), np.log1p(error))
    return ~told | (np.arange(len(values))[:, None, None] == fastest)


def advised(near):
    """Of rows whose order with the fastest is not called, the one that stands first in the study."""
    return np.argmax(near, axis=0)


def bar_text(errors):
    """"10 %", or "6 to 12 %"."""
    low, high = (f"{100 * value:.2g}" for value in (errors.min(), errors.max()))
    return f"{low} %" if low == high else f"{low} to {high} %"


def draw_winners(axes, fine_xs, fine_ys, names, winner, strength, colours):
    """Each place in its row's colour, the paler the less probable."""
    seen = [i for i in range(len(names)) if (winner == i).any()]
    colour_map = ListedColormap([colours[names[i]] for i in seen])
    axes.pcolormesh(fine_xs, fine_ys, np.searchsorted(seen, winner), cmap=colour_map, vmin=-0.5, vmax=len(seen) - 0.5,
                    alpha=np.clip(strength, 0.12, 0.9), rasterized=True, shading="nearest")
    lines_between(axes, fine_xs, fine_ys, winner)
    return [Patch(facecolor=colours[names[i]], alpha=0.75, label=names[i]) for i in seen]


def by_draws(folder, study, kind, names):
    """Of each row the probability that it is the fastest, and whether the fastest beats it with less than 90 %, at each place of the
    grid, as draws have them; None of a study that has no draws of all."""
    if not (folder / "uncertainty.csv").exists():
        return None
    xs, ys = ([tables.quantity(value) for value in axis["values"]] for axis in study["axes"])
    probable, near = np.full((2, len(names), len(ys), len(xs)), np.nan)
    keys = [axis["key"] for axis in study["axes"]]
    for place in tables.rows_of(folder / "winners.csv", ["kind", *keys, "not_called", "chances"]):
        x, y = (place[key] for key in keys)
        shares = [float(share) for share in place["chances"].split()]
        if place["kind"] != kind or x not in study["axes"][0]["values"] or y not in study["axes"][1]["values"]:
            continue
        if len(shares) != len(names):
            return None
        at = (slice(None), study["axes"][1]["values"].index(y), study["axes"][0]["values"].index(x))
        probable[at] = shares
        near[at] = [name in place["not_called"].split() for name in names]
    order = np.ix_(range(len(names)), np.argsort(ys), np.argsort(xs))
    return (probable[order], near[order]) if np.isfinite(probable).all() else None


def by_bars(coarse, fine, logs, bars):
    """The same at fine places, of errors that are independent of each other."""
    drawn = chances(np.array([finer(one, *fine, *coarse) for one in logs]), np.array([finer(one, *fine, *coarse) for one in bars]))
    return np.array([finer(one, *coarse, *fine) for one in drawn]), not_called(np.exp(logs), bars)


def draw_chances(axes, fine_xs, fine_ys, names, strength, winner, colours):
    """The map of the fastest, with lines of the probability that it is."""
    legend = draw_winners(axes, fine_xs, fine_ys, names, winner, strength, colours)
    levels = [one for one in LEVELS if strength.min() < one < strength.max()]
    if levels:
        lines = axes.contour(fine_xs, fine_ys, strength, levels=levels, colors="black", linewidths=0.6, linestyles="dashed")
        axes.clabel(lines, fmt=lambda value: f"{100 * value:g} %", fontsize=8)
    beneath(axes, legend)


def beneath(axes, legend):
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
        label(swept["key"].split(".")[-1])
    axes.tick_params(axis="x", rotation=60)
    axes.grid(visible=False)
    if own:
        axes.plot(*own, "*", color="white", markeredgecolor="black", ms=14, clip_on=False)


def draw_map(folder, study, kind, title, found, factors):
    """One picture, of an iteration or to the goal; `factors` are steps by row, of all that take part."""
    times, errors, xs, ys = found
    names = [row for row in times if row in factors]
    if not names:
        return []
    fine_xs, fine_ys = np.linspace(xs[0], xs[-1], FINE), np.linspace(ys[0], ys[-1], FINE)
    logs = np.array([finer(np.log(times[row] * factors[row]), xs, ys, fine_xs, fine_ys) for row in names])
    bars = np.array([finer(errors[row], xs, ys, fine_xs, fine_ys) for row in names])
    figure, panels = style.panels(1, 3, (17, 6.4))
    grid = panels[0]
    against, own = study["map"]["against"], own_place(study["map"], fine_xs, fine_ys)
    drawn, fine = by_draws(folder, study, kind, names), (fine_xs, fine_ys)
    if drawn:
        probable, near = (np.array([finer(one, xs, ys, *fine) for one in some]) for some in drawn)
        near = near >= 0.5
    else:
        probable, near = by_bars((np.linspace(xs[0], xs[-1], COARSE), np.linspace(ys[0], ys[-1], COARSE)), fine, logs, bars)
    fastest = np.argmin(logs, axis=0)
    to_use = advised(near | (np.arange(len(names))[:, None, None] == fastest))
    colours = style.colours_of([name for i, name in enumerate(names) if (fastest == i).any() or (to_use == i).any()])
    draw_chances(grid[0], fine_xs, fine_ys, names, probable.max(axis=0), fastest, colours)
    grid[0].set_title("the fastest, and with what probability" + ("\n(star: the cluster's own network)" if own else ""))
    legend = draw_winners(grid[1], fine_xs, fine_ys, names, to_use, np.full(to_use.shape, 0.75), colours)
    beside = near[names.index(against)] if against in names else np.zeros_like(to_use, dtype=bool)
    if beside.any():
        hatch(grid[1], fine_xs, fine_ys, beside, AS_FAST)
        legend.append(Patch(facecolor="none", edgecolor="black", hatch=AS_FAST, label=f"{against} slower with less than 90 %"))
    beneath(grid[1], legend)
    grid[1].set_title(f"to use: the first in order that is not slower\nwith 90 % ({'by draws' if drawn else 'errors of ' + bar_text(bars)})")
    for axes in grid[:2]:
        dress(axes, study, own)
    if against in names:
        draw_speedup(figure, grid[2], fine_xs, fine_ys, logs, names.index(against))
        grid[2].set_title(f"how many times as fast as {against}")
        dress(grid[2], study, own)
    else:
        grid[2].set_axis_off()
        grid[2].set_title(f"{against} never gets there")
    figure.suptitle(title, x=0.02, ha="left")
    figure.tight_layout()
    style.note(figure, missing_note(study))
    return style.save(figure, folder, study["name"] + ("_to_goal" if kind == "goal" else ""))


def draw(folder, study, runs):
    found = times_of(study, runs)
    if found is None or not found[0]:
        return []
    run = study.get("run", {})
    where = ", ".join(run[key] for key in ("workload", "cluster") if key in run)
    title = f"{study['title']}: {where}" if where else study["title"]
    paths = draw_map(folder, study, "iteration", f"{title}\ntime an iteration; not time to a loss", found,
                     dict.fromkeys(found[0], 1))
    steps = {row: count for row, count in study["map"].get("steps", {}).items() if count > 0}
    if steps:
        what = f"time to a loss of {study['goal']['loss']:g}: steps of learning runs x time an iteration"
        paths += draw_map(folder, study, "goal", f"{title}\n{what}", found, steps)
    return paths

"""The picture of a loop: predicted against measured, a panel a model."""

import functools

import panels
from closed_loop.networks import METHODS


def draw(rows, file):
    """Bars are ranges of 95 %, points of one colour a method on each network."""
    models = dict.fromkeys(row.model for row in rows)
    drawn = [functools.partial(draw_panel, [row for row in rows if row.model == model], model) for model in models]
    panels.draw(drawn, file, 4.6, 4.2, "measured (ms a step)", "predicted (ms a step), 95 % of the draws")


def draw_panel(rows, model, panel):
    ends = [min(row.measured for row in rows) / 1.5, max(row.measured for row in rows) * 1.5]
    panel.plot(ends, ends, linewidth=0.8, color="grey", label="as measured")
    for method in METHODS:
        mine = [row for row in rows if row.method == method]
        bars = [[row.predicted - row.least_95 for row in mine], [row.most_95 - row.predicted for row in mine]]
        panel.errorbar([row.measured for row in mine], [row.predicted for row in mine], yerr=bars, fmt="o", markersize=4, linewidth=1, label=method)
    panel.set(xscale="log", yscale="log", xlim=ends, ylim=ends)
    panel.set_title(model, fontsize=9)

"""The picture of a loop: predicted against measured, a panel a model."""

import sys

from closed_loop.networks import METHODS


def draw(rows, file):
    """Bars are ranges of 95 %, points of one colour a method on each network."""
    try:
        import matplotlib
    except ImportError:
        print("loop: python3-matplotlib is missing, so there is no picture", file=sys.stderr)
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot
    models = list(dict.fromkeys(row.model for row in rows))
    figure, axes = pyplot.subplots(1, len(models), squeeze=False, layout="constrained", figsize=(4.6 * len(models), 4.2))
    for model, panel in zip(models, axes.flat):
        draw_panel([row for row in rows if row.model == model], model, panel)
    axes[0, 0].legend(frameon=False, fontsize=8)
    figure.supxlabel("measured (ms a step)")
    figure.supylabel("predicted (ms a step), 95 % of the draws")
    figure.savefig(file)


def draw_panel(rows, model, panel):
    ends = [min(row.measured for row in rows) / 1.5, max(row.measured for row in rows) * 1.5]
    panel.plot(ends, ends, linewidth=0.8, color="grey", label="as measured")
    for method in METHODS:
        mine = [row for row in rows if row.method == method]
        bars = [[row.predicted - row.least_95 for row in mine], [row.most_95 - row.predicted for row in mine]]
        panel.errorbar([row.measured for row in mine], [row.predicted for row in mine], yerr=bars, fmt="o", markersize=4, linewidth=1, label=method)
    panel.set(xscale="log", yscale="log", xlim=ends, ylim=ends)
    panel.set_title(model, fontsize=9)

"""One look for all pictures: sizes, colours that stay with a series, units, and files. Sizes and fonts of a screen stand in matplotlibrc."""

import math

import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter, NullFormatter

import new_file

# Okabe and Ito's colours, told apart by colour-blind readers too, and a few darker ones behind them.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F3C8D", "#8C564B", "#666666"]
MARKERS = ["o", "s", "^", "D", "v", "P", "X", "*", "<", ">"]

# What cannot be the same twice without being told: matplotlib writes the time of day.
METADATA = {"png": None, "svg": {"Date": None}, "pdf": {"CreationDate": None}}

# Widths in inches of pictures in one and in both columns of a two-column paper, and a font that is read at that size.
PAPER = {1: 3.4, 2: 7.0}
PAPER_FONT = {"font.size": 7.5, "axes.titlesize": 8, "figure.titlesize": 8.5, "lines.linewidth": 1.2, "lines.markersize": 3, "grid.linewidth": 0.4}

# The pictures that were written, so that no two have one name.
written = set()
formats = ["png", "svg"]
columns = None


def set_paper(wanted_formats, wanted_columns):
    """Files that pictures are written as, and of a two-column paper the columns that they are as wide as, or None."""
    global formats, columns
    formats, columns = wanted_formats, wanted_columns
    if columns:
        plt.rcParams.update(PAPER_FONT)


def colours_of(series):
    """A colour for each name, by its place in the list."""
    return {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(series)}


def markers_of(series):
    """A marker for each name, by its place in the list."""
    return {name: MARKERS[i % len(MARKERS)] for i, name in enumerate(series)}


def looks_of(series):
    """A colour for each name, and dashes where colours come round again."""
    dashes = ["-", "--", ":", "-."]
    return {name: {"color": COLOURS[i % len(COLOURS)], "linestyle": dashes[i // len(COLOURS) % len(dashes)]} for i, name in enumerate(series)}


def spans_decades(values):
    """Whether a logarithmic axis shows these values better: all positive, and a factor of ten apart."""
    values = [v for v in values if v is not None and math.isfinite(v)]
    return len(values) > 1 and min(values) > 0 and max(values) / min(values) >= 10


def plain_log(axis, values=None):
    """A logarithmic axis with numbers as people write them; with `values`, a tick at each of those."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())
    if values is not None:
        axis.set_ticks(values)
        axis.set_ticks([], minor=True)


def readable(name):
    """A series as a legend shows it."""
    return name.replace("_", " ")


def legend_outside(axes):
    """Beside the axes; below the picture where it is as narrow as a column."""
    if columns == 1:
        axes.figure.legend(*axes.get_legend_handles_labels(), loc="upper center", bbox_to_anchor=(0.5, 0), ncol=2)
    else:
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0))


def bytes_unit(largest):
    """The divisor and the name of the unit for byte counts up to `largest`."""
    for divisor, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if largest >= divisor:
            return divisor, name
    return 1.0, "bytes"


def time_unit(largest):
    """The divisor and the name of the unit for seconds up to `largest`."""
    for divisor, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if largest >= divisor:
            return divisor, name
    return 1e-9, "ns"


def energy_unit(largest):
    """The divisor and the name of the unit for joules up to `largest`."""
    for divisor, name in ((1e9, "GJ"), (1e6, "MJ"), (1e3, "kJ"), (1.0, "J")):
        if largest >= divisor:
            return divisor, name
    return 1e-3, "mJ"


def panels(down, across, figsize, **sharing):
    """A figure and its axes, down by across; all below each other where the picture is as narrow as a column."""
    if columns != 1:
        return plt.subplots(down, across, figsize=figsize, squeeze=False, **sharing)
    shape = min((figsize[1] / down) / (figsize[0] / across), 0.6)
    figure, grid = plt.subplots(down * across, 1, figsize=(PAPER[1], down * across * shape * PAPER[1]), squeeze=False,
                                sharey=sharing.get("sharey") is True)
    figure.stacked = grid.reshape(down, across)
    return figure, figure.stacked


def label_stacked(figure):
    """What stood beside its row's first panel says by itself what its axis is."""
    for first, *others in getattr(figure, "stacked", []):
        for axes in others:
            axes.set_ylabel(axes.get_ylabel() or first.get_ylabel())


def fit_to_paper(figure):
    """Until what is drawn, with legends beside the axes, is as wide as the column; panels keep their shape."""
    width, height = figure.get_size_inches()
    for _ in range(4):
        shown = figure.get_tightbbox(figure.canvas.get_renderer()).width + 2 * plt.rcParams["savefig.pad_inches"]
        width, height = (side * PAPER[columns] / shown for side in (width, height))
        figure.set_size_inches(max(width, 1), max(height, 1))
        figure.tight_layout()


def save(figure, folder, name):
    """Writes all formats and returns their paths."""
    while name in written:
        name += "_"
    written.add(name)
    if columns:
        label_stacked(figure)
        fit_to_paper(figure)
    paths = []
    for form in formats:
        path = folder / f"{name}.{form}"
        new_file.write(path, lambda file: figure.savefig(file, format=form, metadata=METADATA[form]))
        paths.append(path)
    plt.close(figure)
    return paths

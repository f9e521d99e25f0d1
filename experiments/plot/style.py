"""One look for all pictures: sizes, colours that stay with a series, units, and files in two formats. Sizes and fonts stand in matplotlibrc."""

import math

import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter, NullFormatter

import new_file

# Okabe and Ito's colours, told apart by colour-blind readers too, and a few darker ones behind them.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F3C8D", "#8C564B", "#666666"]
MARKERS = ["o", "s", "^", "D", "v", "P", "X", "*", "<", ">"]

# The pictures that were written, so that no two have one name.
written = set()


def colours_of(series):
    """A colour for each name, by its place in the list."""
    return {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(series)}


def markers_of(series):
    """A marker for each name, by its place in the list."""
    return {name: MARKERS[i % len(MARKERS)] for i, name in enumerate(series)}


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


def legend_outside(axes, **options):
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), **options)


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


def save(figure, folder, name):
    """Writes both formats and returns their paths."""
    while name in written:
        name += "_"
    written.add(name)
    paths = []
    for form, metadata in (("png", None), ("svg", {"Date": None})):
        path = folder / f"{name}.{form}"
        new_file.write(path, lambda file: figure.savefig(file, format=form, metadata=metadata))
        paths.append(path)
    plt.close(figure)
    return paths

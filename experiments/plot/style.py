"""One look for all pictures: sizes, colours that stay with a series, units, and files. Sizes and fonts of a screen stand in matplotlibrc."""

import itertools
import math
import textwrap

import matplotlib.pyplot as plt
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator

import new_file

# Okabe and Ito's colours, told apart by colour-blind readers too, and a few darker ones behind them.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F3C8D", "#8C564B", "#666666"]
MARKERS = ["o", "s", "^", "D", "v", "P", "X", "*", "<", ">"]
# As many as share no divisor with the colours, so that pairs come round late; told apart in grey, too.
DASHES = ["-", (0, (5, 1.5)), (0, (1, 1.2)), (0, (6, 1.5, 1, 1.5)), (0, (9, 3)), (0, (4, 1, 1, 1, 1, 1)), (0, (2, 1))]

# What cannot be the same twice without being told: matplotlib writes the time of day.
METADATA = {"png": None, "svg": {"Date": None}, "pdf": {"CreationDate": None}}

# Widths in inches of pictures in one and in both columns of a two-column paper, and a font that is read at that size.
PAPER = {1: 3.4, 2: 7.0}
PAPER_FONT = {"font.size": 7.5, "axes.titlesize": 8, "figure.titlesize": 8.5, "lines.linewidth": 1.2, "lines.markersize": 3.5, "grid.linewidth": 0.4}

# The pictures that were written, so that no two have one name.
written = set()
formats = ["png", "svg"]
columns = None
out = None


def set_paper(wanted_formats, wanted_columns, wanted_out=None):
    """Files that pictures are written as, of a two-column paper the columns that they are as wide as, or None, and their folder, or
    None for that of the results."""
    global formats, columns, out
    formats, columns, out = wanted_formats, wanted_columns, wanted_out
    if columns:
        plt.rcParams.update(PAPER_FONT)


def colours_of(series):
    """A colour for each name, by its place in the list."""
    return dict(zip(series, itertools.cycle(COLOURS)))


def markers_of(series):
    """A marker for each name, by its place in the list."""
    return dict(zip(series, itertools.cycle(MARKERS)))


def looks_of(series):
    """A colour and dashes for each name, by its place in the list."""
    return {name: {"color": colour, "linestyle": dashes}
            for name, colour, dashes in zip(series, itertools.cycle(COLOURS), itertools.cycle(DASHES))}


def dot(points):
    """The size of a marker, smaller on paper."""
    return min(points, plt.rcParams["lines.markersize"])


def marks_of(series, points):
    """A marker for each name, a few along a line of so many points, at other places on each line."""
    step = max(1, points // 6)
    return {name: {"marker": marker, "ms": dot(4), "markevery": (i % step, step)}
            for i, (name, marker) in enumerate(markers_of(series).items())}


def spans(values, factor):
    """Whether a logarithmic axis shows these values better: all positive, and such a factor apart."""
    values = [v for v in values if v is not None and math.isfinite(v)]
    return len(values) > 1 and min(values) > 0 and max(values) / min(values) >= factor


def spans_decades(values):
    return spans(values, 10)


def write_plainly(axis):
    """Numbers at the ticks as people write them."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def plain_log(axis, values=None):
    """A logarithmic axis with numbers as people write them; with `values`, a tick at each of those."""
    write_plainly(axis)
    axis.set_minor_formatter(NullFormatter())
    if values is not None:
        axis.set_ticks(values)
        axis.set_ticks([], minor=True)


def log_ticks(least, most):
    """Numbers with one digit between them, a few."""
    most_ticks = 5 if columns else 7
    decades = range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)
    steps = (1,) if math.log10(most / least) > 2.5 else (1, 2, 5)
    ticks = [step * 10.0**decade for decade in decades for step in steps if 0.95 * least <= step * 10.0**decade <= 1.05 * most]
    return ticks[::-(-len(ticks) // most_ticks) or 1]


def few_ticks(axis, values):
    """A logarithmic axis of these values, with a few numbers also where they span little more than a decade, or less."""
    values = [value for value in values if math.isfinite(value)]
    plain_log(axis)
    axis.set_major_locator(FixedLocator(log_ticks(0.8 * min(values), 1.25 * max(values))))


def log_from_zero(axes, least, most):
    """A logarithmic x axis that begins at 0: it is linear up to `least`."""
    axes.set_xscale("symlog", linthresh=least, linscale=0.5)
    axes.xaxis.set_major_locator(FixedLocator([0, *log_ticks(1.5 * least, most)]))
    axes.xaxis.set_minor_locator(NullLocator())
    write_plainly(axes.xaxis)
    axes.set_xlim(0, 1.08 * most)


def legend_outside(axes):
    """Beside the axes; below the picture where it is as narrow as a column."""
    if columns == 1:
        handles, labels = axes.get_legend_handles_labels()
        wrapped = [textwrap.fill(label, letters_in(PAPER[1] / 2 - 0.45, plt.rcParams["font.size"])) for label in labels]
        axes.figure.legend(handles, wrapped, loc="upper center", bbox_to_anchor=(0.5, 0), ncol=2, columnspacing=1)
    else:
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0))


def unit_of(largest, units):
    """The first of `units`, pairs of a divisor and a name, that `largest` reaches; the last where it reaches none."""
    return next((unit for unit in units if largest >= unit[0]), units[-1])


def bytes_unit(largest):
    """The divisor and the name of the unit for byte counts up to `largest`."""
    return unit_of(largest, ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "bytes")))


def time_unit(largest):
    """The divisor and the name of the unit for seconds up to `largest`."""
    return unit_of(largest, ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")))


def energy_unit(largest):
    """The divisor and the name of the unit for joules up to `largest`."""
    return unit_of(largest, ((1e9, "GJ"), (1e6, "MJ"), (1e3, "kJ"), (1.0, "J"), (1e-3, "mJ")))


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


def letters_in(inches, size):
    """How many letters of a font of so many points stand side by side there, on average."""
    return max(8, int(inches * 72 / (0.55 * size)))


def wrap_texts(figure):
    """Titles and labels of axes as long as the paper and the panels let them be."""
    texts = [(figure._suptitle, PAPER[columns])] if figure._suptitle else []
    for axes in figure.axes:
        box = axes.get_window_extent().transformed(figure.dpi_scale_trans.inverted())
        texts += [(axes.title, box.width), (axes._left_title, box.width), (axes.yaxis.label, box.height), (axes.xaxis.label, 1.15 * box.width)]
    for text, inches in texts:
        text.set_text(textwrap.fill(text.get_text(), letters_in(inches, text.get_fontsize()), break_long_words=False))


def keep_apart(figure, labels):
    """So many labels below each other in a panel stay apart on paper too."""
    figure.least_height = (0.15 * labels + 0.7) * (figure.stacked.size if hasattr(figure, "stacked") else 1)


def fit_to_paper(figure):
    """Until what is drawn, with legends beside the axes, is as wide as the column; panels keep their shape, where labels let them."""
    least = getattr(figure, "least_height", 1)
    width, height = figure.get_size_inches()
    figure.set_size_inches(PAPER[columns], max(height * PAPER[columns] / width, least))
    figure.tight_layout()
    wrap_texts(figure)
    figure.tight_layout()
    width, height = figure.get_size_inches()
    for _ in range(4):
        shown = figure.get_tightbbox(figure.canvas.get_renderer()).width + 2 * plt.rcParams["savefig.pad_inches"]
        width, height = (side * PAPER[columns] / shown for side in (width, height))
        figure.set_size_inches(max(width, 1), max(height, least))
        figure.tight_layout()


def note(figure, text):
    """A sentence that stands below the picture, when it is saved; none for an empty text."""
    figure.notes = [*getattr(figure, "notes", []), *filter(None, [text])]


def place_notes(figure):
    """Below all that is drawn, as wide as it is."""
    if not getattr(figure, "notes", []):
        return
    size = plt.rcParams["font.size"] * 0.8
    shown = figure.get_tightbbox(figure.canvas.get_renderer())
    width, height = figure.get_size_inches()
    lines = [line for text in figure.notes for line in textwrap.wrap(text, letters_in(shown.width, size), break_on_hyphens=False)]
    figure.text(shown.x0 / width, (shown.y0 - 0.08) / height, "\n".join(lines), fontsize=size, color="dimgrey", ha="left", va="top")


def save(figure, folder, name):
    """Writes all formats and returns their paths."""
    while name in written:
        name += "_"
    written.add(name)
    if columns:
        label_stacked(figure)
        fit_to_paper(figure)
    place_notes(figure)
    paths = []
    for form in formats:
        path = (out or folder) / f"{name}.{form}"
        new_file.write(path, lambda file: figure.savefig(file, format=form, metadata=METADATA[form]))
        paths.append(path)
    plt.close(figure)
    return paths

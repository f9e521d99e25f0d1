"""Pictures of a search: what was tried, in its order, and what each choice did."""

import matplotlib.pyplot as plt
from matplotlib.ticker import MaxNLocator

import checked
import style
import tables

MANY_TIMES = 3  # as slow as the best are some trials, where a linear axis would squeeze the best ones
MOST_PANELS = 12
COLUMNS = 3


def keys_of(search):
    """Of choices that a trial which has a time has made."""
    keys = dict.fromkeys(choice["key"] for choice in search["plan"]["choices"])
    return [key for key in keys if any(key in trial["chosen"] for trial in made(search))][:MOST_PANELS]


def made(search):
    return [trial for trial in search["trials"] if trial["value"] is not None]


def best_so_far(trials):
    values = []
    for trial in trials:
        values.append(min([trial["value"], *values[-1:]]))
    return values


def draw_history(axes, search, divisor, unit):
    trials = made(search)
    axes.plot([t["trial"] for t in trials], [t["value"] / divisor for t in trials], "o", ms=4, color=style.COLOURS[5], label="a trial")
    axes.step([t["trial"] for t in trials], [value / divisor for value in best_so_far(trials)], where="post", color=style.COLOURS[0],
              label="the best so far")
    if search["trials"][0]["value"] is not None:
        axes.axhline(search["trials"][0]["value"] / divisor, color="grey", linestyle=":", label="as it was given")
    absent = [t["trial"] for t in search["trials"] if t["value"] is None]
    if absent:
        axes.plot(absent, [0.02] * len(absent), "x", ms=4, color=style.COLOURS[1], transform=axes.get_xaxis_transform(),
                  label="impossible, or never there")
    axes.set_xlabel("trial")
    axes.set_xlim(-0.5, max(t["trial"] for t in search["trials"]) + 0.5)
    axes.xaxis.set_major_locator(MaxNLocator(nbins="auto", integer=True, min_n_ticks=1))
    axes.set_ylabel(f"{'time of an iteration' if search['plan']['for']['measure'] == 'iteration_s' else 'time to the loss'} ({unit})")
    style.legend_outside(axes)


def draw_choice(axes, search, key, divisor):
    """What trials took at each value of one choice, the best as a ring; values that are no numbers stand side by side."""
    trials = [trial for trial in made(search) if key in trial["chosen"]]
    texts = [trial["chosen"][key] for trial in trials]
    numbers = [tables.leading_number(text) for text in texts]
    choices = [choice for choice in search["plan"]["choices"] if choice["key"] == key]
    ranged = all("range" in choice for choice in choices)
    if ranged and None not in numbers and numbers:
        xs = numbers
        if style.spans_decades(xs):
            axes.set_xscale("log")
            style.plain_log(axes.xaxis)
        elif all(choice["range"].get("whole") for choice in choices):
            axes.xaxis.set_major_locator(MaxNLocator(nbins=5, integer=True, min_n_ticks=1))
    else:
        names = sorted(set(texts))
        xs = [names.index(text) for text in texts]
        axes.set_xticks(range(len(names)), [name if len(name) < 20 else name[:18] + ".." for name in names], rotation=30, ha="right")
    axes.plot(xs, [trial["value"] / divisor for trial in trials], "o", ms=4, alpha=0.6, color=style.COLOURS[5])
    for x, trial in zip(xs, trials):
        if trial["trial"] == search["verdict"]["best"]:
            axes.plot([x], [trial["value"] / divisor], "o", ms=9, markerfacecolor="none", markeredgewidth=1.6, color=style.COLOURS[1])
    unit = next((choice["range"]["unit"] for choice in choices if "range" in choice), "")
    axes.set_xlabel(f"{key} ({unit})" if unit else key)


def draw(folder):
    search = checked.search(folder / "tune.json")
    values = [trial["value"] for trial in made(search)]
    if not values:
        return []
    divisor, unit = style.time_unit(max(values))
    keys = keys_of(search)
    rows = -(-len(keys) // COLUMNS)
    figure = plt.figure(figsize=(10, 3.2 + 2.6 * rows))
    grid = figure.add_gridspec(1 + rows, COLUMNS, height_ratios=[1.25] + [1] * rows)
    panels = [figure.add_subplot(grid[0, :])]
    draw_history(panels[0], search, divisor, unit)
    for index, key in enumerate(keys):
        panels.append(figure.add_subplot(grid[1 + index // COLUMNS, index % COLUMNS], sharey=panels[0]))
        draw_choice(panels[-1], search, key, divisor)
        panels[-1].set_ylabel(unit)
    if style.spans(values, MANY_TIMES):
        panels[0].set_yscale("log")
        style.few_ticks(panels[0].yaxis, [value / divisor for value in values])
    figure.tight_layout()
    return style.save(figure, folder, "search")

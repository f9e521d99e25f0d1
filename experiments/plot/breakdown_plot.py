"""Where an iteration's time goes, two bars a line: above what the step takes, computing and waiting; below what its lanes are
busy with meanwhile, much of it behind the computing."""

import statistics

import style
from study_lines import line_of, lines_of, missing_note

STEP = [("compute_s", "compute", style.COLOURS[0]), ("exposed_s", "exposed wait", style.COLOURS[1])]
LANES = [("encode_s", "encode", style.COLOURS[2]), ("wire_s", "wire", style.COLOURS[5]), ("decode_s", "decode", style.COLOURS[4])]
MOST_PANELS = 4
THICK, THIN = 0.44, 0.26


def seconds_of(study, runs, names, key):
    """The median over a line's runs."""
    seconds = {name: [] for name in names}
    for run in runs:
        seconds[line_of(study, run, "row")].append(run["json"]["summary"]["breakdown"][key])
    return [statistics.median(seconds[name]) if seconds[name] else 0.0 for name in names]


def draw_bars(axes, study, runs, names):
    for parts, offset, height in ((STEP, -0.15, THICK), (LANES, 0.24, THIN)):
        left = [0.0] * len(names)
        places = [place + offset for place in range(len(names))]
        for key, label, colour in parts:
            widths = seconds_of(study, runs, names, key)
            axes.barh(places, widths, height, left=left, color=colour, label=label)
            left = [before + width for before, width in zip(left, widths)]
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel("seconds a step, rank 0")
    axes.grid(axis="y", visible=False)


def draw(folder, study, runs):
    """A panel for each value of the first swept key, or for its ends where there are many."""
    if not runs:
        return []
    values = study["axes"][0]["values"] if study["axes"] else [None]
    shown = values if len(values) <= MOST_PANELS else [values[0], values[-1]]
    names = lines_of(study, runs, "row")
    figure, grid = style.panels(1, len(shown), (3.9 * len(shown) + 2, 0.4 * len(names) + 1.6), sharey=True)
    for axes, value in zip(grid[0], shown):
        draw_bars(axes, study, [run for run in runs if value is None or run[study["axes"][0]["key"]] == value], names)
        axes.set_title("" if value is None else f"{study['axes'][0]['key'].split('.')[-1]} {value}")
    grid[0][0].invert_yaxis()
    figure.suptitle(study["title"], x=0.02, ha="left")
    figure.tight_layout()
    style.legend_outside(grid[0][-1])
    style.keep_apart(figure, len(names))
    style.note(figure, missing_note(study))
    return style.save(figure, folder, "breakdown")

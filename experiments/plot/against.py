"""What losses and accuracies are drawn against: steps, time, bytes, and joules and money where runs have them. What a study file or
the command line says of it is a view: `against` and `scores`, the panels, `x_axis`, linear or log, and `ranges` by name."""

import style
from unusable import Unusable

KEYS = {"step": "step", "time": "time_s", "bytes": "bytes_mean", "energy": "energy_J", "money": "money_USD"}
NAMES = {key: name for name, key in KEYS.items()}
MANY_TIMES = 5  # as long as others are some lines, where a linear axis would squeeze those
LINEAR = 50  # the part of the shortest line up to which such an axis is linear, if its first evaluation is earlier still

given = {}  # the view of the command line, which wins over a study's own


def view_of(study):
    return study.get("curves", {}) | given


def scales(points, view):
    """(key, divisor, label) of each axis that all of these points of curves have, or of those that the view names, in its order."""
    def most(key):
        return max(point[key] for point in points)

    seconds, time = style.time_unit(most("time_s"))
    divisor, size = style.bytes_unit(most("bytes_mean"))
    found = [("step", 1, "steps"), ("time_s", seconds, f"time ({time})"), ("bytes_mean", divisor, f"sent by a rank, mean ({size})")]
    if all("energy_J" in point for point in points):
        joules, energy = style.energy_unit(most("energy_J"))
        found.append(("energy_J", joules, f"energy of all ranks ({energy})"))
    if all("money_USD" in point for point in points):
        found.append(("money_USD", 1, "money (USD)"))
    there = {NAMES[scale[0]]: scale for scale in found}
    for name in view.get("against", []):
        if name not in there:
            raise Unusable(f"these curves cannot be drawn against {name}; they have {', '.join(there)}")
    return [there[name] for name in view.get("against", there)]


def scores(keys, view):
    """Those of `keys` that the view names, in its order."""
    return [key for key in view.get("scores", keys) if key in keys]


def scale_x(axes, scale, curves, view):
    """Labels the axis, and makes it linear, or logarithmic from 0 on; `curves` are lists of points."""
    key, divisor, label = scale
    axes.set_xlabel(label)
    named = view.get("ranges", {}).get(NAMES[key])
    values = [[point[key] for point in curve if point[key] > 0] for curve in curves]
    ends = [some[-1] for some in values if some]
    log = view.get("x_axis") == "log" or (not view.get("x_axis") and not named and style.spans(ends, MANY_TIMES))
    if key != "step" and log and ends:
        first = max(min(min(some) for some in values if some), min(ends) / LINEAR)
        style.log_from_zero(axes, first / divisor, max(ends) / divisor)
    if named:
        axes.set_xlim(*(value / divisor for value in named))


def limit_y(row, score, view):
    named = view.get("ranges", {}).get(score)
    for axes in row if named else ():
        axes.set_ylim(*named)

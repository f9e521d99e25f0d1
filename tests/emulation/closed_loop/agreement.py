"""Predicted steps beside those that ran: rows, a table and what they amount to."""

import csv
import statistics
from dataclasses import asdict, dataclass

from closed_loop.networks import METHODS, TRACED

CALLED = 0.9  # from which probability on the program is taken to call a method the fastest


@dataclass(frozen=True)
class Row:
    """Milliseconds of a step, and the probability that this method is the fastest on this network."""

    model: str
    network: str
    method: str
    measured: float
    predicted: float
    least_68: float
    most_68: float
    least_95: float
    most_95: float
    fastest: float

    @property
    def error(self):
        return 100 * (self.predicted / self.measured - 1)

    def within(self, percent):
        return getattr(self, f"least_{percent}") <= self.measured <= getattr(self, f"most_{percent}")


def row_of(model, network, method, seconds, said):
    numbers = (float(said[name]) for name in ("predicted", "least_68", "most_68", "least_95", "most_95", "fastest"))
    return Row(model, network.about, method, 1e3 * seconds, *numbers)


def write_csv(rows, file):
    with open(file, "w") as text:
        writer = csv.DictWriter(text, list(asdict(rows[0])), lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: f"{value:.4g}" if isinstance(value, float) else value for name, value in asdict(row).items()} for row in rows)


def read_csv(file):
    with open(file) as text:
        return [Row(*row[:3], *map(float, row[3:])) for row in list(csv.reader(text))[1:]]


def table(rows):
    """A line a model and network, a column a method: measured, predicted and by how many percent that is off."""
    lines = [f"{'measured, predicted (ms)':28}" + "".join(f"{method.partition(':')[0]:>29}" for method in METHODS)]
    for model, network in dict.fromkeys((row.model, row.network) for row in rows):
        mine = {row.method: row for row in rows if (row.model, row.network) == (model, network)}
        cells = (f"{row.measured:.0f} {row.predicted:.0f} {row.error:+.0f} %" for row in map(mine.get, METHODS))
        lines.append(f"{model + ', ' + network:28}" + "".join(f"{cell:>29}" for cell in cells))
    return "\n".join(lines) + "\n"


def summary(rows):
    """Of networks that were not traced: errors, how many lie in their ranges, and how many calls of the fastest were right."""
    asked = [row for row in rows if row.network != TRACED.about] or rows
    errors = [abs(row.error) for row in asked]
    inside = [100 * statistics.mean(row.within(percent) for row in asked) for percent in (68, 95)]
    places = dict.fromkeys((row.model, row.network) for row in asked)
    fastest = {place: min((row for row in asked if (row.model, row.network) == place), key=lambda row: row.measured) for place in places}
    called = [row for row in asked if row.fastest > CALLED]
    right = sum(row is fastest[row.model, row.network] for row in called)
    return (f"{len(asked)} steps on networks that were not traced: {statistics.mean(errors):.1f} % off on average, {max(errors):.1f} % at worst\n"
            f"ranges of 68 % hold {inside[0]:.0f} %, ranges of 95 % hold {inside[1]:.0f} %\n"
            f"the fastest method was called on {len(called)} of {len(places)} networks, rightly on {right}\n")

"""Predicted beside measured: rows, tables, a picture."""

import csv
import functools
import statistics
from dataclasses import dataclass

import panels
from validation.scenarios import OPERATIONS, SCENARIOS, Case


@dataclass(frozen=True)
class Row:
    """A case: milliseconds, the median of all rounds, and percent."""

    scenario: str
    case: Case
    measured: float
    spread: float
    predicted: float

    @property
    def error(self):
        return 100 * (self.predicted / self.measured - 1)


def rows_of(scenario, rounds, predicted):
    """Rows of the cases that all rounds measured."""
    rows = []
    for case, seconds in predicted.items():
        measured = [one[case] for one in rounds]
        median = statistics.median(measured)
        spread = 100 * (max(measured) - min(measured)) / median
        rows.append(Row(scenario.name, case, 1e3 * median, spread, 1e3 * seconds))
    return rows


def write_csv(rows, file):
    with open(file, "w") as text:
        writer = csv.writer(text)
        writer.writerow(["scenario", "kind", "name", "hierarchy", "size_bytes", "measured_ms", "spread_percent",
                         "predicted_ms", "error_percent"])
        for row in rows:
            case = row.case
            writer.writerow([row.scenario, case.kind, case.name, case.hierarchy, case.size, f"{row.measured:.4g}",
                             f"{row.spread:.1f}", f"{row.predicted:.4g}", f"{row.error:.1f}"])


def mean_and_worst(rows):
    errors = [row.error for row in rows]
    if not errors:
        return f"{'-':>20}"
    return f"{statistics.mean(map(abs, errors)):8.1f} {max(errors, key=abs):+8.1f}"


def summary(rows):
    """A line a scenario: number of cases, then mean and worst error of collectives, of iterations, and of both."""
    lines = [f"{'error (%)':14}{'cases':>6}   collectives: mean, worst   iterations: mean, worst   all: mean, worst"]
    names = list(dict.fromkeys(row.scenario for row in rows))
    for name in (*names, "all"):
        mine = [row for row in rows if name in ("all", row.scenario)]
        parts = [[row for row in mine if kind in ("", row.case.kind)] for kind in ("bench", "iteration", "")]
        lines.append(f"{name:14}{len(mine):6}" + "".join(f"{mean_and_worst(part):>26}" for part in parts))
    return "\n".join(lines) + "\n"


def table(rows):
    lines = [f"{'scenario':13}{'':10}{'':28}{'hierarchy':10}{'size (B)':>10}{'measured (ms)':>15}{'spread (%)':>12}"
             f"{'predicted (ms)':>16}{'error (%)':>11}"]
    for row in rows:
        case = row.case
        lines.append(f"{row.scenario:13}{case.kind:10}{case.name:28}{case.hierarchy:10}{case.size or '':>10}{row.measured:15.2f}"
                     f"{row.spread:12.1f}{row.predicted:16.2f}{row.error:+11.1f}")
    return "\n".join(lines) + "\n"


def draw(rows, file):
    """Predicted against measured, a panel a scenario."""
    names = dict.fromkeys(row.scenario for row in rows)
    drawn = [functools.partial(draw_panel, [row for row in rows if row.scenario == name], name) for name in names]
    panels.draw(drawn, file, 3.4, 3.3, "measured (ms)", "predicted (ms)")


def draw_panel(rows, name, panel):
    ends = [min(row.measured for row in rows) / 1.5, max(row.measured for row in rows) * 1.5]
    panel.fill_between(ends, [0.9 * end for end in ends], [1.1 * end for end in ends], alpha=0.2, label="within 10 %")
    panel.plot(ends, ends, linewidth=0.8, color="grey")
    series = [(operation, "o", [row for row in rows if (row.case.kind, row.case.name) == ("bench", operation)])
              for operation in OPERATIONS]
    for label, marker, mine in (*series, ("iterations", "k^", [row for row in rows if row.case.kind == "iteration"])):
        panel.plot([row.measured for row in mine], [row.predicted for row in mine], marker, markersize=4, label=label)
    panel.set(xscale="log", yscale="log", xlim=ends, ylim=ends)
    panel.set_title(f"{name}: {SCENARIOS[name].about}", fontsize=8)

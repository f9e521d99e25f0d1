"""The lines and panels of a study's pictures: which runs belong to which, by the study's own order, and what is missing."""

import collections
import math
import statistics


def line_of(study, run, name):
    """`name` of a run ("row" or "series") with the swept keys that make lines of their own, as tables have it."""
    return ", ".join([run[name]] + [f"{key}={run[key]}" for key in study.get("line_keys", [])])


def lines_of(study, runs, name):
    """The lines in the order of the study, without repeats; those whose runs failed keep their place, and so colours stay."""
    rows = [row["name"] for row in study["rows"]]
    values = {axis["key"]: axis["values"] for axis in study["axes"] if axis["key"] in study.get("line_keys", [])}

    def place(run):
        return [rows.index(run["row"]), *(some.index(run[key]) for key, some in values.items())]
    return list(dict.fromkeys(line_of(study, run, name) for run in sorted(runs + failed_runs(study), key=place)))


def error_of(run, otherwise=0):
    """How far off a predicted time may be, as a share, by its cluster's calibration."""
    bar = run["json"].get("error_bar")
    return bar["error"] if bar else otherwise


def panels_of_rows(study):
    """The panels that rows name, in the study's order; [""] where none does."""
    return list(dict.fromkeys(row["panel"] for row in study["rows"] if row.get("panel"))) or [""]


def in_panel(study, runs, panel):
    """The runs of rows of this panel, and of rows that are in every one."""
    rows = {row["name"] for row in study["rows"] if row.get("panel", "") in ("", panel)}
    return [run for run in runs if run["row"] in rows]


def failed_runs(study):
    """Those that would be drawn had they not failed, as rows of runs.csv."""
    keys = {axis["key"] for axis in study["axes"]}
    return [{"row": one["row"], "series": one["series"], **one["axes"]} for one in study.get("failed", [])
            if one["phase"] == "runs" and not one["variant"] and keys <= one["axes"].keys()]


def spread_of(values):
    """Median, least and greatest of the numbers, and how many are none: of runs that diverged, or never reached the goal, which count as
    greater than all others. The median is infinite where half of them are; None without any number."""
    numbers = [value for value in values if math.isfinite(value)]
    if not numbers:
        return None
    return statistics.median([value if math.isfinite(value) else math.inf for value in values]), min(numbers), max(numbers), len(values) - len(numbers)


def missing_note(study, lost=None):
    """What a picture lacks, as a sentence, of all runs of the study that failed or of those that are given; empty where nothing is missing."""
    most = 6
    lost = failed_runs(study) if lost is None else lost
    failed = collections.Counter(", ".join([run["row"], *(f"{axis['key']} = {run[axis['key']]}" for axis in study["axes"] if axis["key"] != "seed")])
                                 for run in lost)
    if not failed:
        return ""
    places = [place + (f" ({count} runs)" if count > 1 else "") for place, count in failed.items()]
    more = f"; and at {len(places) - most} more places" if len(places) > most else ""
    reason = "have not been made" if all(one.get("missing") for one in study["failed"]) else "failed"
    return f"Missing, since runs {reason}: {'; '.join(places[:most])}{more}."


def spread_note(counts, mark):
    """What lines and marks mean where a line is of several runs; `counts` are the runs at each place."""
    most, least = max(counts, default=1), min(counts, default=1)
    if most < 2:
        return ""
    return f"Medians over {most if least == most else f'{least} to {most}'} runs; {mark} are their range."

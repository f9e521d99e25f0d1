"""Looks at every value that is drawn before anything is: what cannot be drawn is named with its place."""

import math
import re

import tables
from unusable import Unusable

EXPENSES = ("energy_J", "money_USD")  # of all ranks, where the cluster has rates for them
ACTIVITIES = ["compute_s", "exposed_s", "encode_s", "wire_s", "decode_s"]
NAME = re.compile(r"(?!\.\.?$)[A-Za-z0-9_.-]{1,100}")
FOLDER = re.compile(r"runs/(?!\.\.?$)[A-Za-z0-9_.-]{1,200}")
MOST_DRAWN = 1000
OFF_THE_GRID = {("own network", ""), ("learning", "")}  # runs of a map beside its grid, and what stands for swept values


def wrong(place, what, value):
    shown = repr(value)
    raise Unusable(f"{place}: {shown if len(shown) < 60 else shown[:57] + '...'} is no {what}")


def text(value, place):
    """Short enough to be a label, and printable."""
    most = 500
    if not isinstance(value, str) or len(value) > most or not value.isprintable():
        wrong(place, f"text of at most {most} printable characters", value)


def name(value, place):
    if not isinstance(value, str) or not NAME.fullmatch(value):
        wrong(place, "name of at most 100 letters, digits, '_', '.' and '-'", value)


def number(value, place):
    drawable = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e100
    if not drawable or math.isnan(value):
        wrong(place, "number that can be drawn", value)


def score(value, place):
    if value is not None:
        number(value, place)


def whatever(value, place):
    """Not drawn."""


def each(check):
    """Checks all values of a list."""
    def all_of(value, place):
        if not isinstance(value, list) or len(value) > MOST_DRAWN:
            wrong(place, f"list of at most {MOST_DRAWN} values", value)
        for index, one in enumerate(value):
            check(one, f"{place}[{index}]")
    return all_of


def fields(**checks):
    """Checks these fields of an object, all of which must be there."""
    def all_of(value, place):
        if not isinstance(value, dict):
            wrong(place, "object", value)
        for key, check in checks.items():
            if key not in value:
                raise Unusable(f"{place} has no field '{key}'")
            check(value[key], f"{place}.{key}")
    return all_of


def is_curve(value, place):
    each(fields(step=number, time_s=number, bytes_mean=number, loss=score, accuracy=score))(value, place)
    for index, point in enumerate(value):
        for key in EXPENSES:
            number(point.get(key, 0), f"{place}[{index}].{key}")


is_breakdown = fields(**dict.fromkeys(ACTIVITIES, number))
is_run_of_study = fields(summary=fields(breakdown=is_breakdown), curve=is_curve)
is_run = fields(summary=fields(breakdown=is_breakdown), curve=is_curve, workload=fields(description=text),
                configuration=fields(flags=fields(algorithm=text)))
is_study = fields(name=name, title=text, measure=fields(label=text, x_label=text),
                  axes=each(fields(key=text, values=each(text))), rows=each(fields(name=name, series=text)),
                  published=each(fields(series=text, x=number, value=number)))


is_search = fields(plan=fields(**{"for": fields(measure=text)}, choices=each(fields(key=text))),
                   trials=each(fields(trial=number, value=score, chosen=fields())), verdict=fields(best=number))


def search(path):
    """The tune.json of a search that has ended."""
    value = tables.json_of(path)
    fields()(value, f"'{path}'")
    if "verdict" not in value:
        raise Unusable(f"'{path}' is of a search that has not ended; its command goes on")
    is_search(value, f"'{path}'")
    for index, choice in enumerate(value["plan"]["choices"]):
        if "range" in choice:
            fields(unit=text)(choice["range"], f"'{path}'.plan.choices[{index}].range")
    for index, trial in enumerate(value["trials"]):
        for key, chosen in trial["chosen"].items():
            text(key, f"'{path}'.trials[{index}].chosen")
            text(chosen, f"'{path}'.trials[{index}].chosen.{key}")
    if not value["trials"]:
        raise Unusable(f"'{path}' has no trials")
    return value


QUANTITIES = {"step", "time", "bytes", "energy", "money"}
SCORES = {"loss", "accuracy", "worst_accuracy"}


def one_of(known, place, value):
    if not isinstance(value, str) or value not in known:
        wrong(place, " or ".join(sorted(known)), value)


def view(value, place):
    """How learning curves are drawn."""
    fields()(value, place)
    for key, known in (("against", QUANTITIES), ("scores", SCORES)):
        each(lambda one, where, known=known: one_of(known, where, one))(value.get(key, []), f"{place}.{key}")
        if key in value and not 0 < len(value[key]) == len(set(value[key])):
            wrong(f"{place}.{key}", "list of different names", value[key])
    if "x_axis" in value:
        one_of({"linear", "log"}, f"{place}.x_axis", value["x_axis"])
    fields()(value.get("ranges", {}), f"{place}.ranges")
    for name_of, ends in value.get("ranges", {}).items():
        one_of(QUANTITIES | SCORES, f"{place}.ranges", name_of)
        each(number)(ends, f"{place}.ranges.{name_of}")
        if len(ends) != 2 or ends[0] >= ends[1]:
            wrong(f"{place}.ranges.{name_of}", "range from a lower to a higher value", ends)


def failed_runs(value, path):
    """Runs that are missing."""
    names = {row["name"] for row in value["rows"]}
    swept = {axis["key"]: set(axis["values"]) for axis in value["axes"]}
    place = f"'{path}'.failed"
    each(fields(row=name, series=text, variant=text, axes=fields(), phase=text))(value.get("failed", []), place)
    for index, one in enumerate(value.get("failed", [])):
        one_of(names, f"{place}[{index}].row", one["row"])
        for key, found in one["axes"].items():
            text(found, f"{place}[{index}].axes.{key}")
            if key in swept:
                one_of(swept[key], f"{place}[{index}].axes.{key}", found)


def run(path):
    """The run.json of a run alone."""
    value = tables.json_of(path)
    is_run(value, f"'{path}'")
    text(value.get("stopped", ""), f"'{path}'.stopped")
    return value


def early_end(run):
    """Words behind the name of a run that is not whole; empty for one that is."""
    stopped = run.get("stopped", "").split(":")[0].replace("$", r"\$")
    return f" (ended early{', ' if stopped else ''}{stopped[:60]})" if "stopped" in run else ""


def study(path):
    value = tables.json_of(path)
    is_study(value, f"'{path}'")
    if "goal" in value:
        fields(loss=number)(value["goal"], f"'{path}'.goal")
    each(text)(value.get("line_keys", []), f"'{path}'.line_keys")
    calibration = value.get("calibration", {})
    fields()(calibration, f"'{path}'.calibration")
    text(calibration.get("source", ""), f"'{path}'.calibration.source")
    fields()(calibration.get("values", {}), f"'{path}'.calibration.values")
    for key, found in calibration.get("values", {}).items():
        text(key, f"'{path}'.calibration.values")
        text(found, f"'{path}'.calibration.values.{key}")
    each(fields(row=name, source=text, method=text, condition=text, used=text, seconds=number))(
        value.get("measurements", []), f"'{path}'.measurements")
    for row in value["rows"]:
        if row.get("panel"):
            name(row["panel"], f"'{path}'.rows.{row['name']}.panel")
    drawn(value, path)
    view(value.get("curves", {}), f"'{path}'.curves")
    failed_runs(value, path)
    if "map" in value:
        winner_map(value, path)
    if not value["rows"]:
        raise Unusable(f"'{path}' has no rows")
    for axis in value["axes"]:
        if not axis["values"]:
            raise Unusable(f"'{path}': axis '{axis['key']}' has no values")
    return value


def drawn(value, path):
    """How the measure is drawn, where the study says."""
    keys = {axis["key"] for axis in value["axes"]}
    for key, known in (("facet", {"", *keys}), ("x_axis", {"", "linear", "log"}), ("y_axis", {"", "linear", "log"})):
        chosen = value["measure"].get(key, "")
        text(chosen, f"'{path}'.measure.{key}")
        if chosen not in known:
            wrong(f"'{path}'.measure.{key}", " or ".join(sorted(known - {""})) or "swept key", chosen)


def winner_map(value, path):
    place = f"'{path}'.map"
    fields(against=name, error=number)(value["map"], place)
    own = value["map"].get("own")
    if own is not None:
        each(text)(own, f"{place}.own")
    fields()(value["map"].get("steps", {}), f"{place}.steps")
    for row, steps in value["map"].get("steps", {}).items():
        number(steps, f"{place}.steps.{row}")
        if steps < 0:
            wrong(f"{place}.steps.{row}", "number of steps that can be drawn", steps)
    if len(value["axes"]) != 2 or not 0 <= value["map"]["error"] < 1:
        raise Unusable(f"{place} needs two axes and an error from 0 to 1")
    if value["map"].get("steps") and "goal" not in value:
        raise Unusable(f"{place}.steps needs a goal")
    fields()(value.get("run", {}), f"'{path}'.run")
    for key, flag in value.get("run", {}).items():
        text(flag, f"'{path}'.run.{key}")


def runs(folder, of_study):
    """The rows of runs.csv, each of a row and at values that the study has, and each with its run.json as `json`."""
    path = folder / "runs.csv"
    axes = {axis["key"]: axis["values"] for axis in of_study["axes"]}
    names = {row["name"] for row in of_study["rows"]}
    rows = tables.rows_of(path, ["row", "series", "variant", "folder", "measure", *axes, *of_study.get("line_keys", [])])
    for index, row in enumerate(rows, 2):
        place = f"'{path}', row {index}"
        if row["row"] not in names:
            wrong(place, "row of the study", row["row"])
        for key, values in axes.items():
            if row[key] not in values and (row["variant"], row[key]) not in OFF_THE_GRID:
                wrong(place, f"value of '{key}' that the study sweeps", row[key])
        if not FOLDER.fullmatch(row["folder"]):
            wrong(place, "folder of a run", row["folder"])
        recorded = folder / row["folder"] / "run.json"
        row["json"] = tables.json_of(recorded)
        is_run_of_study(row["json"], f"'{recorded}'")
        if row["json"].get("error_bar") is not None:
            fields(error=number)(row["json"]["error_bar"], f"'{recorded}'.error_bar")
    return rows

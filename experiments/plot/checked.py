"""Looks at every value that is drawn before anything is: what cannot be drawn is named with its place. What a value alone must be says its
file's schema; what is here is how values fit together."""

import re

import schemas
import tables
from schemas import wrong
from unusable import Unusable

EXPENSES = ("energy_J", "money_USD")  # of all ranks, where the cluster has rates for them
ACTIVITIES = ["compute_s", "exposed_s", "encode_s", "wire_s", "decode_s"]
FOLDER = re.compile(r"runs/(?!\.\.?$)[A-Za-z0-9_.-]{1,200}")
OFF_THE_GRID = {("own network", ""), ("learning", "")}  # runs of a map beside its grid, and what stands for swept values


def text(value, place):
    """Short enough to be a label, and printable."""
    schemas.require("values.json", value, place, "text")


def name(value, place):
    schemas.require("values.json", value, place, "name")


def number(value, place):
    schemas.require("values.json", value, place, "number")


def described(path):
    """The content of a result file that is as the schema of its name says."""
    value = tables.json_of(path)
    schemas.require(path.name, value, f"'{path}'")
    return value


def one_of(known, place, value):
    if value not in known:
        wrong(place, " or ".join(sorted(known - {""})) or "swept key", value)


def search(path):
    """The tune.json of a search that has ended."""
    begun = tables.json_of(path)
    if isinstance(begun, dict) and "plan" in begun and "verdict" not in begun:
        raise Unusable(f"'{path}' is of a search that has not ended; its command goes on")
    return described(path)


def view(value, place):
    """How learning curves are drawn."""
    schemas.require("study.json", value, place, "curves")
    for of, ends in value.get("ranges", {}).items():
        if ends[0] >= ends[1]:
            wrong(f"{place}.ranges.{of}", "range from a lower to a higher value", ends)


def failed_runs(value, path):
    """Runs that are missing."""
    names = {row["name"] for row in value["rows"]}
    swept = {axis["key"]: set(axis["values"]) for axis in value["axes"]}
    for index, one in enumerate(value.get("failed", [])):
        place = f"'{path}'.failed[{index}]"
        one_of(names, f"{place}.row", one["row"])
        for key in swept.keys() & one["axes"].keys():
            one_of(swept[key], f"{place}.axes.{key}", one["axes"][key])


def run(path):
    """The run.json of a run alone."""
    return described(path)


def early_end(run):
    """Words behind the name of a run that is not whole; empty for one that is."""
    stopped = run.get("stopped", "").split(":")[0].replace("$", r"\$")
    return f" (ended early{', ' if stopped else ''}{stopped[:60]})" if "stopped" in run else ""


def study(path):
    value = described(path)
    one_of({"", *(axis["key"] for axis in value["axes"])}, f"'{path}'.measure.facet", value["measure"].get("facet", ""))
    view(value.get("curves", {}), f"'{path}'.curves")
    failed_runs(value, path)
    if "map" in value:
        winner_map(value, f"'{path}'.map")
    return value


def winner_map(value, place):
    if len(value["axes"]) != 2:
        raise Unusable(f"{place} needs two axes")
    if value["map"].get("steps") and "goal" not in value:
        raise Unusable(f"{place}.steps needs a goal")


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
        row["json"] = described(folder / row["folder"] / "run.json")
    return rows

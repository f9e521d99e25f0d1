"""Reads result files: rows of CSV files as dictionaries, with numbers where they are numbers."""

import csv
import json
import math
import re


def number(text):
    try:
        return float(text)
    except ValueError:
        return math.nan


def leading_number(text):
    """16 of "16Gbps", and 4 of "1:4" (a rank and its factor); None where there is none."""
    found = re.match(r"[-+]?[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?", text.split(":")[-1])
    return float(found.group()) if found else None


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def json_of(path):
    with open(path) as file:
        return json.load(file)


def curve_of(folder):
    """The evaluations of a run: time, mean bytes a rank, loss, accuracy; None where there is no value."""
    return json_of(folder / "run.json")["curve"]

"""Reads result files. They may be cut, edited or of something else: what cannot be used is named with its place."""

import csv
import json
import math
import re

from unusable import Unusable


def finite(value):
    """The number, or NaN for what no picture can show."""
    most = 1e100
    return value if math.isfinite(value) and abs(value) < most else math.nan


def number(text):
    try:
        return finite(float(text))
    except ValueError:
        return math.nan


def leading_number(text):
    """16 of "16Gbps", and 4 of "1:4" (a rank and its factor); None where there is none."""
    found = re.match(r"[-+]?[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?", text.split(":")[-1])
    value = number(found.group()) if found else math.nan
    return None if math.isnan(value) else value


def read(path, parse):
    if not path.is_file():
        raise Unusable(f"'{path}' is not there, or is no file")
    try:
        with open(path, newline="", encoding="utf-8") as file:
            return parse(file)
    except OSError as error:
        raise Unusable(f"cannot read '{path}': {error.strerror}") from error
    except (ValueError, csv.Error, RecursionError) as error:
        raise Unusable(f"'{path}' cannot be read: {error}") from error


def json_of(path):
    return read(path, json.load)


def rows_of(path, columns):
    """The rows of a table that has these columns, and perhaps more."""
    rows = read(path, lambda file: table(csv.reader(file)))
    header = rows[0] if rows else []
    for column in columns:
        if column not in header:
            raise Unusable(f"'{path}' has no column '{column}'")
    for index, row in enumerate(rows[1:], 2):
        if len(row) != len(header):
            raise Unusable(f"'{path}', row {index}: {len(row)} cells where the header has {len(header)}")
    return [dict(zip(header, row)) for row in rows[1:]]


def table(reader):
    return [row for row in reader if row]

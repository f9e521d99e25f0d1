"""Reads result files. They may be cut, edited or of something else: what cannot be used is named with its place."""

import csv
import functools
import json
import math
import re

from unusable import Unusable


UNITS = {"": 1, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600, "bps": 1, "kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9, "Tbps": 1e12,
         "B/s": 8, "kB/s": 8e3, "MB/s": 8e6, "GB/s": 8e9, "TB/s": 8e12, "FLOPS": 1, "GFLOPS": 1e9, "TFLOPS": 1e12}


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


def quantity(text):
    """16e9 of "16Gbps", 5e-5 of "50us"; None for what is no quantity of these units. Bytes a second are counted in bits."""
    found = re.fullmatch(r"([0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)([A-Za-z/]*)", text)
    if not found or found.group(2) not in UNITS:
        return None
    value = number(found.group(1)) * UNITS[found.group(2)]
    return None if math.isnan(value) else value


def numbers_of(texts):
    """{text: number} and their unit, the smallest where they have several: 60 and 10 of "1h" and "10min". Where those are not known, or there
    is one, leading numbers; None where there is none."""
    units = {text.lstrip("0123456789.") for text in texts}
    if len(units) > 1 and units <= UNITS.keys() - {""}:
        unit = min(units, key=UNITS.get)
        return {text: quantity(text) / UNITS[unit] for text in texts}, unit
    return {text: leading_number(text) for text in texts}, units.pop() if len(units) == 1 else ""


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


def no_number(constant):
    raise ValueError(f"{constant} is no number of JSON")


def json_of(path):
    return read(path, functools.partial(json.load, parse_constant=no_number))


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

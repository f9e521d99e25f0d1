"""The cluster that several calibrations amount to."""

import re
import statistics

FACTORS = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "m": 1e-3, "u": 1e-6, "n": 1e-9}
QUANTITY = re.compile(r"([0-9]+(?:\.[0-9]*)?(?:e[+-]?[0-9]+)?)([A-Za-z/]*)")


def keys_of(file):
    """{key: value} of a cluster file."""
    lines = (line.partition("#")[0].partition("=") for line in file.read_text().splitlines())
    return {key.strip(): value.strip() for key, _, value in lines if value.strip()}


def magnitude(quantity):
    """A number for comparing quantities of one kind, whatever their unit."""
    number, unit = QUANTITY.fullmatch(quantity).groups()
    return float(number) * (FACTORS.get(unit[0], 1) if len(unit) > 1 else 1)


def middle(values):
    """The median of quantities, the most frequent of words and of sizes from .. to; of lists and of rates of codecs, field by field."""
    for between in (" ", "/"):
        if all(between in value for value in values) and len({value.count(between) for value in values}) == 1:
            return between.join(map(middle, zip(*(value.split(between) for value in values))))
    if all(QUANTITY.fullmatch(value) for value in values):
        return sorted(values, key=magnitude)[len(values) // 2]
    return statistics.mode(values)


def median_cluster(calibrations, comment):
    """Text of a cluster with the middle of every key that most of the calibrations have."""
    lines = [f"# {comment}: medians of {len(calibrations)} calibrations."]
    for key in dict.fromkeys(key for one in calibrations for key in one):
        values = [one[key] for one in calibrations if key in one]
        if 2 * len(values) > len(calibrations):
            lines.append(f"{key} = {middle(values)}")
    return "\n".join(lines) + "\n"

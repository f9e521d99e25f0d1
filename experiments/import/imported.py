"""What a kind of file gives: a profile, keys of a cluster, rows of measurements; each with where it is from, beside what the file cannot say."""

import dataclasses
import math


@dataclasses.dataclass
class Imported:
    took: list = dataclasses.field(default_factory=list)  # sentences: what was taken from where
    unknown: list = dataclasses.field(default_factory=list)  # sentences: what the files could not say
    profile: str = ""  # text of a profile's table
    cluster: dict = dataclasses.field(default_factory=dict)  # key: (value, where it is from)
    summary: str = ""  # of the cluster: its file's first line
    rows: list = dataclasses.field(default_factory=list)  # of measurements, as dictionaries by column
    flags: dict = dataclasses.field(default_factory=dict)  # of `trigram run`, that repeat what was traced
    traced: "tuple | None" = None  # seconds of a step as they were measured: middle, least, most


def quantity(value, units):
    """A number with the largest of the units that leaves it at 1 or more, in four digits; no unit where it is 0."""
    if value == 0:
        return "0" + units[-1][0]
    name, size = next(((name, size) for name, size in units if abs(value) >= size), units[-1])
    return f"{value / size:.4g}{name}"


def seconds(value):
    return quantity(value, [("s", 1), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)])


def bytes_a_second(value):
    return quantity(value, [("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3), ("B/s", 1)])


def bits_a_second(value):
    return quantity(value, [("Gbps", 1e9), ("Mbps", 1e6), ("kbps", 1e3), ("bps", 1)])


def binary(value):
    """Bytes without rounding, as 10MiB or 1234B."""
    for name, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if value >= size and value % size == 0:
            return f"{value // size}{name}"
    return f"{value}B"


def middle(values):
    """The median."""
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def spread(values, text=seconds):
    """'12 ms (11 to 15)' of several, '12 ms' of one."""
    least, most = min(values), max(values)
    return text(middle(values)) + ("" if math.isclose(least, most, rel_tol=1e-3) else f" ({text(least)} to {text(most)})")


def in_range(value, ends, text):
    """'12ms in 11ms..15ms', as values that are not known exactly are written; the value alone where they are all one."""
    least, most = min([value, *ends]), max([value, *ends])
    if text(least) == text(most) or least < 0:
        return text(value)
    return f"{text(value)} in {text(least)}..{text(most)}"

"""What bounds the steps of a run, in one sentence."""

import csv
import pathlib

LANES = {"encode_s": "in the codec", "wire_s": "on the network", "decode_s": "in the codec"}
ROWS = 10000
"""That are read at most."""


def what_bounds(steps: pathlib.Path) -> str:
    """Of steps.csv, by the mean of its rows: compute, where communication is exposed for less than half of a step, as the calibration of clusters
    has it. Raises ValueError, naming the file, for what is no such table; empty where there is no time to tell of."""
    columns = ("compute_s", "exposed_s", *LANES)
    try:
        with steps.open(encoding="utf-8", newline="") as file:
            rows = [[float(row[name]) for name in columns] for row, _ in zip(csv.DictReader(file), range(ROWS))]
    except (OSError, ValueError, KeyError, TypeError, csv.Error) as error:
        raise ValueError(f"cannot read '{steps}': {type(error).__name__}: {error}") from error
    compute, exposed, *lanes = (sum(column) for column in zip(*rows)) if rows else (0.0, 0.0)
    if compute + exposed <= 0:
        return ""
    waited = exposed / (compute + exposed)
    if waited < 0.5:
        return f"compute bounds a step: it takes {1 - waited:.0%} of it, and {waited:.0%} is waited for other ranks"
    where = {place: sum(busy for busy, name in zip(lanes, LANES) if LANES[name] == place) for place in LANES.values()}
    return f"communication bounds a step: {waited:.0%} of it is waited for other ranks, most of what lanes do meanwhile is {max(where, key=where.__getitem__)}"

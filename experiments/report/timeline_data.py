"""A step's timeline as numbers: what each lane of each rank did, from trace.json, and when the steps ended, from steps.csv."""

import checked
import style
import tables
from unusable import Unusable

MOST_BARS = 20_000
MICROSECONDS = 1e-6


def lanes_of(events):
    """(rank, lane) → the lane's name."""
    return {(event["pid"], event["tid"]): event["args"]["name"] for event in events if event.get("name") == "thread_name"}


def bars_of(events, path):
    found = []
    for index, event in enumerate(events):
        if event.get("ph") != "X":
            continue
        for key in ("pid", "tid", "ts", "dur"):
            checked.number(event.get(key), f"'{path}', event {index}, {key}")
        for key in ("name", "cat"):
            checked.text(event.get(key), f"'{path}', event {index}, {key}")
        found.append(event)
    return found


def of(folder):
    """The bars of whole steps from the first on, as many as a page should hold, in seconds; None of a trace without any."""
    path = folder / "trace.json"
    trace = tables.json_of(path)
    try:
        events = trace["traceEvents"]
        lanes, bars = lanes_of(events), bars_of(events, path)
    except (KeyError, TypeError, AttributeError) as error:
        raise Unusable(f"'{path}' is no trace that trigram wrote ({type(error).__name__}: {error})") from error
    bars.sort(key=lambda bar: bar["ts"])
    shown = bars[:MOST_BARS]
    ends = [tables.number(row["time_s"]) for row in tables.rows_of(folder / "steps.csv", ["rank", "time_s"]) if row["rank"] == "0"]
    if len(shown) < len(bars):
        ends = [end for end in ends if end <= shown[-1]["ts"] * MICROSECONDS] or ends[:1]
    if not shown or not ends:
        return None
    note = f"The first {len(ends)} steps of the trace; trace.json has all of them." if len(shown) < len(bars) else ""
    columns = {"rank": [bar["pid"] for bar in shown], "lane": [bar["tid"] for bar in shown], "name": [bar["name"] for bar in shown],
               "kind": [bar["cat"] for bar in shown], "begin_s": [round(bar["ts"] * MICROSECONDS, 9) for bar in shown],
               "seconds": [round(bar["dur"] * MICROSECONDS, 9) for bar in shown]}
    colours = style.colours_of(dict.fromkeys(columns["name"]))
    return {"kind": "timeline", "title": "A step's timeline", "note": note, "step_ends_s": ends, "bars": columns, "colours": colours,
            "lanes": [{"rank": rank, "lane": lane, "name": name} for (rank, lane), name in sorted(lanes.items())]}

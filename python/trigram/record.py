"""The files of `trigram run` for a training that the program did not record: a real job of Python, or a simulation that
ended early."""

import csv
import io
import json
import math
import os
import pathlib
import statistics
import tempfile
from collections.abc import Sequence
from typing import Any, Optional

STEP_COLUMNS = ["step", "rank", "time_s", "loss", "bytes_sent", "bytes_between_nodes", "compute_s", "encode_s", "wire_s", "decode_s",
                "exposed_s"]
EVAL_COLUMNS = ["step", "time_s", "loss", "accuracy", "worst_accuracy", "consensus_distance"]
BUSY = ["compute_s", "encode_s", "wire_s", "decode_s"]

Row = dict[str, Any]


class Rows:
    """Rows of steps.csv and evals.csv as a training goes on, from sums of rank 0 at the begin of each step."""

    def __init__(self, evaluate_every: int) -> None:
        """`evaluate_every`: steps between evaluations; 0: before the first and after the last alone, or nobody knows when."""
        self.steps: list[Row] = []
        self._every = evaluate_every
        self._scores: list[Row] = []
        self._ends: list[dict[str, float]] = [{"time_s": 0.0, "bytes_sent": 0.0}]  # after so many steps
        self._loss = math.nan

    def begin(self, sums: dict[str, float]) -> None:
        """Of the next step, which is where the one before has ended."""
        if len(self._ends) > len(self.steps) + 1:
            before = self._ends[-1]
            row: Row = {key: sums[key] - before[key] for key in sums if key != "time_s"}
            exposed = sums["time_s"] - before["time_s"] - row["compute_s"]
            self.steps.append({"step": len(self.steps), "rank": 0, "time_s": sums["time_s"], "loss": self._loss} | row |
                              {"exposed_s": exposed})
        self._ends.append(sums)
        self._loss = 0.0

    def loss(self, loss: float, parts: int) -> None:
        """Of one of so many micro-batches of the step that has begun."""
        self._loss += loss / parts

    def next_evaluation(self) -> int:
        """After so many steps. Ranks that are ahead may be in their next step already."""
        return len(self._scores) * self._every if self._every else (len(self._ends) - 1 if self._scores else 0)

    def evaluated(self, loss: float, accuracy: float) -> None:
        """The mean model."""
        self._scores.append({"step": self.next_evaluation(), "loss": loss, "accuracy": accuracy})

    def evals(self) -> list[Row]:
        """With the time of rank 0, as far as it is known."""
        ends = [self._ends[min(row["step"] + (row["step"] > 0), len(self._ends) - 1)] for row in self._scores]
        return [row | {"time_s": end["time_s"], "bytes_mean": end["bytes_sent"]} for row, end in zip(self._scores, ends)]


def write(folder: pathlib.Path, facts: dict[str, Any], steps: Sequence[Row], evals: Sequence[Row],
          spans: Optional[Sequence[Row]] = None) -> None:
    """`facts`: "description", "flags" of the training, "ranks", "samples" a step over all of them, and "stopped", why it
    ended early, where it did. `spans`, where there are any, make trace.json. run.json comes last, as the program's."""
    folder.mkdir(parents=True, exist_ok=True)
    recorded = sorted({column for row in steps for column in row} - set(STEP_COLUMNS))
    replace(folder / "steps.csv", table(STEP_COLUMNS + recorded, steps))
    replace(folder / "evals.csv", table(EVAL_COLUMNS, evals))
    if spans is not None:
        replace(folder / "trace.json", trace(spans))
    run = {"identity": "", "inputs": {}, "build": {},
           "configuration": {"flags": facts["flags"], "cluster": {}, "ranks": facts["ranks"]},
           "workload": {"description": facts["description"], "global_batch": facts["samples"], "phantom": False},
           "backend": facts.get("backend"), "summary": summary(facts, steps, evals),
           "curve": [{key: json_number(row.get(key)) for key in ("step", "time_s", "loss", "accuracy", "bytes_mean")} for row in evals]}
    if "stopped" in facts:
        run["stopped"] = facts["stopped"]
    replace(folder / "run.json", json.dumps(run, indent=2, sort_keys=True) + "\n")


def summary(facts: dict[str, Any], steps: Sequence[Row], evals: Sequence[Row]) -> dict[str, Any]:
    """As the program's, of rank 0's rows."""
    durations = [row["compute_s"] + row["exposed_s"] for row in steps[:1]]
    durations += [row["time_s"] - before["time_s"] for before, row in zip(steps, steps[1:])]
    mean = statistics.fmean(durations) if durations else 0.0
    last = evals[-1] if evals else {}
    means = {key: statistics.fmean([row[key] for row in steps]) if steps else 0.0 for key in [*BUSY, "exposed_s"]}
    sent = [row["bytes_sent"] for row in steps]
    between = [row["bytes_between_nodes"] for row in steps if "bytes_between_nodes" in row]
    return {"iteration_s": mean, "iteration_median_s": statistics.median(durations) if durations else 0.0,
            "samples_per_s": facts["samples"] / mean if mean else 0.0,
            "bytes_per_step_mean": statistics.fmean(sent) if sent else 0.0,
            "bytes_per_step_between_nodes": statistics.fmean(between) if between else None,
            "clock_s": steps[-1]["time_s"] if steps else 0.0, "simulated_s": None, "wall_s": facts.get("wall_s"), "breakdown": means,
            "loss": json_number(last.get("loss")), "accuracy": json_number(last.get("accuracy")),
            "worst_accuracy": json_number(last.get("worst_accuracy")),
            "consensus_distance": json_number(last.get("consensus_distance"))}


def json_number(value: Any) -> Any:
    return None if value is None or (isinstance(value, float) and not math.isfinite(value)) else value


def table(columns: list[str], rows: Sequence[Row]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow(["nan" if row.get(column) is None else repr(row[column]) for column in columns])
    return text.getvalue()


def trace(spans: Sequence[Row]) -> str:
    """In Chrome's format: a process a rank, a thread a lane, microseconds."""
    places = sorted({(span["rank"], span["lane"], span["lane_name"]) for span in spans})
    events: list[Row] = [{"name": "process_name", "ph": "M", "pid": rank, "tid": 0, "args": {"name": f"rank {rank}"}}
                         for rank in sorted({rank for rank, _, _ in places})]
    events += [{"name": "thread_name", "ph": "M", "pid": rank, "tid": lane,
                "args": {"name": name}} for rank, lane, name in places]
    events += [{"name": span["name"], "cat": span["activity"], "ph": "X", "pid": span["rank"], "tid": span["lane"],
                "ts": 1e6 * span["begin_s"], "dur": 1e6 * span["seconds"], "args": arguments(span)} for span in spans]
    return json.dumps({"displayTimeUnit": "ms", "traceEvents": events}) + "\n"


def arguments(span: Row) -> Row:
    """What a span sent, and of which collective of its lane it is a part."""
    of = {"call": span["call"], "size": span["size"], "ranks": span["ranks"]} if span["call"] else {}
    return {"bytes": span["bytes"], **of}


def replace(path: pathlib.Path, text: str) -> None:
    """A file that is whole or not there."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".part-", text=True)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(temporary, 0o644)
    os.replace(temporary, path)

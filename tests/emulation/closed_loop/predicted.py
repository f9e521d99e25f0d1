"""What the trace and the quick calibrations say before anything of it runs: import, then a study over the networks."""

import csv

from closed_loop.command import run
from closed_loop.measured import seconds_of
from closed_loop.networks import METHODS, TRACED

STUDY = """# Step times of a job that was traced on one network, on networks that were calibrated.
[study]
title = {title}

[run]
profile = {folder}/imported/profile.csv
bucket-size = 1MiB
optimizer-in-backward = off
steps = 8

[sweep]
cluster = {clusters}

{rows}
[measure]
value = summary.iteration_s
scale = 1000
label = step (ms)
x_label = network
"""


def predict(program, model, networks, out):
    """{(network, method): a row of uncertainty.csv with `predicted`}, in milliseconds."""
    folder = out / model
    traces = sorted((folder / "traced").glob("trace*.json.gz"))
    run(program, "import", "pytorch", *traces, "--cluster", out / f"{TRACED.name}.cfg", "--untraced-step", f"{1e3 * seconds_of(folder / 'traced'):.6g}ms",
        "--out", folder / "imported")
    clusters = {network: out / f"{network.name}.cfg" for network in networks}
    study = folder / "predicted.cfg"
    study.write_text(STUDY.format(title=f"{model} on two hosts", folder=folder, clusters=" ".join(map(str, clusters.values())),
                                  rows="".join(map(row, METHODS))))
    run(program, "study", study, "--uncertainty", "64", "--plot", "off", "--out", folder / "predicted")
    with open(folder / "predicted/uncertainty.csv") as text:
        ranges = {row["folder"]: row for row in csv.DictReader(text)}
    with open(folder / "predicted/runs.csv") as text:
        runs = {(row["row"], row["cluster"]): row for row in csv.DictReader(text)}
    found = {}
    for network, cluster in clusters.items():
        for method in METHODS:
            one = runs[(row_of(method), str(cluster))]
            found[network, method] = ranges[one["folder"]] | {"predicted": one["measure"]}
    return found


def row_of(method):
    return method.partition(":")[0]


def row(method):
    return f"[row.{row_of(method)}]\nalgorithm = {method}\n\n"

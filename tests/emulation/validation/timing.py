"""Seconds of the cases of a scenario, measured or simulated."""

import csv
import statistics
import subprocess
import sys

from validation.scenarios import ALGORITHMS, CYCLE, TRAINING, Case

ITERATIONS = 15  # of a collective, one behind the other: the first ones meet windows that have not opened yet


def run(program, *words, ranks=0):
    """What the program prints, which is started by mpirun where ranks are processes."""
    launcher = ["mpirun", "-n", str(ranks)] if ranks else []
    command = [*launcher, str(program), *map(str, words)]
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode != 0:
        sys.exit(f"validate: {' '.join(command)} ended with {ended.returncode}:\n{ended.stderr}")
    return ended.stdout


def bench_times(file):
    """Seconds by size."""
    with open(file) as rows:
        return {int(row["size (B)"]): float(row["time (us)"]) * 1e-6 for row in csv.DictReader(rows)}


def iteration_time(folder):
    """Mean seconds of a step in the middle one of all cycles but the first, which opens connections."""
    with open(folder / "steps.csv") as rows:
        ends = [float(row["time_s"]) for row in csv.DictReader(rows)][CYCLE - 1::CYCLE]
    return statistics.median(after - before for before, after in zip(ends, ends[1:])) / CYCLE


def times(program, scenario, folder, place, ranks=0):
    """{case: seconds} at that place, which is flags of the program; result files go to the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    cases = {}
    for hierarchy in scenario.hierarchies:
        flat = hierarchy == scenario.hierarchies[0]
        for operation in scenario.operations if flat else ("all_reduce",):  # the others know no hierarchy
            file = folder / f"{operation}-{hierarchy}.csv"
            run(program, "bench", *place, "--op", operation, "--hierarchy", hierarchy, "--min-size", "64KiB", "--max-size",
                scenario.largest, "--iterations", ITERATIONS, "--out", file, ranks=ranks)
            cases |= {Case("bench", operation, hierarchy, size): seconds for size, seconds in bench_times(file).items()}
        for algorithm in ALGORITHMS:
            out = folder / f"{algorithm}-{hierarchy}"
            run(program, "run", *place, "--algorithm", algorithm, "--hierarchy", hierarchy, *TRAINING, "--out", out,
                ranks=ranks)
            cases[Case("iteration", algorithm, hierarchy, 0)] = iteration_time(out)
    return cases


def save(cases, file):
    with open(file, "w") as rows:
        csv.writer(rows).writerows([case.kind, case.name, case.hierarchy, case.size, seconds] for case, seconds in cases.items())


def load(file):
    with open(file) as rows:
        return {Case(kind, name, hierarchy, int(size)): float(seconds)
                for kind, name, hierarchy, size, seconds in csv.reader(rows)}

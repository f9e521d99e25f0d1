"""Makes kernels wrong in one place each, and sees whether a case of the suites notices.

    run.py build/cuda/tests/test_kernels_on_ptx [--seconds 1800] [--seed 1] [--jobs 2] [--only TEXT] [--open] [--once] [--write]

Places are found in the PTX that the suites read, and each mutated kernel is run by the cases that launch it, the shortest first, until one
fails. One place stands for all that come from a line of the source by the same instruction, as setp.gt.f32, in templates, unrolled steps and
types: it is tried first, others in the seed's order, until the time is up. Each barrier is tried where all are. Where a comparison is turned,
kernels run on one block, whose threads go round in every loop, then on the six that the double's device holds.

table.csv beside this file has a row for each mutation of a line of the source that was tried, with what was found and, where a mutant
survives, why it may. A survivor without a reason there fails. --write brings rows of what was tried up to date; others and reasons stay.
--open tries lines of which the table lacks an instruction, or the reason why a mutant survives."""

import argparse
import collections
import concurrent.futures
import functools
import itertools
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

from draw import ALWAYS, Place, in_order, stands_for
from table import ROOT, REASONS, read_table, survives, write_table

SHORT_CASES_MS = 2000
# Statistics over many thousand draws say less of a kernel than the bits that other cases compare, and take the longest.
STATISTICS = "CodecErrors."
# What shows in millions of elements alone is where a loop ends.
LARGE = "ManyElements."
# A barrier that is missing shows only where warps run in an order that needs it.
SCHEDULES = {ALWAYS: ["shuffled early 1", "first_ahead", "last_ahead"]}
# Blocks of the device, as KERNELS_ON_PTX_BLOCKS says; "" for the six of the double. Comparisons decide who has work.
BLOCKS = {"turned_comparisons": ["1", ""]}


def in_this_tree(file):
    """That file of this checkout; the path may be another's, whose object the compiler cache gave. None: it is no source of the project."""
    parts = pathlib.Path(os.path.normpath(file)).parts
    tails = (ROOT.joinpath(*parts[first:]) for first in range(1, len(parts)))
    return next((path for path in tails if path.is_file()), None)


@functools.cache
def source_of(file, row):
    """Where a place comes from, by words that stay when lines above it change; of a line that stands there twice, with the one before."""
    path = in_this_tree(file)
    if path is None:
        return pathlib.Path(file).name, ""
    lines = [line.strip() for line in path.read_text("utf-8").splitlines()]
    words = lines[row - 1]
    if lines.count(words) > 1:
        words = f"{lines[row - 2]} | {words}"
    return str(path.relative_to(ROOT)), words


def run_as_they_are(executable, cases, places):
    """Writes which case launches which kernel, and where kernels can be made wrong."""
    environment = dict(os.environ, KERNELS_ON_PTX_CASES=str(cases), KERNELS_ON_PTX_PLACES=str(places))
    run = subprocess.run([executable, "--gtest_brief=1"], env=environment, capture_output=True, text=True)
    if run.returncode != 0:
        places.unlink(missing_ok=True)
        sys.exit(f"the suites fail as they are:\n{run.stdout[-4000:]}")


def record(executable, folder):
    """The cases that launch each kernel, with their milliseconds, and all places, as a run into that folder leaves them."""
    cases, places = folder / "cases", folder / "places"
    if not places.exists():
        run_as_they_are(executable, cases, places)
    launching = collections.defaultdict(list)
    for row in cases.read_text("utf-8").splitlines():
        milliseconds, case, kernel = row.split(" ")
        launching[kernel].append((int(milliseconds), case))
    found = []
    for row in places.read_text("utf-8").splitlines():
        mutation, kernel, number, instruction, line, file = row.split(" ", 5)
        if launching[kernel.rstrip("(")]:
            found.append(Place(mutation, kernel, int(number), instruction, *(source_of(file, int(line)) if file else ("", ""))))
    return launching, found


def run_cases(executable, place, schedule, blocks, cases):
    """What noticed: a case, or "no end", or "" for nothing."""
    seconds = 5 + 4 * sum(milliseconds for milliseconds, _ in cases) // 1000
    environment = dict(os.environ, GTEST_FAIL_FAST="1", KERNELS_ON_PTX_SCHEDULE=schedule,
                       KERNELS_ON_PTX_MUTATION=f"{place.mutation} {place.kernel} {place.number}")
    if blocks:
        environment["KERNELS_ON_PTX_BLOCKS"] = blocks
    command = [executable, "--gtest_brief=1", "--gtest_filter=" + ":".join(case for _, case in cases)]
    limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    run = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                         errors="replace", preexec_fn=limit)
    if run.returncode == 0:
        return ""
    failed = re.search(r"\[  FAILED  \] (\S+?),? ", run.stdout)
    return (failed.group(1) if failed else "no end" if run.returncode < 0 else "a fault") + (f" on {blocks} block" if blocks else "")


def cases_for(place, launching):
    """What may notice the mutant, the shortest first."""
    cases = sorted(launching[place.kernel.rstrip("(")])
    left_out = (STATISTICS,) if place.mutation == "turned_comparisons" else (STATISTICS, LARGE)
    return [case for case in cases if not case[1].startswith(left_out)] or cases


def noticed_by(executable, place, launching):
    """What first notices the mutant, or ""."""
    cases = cases_for(place, launching)
    short, sum_ms = 1, cases[0][0]
    while short < len(cases) and sum_ms + cases[short][0] <= SHORT_CASES_MS:
        sum_ms += cases[short][0]
        short += 1
    for part in filter(None, (cases[:short], cases[short:])):
        for schedule, blocks in itertools.product(SCHEDULES.get(place.mutation, ["shuffled"]), BLOCKS.get(place.mutation, [""])):
            found = run_cases(executable, place, schedule, blocks, part)
            if found:
                return found
    return ""


def try_all(executable, launching, places, arguments):
    """What noticed each place that was tried."""
    end = time.monotonic() + arguments.seconds
    always, others = in_order(places, arguments.seed, arguments.once)
    found = {}

    def one(place, must):
        if must or time.monotonic() < end:
            found[place] = noticed_by(executable, place, launching)
            if not found[place]:
                print(f"survives: {place.mutation} {place.kernel} {place.number} of {place.file}: {place.line}", flush=True)

    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        list(pool.map(lambda place: one(place, True), always))
        list(pool.map(lambda place: one(place, False), others))
    return found


def rows_of(places, found, table):
    """The table's rows: lines of which a place was tried now, and those that the table has."""
    lines = collections.defaultdict(list)
    for place in places:
        lines[(place.mutation, place.file, place.line)].append(place)
    rows = []
    for key, here in sorted(lines.items()):
        tried = [place for place in here if place in found]
        row = table.get(key)
        if tried:
            by = sorted({found[place] for place in tried if found[place]})
            survived = sum(not found[place] for place in tried)
            row = {"reason": "", "why": "", **(row or {}), "tried": len(tried), "survived": survived, "found_by": by[0] if by else ""}
            if not survived:
                row |= {"reason": "", "why": ""}
        if row:
            rows.append({**row, "mutation": key[0], "file": key[1], "line": key[2], "places": len(here)})
    return rows


def closed_lines(places, table):
    """Those of which each instruction was tried, and what survives has a reason."""
    kinds = collections.Counter(kind[:3] for kind in set(map(stands_for, places)))
    return {key for key, row in table.items() if int(row["tried"]) >= kinds[key] and (row["reason"] or not survives(row))}


def lines_of(places):
    return len({(place.file, place.line) for place in places})


def kinds_of(places):
    return len(set(map(stands_for, places)))


def print_sums(places, found):
    """A line for each mutation: of how many lines of the source, and of how many of what places stand for, one was tried."""
    for mutation in sorted({place.mutation for place in places}):
        own = [place for place in places if place.mutation == mutation]
        tried = [place for place in own if place in found]
        survived = [place for place in tried if not found[place]]
        print(f"{mutation}: {len(own)} places on {lines_of(own)} lines; {len(tried)} tried, of {kinds_of(tried)} of {kinds_of(own)} instructions of "
              f"{lines_of(tried)} lines; {len(survived)} survived on {lines_of(survived)} lines")


def main():
    """Exit status 1 where a mutant survives that the table does not explain."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("executable")
    parser.add_argument("--seconds", type=float, default=1800)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="part of the mutation's name, the kernel's, the file's or the line")
    parser.add_argument("--open", action="store_true", help="only lines that the table does not wholly have, or gives no reason for")
    parser.add_argument("--once", action="store_true", help="no more than one place of each instruction of a line, barriers apart")
    parser.add_argument("--records", type=pathlib.Path, help="a folder for which case launches what, which a later run reads again")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    if arguments.records:
        arguments.records.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        launching, places = record(arguments.executable, arguments.records or pathlib.Path(folder))
    table = read_table()
    chosen = [place for place in places if any(arguments.only in str(part) for part in place)]
    if arguments.open:
        closed = closed_lines(places, table)
        chosen = [place for place in chosen if stands_for(place)[:3] not in closed]
    found = try_all(arguments.executable, launching, chosen, arguments)
    print_sums(chosen, found)
    rows = rows_of(places, found, table)
    if arguments.write:
        write_table(rows)
    unexplained = [row for row in rows if survives(row) and row["reason"] not in REASONS]
    for row in unexplained:
        print(f"nothing notices {row['mutation']} of {row['file']}: {row['line']}")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())

"""What it costs to make a study by an executor, in the figures that are aimed at:

    /usr/bin/python3 tests/benchmarks/studies.py [plan] [memory] [local] [scheduler]

`plan`: seconds and memory of --plan for 100,000 cells. `memory`: of who submits 100,000 cells. `local`: how busy two workers of Dask are with
10,000 cells, of so many steps that they take 20 ms here. `scheduler`: how busy 1,000 workers of Dask's scheduler are with tasks that sleep for a second. How much the
machine has to do besides decides the last two; the load stands beside them."""

import argparse
import concurrent.futures
import json
import logging
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, os.fspath(ROOT / "experiments" / "executors"))

import on_dask
import study_conductor
import study_groups
from study_cells import StudyProgram

PROGRAM = os.environ.get("TRIGRAM_PROGRAM", os.fspath(ROOT / "build" / "release" / "experiments" / "trigram"))
MIB = 2**20
SECONDS_OF_A_CELL = 0.02


def study_file(folder, steps, *axes):
    path = pathlib.Path(folder) / "many.cfg"
    path.write_text(f"[run]\nworkload = quadratic\nsteps = {steps}\n[sweep]\n" + "\n".join(axes) + "\n[row.a]\nalgorithm = all_reduce\n")
    return path


def program_of(folder, *study):
    return StudyProgram(PROGRAM, study_file(folder, *study), [], pathlib.Path(folder) / "s")


def report(name, text):
    print(f"{name:10} {text}; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)


def measure_plan(folder):
    study = study_file(folder, 2, "seed = 1:1000:1", "lr = 1:100:1")
    begin = time.monotonic()
    process = subprocess.Popen([PROGRAM, "study", study, "--plan", "--out", f"{folder}/s"], stdout=subprocess.PIPE, text=True)
    said = process.stdout.read()
    _, _, used = os.wait4(process.pid, 0)
    report("plan", f"{said.split(' in ')[0]} in {time.monotonic() - begin:.1f} s, of which {used.ru_utime + used.ru_stime:.1f} s of a core; "
                   f"{used.ru_maxrss * 1024 / MIB:.0f} MiB")


class Instant(concurrent.futures.Executor):
    """Has made every task as soon as it gets it."""

    def submit(self, fn, *args, **kwargs):
        future = concurrent.futures.Future()
        costs = "".join(json.dumps({"row": "a", "like": "a", "seconds": 0.02}) + "\n" for _ in kwargs["input"].splitlines())
        future.set_result(subprocess.CompletedProcess(args, 0, costs, ""))
        return future


def measure_memory(folder):
    program = program_of(folder, 2, "seed = 1:1000:1", "lr = 1:100:1")
    cells = program.plan()
    study_conductor.Stage(program, cells, Instant(), lambda: 64, 1).make()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MIB
    report("memory", f"{len(cells)} cells submitted by a process of {peak:.0f} MiB, its --plan had "
                     f"{resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / MIB:.0f} MiB")


class Timed(concurrent.futures.Executor):
    """Adds up what cells took on their workers."""

    def __init__(self, executor):
        self.executor, self.seconds, self.tasks = executor, 0.0, 0

    def submit(self, fn, *args, **kwargs):
        future = self.executor.submit(fn, *args, **kwargs)
        future.add_done_callback(self.add)
        return future

    def add(self, future):
        self.tasks += 1
        self.seconds += sum(json.loads(line)["seconds"] for line in future.result().stdout.splitlines())


def seconds_of_a_cell(folder, steps, cells=60):
    """Of two at a time, as two workers make them: a core does less while the other one is busy."""
    program = program_of(folder, steps, f"seed = 1:{cells}:1")
    lines = "".join(cell.line for cell in program.plan())
    command = [word.replace("--jobs=1", "--jobs=2") for word in program.cells_command]
    made = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    return sum(json.loads(line)["seconds"] for line in made.stdout.splitlines()) / cells


def steps_of_a_cell(folder):
    """With which a cell takes 20 ms here, or as little as it can."""
    few, many = (seconds_of_a_cell(pathlib.Path(tempfile.mkdtemp(dir=folder)), steps) for steps in (2, 22))
    return max(2, 2 + round(20 * (SECONDS_OF_A_CELL - few) / (many - few)))


def measure_local(folder, count):
    import distributed
    program = program_of(folder, steps_of_a_cell(folder), "seed = 1:10000:1")
    cells = program.plan()[:count]
    with on_dask.client_of(distributed, "", 2) as client:
        timed, begin = Timed(client.get_executor(pure=False)), time.monotonic()
        study_conductor.Stage(program, cells, timed, lambda: 2, 1).make()
        elapsed = time.monotonic() - begin
    report("local", f"{len(cells)} cells of {1000 * timed.seconds / len(cells):.1f} ms in {timed.tasks} tasks on 2 workers took {elapsed:.1f} s: "
                    f"{100 * timed.seconds / (2 * elapsed):.1f} % busy")


def sleeping(cells):
    time.sleep(cells)
    return subprocess.CompletedProcess([], 0, cells * (json.dumps({"row": "a", "like": "a", "seconds": 1.0}) + "\n"), "")


class Sleeping(concurrent.futures.Executor):
    """Sleeps for a second in place of each cell of a task."""

    def __init__(self, executor):
        self.executor, self.tasks = executor, 0

    def submit(self, fn, *args, **kwargs):
        self.tasks += 1
        return self.executor.submit(sleeping, len(kwargs["input"].splitlines()))


def cpu_of(process):
    """Seconds of a core that a process has used."""
    user, system = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def measure_scheduler(folder, processes=8, threads=125, tasks=30_000):
    """What a task costs scheduler and submitter on a core each is what they can do in a second, however busy this machine is."""
    import distributed
    program = program_of(folder, 2, "seed = 1:1000:1", f"lr = 1:{tasks // 1000}:1")
    cells = [cell._replace(seconds=1.0) for cell in program.plan()]
    environment = {**os.environ, "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False"}  # as for workers of --executor slurm
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": environment}
    place = f"--scheduler-file={folder}/scheduler.json"
    begin = [sys.executable, "-m"]
    started = [subprocess.Popen([*begin, "distributed.cli.dask_scheduler", place, "--port=0", "--no-dashboard"], **quiet)]
    started += [subprocess.Popen([*begin, "distributed.cli.dask_worker", place, f"--nthreads={threads}", "--no-nanny", "--no-dashboard",
                                  f"--local-directory={folder}"], **quiet) for _ in range(processes)]
    try:
        while not os.path.exists(f"{folder}/scheduler.json"):
            time.sleep(0.1)
        with on_dask.client_of(distributed, f"{folder}/scheduler.json", 0) as client:
            client.wait_for_workers(processes)
            before, at = [cpu_of(started[0].pid), time.process_time()], time.monotonic()
            sleeping_executor = Sleeping(client.get_executor(pure=False))
            with unittest.mock.patch.object(study_groups, "LONGEST", 1):  # second, so that no task has two cells
                study_conductor.Stage(program, cells, sleeping_executor, lambda: processes * threads, 1).make()
            elapsed = time.monotonic() - at
            scheduler, submitter = (1000 * (now - then) / len(cells) for now, then in zip([cpu_of(started[0].pid), time.process_time()], before))
            assert sleeping_executor.tasks == len(cells), "each cell is a task of its own"
    finally:
        for process in started:
            process.kill()
            process.wait()
    report("scheduler", f"Dask {distributed.__version__}, {len(cells)} tasks of 1 s on {processes * threads} threads of {processes} workers took "
                        f"{elapsed:.1f} s: {100 * len(cells) / (processes * threads * elapsed):.1f} % busy; a task costs the scheduler {scheduler:.2f} ms "
                        f"and the submitter {submitter:.2f} ms of a core: {100 / max(1, scheduler, submitter):.0f} % busy where each has one")


MEASURED = {"plan": measure_plan, "memory": measure_memory, "local": measure_local, "scheduler": measure_scheduler}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("what", nargs="*", metavar="FIGURE", help=f"of {', '.join(MEASURED)}; all, where none is named")
    arguments.add_argument("--cells", type=int, default=10_000, help="of `local`, where a machine has more to do")
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    given = arguments.parse_args()
    for name in given.what or MEASURED:
        with tempfile.TemporaryDirectory() as folder:
            MEASURED[name](folder, *([given.cells] if name == "local" else []))


if __name__ == "__main__":
    main()

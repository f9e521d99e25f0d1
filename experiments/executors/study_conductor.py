"""Makes a study or a fit by any concurrent.futures.Executor. What a task does is to start the program with some cells on its standard
input, so that a worker needs nothing but the program and the study's folder, both at the same paths as here."""

import concurrent.futures
import math
import os
import queue
import subprocess
import sys
import time

from study_cells import ExecutorIsGone, Failed, Refused
from study_groups import Expectations, Groups

USAGE = 2
ATTEMPTS = 4  # of a group whose worker or process was killed
AHEAD = 2  # tasks that an executor is given for each that it can run


class Progress:
    """How far the cells of one stage are, on standard error, as `trigram study` says it on one machine."""

    WIDTH = 40

    def __init__(self, total, noun="runs", few=0):
        self.total, self.done, self.tenth, self.terminal = total, 0, -1, sys.stderr.isatty()
        self.noun, self.silent = noun, not self.terminal and total < few

    def add(self, count, time_left):
        """`time_left()` is in seconds, None where nobody knows."""
        self.done += count
        tenth = 10 * self.done // self.total
        if self.silent or not self.terminal and tenth == self.tenth:
            return
        self.tenth = tenth
        text = f"{self.done}/{self.total} {self.noun}{words_of(time_left())}"
        if self.terminal:
            filled = self.WIDTH * self.done // self.total
            text = f"\r[{'#' * filled}{'.' * (self.WIDTH - filled)}] {text}\033[K"
        print(text, end="" if self.terminal else "\n", file=sys.stderr, flush=True)

    def finish(self):
        if self.terminal:
            print(file=sys.stderr)


def words_of(seconds):
    if seconds is None or seconds < 1:
        return ""
    return f", about {seconds:.0f} s left" if seconds < 120 else f", about {seconds / 60:.0f} min left"


class Capacity:
    """How many tasks an executor can run at a time, asked for every few seconds: workers come and go."""

    EVERY = 2

    def __init__(self, ask):
        self.ask, self.count, self.asked = ask, 1, -math.inf

    def __call__(self):
        if time.monotonic() - self.asked > self.EVERY:
            self.count, self.asked = max(self.ask(), 1), time.monotonic()
        return self.count


class Stage:
    """Cells of which none waits for another. `slots()` is how many tasks the executor can run at a time, `expectations` what those of
    stages before have taken."""

    def __init__(self, program, cells, executor, slots, task_seconds, expectations=None):
        self.program, self.executor, self.slots = program, executor, Capacity(slots)
        self.groups, self.progress = Groups(cells, task_seconds, self.slots, expectations), Progress(len(cells), program.NOUN, program.FEW)
        self.running, self.again, self.ended = {}, [], queue.SimpleQueue()
        self.tries, self.lost, self.left, self.looked = {}, [], None, 0.0

    def make(self):
        """Raises Refused where a worker's program refuses its cells, and Failed where there is no executor any more."""
        try:
            while self.submit():
                self.judge(self.ended.get())
        except BaseException:
            for future in self.running:
                future.cancel()
            raise
        finally:
            self.progress.finish()
        if self.lost:
            print(f"trigram: {len(self.lost)} tasks were given up after {ATTEMPTS} workers or processes that died with them; the last: "
                  f"{self.lost[-1]}", file=sys.stderr)

    def submit(self):
        """Whether any task runs."""
        while len(self.running) < AHEAD * self.slots():
            group = self.again.pop() if self.again else self.groups.next()
            if not group:
                break
            try:
                future = self.executor.submit(subprocess.run, self.program.cells_command, input="".join(cell.line for cell in group),
                                              capture_output=True, text=True, cwd=os.getcwd())
            except RuntimeError as error:
                raise ExecutorIsGone(f"the executor takes no more tasks: {error}") from error
            self.running[future] = group
            future.add_done_callback(self.ended.put)
        return bool(self.running)

    def judge(self, future):
        group = self.running.pop(future)
        try:
            ended = future.result()
        except (concurrent.futures.CancelledError, concurrent.futures.BrokenExecutor) as error:
            raise ExecutorIsGone(f"the executor is gone ({type(error).__name__}{': ' if str(error) else ''}{error}); finished runs are kept, and the "
                         "same command continues") from error
        except OSError as error:
            raise Failed(f"a worker cannot start a task: {error}; the program and the study's folder must be at the same paths for "
                         "all of them") from error
        except Exception as error:  # as Dask's KilledWorker
            return self.try_again(group, f"{type(error).__name__}: {error}")
        if ended.returncode == USAGE:
            raise Refused(ended.stderr.strip().removeprefix("trigram: "))
        if ended.returncode not in (0, 1):
            return self.try_again(group, f"the program ended with {ended.returncode} {ended.stderr.strip()}")
        self.groups.add_costs(ended.stdout)
        self.progress.add(len(group), self.time_left)

    def try_again(self, group, reason):
        """What a worker that died has made of a group is there already, and is not made again."""
        name = group[0].name
        self.tries[name] = self.tries.get(name, 1) + 1
        if self.tries[name] <= ATTEMPTS:
            self.again.append(group)
        else:
            self.lost.append(reason)
            self.progress.add(len(group), self.time_left)

    def time_left(self):
        """Looked up once a second: it goes through all cells."""
        if time.monotonic() - self.looked > 1:
            seconds = self.groups.seconds_left(self.running.values())
            self.left, self.looked = None if seconds is None else seconds / self.slots(), time.monotonic()
        return self.left


def make_cells(program, executor, slots, task_seconds):
    """Makes what is missing, stage by stage: calibration and selection decide what comes behind them. Each cell is tried once."""
    tried, expectations = set(), Expectations()
    cells = program.plan()
    failed = [cell for cell in cells if cell.failed]
    if failed:
        program.forget(failed)
        cells = program.plan()
    while cells:
        Stage(program, cells, executor, slots, task_seconds, expectations).make()
        tried.update(cell.name for cell in cells)
        cells = [cell for cell in program.plan() if cell.name not in tried]


def conduct(program, executor, slots, task_seconds, quiet=False):
    """Makes what is missing. Returns as program.collect does, for which `quiet` is."""
    make_cells(program, executor, slots, task_seconds)
    return program.collect(quiet)

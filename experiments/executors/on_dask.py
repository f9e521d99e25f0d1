"""--executor dask: workers of its own; dask:FILE: the scheduler that this file names, on a shared disk; dask:tcp://HOST:PORT."""

import contextlib
import logging
import signal
import time

import study_conductor
from study_cells import Failed, Refused

PATIENCE = 60  # seconds, for a scheduler and for its first worker

# What Dask would show on its dashboard, and takes time for at each task: the lines of source that submit it, which it parses anew, and where a
# worker's threads are, every 10 ms. Our tasks all wait for a program, in one line. Workers that others start have settings of their own.
SETTINGS = {"distributed.diagnostics.computations.ignore-modules": [".*"], "distributed.worker.profile.enabled": False}


def make(plan, program):
    """The exit code. Raises Refused and Failed."""
    try:
        import distributed
    except ImportError as error:
        raise Refused(f"Dask's distributed is missing ({error}); install python3-distributed, or by pip install 'trigram[dask]'") from error
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what goes wrong is said in our own words
    place = plan["executor"].partition(":")[2]
    with client_of(distributed, place, plan["jobs"]) as client:
        wait_for_worker(client, place)
        executor = client.get_executor(pure=False)
        code, _ = study_conductor.conduct(program, executor, lambda: slots_of(client), plan["task_seconds"])
        return code


@contextlib.contextmanager
def client_of(distributed, place, jobs):
    """Of the scheduler at a place, as behind `dask:`, or of one with `jobs` workers, where it is empty."""
    import dask
    with contextlib.ExitStack() as stack:
        stack.enter_context(dask.config.set(SETTINGS))
        if place == "":
            with ignored_interrupt():  # Ctrl-C reaches this process alone, which ends the others
                cluster = stack.enter_context(distributed.LocalCluster(n_workers=jobs, threads_per_worker=1, dashboard_address=None,
                                                                       silence_logs=logging.CRITICAL))
            how = {"address": cluster}
        else:
            how = {"address": place} if "://" in place else {"scheduler_file": place}
        try:
            client = distributed.Client(timeout=PATIENCE, **how)
        except (OSError, ValueError, TimeoutError) as error:
            raise Refused(f"no scheduler of Dask answers at '{place}': {error}; start one by: dask scheduler --scheduler-file FILE") from error
        yield stack.enter_context(client)


@contextlib.contextmanager
def ignored_interrupt():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def slots_of(client):
    return sum(client.nthreads().values())


def wait_for_worker(client, place):
    begin = time.monotonic()
    while slots_of(client) == 0:
        if time.monotonic() - begin > PATIENCE:
            raise Failed(f"the scheduler of dask:{place} has no workers; start some by: dask worker --nthreads 1 {client.scheduler.address}")
        time.sleep(0.1)

"""What the program does, as functions: each starts it and reads what it wrote."""

import concurrent.futures
import json
import pathlib

from . import executors, program, results
from .program import Launcher


def run(*, launcher: Launcher = (), **flags: object) -> results.Run:
    """Trains once: `trigram run`.

        trigram.run(algorithm="bytegrad", steps=200, cluster="two_by_four:nic_bandwidth=1Gbps", out="results/first")

    `launcher` stands before the program where ranks are processes, as "mpirun -n 4" with backend="mpi". Without `out`
    the files lie in a temporary folder, which goes with the object. Raises ValueError for what the program refuses,
    RuntimeError for other failures."""
    scratch = None if flags.get("out") else results.Scratch()
    folder = scratch.folder if scratch else pathlib.Path(str(flags["out"]))
    program.start(["run", *program.words_of({"progress": True} | flags | {"out": folder})], launcher)
    return results.Run(folder, scratch)


def study(study: "str | pathlib.Path", *, executor: "str | concurrent.futures.Executor | None" = None, parallel: int = 0,
          task_seconds: float = 1.0, **flags: object) -> results.Study:
    """Makes the runs of a study: `trigram study`.

        trigram.study("bagua_bandwidth", jobs=2)      trigram.study("./mine.cfg", out="results/mine")

    `study` is a name of `products("studies")` or the path of a file. Without `out` the files lie in results/NAME, as
    those of the program: runs that are there already are kept, so that the same call continues. Pictures are drawn when
    they are asked for, unless plot=True.

    `executor` makes the runs elsewhere: any concurrent.futures.Executor, as Dask's `client.get_executor(pure=False)`, mpi4py's
    MPIPoolExecutor, submitit's or loky's, or a word of `--executor`. Its workers need the program and the folder at the same paths as
    here, and nothing else. It is given tasks that last `task_seconds` at least, enough to keep `parallel` of them running:
    as many as it says that it has workers, where this is 0. Raises ValueError for what the program refuses, RuntimeError
    for other failures."""
    out = pathlib.Path(str(flags.get("out") or pathlib.Path("results") / pathlib.Path(study).stem))
    own = {"plot": False} | flags | {"out": out}
    if executor is None or isinstance(executor, str):
        elsewhere = {"executor": executor, "task_seconds": task_seconds} if executor else {}
        program.start(["study", str(study), *program.words_of(own | elsewhere)])
    else:
        executors.study(study, own, executor, parallel, task_seconds)
    return results.Study(out)


def bench(*, launcher: Launcher = (), **flags: object) -> results.Bench:
    """Times a collective at growing sizes: `trigram bench`.

        trigram.bench(op="all_gather", cluster="two_by_four", max_size="1GiB", factor=4)

    `launcher` as in `run`. The table is written to a file where `out` is given. Raises as `run` does."""
    scratch = results.Scratch()
    path = pathlib.Path(str(flags.get("out") or scratch.folder / "bench.csv"))
    text = program.start(["bench", *program.words_of(flags | {"out": path})], launcher)
    return results.Bench(text, path.read_text("utf-8"))


def calibrate(*, launcher: Launcher = (), executor: "str | concurrent.futures.Executor | None" = None, parallel: int = 0,
              task_seconds: float = 1.0, **flags: object) -> results.Calibration:
    """Measures messages and device operations, and makes a cluster of them: `trigram calibrate`.

        mine = trigram.calibrate(launcher="mpirun -n 4", backend="mpi", out="mine.cfg")
        trigram.run(cluster=mine.path)

    `launcher` as in `run`. Without `out` the cluster's file is a temporary one, which goes with the object. Raises as
    `run` does.

        trigram.calibrate(**{"from": "times.csv"}, fit="nic_efficiency", work="results/fit", executor=e)

    `executor` makes the simulations of a fit elsewhere, as in `study`: they are kept in the folder `work`, which its workers share."""
    scratch = None if flags.get("out") else results.Scratch()
    path = scratch.folder / "measured.cfg" if scratch else pathlib.Path(str(flags["out"]))
    own = flags | {"out": path}
    if isinstance(executor, str):
        own |= {"executor": executor, "task_seconds": task_seconds}
    elif executor is not None:
        if not own.get("work"):
            raise ValueError("an executor needs a folder that its workers share; give work=FOLDER")
        executors.simulate_fit(own, executor, parallel, task_seconds)
    text = program.start(["calibrate", *program.words_of(own)], launcher)
    return results.Calibration(text, path, scratch)


def import_files(kind: str, *files: "str | pathlib.Path", out: "str | pathlib.Path" = "results/imported", **flags: object) -> results.Imported:
    """Reads files that other tools wrote: `trigram import`.

        mine = trigram.import_files("pytorch", "rank0.json.gz", "rank1.json.gz", batch=32, out="results/mine")
        trigram.run(workload=f"profile:file={mine.profile}", cluster=mine.cluster)

    `kind` is one of those that `trigram import --help` lists. Raises ValueError for files that are not of that kind, with a sentence
    that says why."""
    text = program.start(["import", kind, *map(str, files), *program.words_of(flags | {"out": out})])
    return results.Imported(text, pathlib.Path(out))


def products(kind: str) -> results.Products:
    """What there is of a kind, with parameters: `trigram list`. `kind` is "algorithms", "codecs", "topologies",
    "workloads", "clusters", "studies", … Raises ValueError for another word, naming all kinds."""
    return results.Products(kind, json.loads(program.start(["list", kind, "--json"]))[kind])

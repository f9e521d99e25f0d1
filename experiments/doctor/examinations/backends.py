"""Which backends work here, each tried by an all-reduce of two ranks, and why the others do not."""

import re
import shutil

from ask import program, without_addresses

TITLE = "backends"
PLACE = 6
LIMIT = 60  # seconds
NOT_BUILT = {"sim": "needs SimGrid 3.32 or later (libsimgrid-dev) when it is built",
             "mpi": "needs -DTRIGRAM_MPI=ON when it is built",
             "gpu": "needs -DTRIGRAM_GPU=ON, nvcc and nccl.h when it is built, as where this machine has a GPU",
             "torch": "is for scripts of Python that call trigram.with_trigram, and no part of the program"}
# Root, and fewer cores than ranks, are no reason for Open MPI to refuse.
OPEN_MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
            "PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def command(trigram, name):
    backend = name if name == "sim" else f"{name}:timeout=30s"
    words = [trigram["program"], "bench", "--backend", backend, "--op", "all_reduce", "--min-size", "64KiB", "--max-size", "64KiB"]
    if name == "mpi" and shutil.which("mpirun"):
        return ["mpirun", "-n", "2", *words]
    return [*words, "--ranks", "1" if name == "mpi" else "2"]


def tried(trigram, name):
    said = program(*command(trigram, name), seconds=LIMIT, **OPEN_MPI)
    row = re.search(r"^65536 +\d+ +float +(\S+)", said.out, re.MULTILINE)
    if said.code == 0 and row:
        alone = name == "mpi" and not shutil.which("mpirun")
        return f"works: 64 KiB all-reduced by {'one rank, since there is no mpirun' if alone else 'two ranks'} in {row[1]} us"
    return f"does not work: {'it hangs' if said.code is None else said.last_line}"


def found(trigram):
    names = sorted({*NOT_BUILT, *trigram["backends"]})
    return without_addresses(f"{name}: {tried(trigram, name) if name in trigram['backends'] else 'not here: it ' + NOT_BUILT[name]}" for name in names)

"""One rank of a job that mpirun or torchrun started: PyTorch models trained by with_trigram, beside those of DistributedDataParallel
and of plain loops. with_trigram_job.py FOLDER CASE…; rank 0 prints which cases held and which it skipped."""

import os
import sys
import unittest
import warnings

import torch
import torch.distributed as dist

from job_beside_ddp import BesideDdp
from job_bits import Bits
from job_comm import Comm
from job_copies import Copies
from job_layers import Layers
from job_loops import Loops
from job_mean import Means
from job_methods import Methods
from job_misuse import Misuse
from job_overflow import Overflows
from job_types import Types


class Cases(BesideDdp, Bits, Comm, Copies, Layers, Loops, Means, Methods, Misuse, Overflows, Types):
    """A method a case."""


def main(kind, folder, names):
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    rank, ranks = (int(next(os.environ[key] for key in keys if key in os.environ))
                   for keys in (("OMPI_COMM_WORLD_RANK", "RANK"), ("OMPI_COMM_WORLD_SIZE", "WORLD_SIZE")))
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=ranks)
    cases = kind()
    for name in names or [key.removeprefix("case_") for key in dir(cases) if key.startswith("case_")]:
        try:
            getattr(cases, f"case_{name}")()
            came = "held"
        except unittest.SkipTest:
            came = "skipped"
        if rank == 0:
            print(came, name, flush=True)


if __name__ == "__main__":
    main(Cases, sys.argv[1], sys.argv[2:])

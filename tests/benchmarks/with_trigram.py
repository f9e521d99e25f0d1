"""Milliseconds of a training step by with_trigram beside DistributedDataParallel on gloo, on ranks of one machine:

    ./trigram python -m torch.distributed.run --nproc_per_node 2 -r 9:1 -t 9:1 tests/benchmarks/with_trigram.py [--rounds N]

or below mpirun, as with_trigram itself. Both train the same model on the same batches and take turns; a round is as slow as its
slowest rank. The fastest round of each is shown, and the median: others on the machine only make it slower."""

import argparse
import os
import statistics
import tempfile
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel

import trigram
from trigram import launcher

MODELS = {"small: 5 thousand parameters": (32, 64, 32), "middle: 1 million": (512, 1024, 512)}
STEPS = 10  # of a round


def layers(sizes):
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(sizes[0], sizes[1]), torch.nn.ReLU(), torch.nn.Linear(sizes[1], sizes[2]))


def connect():
    """As with DDP alone; mpirun says in other variables who this is."""
    if launcher.default_backend() == "torch":
        dist.init_process_group("gloo")
        return
    rank, ranks = (int(os.environ[f"OMPI_COMM_WORLD_{key}"]) for key in ("RANK", "SIZE"))
    place = f"{tempfile.gettempdir()}/with_trigram_benchmark-{os.getppid()}"
    dist.init_process_group("gloo", init_method=f"file://{place}", rank=rank, world_size=ranks)


def trained(sizes, algorithm):
    """A step of the model by that algorithm, or by DDP; and the end."""
    model = layers(sizes)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    if algorithm is None:
        model = DistributedDataParallel(model)
    else:
        trigram.with_trigram(model, [optimizer], algorithm)
    x, y = torch.randn(32, sizes[0]), torch.randn(32, sizes[2])

    def step():
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()

    return step, (lambda: None) if algorithm is None else model.trigram.finish


def round_of(step):
    """Milliseconds of a step, on the slowest rank."""
    dist.barrier()
    begun = time.perf_counter()
    for _ in range(STEPS):
        step()
    taken = torch.tensor([(time.perf_counter() - begun) / STEPS * 1e3])
    dist.all_reduce(taken, dist.ReduceOp.MAX)
    return taken.item()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    given = parser.parse_args()
    torch.set_num_threads(1)
    connect()
    shows = dist.get_rank() == 0
    if shows:
        print(f"torch {torch.__version__}, {dist.get_world_size()} ranks, backend {launcher.default_backend()}; milliseconds a step: fastest, median")
    for name, sizes in MODELS.items():
        methods = {what: trained(sizes, algorithm) for what, algorithm in (("DDP", None), ("all_reduce", "all_reduce"), ("bytegrad", "bytegrad"))}
        taken = {what: [] for what in methods}
        for _ in range(given.rounds + 1):
            for what, (step, _) in methods.items():
                taken[what].append(round_of(step))
        for _, end in methods.values():
            end()
        if shows:
            print(name, *(f"{what} {min(times[1:]):.2f}, {statistics.median(times[1:]):.2f}" for what, times in taken.items()), sep="\n    ", flush=True)


if __name__ == "__main__":
    main()

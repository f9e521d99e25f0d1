"""Milliseconds of a training step beside those of DistributedDataParallel on gloo, same models and batches:

    mpirun -n 2 --bind-to none ./trigram python tests/benchmarks/training_step.py [--rounds N] [--steps N]

In each round every method takes its turn of steps. What is shown is rank 0's: the median over rounds, the quartiles, and the median of
what a step takes longer than DistributedDataParallel's of the same round; then the same of its processor's time, all threads together,
which others on the machine disturb less. "alone" exchanges nothing: what the model itself takes."""

import argparse
import os
import statistics
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import trigram

BATCH = 32


def layers(count, width):
    return torch.nn.Sequential(*(part for _ in range(count) for part in (torch.nn.Linear(width, width), torch.nn.Tanh())))


MODELS = {"2 layers of 64": (2, 64), "60 layers of 64": (60, 64), "4 layers of 1024": (4, 1024)}


def ddp(model, _):
    return DistributedDataParallel(model)


def hooked(algorithm):
    def wrap(model, optimizer):
        wrapped = DistributedDataParallel(model)
        wrapped.hook = trigram.ddp_hook(wrapped, algorithm, optimizer=optimizer)
        return wrapped
    return wrap


def session(algorithm):
    return lambda model, optimizer: trigram.with_trigram(model, [optimizer], algorithm)


METHODS = {"alone": lambda model, _: model, "DDP": ddp, "with_trigram all_reduce": session("all_reduce"), "ddp_hook all_reduce": hooked("all_reduce"),
           "with_trigram bytegrad": session("bytegrad"), "ddp_hook bytegrad": hooked("bytegrad")}


class Trained:
    """A model of one method."""

    def __init__(self, wrap, shape):
        torch.manual_seed(0)
        model = layers(*shape)
        self._x = torch.randn(BATCH, shape[1])
        self._optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
        self.model = wrap(model, self._optimizer)

    def milliseconds(self, steps):
        """A step's, of the clock and of the processor, once all ranks have come here."""
        dist.barrier()
        begun = time.perf_counter(), time.process_time()
        for _ in range(steps):
            self._optimizer.zero_grad()
            self.model(self._x).square().mean().backward()
            self._optimizer.step()
        return [(ended - start) / steps * 1e3 for start, ended in zip(begun, (time.perf_counter(), time.process_time()))]

    def finish(self):
        ours = getattr(self.model, "trigram", None) or getattr(self.model, "hook", None)
        if ours:
            ours.finish()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--steps", type=int, default=20, help="of a round and method")
    given = parser.parse_args()
    torch.set_num_threads(1)
    for name, of_mpi in (("RANK", "OMPI_COMM_WORLD_RANK"), ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE")):
        os.environ[name] = os.environ.get(of_mpi) or os.environ[name]
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29500")
    dist.init_process_group("gloo")
    compare(given)
    dist.destroy_process_group()


def compare(given):
    shows = dist.get_rank() == 0
    if shows:
        print(f"torch {torch.__version__}, {dist.get_world_size()} ranks, {BATCH} samples each, {given.rounds} rounds of {given.steps} steps\n"
              "milliseconds a step: median [quartiles], beyond DDP's; of the processor: median, beyond DDP's")
    for name, shape in MODELS.items():
        made = {method: Trained(wrap, shape) for method, wrap in METHODS.items()}
        for one in made.values():
            one.milliseconds(5)  # which settle buckets and memory
        rounds = [{method: one.milliseconds(given.steps) for method, one in made.items()} for _ in range(given.rounds)]
        for one in made.values():
            one.finish()
        for method in METHODS if shows else ():
            clock, processor = zip(*(each[method] for each in rounds))
            low, _, high = statistics.quantiles(clock, n=4)
            beyond = [statistics.median(each[method][k] - each["DDP"][k] for each in rounds) for k in range(2)]
            print(f"{name:16}  {method:23}  {statistics.median(clock):8.3f} [{low:.3f}, {high:.3f}]  {beyond[0]:+8.3f};"
                  f"  {statistics.median(processor):8.3f}  {beyond[1]:+8.3f}", flush=True)


if __name__ == "__main__":
    main()

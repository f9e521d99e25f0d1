"""Milliseconds that a step of a rank takes to simulate where the algorithm is written in Python, on the clock of ResNet-50:

    ./trigram python tests/benchmarks/python_algorithm.py [--ranks 64] [--steps 20]

Of wall time, and of the processor's in Python and in the program. A training of one step is taken off, so that starting costs nothing. `all_reduce` of the
library, which asks Python for gradients alone, is what the program itself takes. A bucket for each of the 161 parameters is the hardest case: by default
they travel in a few."""

import argparse
import itertools
import os
import warnings

import torch

import trigram
from trigram.algorithm import GradientMethod, WeightMethod


class Mean(GradientMethod):
    """What every example of the tutorial is built on."""

    def exchange(self, worker, bucket):
        worker.mean(bucket.gradients)


class LocalSgd(WeightMethod):
    def communicates(self, step):
        return step % 4 == 3

    def exchange(self, worker, bucket):
        worker.mean(bucket.weights)


ALGORITHMS = {"all_reduce of the library": "all_reduce", "gradients averaged in Python": Mean, "weights averaged in Python, every 4": LocalSgd}


CLOCKS = {"161 buckets, fluid": {"bucket_size": 0, "fidelity": "fluid"}, "buckets of 10 MiB, exact": {"bucket_size": "10MiB"}}


def seconds_of(algorithm, options, ranks, steps):
    """Of the clock, and of the processor: here, and in the program."""
    inputs, goal = torch.ones(2, 8), torch.zeros(2, dtype=torch.long)
    before = os.times()
    trigram.simulate(lambda: torch.nn.Linear(8, 4), lambda model, batch: torch.nn.functional.cross_entropy(model(inputs), goal), lambda rank, step: inputs,
                     algorithm=algorithm, ranks=ranks, steps=steps, cluster=f"two_by_four:nodes={max(1, ranks // 4)}", clock="resnet50", progress=False,
                     **options)
    after = os.times()
    return [after.elapsed - before.elapsed, after.user + after.system - before.user - before.system,
            after.children_user + after.children_system - before.children_user - before.children_system]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=64)
    parser.add_argument("--steps", type=int, default=20)
    given = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # how long it will take
    for (clock, options), (name, algorithm) in itertools.product(CLOCKS.items(), ALGORITHMS.items()):
        short, long = (seconds_of(algorithm, options, given.ranks, steps) for steps in (1, 1 + given.steps))
        wall, python, program = (1e3 * (b - a) / given.steps / given.ranks for a, b in zip(short, long))
        print(f"{clock:25} {name:35} {wall:6.1f} ms a rank and step; of processors {python:.1f} in Python, {program:.1f} in the program; "
              f"{long[0]:.0f} s in all", flush=True)


if __name__ == "__main__":
    main()

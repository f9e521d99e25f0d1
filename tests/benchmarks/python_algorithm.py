"""Milliseconds that a step of a rank takes to simulate where the algorithm is written in Python, on the clock of a large model:

    ./trigram python tests/benchmarks/python_algorithm.py [--ranks 64] [--steps 20] [--clock resnet50] [--hot FILE]

A short training is taken off, so that starting costs nothing. `--hot` writes what cProfile has seen of the longer one. The program's own work
is in it: `all_reduce` of the library, which asks Python for gradients alone, is timed beside."""

import argparse
import cProfile
import contextlib
import time

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


def seconds_of(algorithm, options, steps):
    torch.set_num_threads(1)
    inputs, goal = torch.ones(2, 8), torch.zeros(2, dtype=torch.long)
    begun = time.perf_counter()
    trigram.simulate(lambda: torch.nn.Linear(8, 4), lambda model, batch: torch.nn.functional.cross_entropy(model(inputs), goal), lambda rank, step: inputs,
                     algorithm=algorithm, ranks=options.ranks, steps=steps, cluster=f"two_by_four:nodes={max(1, options.ranks // 4)}",
                     clock=options.clock, fidelity="fluid", progress=False)
    return time.perf_counter() - begun


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=64)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--clock", default="resnet50")
    parser.add_argument("--hot", metavar="FILE")
    options = parser.parse_args()
    for name, algorithm in ALGORITHMS.items():
        short = seconds_of(algorithm, options, 1)
        with cProfile.Profile() if options.hot and not isinstance(algorithm, str) else contextlib.nullcontext() as profile:
            long = seconds_of(algorithm, options, 1 + options.steps)
        if profile is not None:
            profile.dump_stats(options.hot)
        print(f"{name:38s} {1e3 * (long - short) / options.steps / options.ranks:6.1f} ms a rank and step, {long:.1f} s in all", flush=True)


if __name__ == "__main__":
    main()

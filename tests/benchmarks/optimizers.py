"""Seconds of a step of trigram.optim, and of torch.optim's loop in pieces (fuse), beside torch.optim's loop, foreach and, where this torch has it for CPUs, fused:

    ./trigram python tests/benchmarks/optimizers.py [--threads N] [--rounds N]

The methods take turns, and the fastest round of each is shown: others on the machine only make it slower."""

import argparse
import time

import torch

from trigram import optim

SHAPES = {"one large tensor": [(8_000_000,)],
          "like ResNet-50": [(64, 3, 7, 7)] + [shape for width, blocks in ((64, 3), (128, 4), (256, 6), (512, 3)) for _ in range(blocks)
                                              for shape in ((width, 4 * width, 1, 1), (width, width, 3, 3), (4 * width, width, 1, 1), (width,),
                                                            (width,), (width,), (width,), (4 * width,), (4 * width,))] + [(1000, 2048), (1000,)],
          "2000 small tensors": [(64,)] * 2000}
KINDS = {"SGD": {"lr": 1e-6, "momentum": 0.9}, "Adam": {"lr": 1e-6}, "AdamW": {"lr": 1e-6}}


def methods(kind, options):
    """What makes an optimizer of parameters, by name."""
    ours, theirs = getattr(optim, kind), getattr(torch.optim, kind)
    return {"torch, loop": lambda parameters: theirs(parameters, foreach=False, **options),
            "torch, foreach": lambda parameters: theirs(parameters, foreach=True, **options),
            "torch, fused": lambda parameters: theirs(parameters, fused=True, **options),
            "trigram": lambda parameters: ours(parameters, **options),
            "trigram, fuse": lambda parameters: optim.fuse(theirs(parameters, foreach=False, **options)),
            "trigram, flat": lambda parameters: ours(parameters, flat=True, **options)}


def steppers(kind, options, shapes):
    """One that can step for each method; what this torch refuses is left out."""
    made = {}
    for name, make in methods(kind, options).items():
        parameters = [torch.nn.Parameter(torch.ones(shape)) for shape in shapes]
        for parameter in parameters:
            parameter.grad = torch.full_like(parameter, 1e-3)
        try:
            optimizer = make(parameters)
            optimizer.step()
        except (TypeError, RuntimeError, ValueError):
            continue
        made[name] = optimizer
    return made


def seconds(optimizer):
    begun = time.perf_counter()
    optimizer.step()
    return time.perf_counter() - begun


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1, help="of torch; trigram's kernels use one, as a rank has one core")
    parser.add_argument("--rounds", type=int, default=10)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    print(f"torch {torch.__version__}, {given.threads} threads; milliseconds a step")
    for model, shapes in SHAPES.items():
        for kind, options in KINDS.items():
            made = steppers(kind, options, shapes)
            best = {name: min(times) for name, times in zip(made, zip(*([seconds(one) for one in made.values()] for _ in range(given.rounds))))}
            print(f"{model:20} {kind:6}" + "".join(f"  {name} {1e3 * least:.2f}" for name, least in best.items()), flush=True)


if __name__ == "__main__":
    main()

"""Memory and time of a training process by the methods most used, beside DistributedDataParallel's and FSDP2's on gloo, memory in copies of the model:

    ./trigram python tests/benchmarks/memory.py [MEBIBYTES]

Two ranks train a model of so many mebibytes, 64 if nothing is said, with momentum. Each method is a job of its own, whose peak is told by the system;
what is shown is that above the process that had trained a tiny one, and the median and the fastest of a step, of which the last ones are timed. A
process alone, which exchanges nothing, holds the model, its gradients and momentum; DDP its buckets too; FSDP2, where torch has it, a half of each, and
what it gathers. The last rows train parameters in bfloat16, and copies are of that model. Beside copies stands how many the mathematics of a method
needs, each of them named in NEEDS."""

import os
import resource
import statistics
import subprocess
import sys
import time

STEPPED = {"weights": 1, "gradients": 1, "momentum": 1}
IN_F32 = 2
"""Copies of a model in bfloat16 that one copy in float32 takes."""
NEEDS = {"alone": STEPPED, "DDP": STEPPED, "FSDP2": {name: copies / 2 for name, copies in STEPPED.items()}, "all_reduce": STEPPED,
         "bytegrad": STEPPED, "qsgd": STEPPED, "power_sgd": STEPPED | {"residuals": 1}, "local_sgd:every=4": STEPPED,
         "diloco:every=4": STEPPED | {"outer weights": 1, "outer momentum": 1}, "decentralized": STEPPED | {"the neighbour's weights": 1},
         "low_precision_decentralized": STEPPED | {"what the neighbour knows": 1, "what it is known to have": 1},
         "async_average": STEPPED | {"what is averaged": 1, "its mean": 1}, "DDP in bf16": STEPPED,
         "all_reduce in bf16": STEPPED | {"sums of gradients": IN_F32}, "local_sgd:every=4 in bf16": STEPPED | {"masters": IN_F32}}
WARM_UP, STEPS = 4, 12
LAYERS, SMALL = 8, 8


def peak():
    """Mebibytes of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def prepared(method, model, optimizer):
    """What is called in its place."""
    import torch

    import trigram
    if method == "DDP":
        return torch.nn.parallel.DistributedDataParallel(model)
    return trigram.with_trigram(model, [optimizer], method)


def sharded(model):
    from torch.distributed.fsdp import fully_shard
    for layer in (*model, model):
        fully_shard(layer)


def train(method, width):
    """Milliseconds of each timed step."""
    import torch
    name, _, kind = method.partition(" in ")
    kind = torch.bfloat16 if kind else torch.float32
    model = torch.nn.Sequential(*(torch.nn.Linear(width, width, bias=False, dtype=kind) for _ in range(LAYERS)))
    if name == "FSDP2":
        sharded(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    trained = model if name in ("alone", "FSDP2") else prepared(name, model, optimizer)
    taken = []
    for _ in range(WARM_UP + STEPS):
        begun = time.perf_counter()
        optimizer.zero_grad()
        trained(torch.ones(1, width, dtype=kind)).square().mean().backward()
        optimizer.step()
        taken.append(1e3 * (time.perf_counter() - begun))
    if hasattr(model, "trigram"):
        model.trigram.finish()
    return taken[WARM_UP:]


def measure(method, mebibytes):
    """Prints what rank 0 needed, above what it needs for a model of a few kibibytes: libraries, connections, threads."""
    import torch
    import torch.distributed as dist
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    train(method, SMALL)
    before = peak()
    bytes_of = 2 if method.endswith("bf16") else 4
    width = int((mebibytes * 2**20 / bytes_of / LAYERS) ** 0.5)
    taken = train(method, width)
    copies = (peak() - before) / (LAYERS * width * width * bytes_of / 2**20)
    if dist.get_rank() == 0:
        print(f"copies {copies:.2f}, ms a step {statistics.median(taken):.0f}, fastest {min(taken):.0f}")


def main():
    mebibytes = float(sys.argv[1]) if len(sys.argv) > 1 else 64
    for method, needs in NEEDS.items():
        ended = subprocess.run([sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "2", "-r", "9:1", "-t", "9:1", __file__, method,
                                str(mebibytes)], capture_output=True, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"})
        said = [line for line in ended.stdout.splitlines() if line.startswith("copies")]
        print(f"{method:30} needs {sum(needs.values()):.1f}, {said[0] if said else (ended.stdout + ended.stderr)[-600:]}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in NEEDS:
        measure(sys.argv[1], float(sys.argv[2]))
    else:
        main()

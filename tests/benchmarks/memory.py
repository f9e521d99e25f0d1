"""Memory of a training process by the methods most used, beside DistributedDataParallel's on gloo, in copies of the model:

    ./trigram python tests/benchmarks/memory.py [MEBIBYTES]

Two ranks train a model of so many mebibytes, 64 if nothing is said, with momentum. Each method is a job of its own, whose peak is told by the system;
what is shown is that above the process before it had a model. DDP holds the model, its gradients, its buckets and momentum."""

import os
import resource
import subprocess
import sys

METHODS = ["DDP", "all_reduce", "bytegrad", "qsgd", "power_sgd", "local_sgd:every=4", "diloco:every=4", "decentralized", "low_precision_decentralized",
           "async_average"]
STEPS = 6
LAYERS = 8


def peak():
    """Mebibytes of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def train(method, mebibytes):
    """Prints what rank 0 needed, in copies of the model."""
    import torch
    import torch.distributed as dist

    import trigram
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    dist.all_reduce(torch.zeros(1))
    before = peak()
    width = int((mebibytes * 2**20 / 4 / LAYERS) ** 0.5)
    model = torch.nn.Sequential(*(torch.nn.Linear(width, width, bias=False) for _ in range(LAYERS)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    if method == "DDP":
        trained = torch.nn.parallel.DistributedDataParallel(model)
    else:
        trained = trigram.with_trigram(model, [optimizer], method)
    for _ in range(STEPS):
        optimizer.zero_grad()
        trained(torch.ones(1, width)).square().mean().backward()
        optimizer.step()
    if dist.get_rank() == 0:
        print(f"copies {(peak() - before) / (LAYERS * width * width * 4 / 2**20):.2f}")
    if method != "DDP":
        model.trigram.finish()


def main():
    mebibytes = float(sys.argv[1]) if len(sys.argv) > 1 else 64
    for method in METHODS:
        ended = subprocess.run([sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "2", "-r", "9:1", "-t", "9:1", __file__, method,
                                str(mebibytes)], capture_output=True, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"})
        said = [line for line in ended.stdout.splitlines() if line.startswith("copies")]
        print(f"{method:30} {said[0] if said else (ended.stdout + ended.stderr)[-600:]}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in METHODS:
        train(sys.argv[1], float(sys.argv[2]))
    else:
        main()

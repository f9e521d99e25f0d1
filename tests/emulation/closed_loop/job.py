"""Trains a small network as people do, a process a host: below DistributedDataParallel, with a trace of torch.profiler, or by a method of
Trigram. Writes the seconds of each step.

    mpirun -n 2 python job.py MODEL ddp STEPS FOLDER
    mpirun -n 2 python job.py MODEL ALGORITHM[:PARAMETER=VALUE,...] STEPS FOLDER
"""

import json
import os
import pathlib
import sys
import time

import torch
from torch import nn

BUCKET = "1MiB"
WARM_UP = 4  # steps, which open connections and fill caches


class Convolutions(nn.Module):
    """Four layers of 3x3 and two dense ones, 0.9 million parameters, on images of 32x32."""

    def __init__(self):
        super().__init__()
        widths = [3, 32, 64, 128, 256]
        self.layers = nn.Sequential(*[layer for before, after in zip(widths, widths[1:])
                                      for layer in (nn.Conv2d(before, after, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))])
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(1024, 512), nn.ReLU(), nn.Linear(512, 10))

    def forward(self, images):
        return self.head(self.layers(images))

    @staticmethod
    def batch(generator):
        return torch.randn(32, 3, 32, 32, generator=generator), torch.randint(10, (32,), generator=generator)


class Transformer(nn.Module):
    """Four blocks of width 192 that predict the next of 512 tokens, 1.6 million parameters."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(512, 192)
        self.blocks = nn.Sequential(*[nn.TransformerEncoderLayer(192, 4, 512, dropout=0, batch_first=True) for _ in range(4)])
        self.head = nn.Linear(192, 512)

    def forward(self, tokens):
        return self.head(self.blocks(self.embed(tokens))).transpose(1, 2)

    @staticmethod
    def batch(generator):
        tokens = torch.randint(512, (8, 64), generator=generator)
        return tokens, tokens.roll(-1, 1)


MODELS = {"conv": Convolutions, "transformer": Transformer}


def below_ddp(model):
    torch.distributed.init_process_group("gloo")
    return nn.parallel.DistributedDataParallel(model)


def by_trigram(model, optimizer, method):
    import trigram

    return trigram.with_trigram(model, [optimizer], method, bucket_size=BUCKET)


def traced(step, steps, file):
    """Runs as many steps below the profiler, and exports what it saw."""
    schedule = torch.profiler.schedule(wait=0, warmup=1, active=steps, repeat=1)
    with torch.profiler.profile(schedule=schedule, record_shapes=True,
                                on_trace_ready=lambda done: done.export_chrome_trace(str(file))) as profiler:
        for _ in range(steps + 1):
            step()
            profiler.step()


def main(name, method, steps, folder):
    rank = int(os.environ.setdefault("RANK", os.environ["OMPI_COMM_WORLD_RANK"]))
    os.environ.setdefault("WORLD_SIZE", os.environ["OMPI_COMM_WORLD_SIZE"])
    torch.set_num_threads(1)
    torch.manual_seed(1)
    model = MODELS[name]()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    model = below_ddp(model) if method == "ddp" else by_trigram(model, optimizer, method)
    generator = torch.Generator().manual_seed(rank)
    batches = [MODELS[name].batch(generator) for _ in range(4)]
    ends = []

    def step():
        samples, labels = batches[len(ends) % len(batches)]
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(samples), labels).backward()
        optimizer.step()
        ends.append(time.perf_counter())

    for _ in range(WARM_UP + int(steps)):
        step()
    out = pathlib.Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    (out / f"rank{rank}.json").write_text(json.dumps([after - before for before, after in zip(ends[WARM_UP - 1:], ends[WARM_UP:])]))
    if method == "ddp":
        traced(step, int(steps), out / f"trace{rank}.json.gz")
    else:
        model.trigram.finish()


main(*sys.argv[1:])

"""A small DDP job on gloo whose steps 5 to 8 torch.profiler traces: python -m torch.distributed.run --nproc_per_node 2 traced_job.py OUT."""

import pathlib
import sys

import torch
import torch.distributed as dist
from torch import profiler

dist.init_process_group("gloo")
rank, out = dist.get_rank(), pathlib.Path(sys.argv[1])
torch.set_num_threads(1)
torch.manual_seed(0)
layers = [torch.nn.Linear(784, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 1024),
          torch.nn.ReLU(), torch.nn.Linear(1024, 10)]
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(*layers), bucket_cap_mb=5)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
data = torch.utils.data.TensorDataset(torch.randn(64 * 12, 784), torch.randint(10, (64 * 12,)))
traced = profiler.profile(activities=[profiler.ProfilerActivity.CPU], schedule=profiler.schedule(wait=2, warmup=2, active=4, repeat=1),
                          record_shapes=True, on_trace_ready=lambda p: p.export_chrome_trace(str(out / f"rank{rank}.json")))
with traced:
    for x, y in torch.utils.data.DataLoader(data, batch_size=64):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        traced.step()

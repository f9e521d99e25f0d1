"""Two islands of two ranks: FSDP2 cuts the model within each, DiLoCo trains between them, an exchange of weights every 16 steps. In a terminal:

    torchrun --nproc-per-node 4 examples/sharded_islands.py
"""

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

import trigram

dist.init_process_group("gloo")
torch.manual_seed(0)
x = torch.randn(8192, 20)
y = (x[:, :4] + x[:, 4:8]).argmax(1)
model = torch.nn.Sequential(torch.nn.Linear(20, 64), torch.nn.ReLU(), torch.nn.Linear(64, 4))

mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("islands", "shards"))
for part in (*model, model):
    fully_shard(part, mesh=mesh["shards"])
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
job = trigram.with_trigram(model, [optimizer], "diloco:every=16", mesh=mesh["islands"]).trigram

for mine in torch.arange(8192).view(64, 4, 32)[:, dist.get_rank()]:
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x[mine]), y[mine])
    loss.backward()
    optimizer.step()

exchanged = int((job.steps()["bytes_sent"] > 0).sum())
job.finish(mean=True)
if dist.get_rank() == 0:
    print(f"loss {loss.item():.3f} after 64 steps, of which {exchanged} exchanged weights")
dist.destroy_process_group()

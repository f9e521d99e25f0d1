"""A model below DistributedDataParallel, whose gradients travel in 8 bits. In a terminal:

    torchrun --nproc-per-node 4 examples/with_ddp.py
"""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

import trigram

dist.init_process_group("gloo")

torch.manual_seed(0)
x = torch.randn(1024, 20)
data = TensorDataset(x, (x[:, :4] + x[:, 4:8]).argmax(1))
loader = DataLoader(data, batch_size=32, sampler=DistributedSampler(data))

model = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(20, 64), torch.nn.ReLU(), torch.nn.Linear(64, 4)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
hook = trigram.ddp_hook(model, "bytegrad", optimizer=optimizer)

for epoch in range(2):
    loader.sampler.set_epoch(epoch)
    for features, labels in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(features), labels)
        loss.backward()
        optimizer.step()
hook.finish()

if dist.get_rank() == 0:
    print(f"loss {loss.item():.3f}", hook.steps()[["step", "time_s", "bytes_sent", "exposed_s"]].tail(3), sep="\n")
    torch.save(model.module.state_dict(), "with_ddp.pt")
dist.destroy_process_group()

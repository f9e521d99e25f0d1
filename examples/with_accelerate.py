"""A loop of Accelerate, whose gradients travel in 8 bits. In a terminal:

    mpirun -n 4 --bind-to none python examples/with_accelerate.py
"""

import os

import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

import trigram

os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
accelerator = Accelerator(cpu=True)

torch.manual_seed(0)
x = torch.randn(1024, 20)
loader = DataLoader(TensorDataset(x, (x[:, :4] + x[:, 4:8]).argmax(1)), batch_size=32, shuffle=True)

model = torch.nn.Sequential(torch.nn.Linear(20, 64), torch.nn.ReLU(), torch.nn.Linear(64, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
hook = trigram.ddp_hook(model, "bytegrad", optimizer=optimizer)

for epoch in range(2):
    for features, labels in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(features), labels)
        accelerator.backward(loss)
        optimizer.step()
hook.finish()

if accelerator.is_main_process:
    print(f"loss {loss.item():.3f}", hook.steps()[["step", "time_s", "bytes_sent", "exposed_s"]].tail(3), sep="\n")
    torch.save(accelerator.unwrap_model(model).state_dict(), "with_accelerate.pt")
accelerator.end_training()

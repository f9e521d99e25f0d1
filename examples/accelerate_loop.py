"""A loop of Accelerate, which trains alone for three steps of four. In a terminal:

    torchrun --nproc-per-node 2 examples/accelerate_loop.py
"""

import sys

import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

from trigram import huggingface

accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)

torch.manual_seed(0)
x = torch.randn(1024, 20)
loader = DataLoader(TensorDataset(x, (x[:, :4] + x[:, 4:8]).argmax(1)), batch_size=32, shuffle=True)
model = torch.nn.Sequential(torch.nn.Linear(20, 64), torch.nn.ReLU(), torch.nn.Linear(64, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
algorithm = sys.argv[1] if len(sys.argv) > 1 else "local_sgd:every=4"
model, optimizer, loader = huggingface.prepare(accelerator, algorithm, model, optimizer, loader)

for epoch in range(2):
    for features, labels in loader:
        with accelerator.accumulate(model):
            loss = torch.nn.functional.cross_entropy(model(features), labels)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()

model.trigram.finish(mean=True)
if accelerator.is_main_process:
    torch.save(accelerator.unwrap_model(model).state_dict(), "accelerate_loop.pt")
accelerator.end_training()

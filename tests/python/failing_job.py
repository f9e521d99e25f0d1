"""A rank of a job that something spoils in its step 2, on one rank: within backward, or in an exchange of an algorithm in Python; and one of a
job whose rank 0 takes a step more than the others."""

SCRIPT = """
import os, signal, time, torch, trigram
from trigram.algorithm import GradientMethod
torch.set_num_threads(1)

def spoil(here):
    if here == "{within}" and job.rank == {rank} and step == 2:
        {spoil}

class Mean(GradientMethod):
    def exchange(self, worker, bucket):
        spoil("exchange")
        worker.comm.all_reduce(bucket.gradients, op="mean")

model = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
job = trigram.with_trigram(model, [optimizer], {algorithm}, backend="{backend}").trigram
model.weight.register_hook(lambda gradient: spoil("backward"))
for step in range(1000):
    optimizer.zero_grad()
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
job.finish()
print("finished")
"""
UNEVEN = """
import torch, trigram
torch.set_num_threads(1)
model = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
job = trigram.with_trigram(model, [optimizer], "{algorithm}", backend="{backend}").trigram
for step in range(4 if job.rank == 0 else 3):
    optimizer.zero_grad()
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
job.finish()
print("finished")
"""
VAIN = (r"rank 1, which has called finish\(\) after 3 steps, and this rank has begun 4: give all ranks as many batches, or let loops run within "
        r"`with job.join\(\):`")
"""What rank 0 says that it waits for."""


def within_backward(backend, spoil, algorithm="all_reduce", rank=1):
    return SCRIPT.format(backend=backend, spoil=spoil, within="backward", algorithm=repr(algorithm), rank=rank)


def within_exchange(backend, spoil):
    return SCRIPT.format(backend=backend, spoil=spoil, within="exchange", algorithm="Mean", rank=1)


def uneven(backend, algorithm="all_reduce"):
    return UNEVEN.format(backend=backend, algorithm=algorithm)

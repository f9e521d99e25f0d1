"""A small model and its batches, trained by a real job or by a simulated one. As a script, a rank of the real one:
real_and_simulated.py FOLDER leaves the weights of each rank and algorithm in FOLDER/RANK.pt."""

import sys

import torch
import torch.nn.functional as F

import trigram

RANKS, STEPS, BUCKET = 4, 6, "256B"
ALGORITHMS = ["all_reduce", "bytegrad:error_feedback=on", "qsgd", "local_sgd:every=4", "decentralized", "low_precision_decentralized",
              "power_sgd"]


class Net(torch.nn.Module):
    """With what is hard to have alike: buffers, random numbers, a tied weight, and one that nothing uses."""

    def __init__(self):
        super().__init__()
        self.first, self.normed, self.last = torch.nn.Linear(6, 8), torch.nn.BatchNorm1d(8), torch.nn.Linear(8, 3)
        self.second, self.tied, self.unused = torch.nn.Linear(8, 8), torch.nn.Linear(8, 8), torch.nn.Linear(2, 2)
        self.tied.weight = self.second.weight

    def forward(self, x):
        x = torch.tanh(self.second(torch.tanh(self.normed(self.first(x)))))
        return self.last(F.dropout(self.tied(x), 0.2, self.training))


def make():
    torch.manual_seed(7)
    return Net()


def data(rank, step):
    generator = torch.Generator().manual_seed(1000 * rank + step)
    return torch.randn(5, 6, generator=generator), torch.randint(3, (5,), generator=generator)


def loss(model, batch):
    x, y = batch
    return F.cross_entropy(model(x), y)


def optimizer(model):
    return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=0.01)


def flat(model):
    return torch.cat([one.detach().reshape(-1) for one in [*model.parameters(), *model.buffers()]])


def train(algorithm):
    """A rank of the real job."""
    model = make()
    one = optimizer(model)
    job = trigram.with_trigram(model, [one], algorithm, bucket_size=BUCKET, backend="mpi:timeout=60s").trigram
    for step in range(STEPS):
        one.zero_grad()
        loss(model, data(job.rank, step)).backward()
        one.step()
    job.finish()
    return job, model


def main(folder):
    torch.set_num_threads(1)
    weights = {}
    for algorithm in ALGORITHMS:
        job, model = train(algorithm)
        weights[algorithm] = [one.detach().clone() for one in model.parameters()], [one.clone() for one in model.buffers()]
    torch.save(weights, f"{folder}/{job.rank}.pt")


if __name__ == "__main__":
    main(sys.argv[1])

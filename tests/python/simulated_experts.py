"""A mixture of experts and its batches, trained by a real job or by a simulated one. As a script, a rank of the real one:
simulated_experts.py FOLDER leaves what each rank ends with in FOLDER/RANK.pt, by micro-batches of a step."""

import sys

import torch

import trigram
from trigram import comm, nn

RANKS, STEPS, EXPERTS, WIDTH, TOKENS = 2, 3, 8, 6, 16


class Net(torch.nn.Module):
    """With layers of both kinds that work over ranks."""

    def __init__(self, choices, factor, **options):
        super().__init__()
        world = comm.join(**options)
        self.before = torch.nn.Linear(WIDTH, WIDTH)
        self.normed = nn.SyncBatchNorm(WIDTH, world)
        self.experts = nn.MoE(WIDTH, lambda: torch.nn.Sequential(torch.nn.Linear(WIDTH, 7), torch.nn.ReLU(), torch.nn.Linear(7, WIDTH)),
                              experts=EXPERTS, communicator=world, choices=choices, capacity_factor=factor, least_capacity=1)
        self.last = torch.nn.Linear(WIDTH, 2)

    def forward(self, x):
        given = self.experts(self.normed(self.before(x)))
        return self.last(torch.tanh(x + given.output)), given.balance_loss


def make(choices=2, factor=1.25, **options):
    torch.manual_seed(11)
    return Net(choices, factor, **options)


def data(rank, step):
    return torch.randn(TOKENS, WIDTH, generator=torch.Generator().manual_seed(100 * rank + step))


def loss(model, x):
    y, balance = model(x)
    return (y - x[:, :2].abs()).pow(2).mean() + 0.01 * balance


def optimizer(model):
    return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


def trained(parts):
    """The model of this rank, and which it is."""
    model = make(backend="mpi:timeout=60s")
    one = optimizer(model)
    job = trigram.with_trigram(model, [one], backend="mpi:timeout=60s", bucket_size="128B").trigram
    for step in range(STEPS):
        one.zero_grad()
        with job.no_sync():
            for part in range(parts - 1):
                (loss(model, data(job.rank, step * parts + part)) / parts).backward()
        (loss(model, data(job.rank, step * parts + parts - 1)) / parts).backward()
        one.step()
    job.finish()
    model.normed.communicator.leave()
    return model.state_dict(), job.rank


def main(folder):
    torch.set_num_threads(1)
    of_parts = {parts: trained(parts) for parts in (1, 2)}
    torch.save({parts: state for parts, (state, _) in of_parts.items()}, f"{folder}/{of_parts[1][1]}.pt")


if __name__ == "__main__":
    main(sys.argv[1])

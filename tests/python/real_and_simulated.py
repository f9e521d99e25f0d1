"""A small model and its batches, trained by a real job or by a simulated one. As a script, a rank of the real one:
real_and_simulated.py FOLDER leaves the weights of each rank and algorithm in FOLDER/RANK.pt, and the files of a training
with evaluations in FOLDER/real; real_and_simulated.py FOLDER twins only those of the algorithms in Python and of their twins, in a hierarchy and in 16 bits too."""

import itertools
import sys

import torch
import torch.nn.functional as F

import trigram
from python_algorithms import TWINS

RANKS, STEPS, BUCKET = 4, 6, "256B"
OWN = {f"{twin} in Python": algorithm for twin, algorithm in TWINS.items()}
ALGORITHMS = {name: name for name in ["bytegrad:error_feedback=on", "qsgd", "local_sgd:every=4", "low_precision_decentralized", "power_sgd",
                                      *TWINS]} | OWN


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


def score(model):
    x, y = data(99, 0)
    with torch.no_grad():
        found = model(x)
    return F.cross_entropy(found, y), (found.argmax(1) == y).float().mean()


def train(algorithm, evaluate_every=0, **options):
    """A rank of the real job."""
    model = make()
    one = optimizer(model)
    job = trigram.with_trigram(model, [one], algorithm, bucket_size=BUCKET, backend="mpi:timeout=60s", **options).trigram
    for step in range(STEPS):
        if evaluate_every and step % evaluate_every == 0:
            job.evaluate(score)
        one.zero_grad()
        value = loss(model, data(job.rank, step))
        job.record_loss(value)
        value.backward()
        one.step()
    if evaluate_every:
        job.evaluate(score)
    job.finish()
    return job, model


def main(folder, twins_alone):
    torch.set_num_threads(1)
    weights = {}
    variants = {"": {}, " of nodes": {"hierarchy": "leader", "gradients": "bf16"}} if twins_alone else {"": {}}
    for (name, algorithm), (variant, options) in itertools.product(ALGORITHMS.items(), variants.items()):
        if twins_alone and name.removesuffix(" in Python") not in TWINS:
            continue
        job, model = train(algorithm, **options)
        weights[name + variant] = [one.detach().clone() for one in model.parameters()], [one.clone() for one in model.buffers()], [
            row["bytes_sent"] for row in job.steps().to_dict("records")]
    torch.save(weights, f"{folder}/{job.rank}.pt")
    if twins_alone:
        return
    job, _ = train("local_sgd:every=4", evaluate_every=3, trace=True, broadcast_buffers=False)
    lanes = job.trace()
    assert set(lanes["rank"]) == set(range(RANKS)) and {"loop", "all_reduce"} <= set(lanes["name"]), lanes
    assert (job.rank == 0) == (job.save(f"{folder}/real", samples=5 * RANKS) is not None)


if __name__ == "__main__":
    main(sys.argv[1], "twins" in sys.argv[2:])

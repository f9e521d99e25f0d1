"""What the cases of with_trigram_job.py share: a small model, its batches, its optimizers, and training it both ways."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel

import trigram
from trigram import launcher

BACKEND = f"{launcher.default_backend()}:timeout=60s"
STEPS = 5


class Net(torch.nn.Module):
    """Small layers, one of which a batch may leave out, and a tied weight."""

    def __init__(self, tied=False):
        super().__init__()
        self.first, self.second, self.last = torch.nn.Linear(6, 8), torch.nn.Linear(8, 8), torch.nn.Linear(8, 3)
        self.branch = torch.nn.Linear(8, 8)
        if tied:
            self.branch.weight = self.second.weight

    def forward(self, x, branch=True):
        x = torch.tanh(self.second(torch.tanh(self.first(x))))
        return self.last(torch.tanh(self.branch(x)) if branch else x)


def seeded(make, seed=3):
    torch.manual_seed(seed)
    return make()


def batch(rank, step, samples=4):
    generator = torch.Generator().manual_seed(1000 * rank + step)
    return torch.randn(samples, 6, generator=generator), torch.randint(3, (samples,), generator=generator)


def loss_of(model, rank, step, **options):
    x, y = batch(rank, step)
    return F.cross_entropy(model(x, **options), y)


def momentum(model):
    return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=0.01)


def plain(model):
    return torch.optim.SGD(model.parameters(), lr=0.1)


def adam(model):
    return torch.optim.Adam(model.parameters(), lr=0.01)


class ScalerByHand:
    """The rule of GradScaler."""

    def __init__(self, scale):
        self._scale, self._finite = scale, True

    def get_scale(self):
        return self._scale

    def scale(self, loss):
        return loss * self._scale

    def step(self, optimizer):
        gradients = [one.grad for group in optimizer.param_groups for one in group["params"] if one.grad is not None]
        for one in gradients:
            one /= self._scale
        self._finite = all(bool(one.isfinite().all()) for one in gradients)
        if self._finite:
            optimizer.step()

    def update(self):
        self._scale /= 1 if self._finite else 2


def scaler_of(scale):
    """Torch's own, where it scales on CPUs: from 2.3 on."""
    made = getattr(torch.amp, "GradScaler", None)
    return made("cpu", init_scale=scale) if made else ScalerByHand(scale)


def wrapped(model, optimizers, algorithm="all_reduce", **options):
    return trigram.with_trigram(model, optimizers, algorithm, **({"backend": BACKEND, "bucket_size": "256B"} | options))


def differences(model, other):
    return max(float((a - b).abs().max()) for a, b in zip(model.parameters(), other.parameters()))


class JobCase:
    """Asserts on every rank."""

    def __init__(self):
        self.rank, self.ranks = dist.get_rank(), dist.get_world_size()

    def near(self, model, other):
        """DDP adds gradients of two ranks in the same order as ours."""
        difference = differences(model, other)
        assert difference <= (0 if self.ranks == 2 else 1e-6), difference

    def beside_ddp(self, make_optimizer, step, make=Net, find_unused=False, **options):
        """Trains the same model both ways: `step(model, optimizer, number, no_sync)`."""
        ours, theirs = seeded(make), DistributedDataParallel(seeded(make), find_unused_parameters=find_unused)
        optimizers = make_optimizer(ours), make_optimizer(theirs)
        wrapped(ours, [optimizers[0]], **({"find_unused_parameters": find_unused} | options))
        assert (ours.trigram.rank, ours.trigram.ranks) == (self.rank, self.ranks)
        for number in range(STEPS):
            step(ours, optimizers[0], number, ours.trigram.no_sync)
            step(theirs, optimizers[1], number, theirs.no_sync)
        ours.trigram.finish()
        self.near(ours, theirs.module)

    def one(self, model, optimizer, number, _):
        optimizer.zero_grad()
        loss_of(model, self.rank, number).backward()
        optimizer.step()

    def replicas(self):
        """The models of all ranks, each trained alone in this process: what loops of ten lines need."""
        models = [seeded(Net) for _ in range(self.ranks)]
        return models, [momentum(model) for model in models]

    def backward(self, models, optimizers, number):
        """Of all replicas, each on its rank's batch of that step."""
        for rank in range(self.ranks):
            optimizers[rank].zero_grad()
            loss_of(models[rank], rank, number).backward()

    def train(self, algorithm, **options):
        model = seeded(Net)
        optimizer = momentum(model)
        wrapped(model, [optimizer], algorithm, **options)
        for number in range(STEPS):
            self.one(model, optimizer, number, None)
        return model

    def mix_on_a_ring(self, models):
        """Each takes a third of itself and of both neighbours."""
        for same in zip(*(one.parameters() for one in models)):
            old = [p.data.clone() for p in same]
            for rank, p in enumerate(same):
                p.data.copy_((old[rank - 1] + old[rank] + old[(rank + 1) % self.ranks]) / 3)

    def raises(self, kind, text, body):
        try:
            body()
        except kind as error:
            assert text in str(error), str(error)
        else:
            raise AssertionError(f"not raised: {text}")

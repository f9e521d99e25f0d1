"""One rank of a job that mpirun started: PyTorch models trained by with_trigram, beside those of DistributedDataParallel
and of plain loops. with_trigram_job.py FOLDER CASE…; rank 0 prints which cases held and which it skipped."""

import copy
import io
import math
import os
import sys
import unittest
import warnings

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel

import trigram
from trigram.model import check_bucket

BACKEND = "mpi:timeout=60s"
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


def wrapped(model, optimizers, algorithm="all_reduce", **options):
    return trigram.with_trigram(model, optimizers, algorithm, **({"backend": BACKEND, "bucket_size": "256B"} | options))


def differences(model, other):
    return max(float((a - b).abs().max()) for a, b in zip(model.parameters(), other.parameters()))


class Cases:
    """A method a case; asserts on every rank."""

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

    def case_ddp_plain(self):
        self.beside_ddp(plain, self.one)

    def case_ddp_momentum(self):
        self.beside_ddp(momentum, self.one, lanes=2)

    def case_ddp_adam(self):
        self.beside_ddp(adam, self.one)

    def case_ddp_without_overlap(self):
        self.beside_ddp(momentum, self.one, overlap=False, bucket_size="1MiB")

    def case_ddp_accumulation(self):
        def step(model, optimizer, number, no_sync):
            optimizer.zero_grad()
            with no_sync():
                loss_of(model, self.rank, 2 * number).backward()
            loss_of(model, self.rank, 2 * number + 1).backward()
            optimizer.step()
        self.beside_ddp(momentum, step)

    def case_ddp_clipping_and_schedule(self):
        schedules = {}

        def step(model, optimizer, number, _):
            schedule = schedules.setdefault(id(optimizer), torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5))
            optimizer.zero_grad(set_to_none=True)
            loss_of(model, self.rank, number).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.3)
            optimizer.step()
            schedule.step()
        self.beside_ddp(momentum, step)

    def case_ddp_set_to_none_within_the_step(self):
        def step(model, optimizer, number, _):
            loss = loss_of(model, self.rank, number)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
        self.beside_ddp(momentum, step)

    def case_ddp_branch_of_one_rank_and_none_within_the_step(self):
        """Rank 1 has no gradient of its own there, and has to step along the mean like all others."""
        def step(model, optimizer, number, _):
            loss = loss_of(model, self.rank, number, branch=self.rank == 0)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
        self.beside_ddp(momentum, step, find_unused=True)
        self.beside_ddp(momentum, step, find_unused=True, find_unused_parameters=False)

    def case_ddp_branch_of_one_rank(self):
        def step(model, optimizer, number, _):
            optimizer.zero_grad()
            loss_of(model, self.rank, number, branch=self.rank == 0).backward()
            optimizer.step()
        self.beside_ddp(momentum, step, find_unused=True)

    def case_ddp_branch_of_no_rank(self):
        """In steps 2 and 3: momentum and weight decay leave it alone there."""
        def step(model, optimizer, number, _):
            optimizer.zero_grad(set_to_none=True)
            loss_of(model, self.rank, number, branch=number not in (2, 3)).backward()
            optimizer.step()
        self.beside_ddp(momentum, step, find_unused=True)

    def case_ddp_compiled(self):
        """Hooks then fire at the end, and in another order. Torch before 2 compiles nothing."""
        if not hasattr(torch, "compile"):
            raise unittest.SkipTest("torch compiles nothing")
        ours, theirs = seeded(Net), DistributedDataParallel(seeded(Net))
        optimizers = momentum(ours), momentum(theirs)
        wrapped(ours, [optimizers[0]])
        compiled = torch.compile(ours, backend="aot_eager")
        for number in range(STEPS):
            self.one(compiled, optimizers[0], number, None)
            self.one(theirs, optimizers[1], number, None)
        ours.trigram.finish()
        assert differences(ours, theirs.module) < 1e-6

    def case_ddp_tied(self):
        self.beside_ddp(momentum, self.one, make=lambda: Net(tied=True))

    def case_ddp_two_optimizers(self):
        class Both:
            def __init__(self, model):
                inner = getattr(model, "module", model)
                self.all = [torch.optim.SGD(inner.first.parameters(), lr=0.2),
                            torch.optim.Adam([p for n, p in inner.named_parameters() if not n.startswith("first")], lr=0.01)]

            def zero_grad(self):
                [one.zero_grad() for one in self.all]

            def step(self):
                [one.step() for one in self.all]

        ours, theirs = seeded(Net), DistributedDataParallel(seeded(Net))
        both = Both(ours), Both(theirs)
        wrapped(ours, both[0].all)
        for number in range(STEPS):
            self.one(ours, both[0], number, None)
            self.one(theirs, both[1], number, None)
        ours.trigram.finish()
        self.near(ours, theirs.module)

    def case_ddp_batch_norm(self):
        def make():
            return torch.nn.Sequential(torch.nn.Linear(6, 8, bias=False), torch.nn.BatchNorm1d(8), torch.nn.Linear(8, 3))
        ours, theirs = seeded(make), DistributedDataParallel(seeded(make))
        optimizers = plain(ours), plain(theirs)
        wrapped(ours, [optimizers[0]])
        for number in range(STEPS):
            self.one(ours, optimizers[0], number, None)
            self.one(theirs, optimizers[1], number, None)
        ours.trigram.finish()
        self.near(ours, theirs.module)
        for a, b in zip(ours.buffers(), theirs.module.buffers()):
            assert a.dtype == b.dtype and (a.double() - b.double()).abs().max() <= 1e-6, (a, b)

    def case_rank_0_begins(self):
        """All begin with rank 0's weights and buffers, whatever they had; state dicts load into buckets."""
        model = seeded(Net, seed=self.rank)
        optimizer = plain(model)
        wrapped(model, [optimizer])
        assert differences(model, seeded(Net, seed=0)) == 0
        model.load_state_dict(seeded(Net, seed=9).state_dict())
        self.one(model, optimizer, 0, None)
        model.trigram.finish()
        alone = seeded(Net, seed=9)
        alone.load_state_dict(copy.deepcopy(seeded(Net, seed=9).state_dict()))
        step = plain(alone)
        (sum(loss_of(alone, rank, 0) for rank in range(self.ranks)) / self.ranks).backward()
        step.step()
        assert differences(model, alone) < 1e-6

    def case_rank_0_gives_what_is_frozen(self):
        model = seeded(Net, seed=self.rank)
        model.first.requires_grad_(False)
        wrapped(model, [plain(model.second), plain(model.last), plain(model.branch)])
        model.trigram.finish()
        assert differences(model, seeded(Net, seed=0)) == 0

    def case_rank_0_gives_buffers_put_anew(self):
        class Normed(torch.nn.Linear):
            def forward(self, x):
                return super().forward(x - self.mean)

        model = Normed(6, 3)
        model.register_buffer("mean", torch.zeros(6))
        optimizer = plain(model)
        wrapped(model, [optimizer])
        for number in range(2):
            model.mean = torch.full((6,), float(self.rank + 1))
            self.one(model, optimizer, number, None)
            assert (model.mean == 1).all(), model.mean
        model.trigram.finish()

    def replicas(self):
        """The models of all ranks, each trained alone in this process: what loops of ten lines need."""
        models = [seeded(Net) for _ in range(self.ranks)]
        return models, [momentum(model) for model in models]

    def train(self, algorithm, **options):
        model = seeded(Net)
        optimizer = momentum(model)
        wrapped(model, [optimizer], algorithm, **options)
        for number in range(STEPS):
            self.one(model, optimizer, number, None)
        return model

    def case_local_sgd(self):
        model = self.train("local_sgd:every=2")
        model.trigram.finish()
        models, optimizers = self.replicas()
        for number in range(STEPS):
            for rank in range(self.ranks):
                optimizers[rank].zero_grad()
                loss_of(models[rank], rank, number).backward()
                optimizers[rank].step()
            if number % 2 == 1:
                for same in zip(*(one.parameters() for one in models)):
                    mean = sum(p.data for p in same) / self.ranks
                    [p.data.copy_(mean) for p in same]
        assert differences(model, models[self.rank]) < 1e-6, differences(model, models[self.rank])

    def case_decentralized(self):
        for mix in ("before", "after"):
            model = self.train(f"decentralized:topology=ring,mix={mix}")
            model.trigram.finish()
            models, optimizers = self.replicas()
            for number in range(STEPS):
                for rank in range(self.ranks):
                    optimizers[rank].zero_grad()
                    loss_of(models[rank], rank, number).backward()
                if mix == "before":
                    self.mix_on_a_ring(models)
                for optimizer in optimizers:
                    optimizer.step()
                if mix == "after":
                    self.mix_on_a_ring(models)
            assert differences(model, models[self.rank]) < 1e-6, (mix, differences(model, models[self.rank]))

    def mix_on_a_ring(self, models):
        """Each takes a third of itself and of both neighbours."""
        for same in zip(*(one.parameters() for one in models)):
            old = [p.data.clone() for p in same]
            for rank, p in enumerate(same):
                p.data.copy_((old[rank - 1] + old[rank] + old[(rank + 1) % self.ranks]) / 3)

    def case_every_other_algorithm_trains(self):
        for algorithm in ("bytegrad:error_feedback=on", "qsgd", "async_average", "low_precision_decentralized", "power_sgd"):
            model = self.train(algorithm)
            steps = model.trigram.steps()
            model.trigram.finish()
            assert list(steps["step"]) == list(range(STEPS)), algorithm
            assert (steps["bytes_sent"] > 0).any() or algorithm == "async_average", algorithm
            assert all(math.isfinite(float(p.abs().max())) for p in model.parameters()), algorithm

    def case_bytes_are_those_of_the_ring(self):
        steps = self.train("all_reduce").trigram
        elements = sum(p.numel() for p in Net().parameters())
        sent = steps.steps()["bytes_sent"]
        steps.finish()
        # 2 (n - 1) / n of what all weights take, where each bucket divides by n, up to an element a chunk.
        assert abs(sent.mean() - 8 * elements * (self.ranks - 1) / self.ranks) < 8 * 16, sent
        spent = steps.steps()[["compute_s", "exposed_s"]].sum(axis=1)
        assert (spent > 0).all() and (spent.sum() <= steps.steps()["time_s"].iloc[-1])

    def case_resumed_is_never_stopped(self):
        for algorithm in ("bytegrad:error_feedback=on", "decentralized", "local_sgd:every=3", "power_sgd"):
            whole = self.train(algorithm)
            whole.trigram.finish()
            saved = None
            for numbers in (range(2), range(2, STEPS)):
                model = seeded(Net, seed=3 if saved is None else 4 + self.rank)
                optimizer = momentum(model)
                wrapped(model, [optimizer], algorithm)
                if saved is not None:
                    stream = io.BytesIO(saved)
                    of_model, of_optimizer, of_job = torch.load(stream)
                    model.load_state_dict(of_model)
                    optimizer.load_state_dict(of_optimizer)
                    model.trigram.load_state_dict(of_job)
                for number in numbers:
                    self.one(model, optimizer, number, None)
                stream = io.BytesIO()
                torch.save((model.state_dict(), optimizer.state_dict(), model.trigram.state_dict()), stream)
                saved = stream.getvalue()
                model.trigram.finish()
            assert differences(model, whole) == 0, (algorithm, differences(model, whole))

    def case_states_of_others_are_refused(self):
        model, other = seeded(Net), seeded(Net)
        wrapped(model, [plain(model)], "bytegrad")
        state = model.trigram.state_dict()
        model.trigram.finish()
        wrapped(other, [plain(other)], "qsgd")
        for wrong, text in ((state | {"rank": self.rank + 1}, "give each rank its own"), (state, "is of algorithm 'bytegrad'")):
            try:
                other.trigram.load_state_dict(wrong)
            except ValueError as error:
                assert text in str(error), str(error)
            else:
                raise AssertionError(text)
        other.trigram.finish()

    def case_hooks_of_ddp(self):
        """Buckets of DDP's own, which it makes anew after the first step."""
        def train(algorithm):
            model = DistributedDataParallel(seeded(Net), bucket_cap_mb=0.0003)
            optimizer = momentum(model)
            hook = algorithm and trigram.ddp_hook(model, algorithm, optimizer=optimizer, backend=BACKEND)
            for number in range(STEPS):
                self.one(model, optimizer, number, None)
            if hook:
                rows = hook.steps()
                hook.finish()
                assert len(rows) == STEPS - 2 and (rows["bytes_sent"] > 0).all(), rows
                self.raises(RuntimeError, "the hook has finished", lambda: self.one(model, optimizer, STEPS, None))
            return model.module

        plainly = train(None)
        self.near(train("all_reduce"), plainly)
        in_bytes = train("bytegrad")
        assert 0 < differences(in_bytes, plainly) < 0.05
        equal = [torch.zeros_like(p) for p in in_bytes.parameters()]
        for mine, theirs in zip(in_bytes.parameters(), equal):
            theirs.copy_(mine.data)
            dist.broadcast(theirs, 0)
            assert torch.equal(mine.data, theirs)
        self.raises(ValueError, "works on more than gradients", lambda: train("local_sgd"))

    def raises(self, kind, text, body):
        try:
            body()
        except kind as error:
            assert text in str(error), str(error)
        else:
            raise AssertionError(f"not raised: {text}")

    def case_hooks_read_f32_alone(self):
        model = DistributedDataParallel(Net().double())
        self.raises(ValueError, "'first.weight' is of torch.float64; keep", lambda: trigram.ddp_hook(model, "bytegrad"))
        self.raises(ValueError, "bucket 3 of DistributedDataParallel is of torch.float16", lambda: check_bucket(3, torch.zeros(4).half()))
        self.raises(ValueError, "bucket 3 of DistributedDataParallel is on meta", lambda: check_bucket(3, torch.zeros(4, device="meta")))

    def case_nothing_follows_the_end(self):
        model = seeded(Net)
        job = wrapped(model, [plain(model)]).trigram
        job.finish()
        self.raises(RuntimeError, "the session has ended; nothing can follow", lambda: job._session.begin(0.1))

    def case_own_update(self):
        model = seeded(Net)
        wrapped(model, [], "one_bit_adam:warmup=2", learning_rate=0.01)
        for number in range(STEPS):
            loss_of(model, self.rank, number).backward()
            model.trigram.step()
        model.trigram.finish()
        assert differences(model, seeded(Net)) > 1e-3

    def case_skipped_step(self):
        model = seeded(Net)
        optimizer = plain(model)
        wrapped(model, [optimizer])
        loss_of(model, self.rank, 0).backward()
        model.trigram.skip_step()
        assert differences(model, seeded(Net)) == 0
        self.one(model, optimizer, 0, None)
        model.trigram.finish()
        assert differences(model, seeded(Net)) > 0

    def case_forward_alone(self):
        model = seeded(Net)
        optimizer = plain(model)
        wrapped(model, [optimizer])
        loss_of(model, self.rank, 0)
        self.raises(RuntimeError, "no backward() followed: call job.skip_step()", model.trigram.finish)
        model.trigram.skip_step()
        assert differences(model, seeded(Net)) == 0
        self.one(model, optimizer, 0, None)
        model.trigram.finish()
        assert differences(model, seeded(Net)) > 0

    def case_refused_at_the_start(self):
        def refused(text, model, optimizers, algorithm="all_reduce", **options):
            self.raises(ValueError, text, lambda: wrapped(model, optimizers, algorithm, **options))

        model = Net()
        refused("'first.weight' is of torch.float64; keep parameters in torch.float32", Net().double(), [])
        refused("'last.weight' is in no optimizer", model, [torch.optim.SGD(model.first.parameters(), lr=1),
                torch.optim.SGD(model.second.parameters(), lr=1), torch.optim.SGD(model.branch.parameters(), lr=1)])
        refused("module '0' has sparse gradients", torch.nn.Sequential(torch.nn.Embedding(3, 2, sparse=True)), [])
        refused("no parameter that requires a gradient", torch.nn.Tanh(), [])
        refused("unknown algorithm 'bytegrd' (did you mean 'bytegrad'?)", model, [plain(model)], "bytegrd")
        refused("steps the weights by itself", model, [plain(model)], "one_bit_adam")
        refused("leaves the step to optimizers", model, [], "bytegrad", learning_rate=0.1)
        refused("needs a learning_rate", model, [], "one_bit_adam")
        refused("learning_rate=0.1 would do nothing beside optimizers", model, [plain(model)], learning_rate=0.1)
        elsewhere = Net()
        elsewhere.register_buffer("far", torch.zeros(2, device="meta"))
        refused("buffer 'far' is on meta", elsewhere, [plain(elsewhere)])
        elsewhere = Net()
        elsewhere.far = torch.nn.Parameter(torch.zeros(2, device="meta"), requires_grad=False)
        refused("parameter 'far' is on meta", elsewhere, [plain(elsewhere)])
        refused("makes some ranks servers", model, [plain(model)], "parameter_server")
        refused("'lans'", model, [plain(model)], lans=2)
        wrapped(model, [plain(model)])
        refused("a session that is not finished", model, [plain(model)])
        model.trigram.finish()

    def case_caught_later(self):
        """Each on a session of its own, since what fails in the middle of a step ends it."""
        def caught(text, spoil, **options):
            model = seeded(Net)
            optimizer = plain(model)
            wrapped(model, [optimizer], **options)
            self.raises(RuntimeError, text, lambda: spoil(model, optimizer))
            return model, optimizer

        def twice(model, _):
            loss_of(model, self.rank, 0).backward()
            loss_of(model, self.rank, 0).backward()

        model, optimizer = caught("a second backward() before optimizer.step()", twice)
        optimizer.step()  # the first one counts
        model.trigram.finish()
        model, _ = caught("optimizer.step() came, but no backward()", lambda model, optimizer: optimizer.step())
        model.trigram.finish()
        model, _ = caught("call the model in training mode", lambda model, _: loss_of(model.eval(), self.rank, 0).backward())
        model.trigram.finish()
        model, _ = caught("parameter 'first.weight' has left its bucket", lambda model, _: model.to(torch.float64)(torch.zeros(1, 6).double()))
        model.trigram.finish()


def main(folder, names):
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    rank, ranks = (int(os.environ[f"OMPI_COMM_WORLD_{key}"]) for key in ("RANK", "SIZE"))
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=ranks)
    cases = Cases()
    for name in names or [key.removeprefix("case_") for key in vars(Cases) if key.startswith("case_")]:
        try:
            getattr(cases, f"case_{name}")()
            came = "held"
        except unittest.SkipTest:
            came = "skipped"
        if rank == 0:
            print(came, name, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])

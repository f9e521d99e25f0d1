"""Cases of with_trigram_job.py: parameters in bfloat16 and float64, beside DDP's and beside masters in float32 that loops of ten lines keep."""

import contextlib
import io
import unittest

import torch
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.optim.swa_utils import AveragedModel

import trigram
from job_case import BACKEND, STEPS, JobCase, Net, batch, differences, loss_of, momentum, plain, seeded, wrapped

BF16, F64 = torch.bfloat16, torch.float64


def typed(kind):
    return lambda: Net().to(kind)


def typed_loss(model, rank, step):
    kind = next(model.parameters()).dtype
    x, y = batch(rank, step)
    return F.cross_entropy(model(x.to(kind)).float() if kind == BF16 else model(x.to(kind)), y)


class Mixed(torch.nn.Module):
    """One bucket of parameters in f64 beside others in f32."""

    def __init__(self):
        super().__init__()
        self.inner = Net()
        self.inner.second.to(F64)

    def forward(self, x):
        inner = self.inner
        return inner.last(torch.tanh(inner.branch(torch.tanh(inner.second(torch.tanh(inner.first(x)).double())).float())))


class Types(JobCase):
    def typed_step(self, model, optimizer, number, _=None):
        optimizer.zero_grad()
        typed_loss(model, self.rank, number).backward()
        optimizer.step()

    def trained(self, kind, algorithm, make_optimizer=momentum, **options):
        model = seeded(typed(kind))
        optimizer = make_optimizer(model)
        wrapped(model, [optimizer], algorithm, **options)
        for number in range(STEPS):
            self.typed_step(model, optimizer, number)
        return model

    def by_masters(self, kind, mix, make_optimizer=momentum):
        """This rank's model, where each optimizer steps what rounding leaves of a master in float32, and `mix(number, masters)` changes masters."""
        models = [seeded(typed(kind)) for _ in range(self.ranks)]
        optimizers = [make_optimizer(one) for one in models]
        masters = [[p.detach().float() for p in one.parameters()] for one in models]
        for number in range(STEPS):
            for rank, (model, optimizer) in enumerate(zip(models, optimizers)):
                before = [p.detach().clone() for p in model.parameters()]
                optimizer.zero_grad()
                typed_loss(model, rank, number).backward()
                optimizer.step()
                for master, p, old in zip(masters[rank], model.parameters(), before):
                    master += p.detach().float() - old.float()
            mix(number, masters)
            for model, of_model in zip(models, masters):
                for p, master in zip(model.parameters(), of_model):
                    p.data.copy_(torch.where(p.float() == master, p.double(), master.double()))
        return models[self.rank]

    def by_mean_gradients(self, kind):
        """All ranks' model, stepped along gradients that are added in float32, and rounded once."""
        models = [seeded(typed(kind)) for _ in range(self.ranks)]
        optimizers = [momentum(one) for one in models]
        for number in range(STEPS):
            for rank, (model, optimizer) in enumerate(zip(models, optimizers)):
                optimizer.zero_grad()
                typed_loss(model, rank, number).backward()
            for same in zip(*(one.parameters() for one in models)):
                mean = sum(p.grad.float() for p in same) / self.ranks
                for p in same:
                    p.grad.copy_(mean)
            for optimizer in optimizers:
                optimizer.step()
        return models[0]

    def case_bf16_gradients_are_added_in_f32(self):
        """And rounded once; by `gradients` they take half of the bytes."""
        ours = self.trained(BF16, "all_reduce")
        sent = ours.trigram.steps()["bytes_sent"].sum()
        ours.trigram.finish()
        assert all(one.dtype == BF16 and one.grad.dtype == BF16 for one in ours.parameters())
        assert differences(ours, self.by_mean_gradients(BF16)) == 0
        in_halves = self.trained(BF16, "all_reduce", gradients="bf16")
        assert 2 * in_halves.trigram.steps()["bytes_sent"].sum() == sent
        in_halves.trigram.finish()

    def case_ddp_in_bf16(self):
        """Which adds in bf16: to the bit of ours where it adds two numbers, else within what its roundings of sums may lose."""
        try:
            torch.distributed.broadcast(torch.zeros(1, dtype=BF16), 0)
        except RuntimeError as error:
            raise unittest.SkipTest(f"gloo of this torch sends no bfloat16: {error}") from error
        theirs = DistributedDataParallel(seeded(typed(BF16)))
        optimizer, first = momentum(theirs), []
        for number in range(STEPS):
            self.typed_step(theirs, optimizer, number)
            first = first or [one.grad.clone() for one in theirs.parameters()]
        self.within_rounding(first)
        for options in ({}, {"gradients": "bf16"}):
            ours = self.trained(BF16, "all_reduce", **options)
            ours.trigram.finish()
            assert self.ranks > 2 or differences(ours, theirs.module) == 0, (options, differences(ours, theirs.module))

    def within_rounding(self, of_ddp):
        """Of the first step: each of its sums is off by at most 2^-8 of what it adds."""
        model = seeded(typed(BF16))
        wrapped(model, [plain(model)])
        typed_loss(model, self.rank, 0).backward()
        replicas = [seeded(typed(BF16)) for _ in range(self.ranks)]
        for rank, one in enumerate(replicas):
            typed_loss(one, rank, 0).backward()
        for mine, theirs, same in zip(model.parameters(), of_ddp, zip(*(one.parameters() for one in replicas))):
            added = sum(p.grad.float().abs() for p in same)
            assert ((mine.grad.float() - theirs.float()).abs() <= 2**-8 * added).all()
        model.trigram.skip_step()
        model.trigram.finish()

    def case_masters_keep_what_bf16_rounds_off(self):
        """Of local SGD and of gossip: their means are those of f32, of which parameters are what is left."""
        def averaged(number, masters):
            if number % 2 == 1:
                for same in zip(*masters):
                    mean = sum(same) / self.ranks
                    for one in same:
                        one.copy_(mean)

        def gossiped(number, masters):
            for same in zip(*masters):
                old = [one.clone() for one in same]
                for rank, one in enumerate(same):
                    one.copy_((old[rank - 1] + old[rank] + old[(rank + 1) % self.ranks]) / 3)

        for algorithm, mix in (("local_sgd:every=2", averaged), ("decentralized:topology=ring,mix=after", gossiped)):
            for kind, bound in ((BF16, 2**-8), (F64, 1e-6)):
                model = self.trained(kind, algorithm)
                model.trigram.finish()
                assert {one.dtype for one in model.parameters()} == {kind}
                alone = self.by_masters(kind, mix)
                apart = torch.cat([(mine != other).flatten() for mine, other in zip(model.parameters(), alone.parameters())])
                assert kind == F64 or apart.float().mean() < 0.05, (algorithm, apart)  # what changed its sign forgets what was rounded off
                assert differences(model, alone) <= bound, (algorithm, kind, differences(model, alone))

    def case_methods_of_weights_need_one_master(self):
        """Beside parameters, gradients and momentum: nobody writes gradients into buckets, where they would take memory, and no rank keeps what it
        was told where only hooks move masters."""
        for algorithm, reads in (("local_sgd:every=2", False), ("diloco:every=9", False), ("decentralized", False), ("all_reduce", True)):
            model = seeded(typed(BF16))
            optimizer = momentum(model)
            wrapped(model, [optimizer], algorithm)
            memory = model.trigram._memory
            [one.fill_(float("nan")) for one in memory.sums]
            for number in range(STEPS):
                self.typed_step(model, optimizer, number)
            assert [bool(one.isnan().all()) for one in memory.sums] == [not reads] * len(memory.sums), algorithm
            assert all(part._told is None for _, part in memory._masters), algorithm
            model.trigram.finish()
            assert all(bool(one.isfinite().all()) for one in model.parameters()), algorithm

    def case_methods_of_gradients_need_no_master(self):
        """Beside what ranks add up: buckets have no memory for such weights, or none that anybody looks at where others lie beside them."""
        for algorithm in ("all_reduce", "bytegrad:error_feedback=on", "power_sgd"):
            model = seeded(typed(BF16))
            wrapped(model, [momentum(model)], algorithm)
            memory = model.trigram._memory
            assert all(weights is sums for weights, sums in zip(memory.weights, memory.sums)), algorithm
            model.trigram.finish()
            mixed = seeded(Mixed)
            optimizer = momentum(mixed)
            memory = wrapped(mixed, [optimizer], algorithm, bucket_size="1MiB").trigram._memory
            homes = [memory.homes[index].fill_(float("nan")) for index, _ in memory._masters]
            for number in range(STEPS):
                optimizer.zero_grad()
                loss_of(mixed, self.rank, number).backward()
                optimizer.step()
            mixed.trigram.evaluate(lambda model: loss_of(model, 0, 9))
            assert mixed.trigram.evals()["consensus_distance"][0] == 0 and len(homes) == 2, algorithm
            mixed.trigram.finish()
            assert all(bool(one.isnan().all()) for one in homes), algorithm
            assert all(bool(one.isfinite().all()) for one in mixed.parameters()), algorithm

    def case_averages_of_close_weights_are_not_lost(self):
        """Of ranks few steps of bf16 apart, which gossip moves by less than half of one: they meet at their mean."""
        model = torch.nn.Linear(4, 1, bias=False).to(BF16)
        optimizer = torch.optim.SGD(model.parameters(), lr=0)
        wrapped(model, [optimizer], "decentralized:topology=ring,mix=after")
        begins = {2: (0, 8), 4: (0, 0, 6, 10)}[self.ranks]  # in bf16 alone four ranks would stay at 3, 3, 4 and 4
        model.weight.data.fill_(1 + begins[self.rank] * 2**-7)
        for _ in range(40):
            model(torch.ones(1, 4, dtype=BF16)).sum().backward()
            optimizer.step()
        with model.trigram.mean_model():
            met = model.weight.detach().clone()
        model.trigram.finish()
        assert torch.equal(met, model.weight) and (met == 1 + 4 * 2**-7).all(), (met, model.weight)

    def case_what_is_loaded_stays(self):
        """Also where it is so small that what was rounded off before would show in it."""
        model = self.trained(BF16, f"local_sgd:every={STEPS}", plain)
        small = {name: one * 1e-3 for name, one in model.state_dict().items()}
        model.load_state_dict(small)
        loss_of_none = model(torch.zeros(1, 6, dtype=BF16)).sum() * 0
        loss_of_none.backward()
        model.trigram.skip_step()
        model.trigram.finish()
        assert all(torch.equal(one, small[name]) for name, one in model.state_dict().items())

    def case_f64_loses_what_f32_does_not_hold(self):
        """Of gradients that are exchanged; nothing between exchanges, and nothing on one rank."""
        whole = self.trained(F64, "all_reduce")
        whole.trigram.finish()
        theirs = DistributedDataParallel(seeded(typed(F64)))
        optimizer = momentum(theirs)
        for number in range(STEPS):
            self.typed_step(theirs, optimizer, number)
        assert 0 < differences(whole, theirs.module) < 1e-6, differences(whole, theirs.module)
        alone = seeded(typed(F64))
        optimizer = momentum(alone)
        for number in range(STEPS):
            self.typed_step(alone, optimizer, number)
        between = self.trained(F64, "local_sgd:every=100")
        between.trigram.finish()
        assert differences(between, alone) == 0, differences(between, alone)

    def case_replicas_of_other_types_are_equal(self):
        for kind in (BF16, F64):
            for algorithm in ("all_reduce", "bytegrad:error_feedback=on", "local_sgd:every=5"):
                model = self.trained(kind, algorithm, plain)
                model.trigram.finish()
                for mine in model.parameters():
                    of_rank_0 = mine.detach().double()
                    torch.distributed.broadcast(of_rank_0, 0)
                    assert torch.equal(of_rank_0, mine.detach().double()), (kind, algorithm)

    def case_one_that_steps_by_itself_steps_masters(self):
        """In f32, of which parameters are what is left: smaller steps than theirs are not lost."""
        def by(kind):
            model = seeded(typed(kind))
            job = wrapped(model, [], "one_bit_adam:warmup=3", learning_rate=1e-3).trigram
            for number in range(STEPS):
                typed_loss(model, self.rank, number).backward()
                job.step()
            job.finish()
            return model

        ours = by(BF16)
        assert 0 < differences(ours, seeded(typed(BF16))) < 0.02 and differences(ours.float(), by(torch.float32)) < 0.01

    def case_types_beside_each_other(self):
        """As normalizations that stay in f32, and a loop that accumulates, clips and unscales."""
        def step(model, optimizer, number, no_sync):
            optimizer.zero_grad()
            with no_sync():
                loss_of(model, self.rank, 2 * number).backward()
            loss_of(model, self.rank, 2 * number + 1).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.3)
            optimizer.step()

        ours, theirs = seeded(Mixed), DistributedDataParallel(seeded(Mixed))
        optimizers = momentum(ours), momentum(theirs)
        wrapped(ours, [optimizers[0]])
        for number in range(STEPS):
            step(ours, optimizers[0], number, ours.trigram.no_sync)
            step(theirs, optimizers[1], number, theirs.no_sync)
        ours.trigram.finish()
        assert differences(ours, theirs.module) < 1e-6, differences(ours, theirs.module)

    def case_types_are_resumed_and_copied(self):
        """With moving averages of weights, checkpoints and the mean model at the end, as if nothing had stopped."""
        for kind in (BF16, F64):
            for algorithm in ("all_reduce", "bytegrad:error_feedback=on", "local_sgd:every=3", "decentralized", "diloco:every=3"):
                whole = self.trained(kind, algorithm)
                whole.trigram.finish()
                resumed = self.resumed_in(kind, algorithm)
                assert differences(resumed, whole) == 0, (kind, algorithm, differences(resumed, whole))
        model = self.trained(BF16, "local_sgd:every=2")
        average = AveragedModel(model, avg_fn=lambda mean, one, _: 0.5 * mean + 0.5 * one)
        average.update_parameters(model)
        with model.trigram.mean_model():
            mean = [one.detach().clone() for one in model.parameters()]
        model.trigram.finish(mean=True)
        assert all(map(torch.equal, mean, model.parameters())) and differences(average.module, model) < 0.1

    def resumed_in(self, kind, algorithm):
        model = seeded(typed(kind))
        optimizer = momentum(model)
        job = wrapped(model, [optimizer], algorithm).trigram
        for number in range(2):
            self.typed_step(model, optimizer, number)
        with job.mean_model():
            pass
        torch.save((model.state_dict(), optimizer.state_dict(), job.state_dict()), stream := io.BytesIO())
        job.finish()
        model = seeded(typed(kind), seed=4 + self.rank)
        optimizer = momentum(model)
        job = wrapped(model, [optimizer], algorithm).trigram
        for one, state in zip((model, optimizer, job), torch.load(io.BytesIO(stream.getvalue()))):
            one.load_state_dict(state)
        for number in range(2, STEPS):
            self.typed_step(model, optimizer, number)
        job.finish()
        return model

    def case_masters_that_others_move(self):
        """Between two steps too: AD-PSGD, whose optimizers change nothing but what they were given, which adds up to the same in the end, but for
        what each rank rounds off to bfloat16, whose numbers from 16 to 32 are an eighth apart."""
        model = seeded(typed(BF16))
        [one.data.zero_() for one in model.parameters()]
        optimizer = torch.optim.SGD(model.parameters(), lr=0)
        wrapped(model, [optimizer], "ad_psgd")
        for number in range(STEPS):
            typed_loss(model, self.rank, number).backward()
            if number == 0:
                [one.data.add_(8 * self.rank) for one in model.parameters()]
            optimizer.step()
            if number == 0:
                torch.distributed.barrier()
                model.trigram.state_dict()
        model.trigram.finish()
        whole = torch.cat([one.detach().double().flatten() for one in model.parameters()])
        torch.distributed.all_reduce(whole)
        assert ((whole - 8 * sum(range(self.ranks))).abs() <= self.ranks / 16).all(), whole

    def case_types_in_uneven_and_scored_loops(self):
        for kind in (BF16, F64):
            model = seeded(typed(kind))
            optimizer = momentum(model)
            job = wrapped(model, [optimizer], find_unused_parameters=True).trigram
            with job.join():
                for number in range(3 + self.rank):
                    self.typed_step(model, optimizer, number)
            before = [one.detach().clone() for one in model.parameters()]
            job.evaluate(lambda model: typed_loss(model, 0, 9))
            assert job.evals()["consensus_distance"][0] == 0 and all(map(torch.equal, before, model.parameters()))
            job.finish()
            for one in model.parameters():
                of_rank_0 = one.detach().double()
                torch.distributed.broadcast(of_rank_0, 0)
                assert torch.equal(of_rank_0, one.detach().double()), kind

    def case_what_travels_is_said(self):
        """Once, by rank 0; nothing where all is f32."""
        for kind, text in ((BF16, "8 of torch.bfloat16 among 8 parameters: they keep their type, and what ranks exchange and add is float32"),
                           (F64, "a gradient in float64 is off by at most 6e-8 of itself"), (torch.float32, "")):
            with contextlib.redirect_stderr(io.StringIO()) as said:
                model = seeded(typed(kind))
                wrapped(model, [plain(model)])
            model.trigram.finish()
            assert (text in said.getvalue()) and bool(said.getvalue()) == (self.rank == 0 and bool(text)) if self.rank == 0 else not said.getvalue()

    def case_hooks_of_ddp_add_in_f32(self):
        def train(algorithm):
            model = DistributedDataParallel(seeded(typed(F64)))
            optimizer = momentum(model)
            hook = algorithm and trigram.ddp_hook(model, algorithm, optimizer=optimizer, backend=BACKEND)
            for number in range(STEPS):
                self.typed_step(model, optimizer, number)
            if hook:
                hook.finish()
            return model.module

        plainly = train(None)
        assert 0 < differences(train("all_reduce"), plainly) < 1e-6
        assert 1e-6 < differences(train("bytegrad"), plainly) < 0.05

    def case_a_model_that_changes_its_type_is_refused(self):
        model = seeded(typed(BF16))
        optimizer = plain(model)
        wrapped(model, [optimizer])
        self.typed_step(model, optimizer, 0)
        model.double()
        self.raises(RuntimeError, "has left its bucket, since with_trigram moved it there: it is torch.float64 of shape [8, 6]",
                    lambda: typed_loss(model, self.rank, 1))
        model.trigram.finish()
        self.raises(ValueError, "of which no master in float32 can be made", lambda: wrapped(torch.nn.Linear(2, 2).to(torch.complex64), []))

"""Cases of with_trigram_job.py: models beside those of DistributedDataParallel, and hooks below it."""

import math
import unittest

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import trigram
from job_case import BACKEND, STEPS, JobCase, Net, adam, differences, loss_of, momentum, plain, scaler_of, seeded, wrapped
from trigram.device import CPU
from trigram.model import check_bucket


class BesideDdp(JobCase):
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
        def step_by_flag(model, optimizer, number, _):
            """As nanoGPT does."""
            switch = getattr(model, "trigram", model)
            optimizer.zero_grad()
            for part in range(2):
                switch.require_backward_grad_sync = part == 1
                loss_of(model, self.rank, 2 * number + part).backward()
            assert switch.require_backward_grad_sync
            optimizer.step()

        self.beside_ddp(momentum, step)
        self.beside_ddp(momentum, step_by_flag)

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

    def case_ddp_parameter_groups(self):
        """With rates and decays of their own, the later one of which a schedule changes."""
        def groups(model):
            one = getattr(model, "module", model)
            return torch.optim.SGD([{"params": one.last.parameters(), "lr": 0.3}, {"params": [*one.first.parameters(), *one.second.parameters()]},
                                    {"params": one.branch.parameters(), "weight_decay": 0.1}], lr=0.05, momentum=0.9)

        def step(model, optimizer, number, _):
            optimizer.param_groups[2]["lr"] = 0.2 / (number + 1)
            self.one(model, optimizer, number, None)
        self.beside_ddp(groups, step)

    def case_ddp_scaled_losses(self):
        """Mixed precision; in step 1 the gradients of one rank overflow, and all ranks leave the step out."""
        scalers = {}

        def step(model, optimizer, number, _):
            scaler = scalers.setdefault(optimizer, scaler_of(1024.0))
            optimizer.zero_grad()
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = loss_of(model, self.rank, number)
            scaler.scale(loss * (math.inf if number == 1 and self.rank == 1 else 1)).backward()
            scaler.step(optimizer)
            scaler.update()
        self.beside_ddp(momentum, step)
        self.beside_ddp(momentum, step, bucket_size="1MiB", find_unused=True)
        assert [one.get_scale() for one in scalers.values()] == 4 * [512.0]

    def case_ddp_batch_norm(self):
        """Rank 0's buffers, or each rank's own."""
        def make():
            return torch.nn.Sequential(torch.nn.Linear(6, 8, bias=False), torch.nn.BatchNorm1d(8), torch.nn.Linear(8, 3))

        for broadcasts in (True, False):
            ours, theirs = seeded(make), DistributedDataParallel(seeded(make), broadcast_buffers=broadcasts)
            optimizers = plain(ours), plain(theirs)
            wrapped(ours, [optimizers[0]], broadcast_buffers=broadcasts)
            for number in range(STEPS):
                self.one(ours, optimizers[0], number, None)
                self.one(theirs, optimizers[1], number, None)
            ours.trigram.finish()
            self.near(ours, theirs.module)
            for a, b in zip(ours.buffers(), theirs.module.buffers()):
                assert a.dtype == b.dtype and (a.double() - b.double()).abs().max() <= 1e-6, (a, b)

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

    def case_hooks_read_buckets_of_one_place(self):
        self.raises(ValueError, "bucket 3 of DistributedDataParallel is on meta", lambda: check_bucket(3, torch.zeros(4, device="meta"), CPU))

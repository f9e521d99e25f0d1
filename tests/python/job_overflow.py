"""Cases of with_trigram_job.py: gradients of scaled losses that overflow on one rank, and methods that keep something from step to
step."""

import math

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import trigram
from job_case import BACKEND, JobCase, Net, differences, loss_of, momentum, plain, scaler_of, seeded, wrapped
from trigram.algorithm import GradientMethod

LEFT_OUT, STEPS = 4, 7
KEEPING = ["bytegrad:error_feedback=on", "bytegrad:codec=one_bit,error_feedback=on", "power_sgd", "dgc"]


class Half(GradientMethod):
    """Half of what was, and the mean of what is."""

    def setup(self, worker, buckets):
        self.sums = [torch.zeros_like(bucket.gradients) for bucket in buckets]

    def exchange(self, worker, bucket):
        bucket.gradients.copy_(self.sums[bucket.index].mul_(0.5).add_(worker.gradient_mean(bucket.gradients)))

    def state_dict(self):
        return {"sums": self.sums}

    def load_state_dict(self, state):
        self.sums = [one.clone() for one in state["sums"]]


class Overflows(JobCase):
    def scaled(self, model, optimizer, scaler, numbers, spoilt=None):
        """Steps on these batches, in one of which rank 1's gradients are infinite or none."""
        for number in numbers:
            optimizer.zero_grad()
            loss = loss_of(model, self.rank, number)
            scaler.scale(loss * (math.inf if number == spoilt and self.rank == 1 else 1)).backward()
            scaler.step(optimizer)
            scaler.update()

    def same_on_all_ranks(self, model):
        own = torch.cat([one.detach().reshape(-1) for one in model.parameters()])
        rank_0 = own.clone()
        dist.broadcast(rank_0, 0)
        assert torch.equal(own, rank_0) and bool(own.isfinite().all())

    def case_an_overflow_leaves_no_trace(self):
        """As if the step had never been: a scale that is a power of two rounds nothing."""
        rest = [number for number in range(STEPS) if number != LEFT_OUT]
        for algorithm in KEEPING:
            models = []
            for scale, numbers in ((1024.0, range(STEPS)), (512.0, rest)):
                model, scaler = seeded(Net), scaler_of(scale)
                optimizer = momentum(model)
                wrapped(model, [optimizer], algorithm, grad_scaler=scaler)
                self.scaled(model, optimizer, scaler, numbers, LEFT_OUT)
                model.trigram.finish()
                assert scaler.get_scale() == 512, scaler.get_scale()
                self.same_on_all_ranks(model)
                models.append(model)
            assert differences(*models) == 0, (algorithm, differences(*models))
            assert differences(models[0], seeded(Net)) > 1e-3, algorithm

    def case_a_nan_of_which_signs_tell_nothing(self):
        """One element of one rank: all leave the step out."""
        model, scaler = seeded(Net), scaler_of(1024.0)
        optimizer = plain(model)
        wrapped(model, [optimizer], "bytegrad:codec=sign", grad_scaler=scaler)
        if self.rank == 1:
            model.second.weight.register_hook(lambda gradient: torch.where(gradient == gradient.max(), math.nan, gradient))
        self.scaled(model, optimizer, scaler, [0])
        optimizer.zero_grad()
        model.trigram.finish()
        assert differences(model, seeded(Net)) == 0 and scaler.get_scale() == 512

    def case_an_overflow_below_a_hook_leaves_no_trace(self):
        rest = [number for number in range(STEPS) if number != LEFT_OUT]
        models = []
        for scale, numbers in ((1024.0, range(STEPS)), (512.0, rest)):
            model, scaler = DistributedDataParallel(seeded(Net)), scaler_of(scale)
            optimizer = momentum(model)
            hook = trigram.ddp_hook(model, KEEPING[1], optimizer=optimizer, grad_scaler=scaler, backend=BACKEND)
            self.scaled(model, optimizer, scaler, numbers, LEFT_OUT)
            hook.finish()
            self.same_on_all_ranks(model)
            models.append(model)
        assert differences(*models) == 0, differences(*models)

    def case_an_overflow_among_micro_batches(self):
        model, scaler = seeded(Net), scaler_of(1024.0)
        optimizer = plain(model)
        wrapped(model, [optimizer], KEEPING[0], grad_scaler=scaler)
        with model.trigram.no_sync():
            scaler.scale(loss_of(model, self.rank, 0) * (math.inf if self.rank == 1 else 1)).backward()
        scaler.scale(loss_of(model, self.rank, 1)).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        model.trigram.finish()
        assert differences(model, seeded(Net)) == 0 and scaler.get_scale() == 512

    def case_an_overflow_of_an_algorithm_in_python(self):
        model, scaler = seeded(Net), scaler_of(1024.0)
        optimizer, made = momentum(model), []
        wrapped(model, [optimizer], lambda: made.append(Half()) or made[-1], grad_scaler=scaler)
        self.scaled(model, optimizer, scaler, range(2))
        before = [one.clone() for one in made[0].sums]
        self.scaled(model, optimizer, scaler, [2], spoilt=2)
        optimizer.zero_grad()
        model.trigram.finish()
        assert scaler.get_scale() == 512 and all(map(torch.equal, made[0].sums, before))

    def case_a_last_step_that_overflows_is_left_out(self):
        """With no zero_grad() behind it."""
        model, scaler = seeded(Net), scaler_of(1024.0)
        optimizer = plain(model)
        wrapped(model, [optimizer], KEEPING[0], grad_scaler=scaler)
        self.scaled(model, optimizer, scaler, [0], spoilt=0)
        model.trigram.finish()
        assert differences(model, seeded(Net)) == 0 and scaler.get_scale() == 512

    def case_what_one_rank_has_alone_overflows_for_all(self):
        model, scaler = seeded(Net), scaler_of(1024.0)
        model.own = torch.nn.Linear(1, 1, bias=False)
        model.own.only_on_this_rank = True
        before = model.own.weight.detach().clone()
        optimizer = plain(model)
        wrapped(model, [optimizer], grad_scaler=scaler)
        optimizer.zero_grad()
        loss = loss_of(model, self.rank, 0) + model.own(torch.ones(1, 1)).sum() * (math.inf if self.rank == 1 else 1)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        model.trigram.finish()
        shared = [one for name, one in model.named_parameters() if not name.startswith("own")]
        assert all(map(torch.equal, shared, seeded(Net).parameters())) and torch.equal(model.own.weight, before)
        assert scaler.get_scale() == 512

    def case_an_overflow_that_stays_is_said(self):
        model, scaler = seeded(Net), scaler_of(1024.0)
        optimizer = plain(model)
        job = wrapped(model, [optimizer], KEEPING[0]).trigram
        self.scaled(model, optimizer, scaler, [0])
        self.raises(RuntimeError, "the gradients of step 1 overflowed, and algorithm 'bytegrad:error_feedback=on' has kept that",
                    lambda: self.scaled(model, optimizer, scaler, [1, 2], spoilt=1))
        job.finish()

    def case_scalers_of_other_methods_are_refused(self):
        for algorithm, text in (("local_sgd", "algorithm 'local_sgd' works on more than gradients, so a step that a grad_scaler leaves out"),
                                (trigram.algorithm.Algorithm, "algorithm Algorithm is no GradientMethod, so a step")):
            model = seeded(Net)
            self.raises(ValueError, text, lambda: wrapped(model, [plain(model)], algorithm, grad_scaler=scaler_of(2.0)))

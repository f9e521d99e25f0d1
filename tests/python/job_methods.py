"""Cases of with_trigram_job.py: what ranks begin with, methods beside plain loops, and going on from a checkpoint."""

import copy
import io
import math

import torch
import torch.distributed as dist

from job_case import STEPS, JobCase, Net, differences, loss_of, momentum, plain, seeded, wrapped


class Methods(JobCase):
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

    def case_gradients_in_16_bits(self):
        """Rounded, sent and added so: half of the bytes. Of two ranks a sum is rounded once, in whatever order."""
        whole = self.train("all_reduce")
        whole.trigram.finish()
        for name, kind in (("fp16", torch.float16), ("bf16", torch.bfloat16)):
            model = self.train("all_reduce", gradients=name)
            model.trigram.finish()
            models, optimizers = self.replicas()
            for number in range(STEPS):
                self.backward(models, optimizers, number)
                for same in zip(*(one.parameters() for one in models)):
                    mean = sum(p.grad.to(kind) for p in same).float() / self.ranks
                    for p in same:
                        p.grad.copy_(mean)
                for optimizer in optimizers:
                    optimizer.step()
            assert differences(model, models[0]) <= (0 if self.ranks == 2 else 2e-3), (name, differences(model, models[0]))
            assert differences(model, whole) > 1e-6, name
            assert 2 * sum(model.trigram.steps()["bytes_sent"]) == sum(whole.trigram.steps()["bytes_sent"]), name

    def case_local_sgd(self):
        model = self.train("local_sgd:every=2")
        model.trigram.finish()
        models, optimizers = self.replicas()
        for number in range(STEPS):
            self.backward(models, optimizers, number)
            for optimizer in optimizers:
                optimizer.step()
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
                self.backward(models, optimizers, number)
                if mix == "before":
                    self.mix_on_a_ring(models)
                for optimizer in optimizers:
                    optimizer.step()
                if mix == "after":
                    self.mix_on_a_ring(models)
            assert differences(model, models[self.rank]) < 1e-6, (mix, differences(model, models[self.rank]))

    def case_every_other_algorithm_trains(self):
        for algorithm in ("bytegrad:error_feedback=on", "qsgd", "async_average", "low_precision_decentralized", "power_sgd"):
            model = self.train(algorithm)
            steps = model.trigram.steps()
            model.trigram.finish()
            assert list(steps["step"]) == list(range(STEPS)), algorithm
            assert (steps["bytes_sent"] > 0).any() or algorithm == "async_average", algorithm
            assert all(math.isfinite(float(p.abs().max())) for p in model.parameters()), algorithm

    def case_ranks_that_ask_keep_their_mean(self):
        """AD-PSGD whose optimizers change nothing: pairs average what ranks were given, which adds up to the same in the end, also where somebody
        has asked for the mean meanwhile."""
        for flags, asks in (({}, False), ({"lanes": 2, "bucket_size": "200B"}, False), ({}, True)):
            model = seeded(Net)
            [one.data.zero_() for one in model.parameters()]
            optimizer = torch.optim.SGD(model.parameters(), lr=0)
            wrapped(model, [optimizer], "ad_psgd", **flags)
            for number in range(STEPS):
                loss_of(model, self.rank, number).backward()
                if number == 0:
                    [one.data.add_(8 * self.rank) for one in model.parameters()]
                optimizer.step()
                if number == 0:
                    dist.barrier()
                if asks:
                    with model.trigram.mean_model():
                        assert number > 0 or all((one == 4 * (self.ranks - 1)).all() for one in model.parameters())
            model.trigram.finish()
            whole = torch.cat([one.detach().flatten() for one in model.parameters()])
            assert self.rank > 0 or (whole > 0).all(), whole  # rank 0 has nothing but what it was told
            dist.all_reduce(whole)
            assert (whole == 8 * sum(range(self.ranks))).all(), whole
            sent = model.trigram.steps()["bytes_sent"]
            assert self.rank % 2 == 1 or (sent == 4 * whole.numel()).all(), sent

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

    def case_own_update(self):
        model = seeded(Net)
        wrapped(model, [], "one_bit_adam:warmup=2", learning_rate=0.01)
        for number in range(STEPS):
            loss_of(model, self.rank, number).backward()
            model.trigram.step()
        model.trigram.finish()
        assert differences(model, seeded(Net)) > 1e-3

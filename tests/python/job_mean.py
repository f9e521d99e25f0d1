"""Cases of with_trigram_job.py: the model that ranks train together, and going on from what was saved of it."""

import io

import torch
import torch.distributed as dist

from job_case import STEPS, JobCase, Net, differences, loss_of, momentum, plain, seeded, wrapped

LOADED_AFTER, LOADED_BEFORE = "after with_trigram", "before with_trigram, as DDP's scripts do"


class Means(JobCase):
    def ranks_mean(self, model):
        whole = torch.cat([one.detach().flatten() for one in model.parameters()])
        dist.all_reduce(whole)
        return whole / self.ranks

    def case_mean_model(self):
        """During training; afterwards each rank has its own weights again, and trains on as if nothing had been; but what an asynchronous method has
        under way ends before, by which they may change."""
        for algorithm in ("all_reduce", "bytegrad", "local_sgd:every=4", "decentralized", "ad_psgd", "async_average"):
            model, alone = seeded(Net), None if algorithm in ("ad_psgd", "async_average") else seeded(Net)
            trained = [(one, momentum(one)) for one in (model, alone) if one is not None]
            for one, optimizer in trained:
                wrapped(one, [optimizer], algorithm)
            for number in range(STEPS):
                for one, optimizer in trained:
                    self.one(one, optimizer, number, None)
                before = [one.detach().clone() for one in model.parameters()]
                expected = self.ranks_mean(model) if algorithm != "ad_psgd" else None  # whose weights others change meanwhile
                with model.trigram.mean_model() as mean:
                    assert mean is model
                    whole = torch.cat([one.detach().flatten() for one in model.parameters()])
                    assert expected is None or float((whole - expected).abs().max()) < 1e-6, algorithm
                    assert torch.equal(whole, self.of_rank_0(whole)), algorithm
                assert alone is None or all(map(torch.equal, before, model.parameters())), algorithm
            assert not trained[1:] or differences(model, alone) == 0
            for one, _ in trained:
                one.trigram.finish()

    def of_rank_0(self, whole):
        own = whole.clone()
        dist.broadcast(own, 0)
        return own

    def case_mean_model_of_diloco(self):
        """Its outer weights, amid its inner steps: what all began with, moved by Nesterov's rule as in the paper."""
        model = seeded(Net)
        optimizer = plain(model)
        wrapped(model, [optimizer], "diloco:every=3,outer=(nesterov:momentum=0.9),outer_lr=0.7")
        models = [seeded(Net) for _ in range(self.ranks)]
        outer = seeded(Net)
        outer_optimizer = torch.optim.SGD(outer.parameters(), lr=0.7, momentum=0.9, nesterov=True)
        inner = [plain(one) for one in models]
        for number in range(8):
            self.one(model, optimizer, number, None)
            self.backward(models, inner, number)
            [one.step() for one in inner]
            if number % 3 == 2:
                for common, *same in zip(outer.parameters(), *(one.parameters() for one in models)):
                    common.grad = common.detach() - sum(p.detach() for p in same) / self.ranks
                outer_optimizer.step()
                for one in models:
                    one.load_state_dict(outer.state_dict())
            with model.trigram.mean_model():
                assert differences(model, outer) < 1e-6, (number, differences(model, outer))
            assert number % 3 == 2 or differences(model, outer) > 1e-3
        model.trigram.finish()

    def case_no_step_within_the_mean_model(self):
        model = seeded(Net)
        optimizer = plain(model)
        job = wrapped(model, [optimizer], "local_sgd:every=2").trigram
        with job.mean_model():
            self.raises(RuntimeError, "backward() was called within job.mean_model()", lambda: loss_of(model, self.rank, 0).backward())
            self.raises(RuntimeError, "job.state_dict() was called within job.mean_model()", job.state_dict)
        self.one(model, optimizer, 0, None)
        job.finish()

    def case_resumed_in_either_order(self):
        """With the mean model in the checkpoint, and each rank's state beside it."""
        for algorithm in ("bytegrad:error_feedback=on", "decentralized", "local_sgd:every=3", "diloco:every=3", "low_precision_decentralized"):
            whole = self.train(algorithm)
            whole.trigram.finish()
            for order in (LOADED_AFTER, LOADED_BEFORE):
                resumed = self.resumed(algorithm, order)
                assert differences(resumed, whole) == 0, (algorithm, order, differences(resumed, whole))

    def resumed(self, algorithm, order):
        model = seeded(Net)
        optimizer = momentum(model)
        job = wrapped(model, [optimizer], algorithm).trigram
        for number in range(2):
            self.one(model, optimizer, number, None)
        stream = io.BytesIO()
        with job.mean_model():
            torch.save((model.state_dict(), optimizer.state_dict()), stream)
        torch.save(job.state_dict(), of_job := io.BytesIO())
        job.finish()
        model = seeded(Net, seed=4 + self.rank)
        optimizer = momentum(model)
        if order == LOADED_AFTER:
            wrapped(model, [optimizer], algorithm)
        of_model, of_optimizer = torch.load(io.BytesIO(stream.getvalue()))
        model.load_state_dict(of_model)
        optimizer.load_state_dict(of_optimizer)
        if order == LOADED_BEFORE:
            wrapped(model, [optimizer], algorithm)
        model.trigram.load_state_dict(torch.load(io.BytesIO(of_job.getvalue())))
        for number in range(2, STEPS):
            self.one(model, optimizer, number, None)
        model.trigram.finish()
        return model

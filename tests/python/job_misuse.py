"""Cases of with_trigram_job.py: what is refused, what is caught later, and steps that are no whole ones."""

import unittest
import warnings

import torch
from torch.nn.parallel import DistributedDataParallel

import trigram
from job_case import BACKEND, JobCase, Net, differences, loss_of, plain, seeded, wrapped
from trigram.model import check_memory
from trigram.recording import numbers_of


class Misuse(JobCase):
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

    def case_nothing_follows_the_end(self):
        model = seeded(Net)
        job = wrapped(model, [plain(model)]).trigram
        job.finish()
        self.raises(RuntimeError, "the session has ended; nothing can follow", lambda: job._session.begin(0.1))

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
        model.trigram.skip_step()
        assert differences(model, seeded(Net)) == 0
        self.one(model, optimizer, 0, None)
        trained = [one.detach().clone() for one in model.parameters()]
        loss_of(model, self.rank, 1)
        model.trigram.finish()
        assert differences(model, seeded(Net)) > 0 and all(map(torch.equal, trained, model.parameters()))

    def case_micro_batches_are_not_lost(self):
        """By what comes amid them; the end may."""
        model = seeded(Net)
        job = wrapped(model, [plain(model)]).trigram
        with job.no_sync():
            loss_of(model, self.rank, 0).backward()
        self.raises(RuntimeError, "job.state_dict() was called amid micro-batches, whose gradients wait for a last backward()", job.state_dict)
        loss_of(model, self.rank, 1).backward()
        job.skip_step()
        with job.no_sync():
            loss_of(model, self.rank, 0).backward()
        job.finish()

    def case_recordings_out_of_place(self):
        model = seeded(Net)
        job = wrapped(model, [plain(model)]).trigram
        self.raises(RuntimeError, "job.record_loss() was called before the first step", lambda: job.record_loss(1.0))
        self.raises(ValueError, "score gave 3 values; give the loss, or loss and accuracy", lambda: numbers_of((1, 2, 3)))
        loss_of(model, self.rank, 0).backward()
        job.evaluate(lambda model: 1.0)
        self.raises(RuntimeError, "or something between two steps was called after it", job.skip_step)
        job.finish()
        assert job.evals()["accuracy"].isna().all() and len(job.evals()) == 1
        self.raises(ValueError, "give with_trigram trace=True", job.trace)

    def case_refused_at_the_start(self):
        def refused(text, model, optimizers, algorithm="all_reduce", **options):
            self.raises(ValueError, text, lambda: wrapped(model, optimizers, algorithm, **options))

        model = Net()
        refused("'first.weight' is of torch.complex64, of which no master in float32 can be made", Net().to(torch.complex64), [])
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
        refused("wrapped by DistributedDataParallel, which averages gradients already", DistributedDataParallel(Net()), [])
        spread = Net()
        spread.last.weight.device_mesh = "cpu"
        refused("parameter 'last.weight' is a DTensor, of which each rank holds a part", spread, [plain(spread)])
        refused("makes some ranks servers", model, [plain(model)], "parameter_server")
        refused("'lans'", model, [plain(model)], lans=2)
        wrapped(model, [plain(model)])
        refused("a session that is not finished", model, [plain(model)])
        model.trigram.finish()

    def case_spread_parameters_are_refused(self):
        try:
            from torch.distributed.tensor import Shard, distribute_tensor, init_device_mesh
        except ImportError:
            raise unittest.SkipTest("torch has no DTensor") from None
        spread = Net()
        whole = spread.last.weight.detach()
        spread.last.weight = torch.nn.Parameter(distribute_tensor(whole, init_device_mesh("cpu", (self.ranks,)), [Shard(1)]))
        self.raises(ValueError, "parameter 'last.weight' is a DTensor", lambda: wrapped(spread, [plain(spread)]))
        self.raises(ValueError, "parameter 'last.weight' is a DTensor", lambda: check_memory(spread, list(spread.named_parameters())))

    def case_sparse_gradients_are_caught(self):
        """Where no module tells of them: what autograd adds to a gradient that is there already becomes dense, else it stays sparse."""
        model = torch.nn.Embedding(5, 2)
        optimizer = plain(model)
        job = wrapped(model, [optimizer]).trigram

        def backward(sparse):
            model.sparse = sparse
            loss = model(torch.tensor([self.rank])).sum()
            optimizer.zero_grad(set_to_none=True)
            loss.backward()

        self.raises(RuntimeError, "parameter 'weight' has a sparse gradient, which no bucket holds; use sparse=False", lambda: backward(True))
        backward(False)
        optimizer.step()
        job.finish()

    def case_moved_buckets_of_ddp_are_caught(self):
        model = DistributedDataParallel(seeded(Net))
        optimizer = plain(model)
        hook = trigram.ddp_hook(model, "bytegrad", backend=BACKEND)
        for number in range(2):
            self.one(model, optimizer, number, None)
        hook._places[0] += 4
        self.raises(RuntimeError, "DistributedDataParallel has moved its bucket 0; give it static_graph=True",
                    lambda: self.one(model, optimizer, 2, None))
        hook.finish()

    def case_steps_that_a_scaler_left_out(self):
        """At the end; those amid others stand beside DDP's."""
        model = seeded(Net)
        optimizer = plain(model)
        job = wrapped(model, [optimizer]).trigram
        loss_of(model, self.rank, 0).backward()
        optimizer.zero_grad(set_to_none=True)
        job.finish()
        assert differences(model, seeded(Net)) == 0

    def case_a_first_step_too_far_is_told(self):
        """By one rank, as it goes on."""
        for algorithm, rate, ranks in (("demo", 0.3, [0]), ("demo", 1e-3, []), ("all_reduce", 0.3, [])):
            model = seeded(Net)
            optimizer = torch.optim.SGD(model.parameters(), lr=rate)
            wrapped(model, [optimizer], algorithm)
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                for step in range(3):
                    self.one(model, optimizer, step, None)
            model.trigram.finish()
            told = [one for one in told if "the first step moved the weights of 'second.weight' by" in str(one.message)]
            assert len(told) == (self.rank in ranks), told

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

        model, optimizer = caught("a second backward() before optimizer.step()", twice, algorithm="local_sgd")
        optimizer.step()  # the first one counts
        model.trigram.finish()
        model, _ = caught("optimizer.step() was called, but no backward()", lambda model, optimizer: optimizer.step())
        model.trigram.finish()
        model, _ = caught("and in training mode (model.train())", lambda model, _: loss_of(model.eval(), self.rank, 0).backward(),
                          algorithm="local_sgd")
        model.trigram.finish()
        model, _ = caught("parameter 'first.weight' has left its bucket", lambda model, _: model.to(torch.float64)(torch.zeros(1, 6).double()))
        model.trigram.finish()

"""Cases of with_trigram_job.py: what is copied and saved of a model that has a job, during training and after it."""

import copy
import io
import pickle
import unittest.mock
import weakref

import torch
from torch.nn.parallel import DistributedDataParallel
from torch.optim.swa_utils import AveragedModel

from job_case import STEPS, JobCase, Net, differences, momentum, plain, seeded, wrapped
from trigram import parts


def saved(what):
    stream = io.BytesIO()
    torch.save(what, stream)
    return stream.getvalue()


def load(written):
    """Models too, which torch takes from 2.6 on where it is told to alone."""
    options = {"weights_only": False} if "weights_only" in torch.load.__code__.co_varnames else {}
    return torch.load(io.BytesIO(written), **options)


def images():
    return torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.BatchNorm2d(8), torch.nn.Conv2d(8, 8, 1), torch.nn.ReLU(),
                               torch.nn.Conv2d(8, 4, 3), torch.nn.Flatten(), torch.nn.Linear(64, 3))


class Whole(torch.nn.Module):
    """Has a part that is trained."""

    def __init__(self, part):
        super().__init__()
        self.part = part


class Copies(JobCase):
    def each_time(self, body):
        """`body(model)` during training, and after finish()."""
        model = seeded(Net)
        optimizer = momentum(model)
        wrapped(model, [optimizer], "local_sgd:every=2")
        self.one(model, optimizer, 0, None)
        body(model)
        self.one(model, optimizer, 1, None)
        model.trigram.finish()
        body(model)

    def case_buckets_go_one_by_one(self):
        """At the end of a job each has gone before the next one's parameters get memory of their own: no second copy of the model."""
        model = seeded(Net)
        wrapped(model, [momentum(model)])
        buckets = [weakref.ref(one) for one in model.trigram._memory.weights]
        left, leave = [], parts.Whole.leave

        def counted(part, view):
            left.append(sum(one() is not None for one in buckets))
            leave(part, view)

        with unittest.mock.patch.object(parts.Whole, "leave", counted):
            model.trigram.finish()
        assert left == sorted(left, reverse=True) and sorted(set(left)) == list(range(1, len(buckets) + 1)), left

    def case_copies_are_plain_models(self):
        """Which train on by themselves."""
        def copied(model):
            for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), load(saved(model)), copy.deepcopy(Whole(model)).part,
                          AveragedModel(model).module):
                assert type(other) is Net and not hasattr(other, "trigram") and vars(other).keys() == vars(Net()).keys(), vars(other)
                assert differences(other, model) == 0 and not set(other.parameters()) & set(model.parameters())
                optimizer = plain(other)
                self.one(other, optimizer, 7, None)
                assert differences(other, model) > 0

        self.each_time(copied)

    def case_jobs_are_not_copied(self):
        def refused(model):
            self.raises(TypeError, "a Job is this process as a rank, of which there is no copy; keep its state_dict()",
                        lambda: copy.deepcopy(model.trigram))
        self.each_time(refused)

    def case_average_of_weights_follows(self):
        """torch's exponential moving average, beside that of DDP's model."""
        ours, theirs = seeded(Net), DistributedDataParallel(seeded(Net))
        optimizers = momentum(ours), momentum(theirs)
        wrapped(ours, [optimizers[0]])
        averages = [AveragedModel(model, avg_fn=lambda mean, one, _: 0.5 * mean + 0.5 * one) for model in (ours, theirs.module)]
        for number in range(STEPS):
            for model, optimizer, average in zip((ours, theirs), optimizers, averages):
                self.one(model, optimizer, number, None)
                average.update_parameters(getattr(model, "module", model))
        ours.trigram.finish()
        self.near(*averages)

    def case_parts_are_saved_alone(self):
        def small(model):
            for part in (model.last, model.last.weight, [one.grad for one in model.last.parameters()]):
                written = saved(part.state_dict() if isinstance(part, torch.nn.Module) else part)
                assert len(written) < len(saved(torch.nn.Linear(8, 3).state_dict())) + 500, len(written)
            storages = {(one.storage()._cdata if hasattr(one.storage(), "_cdata") else one.untyped_storage()._cdata)
                        for one in model.parameters()}
            assert len(storages) == len(list(model.parameters()))

        self.each_time(small)

    def case_safetensors_save_models(self):
        from importlib.util import find_spec
        from unittest import SkipTest
        if not find_spec("safetensors"):
            raise SkipTest("this Python has no package safetensors")
        from safetensors.torch import load_model, save_model

        def written(model):
            path, other = f"model-{self.rank}.safetensors", Net()
            save_model(model, path)
            load_model(other, path)
            assert differences(model, other) == 0
        self.each_time(written)

    def case_finish_gives_memory_back(self):
        model = seeded(Net)
        optimizer = momentum(model)
        job = wrapped(model, [optimizer]).trigram
        self.one(model, optimizer, 0, None)
        before = [(one.detach().clone(), one.data_ptr()) for one in model.parameters()]
        job.finish()
        for one, (value, place) in zip(model.parameters(), before):
            assert torch.equal(one, value) and one.data_ptr() != place and one.grad is not None
        assert not job._memory.weights
        self.one(model, optimizer, 1, None)

    def case_channels_last_stays(self):
        """And trains as DDP's does, step for step, with gradients in the same layout; both formats have the same weights."""
        trained = []
        for layout in (torch.contiguous_format, torch.channels_last):
            model = seeded(images).to(memory_format=layout)
            strides = [one.stride() for one in model.parameters()]
            optimizer = plain(model)
            wrapped(model, [optimizer])
            for number in range(STEPS):
                generator = torch.Generator().manual_seed(10 * number + self.rank)
                x, y = torch.randn(4, 3, 6, 6, generator=generator), torch.randint(3, (4,), generator=generator)
                optimizer.zero_grad()
                torch.nn.functional.cross_entropy(model(x.contiguous(memory_format=layout)), y).backward()
                assert [one.grad.stride() for one in model.parameters() if one.dim() == 4] == [one for one in strides if len(one) == 4]
                optimizer.step()
            model.trigram.finish()
            assert [one.stride() for one in model.parameters()] == strides
            assert model[0].weight.is_contiguous(memory_format=layout)
            trained.append(model)
        assert differences(*trained) < 1e-5, differences(*trained)

    def case_ranks_of_other_layouts_are_refused(self):
        model = seeded(images)
        if self.rank == 1:
            model = model.to(memory_format=torch.channels_last)
        self.raises(ValueError, "shape of 4.weight=4 x 8 x 3 x 3 on rank 0 but shape of 4.weight=4 x 3 x 3 x 8 on rank 1",
                    lambda: wrapped(model, [plain(model)]))

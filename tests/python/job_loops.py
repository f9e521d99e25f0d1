"""Cases of with_trigram_job.py: loops as people write them, beside those of DistributedDataParallel."""

import copy
from importlib.util import find_spec
from unittest import SkipTest

import torch
from torch.nn.parallel import DistributedDataParallel

from job_case import STEPS, JobCase, Net, adam, batch, differences, loss_of, momentum, plain, seeded, wrapped

WEIGHTS = "local_sgd:every=2"


class TwoEvaluations(torch.optim.Optimizer):
    """SAM as Foret et al. have it: steps from where it is along the gradient of where that leads. It puts other memory behind parameters."""

    def __init__(self, parameters, radius=0.05):
        super().__init__(parameters, {"radius": radius})
        self.base = torch.optim.SGD(self.param_groups, lr=0.1, momentum=0.9)

    @torch.no_grad()
    def step(self, closure):
        parameters = [one for group in self.param_groups for one in group["params"]]
        norm = torch.stack([one.grad.norm() for one in parameters]).norm()
        before = [one.data.clone() for one in parameters]
        for one in parameters:
            one.add_(one.grad, alpha=0.05 / float(norm))
        self.zero_grad()
        with torch.enable_grad():
            closure()
        for one, old in zip(parameters, before):
            one.data = old
        self.base.step()


class Loops(JobCase):
    def case_ddp_closures(self):
        """As Lightning's automatic optimization has them: all of the step within optimizer.step()."""
        def step(model, optimizer, number, _):
            def closure():
                loss = loss_of(model, self.rank, number)
                optimizer.zero_grad()
                loss.backward()
                return loss
            assert float(optimizer.step(closure)) > 0
        self.beside_ddp(momentum, step)
        self.beside_ddp(adam, lambda model, optimizer, number, no_sync: step(model, optimizer, number, no_sync))

    def case_closures_of_weight_methods(self):
        plainly = self.train(WEIGHTS)
        plainly.trigram.finish()
        model = seeded(Net)
        optimizer = momentum(model)
        wrapped(model, [optimizer], WEIGHTS)
        for number in range(STEPS):
            optimizer.step(lambda: self.evaluated(model, optimizer, number))
        model.trigram.finish()
        assert differences(model, plainly) == 0

    def evaluated(self, model, optimizer, number):
        optimizer.zero_grad()
        loss = loss_of(model, self.rank, number)
        loss.backward()
        return loss

    def case_ddp_lbfgs(self):
        """Which asks for a loss and gradients many times in a step. Losses differ between ranks, and decide nothing here."""
        def make(model):
            return torch.optim.LBFGS(model.parameters(), lr=0.1, max_iter=3, tolerance_change=0, tolerance_grad=0)
        self.beside_ddp(make, lambda model, optimizer, number, _: optimizer.step(lambda: self.evaluated(model, optimizer, number)))

    def case_ddp_sharpness_aware(self):
        def step(model, optimizer, number, _):
            self.evaluated(model, optimizer, number)
            optimizer.step(lambda: loss_of(model, self.rank, number).backward())
        self.beside_ddp(lambda model: TwoEvaluations(model.parameters()), step)

    def case_weight_methods_refuse_two_evaluations(self):
        model = seeded(Net)
        optimizer = torch.optim.LBFGS(model.parameters(), max_iter=3)
        wrapped(model, [optimizer], WEIGHTS)
        self.raises(RuntimeError, "LBFGS.step() asks for gradients more than once, and algorithm 'local_sgd:every=2' exchanges more than gradients",
                    lambda: optimizer.step(lambda: self.evaluated(model, optimizer, 0)))
        model.trigram.finish()

    def case_ddp_backward_by_backward(self):
        """Two losses, each with a backward() of its own, as discriminators have them; DDP averages twice too."""
        def step(model, optimizer, number, _):
            optimizer.zero_grad()
            for more in (0, 50):
                loss_of(model, self.rank, number + more).backward()
            optimizer.step()
        self.beside_ddp(momentum, step)

    def case_ddp_optimizers_in_turn(self):
        """One steps in even steps, the other in odd ones; and a forward pass at the end that nothing follows."""
        def train(model, wrap):
            inner = getattr(model, "module", model)
            one, other = plain(inner.first), torch.optim.SGD([*inner.second.parameters(), *inner.last.parameters(), *inner.branch.parameters()], 0.1)
            wrap(model, [one, other])
            for number in range(STEPS):
                stepping = (one, other)[number % 2]
                model.zero_grad()
                loss_of(model, self.rank, number).backward()
                stepping.step()
            loss_of(model, self.rank, STEPS)

        ours, theirs = seeded(Net), DistributedDataParallel(seeded(Net))
        train(ours, wrapped)
        train(theirs, lambda *_: None)
        ours.trigram.finish()
        self.near(ours, theirs.module)

    def case_ddp_adversaries(self):
        """A generator and a discriminator with a job each, whose last step is the generator's; with the other frozen meanwhile, and not."""
        for freezes in (False, True):
            def train(ddp):
                nets = [seeded(lambda: torch.nn.Linear(6, 6), 1), seeded(lambda: torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(),
                                                                                                     torch.nn.Linear(8, 1)), 2)]
                called = [DistributedDataParallel(net) if ddp else net for net in nets]
                optimizers = [torch.optim.SGD(net.parameters(), 0.1, momentum=0.9) for net in nets]
                for net, optimizer in zip(nets, optimizers) if not ddp else ():
                    wrapped(net, [optimizer])
                for number in range(STEPS):
                    x, _ = batch(self.rank, number)
                    optimizers[1].zero_grad()
                    called[1](x).mean().backward()  # as in PyTorch's tutorial, one backward() for what is real and one for what is not
                    (-called[1](called[0](x).detach())).mean().backward()
                    optimizers[1].step()
                    optimizers[0].zero_grad()
                    nets[1].requires_grad_(not freezes)
                    called[1](called[0](x)).mean().backward()
                    nets[1].requires_grad_(True)
                    optimizers[0].step()
                for net in nets if not ddp else ():
                    net.trigram.finish()
                return nets
            for ours, theirs in zip(train(False), train(True)):
                self.near(ours, theirs)

    def case_ddp_gradient_penalty(self):
        """A gradient of the loss by its inputs, which is part of the loss: parameters are reached through two passes."""
        def step(model, optimizer, number, _):
            x, y = batch(self.rank, number)
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(x.requires_grad_()), y)
            slope, = torch.autograd.grad(loss, x, create_graph=True)
            (loss + 10 * (slope.norm(dim=1) - 0.1).square().mean()).backward()
            optimizer.step()
        self.beside_ddp(momentum, step)

    def case_ddp_deterministic_algorithms(self):
        """Over epochs of torch's own sampler, which gives each rank its samples."""
        generator = torch.Generator().manual_seed(3)
        data = torch.utils.data.TensorDataset(torch.randn(24, 6, generator=generator), torch.randint(3, (24,), generator=generator))
        sampler = torch.utils.data.DistributedSampler(data, self.ranks, self.rank)
        loader = torch.utils.data.DataLoader(data, batch_size=4, sampler=sampler)

        def step(model, optimizer, number, _):
            sampler.set_epoch(number)
            for x, y in loader:
                optimizer.zero_grad()
                torch.nn.functional.cross_entropy(model(x), y).backward()
                optimizer.step()
        torch.use_deterministic_algorithms(True)
        try:
            self.beside_ddp(momentum, step)
        finally:
            torch.use_deterministic_algorithms(False)

    def case_ddp_schedule_free(self):
        """Whose weights in evaluation are others than in training."""
        if not find_spec("schedulefree"):
            raise SkipTest("this Python has no package schedulefree")
        from schedulefree import AdamWScheduleFree

        def step(model, optimizer, number, _):
            optimizer.train()
            self.one(model, optimizer, number, None)
            optimizer.eval()
        self.beside_ddp(lambda model: AdamWScheduleFree(model.parameters(), lr=0.05, warmup_steps=2), step)

    def case_parts_of_a_model_are_called(self):
        """Past the forward pass of the whole, and in evaluation mode."""
        model, alone = seeded(Net), seeded(Net)
        optimizers = plain(model), plain(alone)
        wrapped(model, [optimizers[0]])
        model.eval()
        for number in range(STEPS):
            x, _ = batch(self.rank, number)
            optimizers[0].zero_grad()
            model.last(model.first(x)).square().mean().backward()
            optimizers[0].step()
            optimizers[1].zero_grad()
            for rank in range(self.ranks):
                (alone.last(alone.first(batch(rank, number)[0])).square().mean() / self.ranks).backward()
            optimizers[1].step()
        model.trigram.finish()
        assert differences(model, alone) < 1e-6, differences(model, alone)
        other = seeded(Net)
        wrapped(other, [plain(other)], WEIGHTS)
        self.raises(RuntimeError, "which a forward pass of the whole model begins: call it as model(x), not a part of it",
                    lambda: other.last(other.first(batch(self.rank, 0)[0])).sum().backward())
        other.trigram.finish()

    def case_ddp_around_it_is_refused(self):
        for algorithm in ("all_reduce", WEIGHTS):
            model = seeded(Net)
            wrapped(model, [plain(model)], algorithm)
            around = DistributedDataParallel(model)
            self.raises(RuntimeError, "DistributedDataParallel calls a model that with_trigram trains", lambda: loss_of(around, self.rank, 0))
            model.trigram.finish()

    def case_ddp_freezing_and_unfreezing(self):
        """A frozen layer stands still, whatever momentum and weight decay would do; beside DDP, whose optimizers skip what has no gradient."""
        def step(model, optimizer, number, _):
            getattr(model, "module", model).second.requires_grad_(number not in (2, 3))
            optimizer.zero_grad(set_to_none=True)
            loss_of(model, self.rank, number).backward()
            optimizer.step()
        self.beside_ddp(momentum, step, find_unused=True, find_unused_parameters=False)

    def case_frozen_weights_stay(self):
        """Of methods that step weights by themselves or mix them, too: ranks' mean, from the step on in which it is frozen."""
        for algorithm in (WEIGHTS, "diloco:every=2", "decentralized", "async_average"):
            model = seeded(Net)
            optimizer = momentum(model)
            wrapped(model, [optimizer], algorithm)
            for number in range(3):
                self.one(model, optimizer, number, None)
            before = model.first.weight.detach().clone()
            mean = self.mean_of(before)
            model.first.requires_grad_(False)
            for number in range(3, 9):
                self.one(model, optimizer, number, None)
                assert float((model.first.weight - mean).abs().max()) < 1e-6 and model.first.weight.grad is None, (algorithm, number)
            model.trigram.finish()
            assert float((model.first.weight - mean).abs().max()) < 1e-6, algorithm

    def mean_of(self, one):
        whole = one.clone()
        torch.distributed.all_reduce(whole)
        return whole / self.ranks

    def case_other_parameters_are_refused(self):
        """By name, at the next step: what was frozen when the job began, a new head, and what was put in place of a parameter."""
        def refused(text, spoil):
            model = seeded(Net)
            model.branch.requires_grad_(False)
            optimizer = plain(model)
            wrapped(model, [optimizer])
            self.one(model, optimizer, 0, None)
            spoil(model, optimizer)
            self.raises(RuntimeError, text, lambda: self.one(model, optimizer, 1, None))
            model.trigram.finish()
            wrapped(model, [plain(model)])
            self.one(model, optimizer, 1, None)
            model.trigram.skip_step()
            model.trigram.finish()

        def new_head(model, optimizer):
            model.last = torch.nn.Sequential(model.last, torch.nn.Linear(3, 3))
            optimizer.add_param_group({"params": model.last[1].parameters()})

        refused("parameter 'branch.weight' is trained by now and was not", lambda model, _: model.branch.requires_grad_(True))
        refused("parameter 'last.1.weight' is trained by now and was not", new_head)
        refused("parameter 'last.weight' of the model is another one than when with_trigram was called",
                lambda model, _: setattr(model, "last", torch.nn.Linear(8, 3)) or model.last.requires_grad_(False))
        if hasattr(torch, "compile"):
            refused("parameter 'first.weight' is trained by now and was not",
                    lambda model, _: model.load_state_dict(copy.deepcopy(model.state_dict()), assign=True))

    def case_ddp_uneven_batches(self):
        """Rank r has 3 + 2 r batches; beside DDP's join, and on to a second round, in which all have as many."""
        for algorithm in ("all_reduce", WEIGHTS, "bytegrad"):
            ours, theirs = seeded(Net), DistributedDataParallel(seeded(Net))
            optimizers = momentum(ours), momentum(theirs)
            job = wrapped(ours, [optimizers[0]], algorithm).trigram
            for joined, model, optimizer in ((job.join, ours, optimizers[0]), (theirs.join, theirs, optimizers[1])):
                with joined():
                    for number in range(3 + 2 * self.rank):
                        self.one(model, optimizer, number, None)
            if algorithm == "all_reduce":
                self.near(ours, theirs.module)
            for number in range(2):
                self.one(ours, optimizers[0], 20 + number, None)
            assert len(job.steps()) == 3 + 2 * (self.ranks - 1) + 2
            if algorithm != WEIGHTS:
                whole = torch.cat([one.detach().flatten() for one in ours.parameters()])
                assert torch.equal(self.mean_of(whole) if self.ranks == 2 else whole, whole), "replicas differ, momentum too"
            job.finish()

    def case_a_join_that_fails_ends(self):
        """An error within is the loop's own; nobody waits for steps."""
        model = seeded(Net)
        job = wrapped(model, [plain(model)]).trigram

        def fails():
            with job.join():
                raise KeyError("no such file")
        self.raises(KeyError, "no such file", fails)
        job.finish()

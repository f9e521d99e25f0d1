"""Cases of with_trigram_job.py: layers that work over ranks, beside one process that has the whole batch and all experts."""

import copy

import torch

from job_case import BACKEND, JobCase, Net, differences, seeded, wrapped
from optimizers_of_users import Lion
from trigram import comm, nn, optim


class Counting(Lion):
    """Tells the sizes of the tensors that it steps."""

    def __init__(self, parameters):
        super().__init__(parameters)
        self.sizes = []

    def move(self, one, *others):
        self.sizes.append(one.numel())
        super().move(one, *others)


class Layers(JobCase):
    def rows(self, rank, *shape):
        return torch.randn(*shape, generator=torch.Generator().manual_seed(40 + rank))

    def close(self, a, b, limit=1e-6):
        assert a.shape == b.shape, (a.shape, b.shape)
        difference = float((a - b).detach().abs().max()) if a.numel() else 0
        assert difference <= limit, (difference, a, b)

    def case_batch_norm_of_unequal_batches(self):
        world = comm.join(backend=BACKEND)
        for dtype, shape, sizes, momentum in ((torch.float32, (3, 4, 2), [rank + 1 for rank in range(world.size)], 0.3),
                                              (torch.float64, (3,), [2 * rank for rank in range(world.size)], None)):
            whole = {1: torch.nn.BatchNorm1d, 3: torch.nn.BatchNorm2d}[len(shape)](3, momentum=momentum).to(dtype)
            with torch.no_grad():
                whole.weight.copy_(torch.tensor([0.5, -1.0, 2.0]))
                whole.bias.copy_(torch.tensor([-0.2, 0.3, 1.0]))
            ours = nn.convert_sync_batchnorm(copy.deepcopy(whole), world)
            for step in range(3):
                batches = [(0.5 * step + self.rows(rank + 10 * step, size, *shape)).to(dtype) for rank, size in enumerate(sizes)]
                slopes = [self.rows(99 + rank, size, *shape).to(dtype) for rank, size in enumerate(sizes)]
                x, together = batches[world.rank].clone().requires_grad_(), torch.cat(batches).requires_grad_()
                y, expected = ours(x), whole(together)
                (y * slopes[world.rank]).sum().backward()
                (expected * torch.cat(slopes)).sum().backward()
                begin = sum(sizes[:world.rank])
                mine = slice(begin, begin + sizes[world.rank])
                self.close(y, expected[mine], 1e-6 if dtype == torch.float32 else 1e-12)
                self.close(x.grad, together.grad[mine])
            for parameter, of_whole in zip(ours.parameters(), whole.parameters()):
                self.close(world.all_reduce(parameter.grad.float()), of_whole.grad.float(), 1e-4)
            for buffer, of_whole in zip(ours.buffers(), whole.buffers()):
                self.close(buffer, of_whole, 1e-5 if dtype == torch.float32 else 1e-12)
            if world.rank == 0:  # in evaluation nobody waits for others
                self.close(ours.eval()(batches[1]), whole.eval()(batches[1]), 2e-6)
        lonely = nn.SyncBatchNorm(3, world)
        self.raises(ValueError, "1 values a channel over all ranks have no variance", lambda: lonely(torch.ones(int(world.rank == 0), 3)))
        self.raises(ValueError, "x has shape [5, 4]; it is [N, 3]", lambda: lonely(torch.ones(5, 4)))
        world.leave()

    def case_batch_norm_trains_as_one_process(self):
        world = comm.join(backend=BACKEND)

        def make():
            return torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(16, 2))

        ours, alone = nn.convert_sync_batchnorm(seeded(make), world), seeded(make)
        assert [kind for kind in map(type, ours) if kind is nn.SyncBatchNorm] and list(ours.state_dict()) == list(alone.state_dict())
        optimizers = [torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9) for model in (ours, alone)]
        wrapped(ours, optimizers[:1])
        for step in range(4):
            batches = [self.rows(step * world.size + rank, 3, 1, 4, 4) for rank in range(world.size)]
            for model, optimizer, x in ((ours, optimizers[0], batches[world.rank]), (alone, optimizers[1], torch.cat(batches))):
                optimizer.zero_grad()
                model(x).pow(2).mean().backward()
                optimizer.step()
        ours.trigram.finish()
        for a, b in zip([*ours.parameters(), *ours.buffers()], [*alone.parameters(), *alone.buffers()]):
            self.close(a, b, 2e-6)
        world.leave()

    def dense(self, layer, experts, batches):
        """The outputs of all ranks' tokens, one by one, by all experts in this process, and the mean loss of `loss`."""
        outputs, losses = [], []
        for batch in batches:
            tokens = batch.reshape(-1, layer.width)
            slots = max(nn.capacity_of(one.numel() // layer.width, layer.count, layer.choices, layer.capacity_factor, 1) for one in batches)
            given = (nn.top1, nn.top2)[layer.choices - 1](layer.gate(tokens), slots)
            rows = []
            for token, row in enumerate(tokens):
                made = [experts[int(given.experts[k, token])](row) * given.weights[k, token] for k in range(layer.choices) if given.kept[k, token]]
                rows.append(sum(made, torch.zeros(layer.width)))
            outputs.append(torch.stack(rows).view_as(batch) if rows else batch)
            losses.append(outputs[-1].pow(2).sum() + given.balance_loss)
        return outputs, sum(losses) / len(losses)

    def case_experts_equal_dense_ones(self):
        world = comm.join(backend=BACKEND)
        for choices, factor, sizes in ((1, 0.6, [3] * world.size), (2, 0.7, [2 * rank for rank in range(world.size)]), (2, 4.0, [3] * world.size)):
            def make():
                return nn.MoE(5, lambda: torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.Tanh(), torch.nn.Linear(7, 5)), experts=2 * world.size,
                              communicator=world, choices=choices, capacity_factor=factor, least_capacity=1, explores=False)
            layer = seeded(make)
            states = [torch.zeros(sum(p.numel() for p in layer.experts.parameters())) for _ in range(world.size)]
            states[world.rank].copy_(torch.nn.utils.parameters_to_vector(layer.experts.parameters()))
            everywhere = torch.cat(list(world.all_gather([one.detach() for one in states]))).view(2 * world.size, -1)
            assert len({tuple(one.tolist()) for one in everywhere}) == 2 * world.size, "experts begin differently"
            experts = [copy.deepcopy(layer.experts[0]) for _ in everywhere]
            for expert, values in zip(experts, everywhere):
                torch.nn.utils.vector_to_parameters(values.clone(), expert.parameters())
            alone = copy.deepcopy(layer)
            batches = [self.rows(rank, size, 2, 5).requires_grad_() for rank, size in enumerate(sizes)]
            mine = batches[world.rank].detach().clone().requires_grad_()
            given = layer(mine)
            (given.output.pow(2).sum() + given.balance_loss).backward()
            outputs, loss = self.dense(alone, experts, batches)
            loss.backward()
            self.close(given.output, outputs[world.rank])
            assert factor > 1 or sum(sizes) == 0 or world.all_reduce(torch.tensor([given.dropped])) > 0
            assert int(given.counts.sum()) == choices * 2 * sizes[world.rank]
            if sizes[world.rank]:
                self.close(mine.grad / world.size, batches[world.rank].grad, 1e-5)
            self.close(world.all_reduce(layer.gate.weight.grad, op="mean"), alone.gate.weight.grad, 1e-5)
            for number, expert in enumerate(layer.experts):
                for parameter, same in zip(expert.parameters(), experts[2 * world.rank + number].parameters()):
                    self.close(parameter.grad, same.grad if same.grad is not None else torch.zeros_like(parameter), 1e-5)
        self.raises(ValueError, f"3 experts cannot lie evenly on {world.size} ranks",
                    lambda: nn.MoE(5, lambda: torch.nn.Linear(5, 5), experts=3, communicator=world))
        self.raises(ValueError, "choices=3 of 4 experts", lambda: nn.MoE(5, lambda: torch.nn.Linear(5, 5), experts=4, choices=3, communicator=world))
        world.leave()

    def case_fused_optimizers_step_buckets(self):
        """With one call for the tensors that lie behind each other in a bucket, and for flat ones, which leave their own piece."""
        for make in (lambda model: optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=0.01),
                     lambda model: optim.SGD(model.parameters(), lr=0.1, flat=True)):
            self.beside_ddp(make, self.one)

    def case_any_optimizer_steps_buckets(self):
        """One that is fused, before with_trigram or after it, has the bits that it has without, by a call a bucket; and after the end."""
        for algorithm in ("bytegrad:error_feedback=on", "local_sgd:every=2"):
            models, sizes = [], []
            for when in ("never", "before", "after"):
                model = seeded(Net)
                optimizer = Counting(model.parameters())
                if when == "before":
                    optim.fuse(optimizer)
                job = wrapped(model, [optimizer], algorithm).trigram
                if when == "after":
                    optim.fuse(optimizer)
                optimizer.sizes.clear()
                for number in range(3):
                    self.one(model, optimizer, number, None)
                buckets = [one.numel() for one in job._memory.weights]
                assert when == "never" or optimizer.sizes == 3 * buckets, (when, optimizer.sizes, buckets)
                job.finish()
                self.one(model, optimizer, 3, None)
                models.append(model)
                sizes.append(optimizer.sizes[-1])
            assert differences(models[0], models[1]) == differences(models[0], models[2]) == 0
            assert sizes[1:] == [sum(one.numel() for one in models[1].parameters())] * 2, sizes

    def case_experts_stay_on_their_rank(self):
        """All but experts is averaged; they step along their own gradients, and begin and end differently on each rank."""
        world = comm.join(backend=BACKEND)

        def expert():
            return torch.nn.Sequential(torch.nn.Linear(6, 6), torch.nn.BatchNorm1d(6))

        model = seeded(lambda: torch.nn.Sequential(torch.nn.Linear(6, 6), torch.nn.Tanh(),
                                                   nn.MoE(6, expert, experts=world.size, communicator=world)))
        begun = [one.detach().clone() for one in model[2].experts.parameters()]
        model[2].experts[0][1].running_mean.fill_(float(world.rank))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.raises(ValueError, "parameter '2.experts.0.0.weight' is in no optimizer",
                    lambda: wrapped(model, [torch.optim.SGD([*model[0].parameters(), *model[2].gate.parameters()], lr=0.1)]))
        self.raises(ValueError, "parameter '2.experts.0.0.weight' is on this rank only",
                    lambda: wrapped(model, [], "one_bit_adam", learning_rate=0.1))
        wrapped(model, [optimizer])
        assert all(torch.equal(a, b) for a, b in zip(begun, model[2].experts.parameters()))
        assert float(model[2].experts[0][1].running_mean[0]) == world.rank
        for step in range(3):
            before = [one.detach().clone() for one in model[2].experts.parameters()]
            given = model(self.rows(7 * step + world.rank, 8, 6))
            assert all(one.grad is None for one in model[2].experts.parameters()), "gradients begin every step at 0"
            (given.output.pow(2).mean() + given.balance_loss).backward()
            slopes = [one.grad.clone() for one in model[2].experts.parameters()]
            optimizer.step()
            for old, slope, now in zip(before, slopes, model[2].experts.parameters()):
                self.close(now, old - 0.1 * slope)
        model.trigram.finish()
        for shared in (*model[0].parameters(), model[2].gate.weight):
            self.close(world.all_reduce(shared.detach().clone(), op="max"), world.all_reduce(shared.detach().clone(), op="min"), 0)
        weight = model[2].experts[0][0].weight.detach()
        assert not torch.equal(world.all_reduce(weight.clone(), op="max"), world.all_reduce(weight.clone(), op="min"))
        world.leave()

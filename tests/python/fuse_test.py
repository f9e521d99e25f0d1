"""Optimizers of torch and of users in pieces, beside the same ones without: their bits. Ends with 77 without torch."""

import copy
import importlib.util
import io
import sys
import unittest

STEPS = 9
OPTIONS = [("SGD", {"lr": 0.01, "momentum": 0.9, "weight_decay": 0.1}), ("SGD", {"lr": 0.01}), ("Adam", {"amsgrad": True}), ("AdamW", {}), ("NAdam", {}),
           ("RAdam", {}), ("RMSprop", {"momentum": 0.5, "centered": True}), ("Adagrad", {}), ("Adadelta", {}), ("Adamax", {}), ("Rprop", {}), ("ASGD", {})]


class Fused(unittest.TestCase):
    def makers(self):
        for name, options in OPTIONS:
            yield name, lambda parameters, name=name, options=options: getattr(torch.optim, name)(parameters, **({"lr": 0.01} | options))
        for kind in (users.Lion, users.AdaBelief):
            yield kind.__name__, kind

    def model(self):
        """With layouts of two kinds, a scalar, and an empty tensor."""
        torch.manual_seed(4)
        model = torch.nn.Sequential(torch.nn.Conv2d(2, 5, 3), torch.nn.Flatten(), torch.nn.Linear(20, 33), torch.nn.Tanh(), torch.nn.Linear(33, 5),
                                    torch.nn.Linear(5, 1)).to(memory_format=torch.channels_last)
        model.scale = torch.nn.Parameter(torch.tensor(1.5))
        model.nothing = torch.nn.Parameter(torch.empty(0))
        return model

    def groups(self, model):
        return [{"params": [one for one in model.parameters() if one.dim() >= 2]}, {"params": [one for one in model.parameters() if one.dim() < 2], "lr": 0.02}]

    def train(self, model, optimizer, steps, schedule=None):
        """The last layer has no gradient in every third step, from the first on."""
        for step in steps:
            optimizer.zero_grad(set_to_none=True)
            x = torch.randn(7, 2, 4, 4, generator=torch.Generator().manual_seed(step))
            (model.scale * model[:5 if step % 3 == 0 else 6](x).pow(2).sum()).backward()
            optimizer.step()
            if schedule is not None:
                schedule.step()

    def same(self, model, other):
        for a, b in zip(model.parameters(), other.parameters()):
            self.assertTrue(torch.equal(a, b))
            self.assertEqual(a.stride(), b.stride())

    def test_bits_are_those_without(self):
        for name, make in self.makers():
            with self.subTest(name=name):
                plain, fused = self.model(), self.model()
                for model, fuse in ((plain, lambda one: one), (fused, optim.fuse)):
                    optimizer = fuse(make(self.groups(model)))
                    self.train(model, optimizer, range(STEPS), torch.optim.lr_scheduler.StepLR(optimizer, 4, 0.5))
                self.same(plain, fused)

    def test_a_step_takes_one_tensor_a_group(self):
        model, seen = self.model(), []
        make = type("Counts", (users.Lion,), {"move": lambda self, one, *others: (seen.append(one.numel()), users.Lion.move(self, one, *others))})
        optimizer = optim.fuse(make(self.groups(model)))
        seen.clear()
        self.train(model, optimizer, [1, 2])
        matrices, others = (sum(one.numel() for one in group["params"] if one.dim()) for group in optimizer.param_groups)
        self.assertEqual(seen, [matrices, 1, others] * 2 if seen[1] == 1 else [matrices, others, 1] * 2)

    def test_state_goes_to_plain_ones_and_back(self):
        for name, make in self.makers():
            with self.subTest(name=name):
                plain, mixed = self.model(), self.model()
                alone = make(self.groups(plain))
                state = None
                for number, fuse in enumerate((optim.fuse, lambda one: one, optim.fuse)):
                    steps = range(2 * number, 2 * number + 2)
                    self.train(plain, alone, steps)
                    optimizer = fuse(make(self.groups(mixed)))
                    if state is not None:
                        optimizer.load_state_dict(torch.load(io.BytesIO(state)))
                    self.train(mixed, optimizer, steps)
                    self.assertEqual(str(optimizer.state_dict()), str(alone.state_dict()))
                    self.train(plain, alone, [2 * number + 20])
                    self.train(mixed, optimizer, [2 * number + 20])
                    torch.save(copy.deepcopy(optimizer).state_dict(), stream := io.BytesIO())
                    state = stream.getvalue()
                self.same(plain, mixed)

    def test_whole_tensors_are_refused_by_name(self):
        kinds = [users.Lamb, users.RowsAndColumns, users.Orthogonal] + [getattr(torch.optim, name) for name in ("Adafactor", "LBFGS")
                                                                        if hasattr(torch.optim, name)]
        for kind in kinds:
            with self.subTest(kind=kind.__name__):
                model = self.model()
                optimizer = kind(model.parameters())
                before = copy.deepcopy(optimizer.state_dict())
                with self.assertRaisesRegex(ValueError, f"^{kind.__name__} (does not step each element by itself|cannot step tensors in one piece)"):
                    optim.fuse(optimizer)
                self.assertEqual(str(optimizer.state_dict()), str(before))
                self.same(model, self.model())
        if hasattr(torch.optim, "Muon"):
            with self.assertRaisesRegex(ValueError, "^Muon "):
                optim.fuse(torch.optim.Muon([torch.nn.Parameter(torch.ones(3, 4))]))

    def test_groups_come_later_and_closures_once(self):
        model, calls = self.model(), []
        optimizer = optim.fuse(torch.optim.SGD([model.scale], lr=0.1))
        optimizer.add_param_group({"params": [model[2].weight]})

        def closure():
            calls.append(1)
            optimizer.zero_grad()
            loss = (model.scale * model[2].weight).sum()
            loss.backward()
            return loss

        before = model[2].weight.detach().clone()
        self.assertEqual(float(optimizer.step(closure)), float((1.5 * before).sum()))
        self.assertEqual(len(calls), 1)
        self.assertTrue(torch.allclose(model[2].weight, before - 0.15))


if __name__ == "__main__":
    if not importlib.util.find_spec("torch"):
        sys.exit(77)
    import torch

    import optimizers_of_users as users
    from trigram import optim
    torch.set_num_threads(1)
    unittest.main()

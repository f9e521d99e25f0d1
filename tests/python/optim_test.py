"""Fused optimizers beside torch's own, on the same gradients. Ends with 77 without torch."""

import copy
import importlib.util
import io
import sys
import unittest
import unittest.mock

STEPS = 12


CASES = [("SGD", {"lr": 0.01}), ("SGD", {"lr": 0.01, "momentum": 0.9, "weight_decay": 0.1}),
         ("SGD", {"lr": 0.01, "momentum": 0.9, "dampening": 0.3}), ("SGD", {"lr": 0.01, "momentum": 0.8, "nesterov": True}),
         ("Adam", {"lr": 0.01}), ("Adam", {"lr": 0.01, "betas": (0.8, 0.99), "weight_decay": 0.1, "eps": 1e-6}),
         ("AdamW", {"lr": 0.01}), ("AdamW", {"lr": 0.01, "weight_decay": 0.2})]


class Optimizers(unittest.TestCase):
    def model(self):
        torch.manual_seed(4)
        return torch.nn.Sequential(torch.nn.Linear(6, 33), torch.nn.Tanh(), torch.nn.Linear(33, 5), torch.nn.Linear(5, 1))

    def groups(self, model):
        """Weights and biases apart, as decay is only of the former."""
        return [{"params": [one for one in model.parameters() if one.dim() == 2]},
                {"params": [one for one in model.parameters() if one.dim() == 1], "weight_decay": 0.0}]

    def backward(self, model, step):
        """Without the last layer in every third step, which then has no gradient, or 0."""
        x = torch.randn(7, 6, generator=torch.Generator().manual_seed(step))
        model[:3 if step % 3 == 2 else 4](x).pow(2).sum().backward()

    def train(self, model, optimizer, steps, schedule=None):
        for step in steps:
            optimizer.zero_grad(set_to_none=True)
            self.backward(model, step)
            optimizer.step()
            if schedule is not None:
                schedule.step()

    def near(self, model, other):
        for a, b in zip(model.parameters(), other.parameters()):
            difference = float((a - b).detach().abs().max())
            self.assertLessEqual(difference, 1e-6 * max(1.0, float(b.detach().abs().max())))

    def test_weights_are_torchs(self):
        for name, options in CASES:
            with self.subTest(name=name, **options):
                ours, theirs = self.model(), self.model()
                pair = [getattr(module, name)(self.groups(model), **options) for module, model in ((optim, ours), (torch.optim, theirs))]
                for model, optimizer in zip((ours, theirs), pair):
                    self.train(model, optimizer, range(STEPS), torch.optim.lr_scheduler.StepLR(optimizer, 5, 0.5))
                self.near(ours, theirs)

    def test_flat_ones_have_the_same_bits_by_one_call(self):
        """But for parameters without a gradient, which have gradient 0 there."""
        for name, options in CASES:
            with self.subTest(name=name, **options):
                spread, flat = self.model(), self.model()
                optimizers = [getattr(optim, name)(model.parameters(), flat=is_flat, **options) for model, is_flat in ((spread, False), (flat, True))]
                steps = [step for step in range(STEPS) if step % 3 != 2]
                self.train(spread, optimizers[0], steps)
                with unittest.mock.patch.object(fused, "columns", wraps=fused.columns) as columns:
                    self.train(flat, optimizers[1], steps)
                self.assertEqual({len(call.args[0]) for call in columns.call_args_list}, {1})
                for a, b in zip(spread.parameters(), flat.parameters()):
                    self.assertTrue(torch.equal(a, b))

    def test_state_goes_to_torch_and_back(self):
        """Three steps here, three by torch, three here, flat or not; through a file."""
        for name, options in CASES:
            with self.subTest(name=name, **options):
                for flat in (False, True):
                    ours, theirs = self.model(), self.model()
                    alone = getattr(torch.optim, name)(theirs.parameters(), **options)
                    steps = [step for step in range(STEPS) if step % 3 != 2]
                    self.train(theirs, alone, steps)
                    state = None
                    for begin, (module, extra) in enumerate(((optim, {"flat": flat}), (torch.optim, {}), (optim, {"flat": flat}))):
                        optimizer = getattr(module, name)(ours.parameters(), **options, **extra)
                        if state is not None:
                            state.seek(0)
                            optimizer.load_state_dict(torch.load(state))
                        self.train(ours, optimizer, steps[begin * len(steps) // 3:(begin + 1) * len(steps) // 3])
                        state = io.BytesIO()
                        torch.save(optimizer.state_dict(), state)
                    self.near(ours, theirs)

    def test_gradients_with_gaps_and_closures(self):
        ours, theirs = torch.nn.Parameter(torch.ones(3, 4)), torch.nn.Parameter(torch.ones(3, 4))
        for one, optimizer in ((ours, optim.SGD([ours], lr=0.1)), (theirs, torch.optim.SGD([theirs], lr=0.1))):
            one.grad = torch.arange(12.0).view(4, 3).t()
            self.assertEqual(optimizer.step(lambda: 7), 7)
        self.assertLessEqual(float((ours - theirs).detach().abs().max()), 1e-6)

    def test_what_kernels_cannot_step_is_refused(self):
        half = torch.nn.Parameter(torch.ones(2).half())
        one = torch.nn.Parameter(torch.ones(2, 2))
        for text, body in (("parameter 0 of group 0 is of torch.float16", lambda: optim.SGD([half], lr=0.1)),
                           ("parameter 0 of group 0 is of torch.float32, with strides", lambda: optim.SGD([torch.nn.Parameter(torch.ones(2, 3).t())], lr=1)),
                           (r"lr=-1 is not in \[0, inf\)", lambda: optim.SGD([one], lr=-1)),
                           ("nesterov needs momentum above 0", lambda: optim.SGD([one], lr=1, nesterov=True)),
                           (r"betas\[1\]=1.0 is not in \[0, 1.0\)", lambda: optim.Adam([one], betas=(0.9, 1.0)))):
            with self.assertRaisesRegex(ValueError, text):
                body()
        one.grad = torch.eye(2).to_sparse()
        with self.assertRaisesRegex(ValueError, "a gradient has layout torch.sparse_coo"):
            optim.Adam([one]).step()
        theirs = copy.deepcopy(one)
        theirs.grad = torch.ones(2, 2)
        of_torch = torch.optim.Adam([theirs], amsgrad=True)
        of_torch.step()
        ours = optim.Adam([theirs])
        ours.load_state_dict(of_torch.state_dict())
        with self.assertRaisesRegex(ValueError, "one of amsgrad"):
            ours.step()


if __name__ == "__main__":
    if not importlib.util.find_spec("torch"):
        sys.exit(77)
    import torch

    from trigram import optim
    from trigram.optim import fused
    torch.set_num_threads(1)
    unittest.main()

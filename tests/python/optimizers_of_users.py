"""Optimizers as people write them: two whose rule is elementwise, and three that look at whole tensors."""

import torch


class OfUser(torch.optim.Optimizer):
    def __init__(self, parameters, lr=0.01):
        super().__init__(parameters, {"lr": lr})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for one in group["params"]:
                if one.grad is not None:
                    self.move(one, self.state[one], group["lr"])


class Lion(OfUser):
    """Chen et al. 2023, arXiv:2302.06675."""

    def move(self, one, state, lr):
        momentum = state.setdefault("momentum", torch.zeros_like(one))
        one.mul_(1 - 0.1 * lr).sub_(lr * torch.sign(0.9 * momentum + 0.1 * one.grad))
        momentum.mul_(0.99).add_(one.grad, alpha=0.01)


class AdaBelief(OfUser):
    """Zhuang et al. 2020, arXiv:2010.07468; with its number of steps as one of Python."""

    def move(self, one, state, lr):
        mean, belief = (state.setdefault(name, torch.zeros_like(one)) for name in ("mean", "belief"))
        state["step"] = state.get("step", 0) + 1
        mean.lerp_(one.grad, 0.1)
        belief.mul_(0.999).add_((one.grad - mean) ** 2, alpha=0.001)
        one.addcdiv_(mean / (1 - 0.9**state["step"]), (belief / (1 - 0.999**state["step"])).sqrt() + 1e-8, value=-lr)


class Lamb(OfUser):
    """The layer's rate is the norm of its weights by that of its step; You et al. 2019, arXiv:1904.00962."""

    def move(self, one, state, lr):
        mean = state.setdefault("mean", torch.zeros_like(one)).lerp_(one.grad, 0.1)
        one.sub_(lr * one.norm() / (mean.norm() + 1e-8) * mean)


class RowsAndColumns(OfUser):
    """Squares by row and by column, as Adafactor keeps them; Shazeer and Stern 2018, arXiv:1804.04235."""

    def move(self, one, state, lr):
        squares = one.grad**2
        scale = squares if one.dim() < 2 else squares.mean(-1, keepdim=True) * squares.mean(0, keepdim=True) / squares.mean()
        one.sub_(lr * one.grad / (scale.sqrt() + 1e-3))


class Orthogonal(OfUser):
    """Steps along the nearest orthogonal matrix, as Muon does."""

    def move(self, one, state, lr):
        u, _, v = torch.linalg.svd(one.grad.flatten(1), full_matrices=False)
        one.sub_(lr * (u @ v).view_as(one))

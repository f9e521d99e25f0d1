"""Batch normalization over the batches of all ranks (Ioffe & Szegedy 2015, arXiv:1502.03167), as one process that has them
all would do it. Means and variances of ranks are combined as Chan, Golub & LeVeque do (1979), in double precision."""

from typing import Any, Optional

import torch

from ..comm import Communicator


def gathered_doubles(communicator: Communicator, own: torch.Tensor) -> torch.Tensor:
    """[size, n]: the n doubles of each rank. They travel as the 8 bytes that they are, which no rank adds up on its way,
    so that all ranks get the same bits."""
    whole = own.new_empty((communicator.size, own.numel()))
    whole[communicator.rank] = own
    communicator.all_gather(list(whole.view(torch.int64)))
    return whole


class _Normalized(torch.autograd.Function):  # type: ignore[misc]
    """(x̂, mean, biased variance, count) of x [N, C, …] over all ranks."""

    @staticmethod
    def forward(context: Any, communicator: Communicator, x: torch.Tensor, eps: float) -> tuple[torch.Tensor, ...]:
        others = [0, *range(2, x.dim())]
        count = x.numel() // x.shape[1]
        variance, mean = torch.var_mean(x, others, unbiased=False) if count else x.new_zeros((2, x.shape[1]))
        own = torch.cat([mean.double(), variance.double() * count, x.new_full((1,), count, dtype=torch.float64)])
        of_ranks = gathered_doubles(communicator, own)
        means, squares, counts = of_ranks.split([x.shape[1], x.shape[1], 1], dim=1)
        total = counts.sum()
        if count < 2 and total < 2:  # else there is no need to look, which waits for a GPU
            raise ValueError(f"{int(total)} values a channel over all ranks have no variance; give larger batches, or call model.eval()")
        mean = (counts * means).sum(0) / total
        variance = (squares + counts * (means - mean) ** 2).sum(0) / total
        shape = [1, -1] + [1] * (x.dim() - 2)
        scale = (variance + eps).rsqrt().to(x.dtype).view(shape)
        normalized = (x - mean.to(x.dtype).view(shape)) * scale
        context.communicator, context.others, context.total = communicator, others, total
        context.save_for_backward(normalized, scale)
        context.mark_non_differentiable(mean, variance, total)
        return normalized, mean, variance, total

    @staticmethod
    def backward(context: Any, gradient: torch.Tensor, *_: Any) -> tuple[None, torch.Tensor, None]:
        normalized, scale = context.saved_tensors
        own = torch.cat([gradient.sum(context.others).double(), (gradient * normalized).sum(context.others).double()])
        means = gathered_doubles(context.communicator, own).sum(0) / context.total
        mean, slope = (one.to(gradient.dtype).view_as(scale) for one in means.chunk(2))
        return None, scale * (gradient - mean - normalized * slope), None


class SyncBatchNorm(torch.nn.modules.batchnorm._BatchNorm):  # type: ignore[misc]
    """BatchNorm1d, 2d and 3d for a batch that is spread over ranks, evenly or not, some of which may have no sample:
    in training each value is normalized by mean and variance of all ranks' values in its channel, and running statistics are
    those of the whole batch, alike on all ranks. Two collectives a step and layer, of 8 (2 C + 1) and 16 C bytes from each rank.

    Gradients are those of the sum over ranks of their losses: of x wherever it lies, and of weight and bias this rank's
    part, which with_trigram or DistributedDataParallel average as those of any parameter. So a loss that is the mean over a
    rank's batch trains as one process does with equal batches; with unequal ones, weigh it by the rank's share of the samples.

    Of Bagua's module and torch.nn.SyncBatchNorm, which needs GPUs. In evaluation it is torch's BatchNorm, without messages."""

    def __init__(self, num_features: int, communicator: Communicator, eps: float = 1e-5, momentum: Optional[float] = 0.1,
                 affine: bool = True, track_running_stats: bool = True) -> None:
        """As torch.nn.BatchNorm2d; `communicator`: of the ranks whose batches are one."""
        super().__init__(num_features, eps, momentum, affine, track_running_stats)
        self.communicator = communicator

    def _check_input_dim(self, x: torch.Tensor) -> None:
        if x.dim() < 2 or x.shape[1] != self.num_features:
            raise ValueError(f"x has shape {list(x.shape)}; it is [N, {self.num_features}] or [N, {self.num_features}, …]")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """x: [N, C] or [N, C, …]; the same shape. Collective in training. Raises ValueError where all ranks together have
        fewer than two values a channel."""
        self._check_input_dim(x)
        if not self.training:
            return super().forward(x)
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        y, mean, variance, count = _Normalized.apply(self.communicator, wide, self.eps)
        if self.track_running_stats:
            self._track(mean, variance * count / (count - 1))
        if self.affine:
            shape = [1, -1] + [1] * (x.dim() - 2)
            y = y * self.weight.view(shape) + self.bias.view(shape)
        return y.to(x.dtype)

    @torch.no_grad()  # type: ignore[misc]
    def _track(self, mean: torch.Tensor, variance: torch.Tensor) -> None:
        self.num_batches_tracked.add_(1)
        share = 1 / float(self.num_batches_tracked) if self.momentum is None else self.momentum
        self.running_mean.lerp_(mean.to(self.running_mean.dtype), share)
        self.running_var.lerp_(variance.to(self.running_var.dtype), share)


def convert_sync_batchnorm(module: torch.nn.Module, communicator: Communicator) -> torch.nn.Module:
    """The module with a SyncBatchNorm in place of each BatchNorm1d, 2d and 3d in it, which takes over its parameters and
    statistics as they are, so that optimizers keep theirs; before with_trigram. Returns the module, or, where it is a
    BatchNorm itself, what takes its place. Raises ValueError for lazy modules, which do not know their channels yet."""
    kinds = (torch.nn.BatchNorm1d, torch.nn.BatchNorm2d, torch.nn.BatchNorm3d)
    if not isinstance(module, kinds):
        for name, child in module.named_children():
            if (converted := convert_sync_batchnorm(child, communicator)) is not child:
                setattr(module, name, converted)
        return module
    if isinstance(module, torch.nn.modules.lazy.LazyModuleMixin):
        raise ValueError(f"{module} does not know its channels before its first forward pass; make one, and convert then")
    made = SyncBatchNorm(module.num_features, communicator, module.eps, module.momentum, module.affine, module.track_running_stats)
    made.weight, made.bias = module.weight, module.bias
    made.running_mean, made.running_var, made.num_batches_tracked = module.running_mean, module.running_var, module.num_batches_tracked
    return made.train(module.training)

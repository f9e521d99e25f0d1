"""Optimizers of torch.optim's form that step all tensors of a parameter group by one call of Trigram's kernels.

    from trigram import optim

    optimizer = optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)

Weights are those of torch's classes of the same names to 1e-6, and state_dict() of either loads into the other. Needs torch
and the session library.

    optimizer = optim.fuse(torch.optim.NAdam(model.parameters()))

lets any optimizer whose rule is elementwise step its parameters in one piece, with the bits that it has without. Needs torch alone."""

from ..extras import require

require("torch", "trigram.optim")

from .adam import Adam, AdamW
from .pieces import fuse
from .sgd import SGD

__all__ = ["SGD", "Adam", "AdamW", "fuse"]

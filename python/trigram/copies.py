"""Copies of a model that a job trains, as deepcopy, pickle and torch.save make them: plain models, without the job."""

import functools
from typing import Any

import torch

HOOKS = "_forward_pre_hooks"


def leave_out_job(model: torch.nn.Module) -> None:
    """From now on copies of the model, and of what it is a part of, know nothing of its job."""
    model.__dict__["__getstate__"] = functools.partial(state_of_a_copy, model)


def state_of_a_copy(model: torch.nn.Module) -> Any:
    """What the model's class makes of itself for a copy, less what is the job's."""
    of_class = getattr(type(model), "__getstate__", None)
    if of_class is None or of_class is getattr(object, "__getstate__", None):  # which object has from Python 3.11 on
        of_class = vars
    state = of_class(model)
    if not isinstance(state, dict):
        return state
    plain = {name: value for name, value in state.items() if name != "__getstate__" and not is_of_a_job(value)}
    if HOOKS in plain:
        plain[HOOKS] = type(plain[HOOKS])((key, hook) for key, hook in plain[HOOKS].items() if not is_of_a_job(hook))
    return plain


def is_of_a_job(value: Any) -> bool:
    """Itself, or a method of it."""
    return any(hasattr(one, "of_this_process_alone") for one in (value, getattr(value, "__self__", None)))

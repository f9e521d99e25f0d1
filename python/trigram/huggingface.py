"""Accelerate and transformers train by Trigram: their models stay unwrapped, and become ranks.

    model, optimizer, loader = trigram.huggingface.prepare(accelerator, "bytegrad", model, optimizer, loader)
    trigram.huggingface.attach(trainer, "local_sgd:every=8")                       # before trainer.train()
"""

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

import torch
from accelerate import Accelerator
from accelerate.optimizer import AcceleratedOptimizer
from transformers.trainer_callback import TrainerCallback

from .training import with_trigram


def prepare(accelerator: Accelerator, algorithm: str, *objects: Any, **options: Any) -> Any:
    """`accelerator.prepare(*objects)`, whose model DistributedDataParallel does not wrap, and which trains by with_trigram; its Job is
    `model.trigram`. Raises ValueError unless one model and its optimizers are among them."""
    with unwrapped(accelerator):
        prepared = accelerator.prepare(*objects)
    models = [one for one in prepared if isinstance(one, torch.nn.Module)] if isinstance(prepared, tuple) else []
    optimizers = [one.optimizer for one in prepared if isinstance(one, AcceleratedOptimizer)] if models else []
    if len(models) != 1 or not optimizers:
        raise ValueError(f"{len(models)} models and {len(optimizers)} optimizers were given; give one model and its optimizers at once")
    with_trigram(models[0], optimizers, algorithm, **options)
    return prepared


def attach(trainer: Any, algorithm: str, **options: Any) -> None:
    """A Trainer of transformers, before `train()`, trains by with_trigram. While it evaluates and saves, and at its end, the model has
    the weights that ranks train together (Job.mean_model)."""
    keep_unwrapped(trainer.accelerator)
    trainer.add_callback(Trains(algorithm, options))


class Trains(TrainerCallback):  # type: ignore[misc]
    """The job of a Trainer. Last of its callbacks, so that others have said by then whether it evaluates or saves."""

    def __init__(self, algorithm: str, options: dict[str, Any]) -> None:
        self._algorithm, self._options = algorithm, options
        self._mean = contextlib.ExitStack()

    def on_train_begin(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        optimizer = given["optimizer"]
        inner = optimizer.optimizer if isinstance(optimizer, AcceleratedOptimizer) else optimizer
        self._job = with_trigram(given["model"], [inner], self._algorithm, **self._options).trigram

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._mean.close()

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._mean.close()
        if control.should_evaluate or control.should_save:
            self._mean.enter_context(self._job.mean_model())

    def on_epoch_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        self.on_step_end(args, state, control)

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._mean.close()
        self._job.finish(mean=True)


def keep_unwrapped(accelerator: Accelerator) -> None:
    """As Accelerate prepares models that are evaluated alone: on their device and in their precision, but in no other module."""
    accelerator.prepare_model = functools.partial(accelerator.prepare_model, evaluation_mode=True)


@contextlib.contextmanager
def unwrapped(accelerator: Accelerator) -> Iterator[None]:
    keep_unwrapped(accelerator)
    try:
        yield
    finally:
        del accelerator.prepare_model

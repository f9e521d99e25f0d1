"""Lightning trains by Trigram: a strategy, in place of "ddp".

    import trigram.lightning
    trainer = lightning.Trainer(strategy="trigram", devices=4)                                  # gradients are averaged
    trainer = lightning.Trainer(strategy=trigram.lightning.TrigramStrategy("local_sgd:every=8"), devices=4)

Or a callback, beside Lightning's own DDPStrategy:

    trainer = lightning.Trainer(strategy="ddp", callbacks=[trigram.lightning.GradientHook("bytegrad")], devices=4)
"""

import contextlib
from collections.abc import Iterator
from typing import Any, Optional

from lightning.pytorch.callbacks import Callback
from lightning.pytorch.strategies import DDPStrategy, StrategyRegistry
from lightning.pytorch.trainer.states import TrainerFn

from . import training
from .hook import Hook
from .job import Job


class TrigramStrategy(DDPStrategy):  # type: ignore[misc]
    """DDPStrategy, whose ranks agree by an algorithm of Trigram, in automatic and in manual optimization. Validation and checkpoints see the
    weights that ranks train together (Job.mean_model), and so does the module after `fit`. A checkpoint has the model's and the optimizers'
    state, and not what an algorithm keeps beside them: who goes on from it begins with residuals of 0."""

    strategy_name = "trigram"

    def __init__(self, algorithm: str = "all_reduce", **options: Any) -> None:
        """`algorithm`, `options`: as with_trigram has them."""
        super().__init__()
        self._algorithm, self._options = algorithm, options
        self._job: Optional[Job] = None
        self._mean = contextlib.ExitStack()

    @property
    def job(self) -> Job:
        """Of the present `fit`, or the last one. Raises RuntimeError before it."""
        if self._job is None:
            raise RuntimeError("the strategy has no job before trainer.fit()")
        return self._job

    def setup(self, trainer: Any) -> None:
        super().setup(trainer)
        if trainer.state.fn == TrainerFn.FITTING:
            self._job = training.with_trigram(self.lightning_module, self.optimizers, self._algorithm, **self._options).trigram

    def configure_ddp(self) -> None:
        """The module stays as it is."""

    def training_step(self, *arguments: Any, **named: Any) -> Any:
        self.job.begin_step()  # since a module's training_step may call parts of it alone
        return super().training_step(*arguments, **named)

    @contextlib.contextmanager
    def block_backward_sync(self) -> Iterator[None]:
        with self.job.no_sync():
            yield

    def on_validation_start(self) -> None:
        super().on_validation_start()
        if self._trains():
            self._mean.enter_context(self.job.mean_model())
            self._evaluates = True

    def on_validation_end(self) -> None:
        self._evaluates = False
        self._mean.close()
        super().on_validation_end()

    def lightning_module_state_dict(self) -> dict[str, Any]:
        if not self._trains() or self._evaluates:
            state: dict[str, Any] = super().lightning_module_state_dict()
            return state
        with self.job.mean_model():
            return {name: one.detach().clone() for name, one in super().lightning_module_state_dict().items()}

    def on_train_end(self) -> None:
        super().on_train_end()
        self.job.finish(mean=True)

    def _trains(self) -> bool:
        return self._job is not None and not self._job.finished

    _evaluates = False


class GradientHook(Callback):  # type: ignore[misc]
    """Gradients below DDPStrategy are averaged by an algorithm of Trigram, on any device; the strategy's own ddp_comm_hook is for GPUs
    alone."""

    def __init__(self, algorithm: str = "all_reduce", **options: Any) -> None:
        """`algorithm`, `options`: as ddp_hook has them."""
        self._algorithm, self._options = algorithm, options
        self._hook: Optional[Hook] = None

    @property
    def hook(self) -> Hook:
        """Of the present `fit`, or the last one. Raises RuntimeError before it."""
        if self._hook is None:
            raise RuntimeError("the callback has no hook before trainer.fit()")
        return self._hook

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        self._hook = training.ddp_hook(trainer.strategy.model, self._algorithm, optimizer=trainer.optimizers[0], **self._options)

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        self.hook.finish()


StrategyRegistry.register("trigram", TrigramStrategy, "ranks agree by all_reduce, as in DistributedDataParallel", override=True)

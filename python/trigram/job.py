"""A PyTorch model as one rank of a job: its parameters lie in buckets, its backward pass tells when they are ready."""

import contextlib
import hashlib
import pathlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Optional

import torch

from . import algorithm as algorithms
from . import overflow, record, results, tables
from .bucket_memory import BucketMemory, memory_order
from .copies import leave_out_job
from .first_step import FirstStep
from .job_hooks import JobHooks
from .job_steps import BEGUN, FINISH, JobSteps
from .join import Join
from .kept_state import require_fates
from .library import works_on_gradients_alone
from .masters import mastered, tell_what_travels
from .mesh import members_of, tell_of_sums
from .model import check_model, check_optimizers, only_on_this_rank
from .parts import fsdp_modules, parts_of, reshard
from .rank import Rank
from .recording import facts_of

if TYPE_CHECKING:
    import pandas

    from .members.kept import Kept


class Job(Rank):
    """This process as a rank of the job, as `with_trigram` leaves it in `model.trigram`."""

    learning_rate: float
    """Of an algorithm that steps the weights by itself; else that of the first optimizer's first group is used."""

    def __init__(self, model: torch.nn.Module, optimizers: Sequence[torch.optim.Optimizer], algorithm: "str | algorithms.Make",
                 broadcast_buffers: bool, find_unused_parameters: bool, learning_rate: Optional[float],
                 grad_scaler: Optional[overflow.Scaler], mesh: Any, flags: dict[str, object], handed: "Optional[Kept]" = None,
                 hands_over: bool = False) -> None:
        """`handed`: what it goes on from, where members of a job before were others. `hands_over`: whether others may go on from what it has."""
        super().__init__()
        reshard(model)
        apart = only_on_this_rank(model)
        trained = [(name, one) for name, one in model.named_parameters() if one.requires_grad]
        named = [(name, one) for name, one in trained if id(one) not in apart]
        own = [(name, one) for name, one in trained if id(one) in apart]
        self._model, self._optimizers = model, list(optimizers)
        self._algorithm = None if isinstance(algorithm, str) else algorithms.made(algorithm)
        self._hooks = None if self._algorithm is None else JobHooks(self._algorithm)
        parts = parts_of(model, [one for _, one in named])
        self._place = check_model(model, named, parts)
        spec = algorithms.spec_of(self._algorithm, hands_over) if self._algorithm else str(algorithm)
        self._flags = self.settings(spec, flags, self._place)
        check_optimizers(named, own, self._optimizers, learning_rate)
        scaler = overflow.in_use(grad_scaler)
        if scaler is not None:
            overflow.check_algorithm(self._flags["algorithm"], self._algorithm)
        if scaler is not None and fsdp_modules(model):
            raise ValueError("grad_scaler beside fully_shard would see an overflow in some shards alone; compute in bfloat16, which needs none")
        tensors = [one.memory for one in parts]
        self._open_session(self._flags, [{"name": name, "count": one.numel(), "dimensions": [one.shape[i] for i in memory_order(one)]}
                                         for (name, _), one in zip(named, tensors)],
                           loop_updates=bool(self._optimizers), place=self._place, hooks=self._hooks,
                           members=members_of(model, mesh, self._flags["backend"]))
        self.learning_rate = 0.0 if learning_rate is None else learning_rate
        parts = mastered(parts, self._session, hands_over)
        counts = [one.numel() for one in tensors]
        self._memory = BucketMemory([name for name, _ in named], parts, self._session.order, self._place)
        if self._hooks is not None:
            self._hooks.adopt(self._memory.weights, self._memory.sums, self._place, self._session.streams)
        self._steps = JobSteps(self._session, self._place, model, self._memory, [one for _, one in own], self._optimizers)
        self._steps.algorithm = self._flags["algorithm"]
        if self.rank == 0 and handed is None:
            self._steps.first = FirstStep(self._flags["algorithm"])
        self._steps.gradients_alone = self._works_on_gradients_alone()
        self._steps.broadcasts_buffers = broadcast_buffers
        self._steps.learning_rate = self._present_learning_rate
        if find_unused_parameters:
            self._steps.used = [0.0] * len(named)
        if scaler is not None:
            self._steps.overflow = overflow.Overflow(self._session, scaler, self._place, self._algorithm, [one for _, one in own])
        if handed is not None:
            self._session.take_over(handed.handle)
        else:
            self._steps.share(self._memory.tensors())
        self._session.adopt(self._memory.places, [one.data_ptr() for one in self._memory.gradients], counts)
        if hands_over and self._algorithm is not None:
            require_fates(self._algorithm)
        if handed is not None:
            self._memory.take_over()
        self._steps.share([one for one in model.parameters() if not one.requires_grad and id(one) not in apart])
        self._steps.share(self._steps.buffers())
        self._steps.listen()
        leave_out_job(model)
        tell_of_sums(self.rank, model)
        tell_what_travels(self.rank, [one.memory.dtype for one in parts], "parameters")
        if not hasattr(model, "no_sync"):  # as frameworks look for it in DistributedDataParallel
            model.no_sync = self.no_sync

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """Backward passes within only add up gradients, as those of all micro-batches of a step but the last."""
        self._steps.synchronizes = False
        try:
            yield
        finally:
            self._steps.synchronizes = True

    @property
    def require_backward_grad_sync(self) -> bool:
        """By DistributedDataParallel's name, for loops that set it, as nanoGPT's: False is `no_sync()`."""
        return self._steps.synchronizes

    @require_backward_grad_sync.setter
    def require_backward_grad_sync(self, synchronizes: bool) -> None:
        self._steps.synchronizes = synchronizes

    @contextlib.contextmanager
    def join(self) -> Iterator[None]:
        """A loop within may have batches of another number on each rank: who has no more takes part in the others' steps, with gradients
        of 0, until the last one has ended, and the mean is still over all ranks. Where an algorithm works on gradients alone, all ranks
        then have the weights, buffers and optimizers of one that was trained to the end. Collective, also at its end; costs a
        small exchange a step. Layers whose forward pass meets other ranks wait for them for ever.

            with job.join():
                for x, y in loader: …
        """
        if self._steps.sharded:
            raise RuntimeError("job.join() was called for a model that fully_shard has cut, whose forward passes meet those of other ranks; give all "
                               "ranks as many batches")
        with Join(self._session, self._place, self._memory, self._steps, self._optimizers).lasting():
            yield

    @contextlib.contextmanager
    def mean_model(self) -> Iterator[torch.nn.Module]:
        """Within it the model, which it also gives, has the weights that the algorithm trains, the same on all ranks: to evaluate, and to
        save, on one rank or on all. They are the mean over ranks, or what the algorithm keeps as such, as DiLoCo its outer weights;
        afterwards this rank's own are back, of an asynchronous method those with which it came to rest. Buffers are this rank's, and
        no step may begin. Collective, between two steps, and again at its end, where ranks wait for each other as long as in an exchange.

            with job.mean_model():
                if job.rank == 0: torch.save(model.state_dict(), "model.pt")
        """
        with self._steps.weights_of_all("job.mean_model()"):
            yield self._model

    def begin_step(self) -> None:
        """As a forward pass of the whole model in training mode does, for loops that call parts of it alone. Within a step nothing."""
        self._steps.before_forward(self._model, ())

    def step(self) -> None:
        """Where the algorithm steps the weights by itself, in place of optimizers' `step()`, with `learning_rate`."""
        self._steps.require_gradients("job.step()")
        if self._optimizers:
            raise RuntimeError("job.step() was called, but the optimizers step the weights: call theirs, or job.skip_step()")
        self._steps.end_step()

    def skip_step(self) -> None:
        """The step ends without the optimizers', as where gradients overflowed, or after a forward pass that no backward
        followed; on all ranks alike."""
        if self._steps.phase == BEGUN:
            self._steps.end_backward()
        self._steps.require_gradients("job.skip_step()")
        self._steps.leave_out()

    def record_loss(self, loss: "float | torch.Tensor") -> None:
        """Of this step's batch, for its row in `steps()`: in the step, or after it and before the next."""
        if self._steps.count == 0:
            raise RuntimeError("job.record_loss() was called before the first step; call it in a step, or after it")
        self._recording.loss(self._steps.count - 1, loss)

    def evaluate(self, score: Callable[[torch.nn.Module], Any]) -> None:
        """Adds a row to `evals()`. `score(model)`: the loss, or (loss, accuracy in [0, 1]), asked of the mean of all ranks'
        models with this rank's buffers, and of each rank's own where they differ; in evaluation mode, without gradients. It
        counts as no time. Collective, between two steps."""
        self._steps.come_between("job.evaluate()")

        def gathered_anew(model: torch.nn.Module) -> Any:
            reshard(model)
            return score(model)

        with torch.no_grad():
            self._recording.evaluate(self._model, self._memory, gathered_anew)
        reshard(self._model)

    def evals(self) -> "pandas.DataFrame":
        """A row for each `evaluate`, in the columns of evals.csv: step, seconds, loss and accuracy of the mean model, the
        accuracy of the worst rank, and how far ranks are from their mean."""
        return tables.pandas_module().DataFrame(self._recording.evals, columns=record.EVAL_COLUMNS)

    def trace(self) -> "pandas.DataFrame":
        """What each lane of each rank did: rank, lane, name, activity, begin_s, seconds, bytes, as `Run.trace`; "loop" is the
        script's own. After `finish`, on every rank. Raises ValueError unless with_trigram was given trace=True."""
        columns = ["rank", "lane", "name", "activity", "begin_s", "seconds", "bytes"]
        return tables.pandas_module().DataFrame(self._recording.spans(), columns=columns)

    def save(self, folder: "str | pathlib.Path", *, samples: Optional[int] = None) -> Optional[results.Run]:
        """Writes the files of `trigram run` (run.json, steps.csv, evals.csv, and trace.json where there is a trace) on rank 0,
        and returns them as a Run there, None elsewhere. `samples`: of a step, over all ranks, for samples_per_s."""
        if self.rank != 0:
            return None
        return self._recording.save(folder, facts_of(self._model, self._flags, self.ranks, samples))

    def state_dict(self) -> dict[str, Any]:
        """What this rank keeps beside a common model, and optimizers, for torch.save; each rank has its own: residuals of codecs, and
        this rank's weights where the algorithm works on more than gradients, so that ranks' differ. Collective, between two steps:
        asynchronous methods come to rest."""
        self._steps.come_between("job.state_dict()")
        state = {"ranks": self.ranks, "rank": self.rank, "state": self._session.state()}
        if not self._steps.gradients_alone:
            state["weights"] = [one.clone() for one in self._memory.weights]
        if self._steps.overflow is not None:
            state["scale"] = self._steps.overflow.scale
        return state if self._algorithm is None else state | {"algorithm": self._algorithm.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on from `state_dict()` of the same rank, as if it had never stopped. The last to be loaded, since it has this rank's
        weights where others have others: model and optimizers, each rank's own, come before, also before with_trigram. Collective, before
        the first step. Raises ValueError for the state of another rank or algorithm."""
        self._steps.come_between("job.load_state_dict()")
        if (state["rank"], state["ranks"]) != (self.rank, self.ranks):
            raise ValueError(f"the state is that of rank {state['rank']} of {state['ranks']}, and this is rank {self.rank} of "
                             f"{self.ranks}; give each rank its own")
        self._session.go_on_from(state["state"])
        for mine, kept in zip(self._memory.weights, state.get("weights", [])):
            mine.copy_(kept)
        self._memory.hand_out()
        if self._steps.overflow is not None:
            self._steps.overflow.scale = state.get("scale", 0.0)
        if self._algorithm is not None:
            self._algorithm.load_state_dict(state["algorithm"])

    def finish(self, *, mean: bool = False) -> None:
        """After the last step, on all ranks: weights are final, this rank's own or, with `mean`, those of `mean_model()` on all ranks, and
        parameters have memory of their own again. A step that was begun and not taken is left out. The end of a script does it too, but
        after an error or sys.exit() with a code the job fails."""
        if self._finished:
            return
        self._steps.come_between(FINISH)
        whole: list[torch.Tensor] = []
        if mean and not self._steps.gradients_alone:
            with self.mean_model():
                whole = self._memory.kept()
        self._session.finish()
        self._steps.put_frozen_back()
        self._memory.hand_out()
        if whole:
            self._memory.put_back(whole)
        self._memory.give_back()
        self._recording.keep_spans()
        self._leave()

    def abandon(self, reason: str) -> None:
        """The job ends here, amid a step too, and other ranks learn why; the model has memory of its own again."""
        self._session.fail(reason)
        self._steps.put_frozen_back()
        self._memory.give_back()
        self._leave()

    @property
    def replicas_are_equal(self) -> bool:
        """Whether all ranks have the same weights between two steps."""
        return self._steps.gradients_alone

    def keep_border(self, kept: "Kept") -> None:
        """What this rank has between two steps, weights too, for members of a job that goes on with others."""
        self._steps.come_between("a border of steps")
        self._session.border(kept.handle)

    def add_up(self, numbers: torch.Tensor) -> torch.Tensor:
        """Of all ranks, float32, on the CPU. Collective, between two steps. Raises RuntimeError where it was cut off."""
        there = self._place.numbers(numbers.flatten().tolist())
        self._session.sum(there.data_ptr(), there.numel())
        self._session.settle()
        return there.cpu().view(numbers.shape)

    @property
    def is_cut_off(self) -> bool:
        """Whether what the script has computed on a device may be of messages that never came, which ends the session."""
        if self._finished:
            return False
        with contextlib.suppress(RuntimeError):
            self._session.require_whole()
        return self._finished

    def give_up(self, reason: str) -> None:
        """Ends whatever waits on a device in this session, from any thread, where members come and go: its hooks raise RuntimeError."""
        self._session.give_up(reason)

    def weights_in_short(self) -> list[float]:
        """Numbers that differ where weights do."""
        digest = hashlib.blake2b(digest_size=8)
        for one in self._memory.weights:
            digest.update(one.cpu().numpy().tobytes())
        return [float(byte) for byte in digest.digest()]

    def _leave(self) -> None:
        super()._leave()
        if hasattr(self, "_steps"):
            self._steps.leave()

    def _works_on_gradients_alone(self) -> bool:
        if self._algorithm is not None:
            return isinstance(self._algorithm, algorithms.GradientMethod)
        return works_on_gradients_alone(self._flags["algorithm"])

    def _present_learning_rate(self) -> float:
        groups = self._optimizers[0].param_groups if self._optimizers else [{"lr": self.learning_rate}]
        return float(groups[0]["lr"])

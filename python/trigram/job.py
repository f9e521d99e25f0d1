"""A PyTorch model as one rank of a job: its parameters lie in buckets, its backward pass tells when they are ready."""

import contextlib
import functools
import pathlib
import types
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Optional

import torch

from . import algorithm as algorithms
from . import overflow, record, results, tables
from .device import require_cpu
from .job_moments import JobMoments
from .model import check_model, check_optimizers, only_on_this_rank
from .rank import Rank
from .recording import facts_of

if TYPE_CHECKING:
    import pandas

BETWEEN, BEGUN, READY = "between two steps", "waiting for gradients", "waiting for the optimizers"


class Job(Rank):
    """This process as a rank of the job, as `with_trigram` leaves it in `model.trigram`."""

    learning_rate: float
    """Of an algorithm that steps the weights by itself; else that of the first optimizer's first group is used."""

    def __init__(self, model: torch.nn.Module, optimizers: Sequence[torch.optim.Optimizer], algorithm: "str | algorithms.Make",
                 broadcast_buffers: bool, find_unused_parameters: bool, learning_rate: Optional[float],
                 grad_scaler: Optional[overflow.Scaler], flags: dict[str, object]) -> None:
        super().__init__()
        apart = only_on_this_rank(model)
        trained = [(name, one) for name, one in model.named_parameters() if one.requires_grad]
        named = [(name, one) for name, one in trained if id(one) not in apart]
        own = [(name, one) for name, one in trained if id(one) in apart]
        self._model = model
        self._own = [one for _, one in own]
        self._algorithm = None if isinstance(algorithm, str) else algorithms.made(algorithm)
        self._moments = None if self._algorithm is None else JobMoments(self._algorithm)
        self._place = check_model(model, named)
        if self._algorithm is not None:
            require_cpu(self._place, "algorithms in Python run on the CPU, by backends mpi and torch, whose lanes are threads")
        self._flags = self.settings(algorithms.spec_of(self._algorithm) if self._algorithm else str(algorithm), flags, self._place)
        self._steps = 0  # that have begun
        self._parameters = [one for _, one in named]
        self._names = [name for name, _ in named]
        self._optimizers = list(optimizers)
        check_optimizers(named, own, self._optimizers, learning_rate)
        scaler = overflow.in_use(grad_scaler)
        if scaler is not None:
            overflow.check_algorithm(self._flags["algorithm"], self._algorithm)
        self._open_session(self._flags,
                           [{"name": name, "count": one.numel(), "dimensions": list(one.shape)} for name, one in named],
                           loop_updates=bool(self._optimizers), place=self._place, moments=self._moments)
        self.learning_rate = 0.0 if learning_rate is None else learning_rate
        self._overflow = None if scaler is None else overflow.Overflow(self._session, scaler, self._place, self._algorithm, self._own)
        self._broadcasts_buffers = broadcast_buffers
        self._used = [0.0] * len(named) if find_unused_parameters else None
        self._moment = BETWEEN
        self._synchronizes = True
        self._told: set[int] = set()
        self._stepped: set[int] = set()
        self._lay_out()
        if self._moments is not None:
            self._moments.adopt(self._weights, self._sums)
        self._session.adopt(self._places, [one.data_ptr() for one in self._gradients], [one.numel() for one in self._parameters])
        self._share([one for one in model.parameters() if not one.requires_grad and id(one) not in apart])
        self._share(self._buffers())
        self._hooks = [model.register_forward_pre_hook(self._before_forward)]
        for index, parameter in enumerate(self._parameters):
            self._listen(index, parameter)
        for optimizer in self._optimizers:
            self._watch(optimizer)

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """Backward passes within only add up gradients, as those of all micro-batches of a step but the last."""
        self._synchronizes = False
        try:
            yield
        finally:
            self._synchronizes = True

    def step(self) -> None:
        """Where the algorithm steps the weights by itself, in place of optimizers' `step()`, with `learning_rate`."""
        self._require_gradients("job.step()")
        if self._optimizers:
            raise RuntimeError("job.step() came, but the optimizers step the weights: call theirs, or job.skip_step()")
        self._end_step()

    def skip_step(self) -> None:
        """The step ends without the optimizers', as where gradients overflowed, or after a forward pass that no backward
        followed; on all ranks alike."""
        if self._moment == BEGUN:
            self._end_backward()
        self._require_gradients("job.skip_step()")
        self._leave_out()

    def record_loss(self, loss: "float | torch.Tensor") -> None:
        """Of this step's batch, for its row in `steps()`: in the step, or after it and before the next."""
        if self._steps == 0:
            raise RuntimeError("job.record_loss() came before the first step; call it in a step, or after it")
        self._recording.loss(self._steps - 1, loss)

    def evaluate(self, score: Callable[[torch.nn.Module], Any]) -> None:
        """Adds a row to `evals()`. `score(model)`: the loss, or (loss, accuracy in [0, 1]), asked of the mean of all ranks'
        models with this rank's buffers, and of each rank's own where they differ; in evaluation mode, without gradients. It
        counts as no time. Collective, between two steps."""
        self._require_between("job.evaluate()")
        with torch.no_grad():
            self._recording.evaluate(self._model, self._weights, score)

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
        """What this rank keeps beside model and optimizers, as residuals of codecs, for torch.save; each rank has its own.
        Collective, between two steps: asynchronous methods come to rest."""
        self._require_between("job.state_dict()")
        state = {"ranks": self.ranks, "rank": self.rank, "state": self._session.state()}
        if self._overflow is not None:
            state["scale"] = self._overflow.scale
        return state if self._algorithm is None else state | {"algorithm": self._algorithm.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on from `state_dict()` of the same rank, beside those of model and optimizers, as if it had never stopped.
        Collective, before the first step. Raises ValueError for the state of another rank or algorithm."""
        self._require_between("job.load_state_dict()")
        if (state["rank"], state["ranks"]) != (self.rank, self.ranks):
            raise ValueError(f"the state is that of rank {state['rank']} of {state['ranks']}, and this is rank {self.rank} of "
                             f"{self.ranks}; give each rank its own")
        self._session.go_on_from(state["state"])
        if self._overflow is not None:
            self._overflow.scale = state.get("scale", 0.0)
        if self._algorithm is not None:
            self._algorithm.load_state_dict(state["algorithm"])

    def finish(self) -> None:
        """After the last step, on all ranks: weights are final. Raises RuntimeError within a step. The end of a script does
        it too, but after an error, sys.exit() with a code, or within a step the job fails."""
        if self._finished:
            return
        self._require_between("job.finish()")
        self._session.finish()
        self._recording.keep_spans()
        self._leave()

    def _lay_out(self) -> None:
        """Moves weights and gradients to where the buckets are; parameters become views."""
        self._weights, self._sums = [], []
        views: dict[int, torch.Tensor] = {}
        with torch.no_grad():
            for order in self._session.order:
                total = sum(self._parameters[index].numel() for index in order)
                weights, gradients = (make(total, device=self._place.device) for make in (torch.empty, torch.zeros))
                begin = 0
                for index in order:
                    parameter = self._parameters[index]
                    end = begin + parameter.numel()
                    weights[begin:end].view_as(parameter).copy_(parameter)
                    parameter.data = weights[begin:end].view_as(parameter)
                    parameter.grad = None
                    views[index] = gradients[begin:end].view_as(parameter)
                    begin = end
                self._weights.append(weights)
                self._sums.append(gradients)
        self._gradients = [views[index] for index in range(len(self._parameters))]
        self._places = [one.data_ptr() for one in self._parameters]

    def _listen(self, index: int, parameter: torch.nn.Parameter) -> None:
        if hasattr(parameter, "register_post_accumulate_grad_hook"):
            self._hooks.append(parameter.register_post_accumulate_grad_hook(lambda _: self._accumulated(index)))
        else:  # torch before 2.1
            node = parameter.expand_as(parameter).grad_fn.next_functions[0][0]
            self._hooks.append(node.register_hook(lambda *_: self._accumulated(index)))
            self._nodes = [*getattr(self, "_nodes", []), node]  # which lives no longer than somebody refers to it

    def _watch(self, optimizer: torch.optim.Optimizer) -> None:
        """Learning rate schedules wrap `step` too, and need it bound."""
        step = optimizer.step

        @functools.wraps(step)
        def watched(_: torch.optim.Optimizer, *arguments: Any, **named: Any) -> Any:
            if self._finished:
                return step(*arguments, **named)
            self._require_gradients("optimizer.step()")
            result = step(*arguments, **named)
            self._stepped.add(id(optimizer))
            if len(self._stepped) == len(self._optimizers):
                self._end_step()
            return result

        setattr(optimizer, "step", types.MethodType(watched, optimizer))

    def _share(self, buffers: Sequence[torch.Tensor]) -> None:
        for one in buffers:
            whole = one.detach().contiguous()
            self._session.share(whole.data_ptr(), whole.numel() * whole.element_size())
            if whole.data_ptr() != one.data_ptr():
                one.detach().copy_(whole)

    def _before_forward(self, model: torch.nn.Module, _: Any) -> None:
        if not (model.training and torch.is_grad_enabled()):
            return
        self._end_cleared_step()
        if self._moment != BETWEEN:
            return
        self._require_places()
        for gradients in self._sums:
            gradients.zero_()
        for parameter, view in zip(self._parameters, self._gradients):
            parameter.grad = view
        for parameter in self._own:
            parameter.grad = None
        if self._overflow is not None:
            self._overflow.begin()
        groups = self._optimizers[0].param_groups if self._optimizers else [{"lr": self.learning_rate}]
        self._session.begin(float(groups[0]["lr"]))
        if self._broadcasts_buffers:
            self._share(self._buffers())
        if self._used is not None:
            self._used = [0.0] * len(self._used)
        self._told.clear()
        self._stepped.clear()
        self._moment = BEGUN
        self._steps += 1

    def _buffers(self) -> list[torch.Tensor]:
        """That all ranks have, as they are now: a module may put others in their place."""
        apart = only_on_this_rank(self._model)
        return [one for one in self._model.buffers() if id(one) not in apart]

    def _require_places(self) -> None:
        for name, parameter, place in zip(self._names, self._parameters, self._places):
            if parameter.data_ptr() != place or parameter.dtype != torch.float32:
                raise RuntimeError(f"parameter '{name}' has left its bucket, since with_trigram moved it there: "
                                   "convert and move the model (model.to) before with_trigram, not after")

    def _accumulated(self, index: int) -> None:
        parameter, view = self._parameters[index], self._gradients[index]
        if parameter.grad is not None and parameter.grad.is_sparse:
            raise RuntimeError(f"parameter '{self._names[index]}' has a sparse gradient, which no bucket holds; use sparse=False")
        if self._moment == BETWEEN:
            raise RuntimeError("backward() came without a step: call the model in training mode (model.train()) before each")
        if self._moment == READY or index in self._told:
            raise RuntimeError("a second backward() before optimizer.step(): put all but the last one into `with job.no_sync():`")
        if parameter.grad is not None and parameter.grad.data_ptr() != view.data_ptr():
            with torch.no_grad():
                view.copy_(parameter.grad)
            parameter.grad = view
        if self._used is not None:
            self._used[index] = 1.0
        if not self._synchronizes:
            return
        if not self._told:
            torch.autograd.Variable._execution_engine.queue_callback(self._end_backward)
        self._told.add(index)
        if self._overflow is not None:
            self._overflow.look(view)
        self._session.tensor_ready(index)

    def _attach(self) -> None:
        """What this backward pass did not reach has a gradient too, or another rank's would step weights apart: what
        earlier passes added up, or 0 where zero_grad() came after the forward pass."""
        for index, (parameter, view) in enumerate(zip(self._parameters, self._gradients)):
            if index in self._told:
                continue
            with torch.no_grad():
                if parameter.grad is None:
                    view.zero_()
                elif parameter.grad.data_ptr() != view.data_ptr():
                    view.copy_(parameter.grad)
            parameter.grad = view
            if self._overflow is not None:
                self._overflow.look(view)

    def _end_backward(self) -> None:
        self._attach()
        self._session.gradients_end()
        if self._overflow is not None:
            self._overflow.agree(self._sums)
        if self._used is not None:
            self._drop_unused(self._used)
        self._moment = READY

    def _drop_unused(self, used: Sequence[float]) -> None:
        """Of all ranks; optimizers leave parameters without a gradient as they are. Only a rank that has not used some itself has to see
        what others did, for which it waits for its device."""
        ranks = self._place.numbers(used)
        self._session.sum(ranks.data_ptr(), len(used))
        if all(used):
            return
        for parameter, count in zip(self._parameters, ranks.tolist()):
            if count == 0:
                parameter.grad = None

    def _end_cleared_step(self) -> None:
        """GradScaler leaves optimizers out where gradients overflowed, on all ranks alike, and zero_grad() follows; which an
        accumulation that wants no_sync() does not call."""
        if self._moment != READY:
            return
        left = [one.grad.any() for one in self._parameters if one.grad is not None]
        if (self._overflow is not None and self._overflow.came()) or not left or not torch.stack(left).any():  # one look, which waits for a device
            self._leave_out()

    def _leave_out(self) -> None:
        """Raises RuntimeError where an overflow would be there for ever."""
        self._end_step()
        if self._overflow is None and not self._session.state_is_finite():
            raise RuntimeError(f"the gradients of step {self._steps - 1} overflowed, and algorithm '{self._flags['algorithm']}' has kept that for "
                               "all steps that follow; give with_trigram the scaler of the loop, as grad_scaler=scaler, and it is left out "
                               "of such steps")

    def _require_between(self, came: str) -> None:
        self._end_cleared_step()
        if self._overflow is not None:
            self._overflow.settle()
        if self._moment == BEGUN:
            raise RuntimeError(f"{came} came within a step, which a forward pass in training mode began and no backward() "
                               "followed: call job.skip_step() on all ranks, and the model in model.eval() or torch.no_grad() "
                               "where it does not train")
        if self._moment == READY:
            raise RuntimeError(f"{came} came within a step, {self._moment}; take the step first, or call job.skip_step() on all ranks")

    def _require_gradients(self, came: str) -> None:
        if self._moment != READY:
            raise RuntimeError(f"{came} came, but no backward() since the last step did, or all were in no_sync()")

    def _end_step(self) -> None:
        self._session.end()
        if self._overflow is not None:
            self._overflow.end()
        self._moment = BETWEEN

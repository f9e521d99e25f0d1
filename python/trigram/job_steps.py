"""The hooks of a step as a loop of PyTorch has them: forward passes, gradients and optimizers tell when they come."""

import contextlib
import functools
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Optional

import torch
from torch.nn.parallel import DistributedDataParallel

from .bucket_memory import BucketMemory
from .device import Place
from .first_step import FirstStep
from .library import Session
from .model import only_on_this_rank, require_same_parameters
from .overflow import Overflow
from .parts import fsdp_modules, local, reshard

BETWEEN, BEGUN, READY = "between two steps", "waiting for gradients", "waiting for the optimizers"
ELSEWHERE = "within job.mean_model()"

Begins = Callable[[], int]
"""Called before each step; which rank's buffers all take."""


class JobSteps:
    """Tells a session, in whose buckets a model lies, the hooks of its steps."""

    of_this_process_alone = True
    """What copies of a model leave out, by `copies`."""

    def __init__(self, session: Session, place: Place, model: torch.nn.Module, memory: BucketMemory, own: Sequence[torch.nn.Parameter],
                 optimizers: Sequence[torch.optim.Optimizer]) -> None:
        """`own`: parameters that no other rank has."""
        self._session, self._place, self._model, self._memory, self._own = session, place, model, memory, own
        self._optimizers = optimizers
        self.algorithm = ""
        """What messages call it."""
        self.first: Optional[FirstStep] = None
        """Who looks at the first step, on one rank."""
        self.gradients_alone = True
        """Whether the algorithm sees nothing else, so that replicas are equal."""
        self.sharded = bool(fsdp_modules(model))
        """Whether fully_shard has cut the model, whose parameters are whole between a forward and a backward pass alone."""
        self.broadcasts_buffers = True
        self.synchronizes = True
        """False where backward passes only add up gradients."""
        self.learning_rate: Callable[[], float] = lambda: 0.0
        self.overflow: Optional[Overflow] = None
        self.used: Optional[list[float]] = None
        """By parameter, of this rank in this step; None where nobody asks."""
        self.begins: Begins = lambda: 0
        self.count = 0
        """Of steps that have begun."""
        self.phase = BETWEEN
        self._held: dict[int, torch.Tensor] = {}  # by parameter that is frozen, where an algorithm steps weights
        self._told: set[int] = set()  # parameters whose gradients the session knows to be there
        self._adds_up = False  # gradients of this step that wait for its last backward pass
        self._stepped: set[int] = set()  # optimizers, in this step
        self._stepping: Optional[torch.optim.Optimizer] = None  # whose step() is under way, on a closure
        self._hooks: list[Any] = []
        self._nodes: list[Any] = []
        self._watched: list[tuple[torch.optim.Optimizer, Any]] = []  # whose own step() nobody else had wrapped
        self.finished = False

    def listen(self) -> None:
        """From now on the model and its optimizers tell of their steps."""
        first = {"prepend": True} if self.sharded else {}  # before FSDP gathers parameters
        self._hooks.append(self._model.register_forward_pre_hook(self.before_forward, **first))
        for index, parameter in enumerate(self._memory.parameters):
            self._listen(index, parameter)
        for optimizer in self._optimizers:
            self._watch(optimizer)

    def leave(self) -> None:
        """Nothing is told any more."""
        self.finished = True
        for hook in self._hooks:
            hook.remove()
        self._hooks.clear()
        for optimizer, watched in self._watched:
            if optimizer.__dict__.get("step") is watched:  # else somebody has wrapped it too, as a schedule
                del optimizer.__dict__["step"]

    def before_forward(self, model: torch.nn.Module, _: Any) -> None:
        if not (model.training and torch.is_grad_enabled()):
            return
        require_no_ddp()
        self._end_what_is_done()
        if self.phase == BETWEEN:
            self.begin()

    def begin(self, keeps_gradients: bool = False) -> None:
        """A step. Gradients are 0 then, or what is there already."""
        reshard(self._model)
        require_same_parameters(self._model, self._memory.names, self._memory.parameters, self._own)
        self._bring_home()
        if self.first is not None:
            self.first.begin_step(zip(self._memory.names, map(local, self._memory.parameters)), self.learning_rate())
        root = self.begins()
        if not self.gradients_alone:
            self._hold_frozen()
        if not keeps_gradients:
            self._memory.zero_gradients()
            for parameter in self._own:
                parameter.grad = None
        if self.overflow is not None:
            self.overflow.begin()
        self._session.begin(self.learning_rate())
        self._hand_out()
        if self.broadcasts_buffers and not keeps_gradients:
            self.share(self.buffers(), root)
        if self.used is not None:
            self.used = [0.0] * len(self.used)
        self._stepped.clear()
        self._adds_up = False
        self.phase = BEGUN
        self.count += 1

    def buffers(self) -> list[torch.Tensor]:
        """That all ranks have, as they are now: a module may put others in their place."""
        apart = only_on_this_rank(self._model)
        return [one for one in self._model.buffers() if id(one) not in apart]

    def share(self, tensors: Sequence[torch.Tensor], root: int = 0) -> None:
        """All ranks get the root's."""
        for one in tensors:
            mine = local(one)
            whole = mine.contiguous()
            self._session.share(whole.data_ptr(), whole.numel() * whole.element_size(), root)
            if whole.data_ptr() != mine.data_ptr():
                mine.copy_(whole)

    def end_backward(self) -> None:
        """Gradients are final when it returns. What this backward pass did not reach has a gradient too, or another rank's would step
        weights apart: what earlier passes added up, or 0 where zero_grad() was called after the forward pass."""
        for index in range(len(self._memory.parameters)):
            if index not in self._told:
                gradient = self._memory.gather(index)
                if self.overflow is not None:
                    self.overflow.look(gradient)
        self._session.gradients_end()
        if self.overflow is not None:
            self.overflow.agree(self._memory.sums)
        self._memory.hand_out_gradients()
        self._hand_out()
        if self.used is not None:
            self._drop_unused(self.used)
        self.phase = READY

    def end_step(self) -> None:
        """Weights are whole when it returns."""
        self._bring_home()
        if not self.gradients_alone:
            self._memory.follow_gradients()
        self._session.end()
        self.put_frozen_back()
        self._hand_out()
        if self.overflow is not None:
            self.overflow.end()
        self._told.clear()
        self.phase = BETWEEN

    def leave_out(self) -> None:
        """The step ends without the optimizers'. Raises RuntimeError where an overflow would be there for ever."""
        if self._stepping is not None and not self.gradients_alone:
            raise RuntimeError(f"{type(self._stepping).__name__}.step() asks for gradients more than once, and algorithm '{self.algorithm}' "
                               "exchanges more than gradients, once a step; take an algorithm of gradients, as all_reduce or bytegrad")
        self.end_step()
        if self.overflow is None and not self._session.state_is_finite():
            raise RuntimeError(f"the gradients of step {self.count - 1} overflowed, and algorithm '{self.algorithm}' has kept that for "
                               "all steps that follow; give with_trigram the scaler of the loop, as grad_scaler=scaler, and it is left out "
                               "of such steps")

    def come_between(self, came: str) -> None:
        """Ends what was begun and goes no further: a backward pass that no optimizer followed, as of a discriminator in its generator's
        step, and a forward pass alone. Raises RuntimeError where gradients of micro-batches would be lost."""
        self._end_what_is_done()
        if self.overflow is not None:
            self.overflow.settle()
        if self.phase == ELSEWHERE:
            raise RuntimeError(f"{came} was called {ELSEWHERE}, where weights are those of all ranks; leave it first")
        if self._adds_up and self.phase == BEGUN and came != FINISH:
            raise RuntimeError(f"{came} was called amid micro-batches, whose gradients wait for a last backward() outside of job.no_sync(); have it "
                               "after a step")
        if self.phase == BEGUN:
            self.end_backward()
        if self.phase == READY:
            self.leave_out()
        if self.phase == BETWEEN:
            self._memory.follow()
            self._hand_out()

    def require_gradients(self, came: str) -> None:
        if self.phase != READY:
            raise RuntimeError(f"{came} was called, but no backward() since the last step did, or all were in no_sync(), or something between two "
                               "steps was called after it, as job.state_dict()")

    @contextlib.contextmanager
    def weights_of_all(self, came: str) -> Iterator[None]:
        """Within it the model has the weights that the method trains, the same on all ranks, and no step begins. Collective, also at
        its end; but where an algorithm works on gradients alone, all ranks have them already, also amid a step."""
        if not self.gradients_alone or self.phase == ELSEWHERE:
            self.come_between(came)
            self._session.come_to_rest()
            self._hand_out()
        phase, own = self.phase, [] if self.gradients_alone else self._memory.kept()
        if own:
            reshard(self._model)
            self._session.global_weights()
            self._memory.hand_out()
        self.phase = ELSEWHERE
        try:
            yield
        finally:
            if own:
                reshard(self._model)
                self._memory.put_back(own)
            self.phase = phase
        if own:
            self._session.meet()  # who goes on first may ask others for theirs

    def put_frozen_back(self) -> None:
        """Where an algorithm that works on weights has moved them, as at the end of a session too."""
        with torch.no_grad():
            for index, held in self._held.items():
                self._memory.homes[index].copy_(held)

    def _bring_home(self) -> None:
        self._memory.bring_home()
        if not self.gradients_alone:
            self._memory.follow()

    def _hand_out(self) -> None:
        """Where the algorithm may have changed weights."""
        if not self.gradients_alone:
            self._memory.hand_out()

    def _hold_frozen(self) -> None:
        """A parameter that is frozen by now becomes the mean over ranks, and stays that, whatever an algorithm of weights makes of it, as
        by a momentum of its own."""
        for index, one in enumerate(self._memory.parameters):
            if one.requires_grad:
                self._held.pop(index, None)
            elif index not in self._held:
                home = self._memory.homes[index]
                self._session.sum(home.data_ptr(), home.numel())
                home /= self._session.ranks
                self._held[index] = home.clone(memory_format=torch.preserve_format)

    def _listen(self, index: int, parameter: torch.nn.Parameter) -> None:
        if hasattr(parameter, "register_post_accumulate_grad_hook"):
            self._hooks.append(parameter.register_post_accumulate_grad_hook(lambda _: self._accumulated(index)))
        else:  # torch before 2.1
            node = parameter.expand_as(parameter).grad_fn.next_functions[0][0]
            self._hooks.append(node.register_hook(lambda *_: self._accumulated(index)))
            self._nodes.append(node)  # which lives no longer than somebody refers to it

    def _watch(self, optimizer: torch.optim.Optimizer) -> None:
        """Learning rate schedules wrap `step` too, and need it bound."""
        step = optimizer.step

        @functools.wraps(step)
        def watched(_: torch.optim.Optimizer, *arguments: Any, **named: Any) -> Any:
            if self.finished:
                return step(*arguments, **named)
            closure = arguments[0] if arguments else named.get("closure")
            if closure is None:
                self.require_gradients("optimizer.step()")
            before, self._stepping = self._stepping, optimizer
            try:
                result = step(*arguments, **named)
            finally:
                self._stepping = before
            if self.phase == READY:  # else the closure had nothing to train
                self._stepped.add(id(optimizer))
                if len(self._stepped) == len(self._optimizers):
                    self.end_step()
            return result

        own = types.MethodType(watched, optimizer)
        if "step" not in optimizer.__dict__:
            self._watched.append((optimizer, own))
        setattr(optimizer, "step", own)

    def _accumulated(self, index: int) -> None:
        parameter = self._memory.parameters[index]
        if parameter.grad is not None and parameter.grad.is_sparse:
            raise RuntimeError(f"parameter '{self._memory.names[index]}' has a sparse gradient, which no bucket holds; use sparse=False")
        if self.phase == READY or index in self._told:
            self._begin_once_more()
        if self.phase != BEGUN:
            self._begin_in_backward()
        gradient = self._memory.gather(index)
        if self.used is not None:
            self.used[index] = 1.0
        if not self.synchronizes:
            self._adds_up = True
            return
        if not self._told:
            torch.autograd.Variable._execution_engine.queue_callback(self.end_backward)
        self._told.add(index)
        if self.overflow is not None:
            self.overflow.look(gradient)
        self._session.tensor_ready(index)

    def _begin_once_more(self) -> None:
        """Another backward pass without a step: what was exchanged stays, and is the same on all ranks, so that the mean of its sum with
        what comes now is the sum of both means."""
        if self._stepped and self.phase == READY:
            return self.end_step()
        if self.sharded or not self.gradients_alone or self.phase != READY:
            raise RuntimeError("a second backward() before optimizer.step(): put all but the last one into `with job.no_sync():`")
        self.leave_out()

    def _begin_in_backward(self) -> None:
        """The forward pass was none of the model as a whole, in training mode, which begins steps. Gradients are as the script has left
        them."""
        if self.phase == ELSEWHERE:
            raise RuntimeError(f"backward() was called {ELSEWHERE}, where weights are those of all ranks; train outside of it")
        if self.sharded or not self.gradients_alone:
            why = "FSDP gathers parameters" if self.sharded else f"algorithm '{self.algorithm}' works on weights"
            raise RuntimeError("backward() was called without a step, which a forward pass of the whole model begins: call it as model(x), not a part "
                               f"of it, and in training mode (model.train()), since {why} before it")
        self.begin(keeps_gradients=True)

    def _drop_unused(self, used: Sequence[float]) -> None:
        """Of all ranks; optimizers leave parameters without a gradient as they are. Only a rank that has not used some itself has to see
        what others did, for which it waits for its device."""
        ranks = self._place.numbers(used)
        self._session.sum(ranks.data_ptr(), len(used))
        if all(used):
            return
        for parameter, count in zip(self._memory.parameters, ranks.tolist()):
            if count == 0:
                parameter.grad = None

    def _end_what_is_done(self) -> None:
        """A step whose optimizers have stepped as far as they will; and one that GradScaler has left out, where gradients overflowed, on
        all ranks alike, and zero_grad() follows, which an accumulation that wants no_sync() does not call."""
        if self.phase != READY:
            return
        if self._stepped:
            return self.end_step()
        left = [one.any() for one in self._memory.gradients_here()]
        if (self.overflow is not None and self.overflow.came()) or not left or not torch.stack(left).any():  # one look, which waits for a device
            self.leave_out()


FINISH = "job.finish()"


def require_no_ddp() -> None:
    """Raises RuntimeError where DistributedDataParallel has wrapped the model, and calls it."""
    if getattr(DistributedDataParallel, "_active_ddp_module", None) is not None:
        raise RuntimeError("DistributedDataParallel calls a model that with_trigram trains, and would average its gradients too; train the model "
                           "itself, which no framework has wrapped, or put an algorithm of gradients below the wrapped one: "
                           "trigram.ddp_hook(model, ...) in place of with_trigram")

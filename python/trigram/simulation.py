"""A PyTorch model trained by simulated ranks: the program asks for gradients, and this thread computes them."""

import functools
import math
import mmap
import os
import pathlib
import socket
import subprocess
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Optional

import torch

from . import algorithm as algorithms
from . import comm, program, progress, record, results
from .device import require_cpu
from .first_step import FirstStep
from .model import check_model, require_f32
from .profile import Clock, of_clock, samples_of
from .recording import numbers_of
from .simulated_comm import ModelThread, SimulatedCommunicator, alike
from .simulated_lane import Asked
from .simulated_line import Line
from .simulated_hooks import SimulatedHooks
from .simulated_rank import SimulatedRank, trained, trained_alone

Make = Callable[[], torch.nn.Module]
Loss = Callable[[torch.nn.Module, Any], torch.Tensor]
Data = Callable[[int, int], Any]
Score = Callable[[torch.nn.Module], Any]
MakeOptimizer = Callable[[torch.nn.Module], torch.optim.Optimizer]


MOST_APART = 64  # steps for which rank 0's buffers are kept
turn = threading.RLock()  # the thread that simulates may do so within it, as in `score`


class Simulation(results.Run):
    """A Run, as of `trigram.run`, with the model that it trained."""

    model: torch.nn.Module
    """The mean of all ranks' models after the last step, with rank 0's buffers, in evaluation mode."""


class Shared:
    """Weights of all parameters, then gradients, then both as buckets have them, in memory that the program maps too."""

    def __init__(self, count: int) -> None:
        self.descriptor = os.memfd_create("trigram")
        self.close = weakref.finalize(self, os.close, self.descriptor)
        """Before it goes by itself. The memory goes with the last tensor."""
        os.ftruncate(self.descriptor, 16 * count)  # of which no page is there before it is used
        self.memory = mmap.mmap(self.descriptor, 16 * count)
        flat = torch.frombuffer(self.memory, dtype=torch.float32)
        self.weights, self.gradients, self.bucket_weights, self.bucket_gradients = flat.split(count)


class Server:
    """Answers the program's questions, a method each, until it has no more."""

    def __init__(self, make: Make, loss: Loss, data: Data, score: Optional[Score], optimizer: Optional[MakeOptimizer],
                 samples: int, ranks: int, steps: int, accumulate: int, evaluate_every: int, broadcast_buffers: bool,
                 algorithm: "Optional[algorithms.Make]", spec: str, hands_over: bool) -> None:
        """`spec`: what messages call the algorithm. `hands_over`: whether others go on from what a rank keeps."""
        self._make, self._loss, self._data, self._score, self._optimizer = make, loss, data, score, optimizer
        self._samples, self._count, self.steps, self._broadcasts = samples, ranks, steps, broadcast_buffers
        self._accumulate = accumulate
        first, thread = self._made(0)
        named = trained(first)
        require_cpu(check_model(first, named), "simulated ranks compute on the CPU")
        require_f32(named, "compute in less by torch.autocast")
        self.own = [name for name, _ in trained_alone(first)]
        self._named = shapes_of(first)
        self.shared = Shared(sum(one.numel() for _, one in named))
        self._has_algorithm = algorithm is not None
        self._hooks = SimulatedHooks(algorithm, self.shared.bucket_weights, self.shared.bucket_gradients, hands_over)
        self._initial = torch.cat([one.detach().reshape(-1) for _, one in named])
        self._first = SimulatedRank(first, thread, self.shared.weights, self.shared.gradients, optimizer, accumulate)
        self._buffers = {0: self._first.buffers()}  # rank 0's at the begin of the last steps
        self._ranks = {0: self._first}
        self._batches: dict[int, int] = {}  # micro-batches, those of all steps counted through, that each rank is at
        self._means, self._evaluated = self._initial, self._buffers[0]
        self.rows = record.Rows(evaluate_every)
        self._first_step = FirstStep(spec)
        self.rate = 0.0
        """At which ranks step, before a schedule changes it."""
        self.where = "before the first step"
        self.show: Callable[[str], bool] = lambda _: False

    @property
    def communicates(self) -> bool:
        """Whether the model has asked for a communicator."""
        return self._first.communicates

    @property
    def learning_rate(self) -> Optional[float]:
        """Of torch's optimizer."""
        return self._first.learning_rate

    @property
    def keeps_state(self) -> bool:
        """Whether ranks have more from one step to the next than weights and what the program, or the algorithm, keeps."""
        return self._first.has_buffers or self.learning_rate is not None or bool(self.own)

    def serve(self, connection: socket.socket) -> None:
        """Until the program has no more questions."""
        with Line(connection, self.answer) as self._line:
            self._line.serve()

    def _serve_others(self, rank: int, lane: int, asked: Asked) -> tuple[Any, bytes]:
        """What a lane is answered that asks in the midst of a hook on the thread that serves."""
        with self._rank(rank).standing_still():
            return self._line.serve_others(asked, {"ask": "go_on", "rank": rank, "lane": lane})

    def answer(self, question: dict[str, Any], payload: bytes) -> tuple[dict[str, Any], bytes]:
        """With the bytes that come with either."""
        asked = question.pop("ask")
        if asked == "hook":
            return self._hook(question.pop("rank"), question)
        if asked == "gradients":
            return self._gradients(**question)
        if asked == "go_on_with_gradients":
            return self._computed(question["rank"], self._rank(question["rank"]).go_on(payload))
        if asked == "go_on":
            return self._go_on(question["rank"], question["lane"], question["answer"], payload)
        answer: dict[str, Any] = getattr(self, asked)(**question)
        return answer, b""

    def end(self) -> None:
        """Nothing of the algorithm or of a model runs when it returns."""
        self._hooks.end()
        for one in self._ranks.values():
            one.end()

    def _hook(self, rank: int, told: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        hook = told.get("hook", "a task")
        self.where = f"in {hook} of rank {rank}" + ("" if hook == "setup" else f" in step {told['step']}")
        with self._rank(rank).own_random_numbers():
            return self._hooks.begin(rank, told, None if self._line.others_serve else functools.partial(self._serve_others, rank, told["lane"]))

    def _go_on(self, rank: int, lane: int, answer: Any, payload: bytes) -> tuple[dict[str, Any], bytes]:
        with self._rank(rank).own_random_numbers():
            return self._hooks.go_on(rank, lane, answer, payload)

    def describe(self) -> dict[str, Any]:
        return {"description": self._first.name, "local_batch": self._samples, "accumulate": self._accumulate, "has_algorithm": self._has_algorithm, "keeps_state": self.keeps_state,
                "parameters": [{"name": name, "dimensions": shape, "decays": len(shape) > 1} for name, shape in self._named]}

    def begin(self) -> dict[str, Any]:
        self.shared.weights.copy_(self._initial)
        return {}

    def _gradients(self, rank: int, step: int, so_far: dict[str, float]) -> Asked:
        """Of a micro-batch, since the program draws one for each of its `step`s."""
        batch, one = step, self._rank(rank)
        step, part = divmod(batch, self._accumulate)
        self.where = f"in step {step} of rank {rank}"
        if rank == 0 and part == 0:
            self.rows.begin(so_far)
            self._first_step.begin_step(one.trained, self.rate)
            self.tell_progress(step)
        if self._broadcasts and one.has_buffers and part == 0:
            one.take(self._buffers_at(step))
        self._batches[rank] = batch
        return self._computed(rank, one.gradients(lambda model: self._loss(model, self._data(rank, batch)), part == 0))

    def _computed(self, rank: int, asked: Asked) -> Asked:
        """Up to a collective of the model's, or to the loss."""
        one = self._ranks[rank]
        step, part = divmod(self._batches[rank], self._accumulate)
        self.where = f"in step {step} of rank {rank}"
        loss = asked[0].get("loss", 0.0)
        if not math.isfinite(loss):
            raise FloatingPointError(f"the loss of rank {rank} in step {step} is {loss}: training has diverged, or the data have such "
                                     "values; try a smaller learning rate")
        if rank == 0 and "loss" in asked[0]:
            self.rows.loss(loss, self._accumulate)
            if one.has_buffers and part == self._accumulate - 1:
                self._buffers[step + 1] = one.buffers()
                self._buffers.pop(step + 1 - MOST_APART, None)
        return asked

    def tell_progress(self, done: int) -> None:
        """Every tenth, as the program."""
        if 10 * done // self.steps != 10 * (done - 1) // self.steps:
            self.show(f"{done}/{self.steps} steps")

    def update(self, rank: int, parameters: list[int], learning_rate: float) -> dict[str, Any]:
        return {"kept": self._rank(rank).update(parameters, learning_rate)}

    def score(self, of_the_mean: bool) -> dict[str, Any]:
        if of_the_mean:
            self._means = self.shared.weights.clone()
            self._evaluated = self._buffers_at(self.rows.next_evaluation())
        loss = accuracy = math.nan
        if self._score is not None:
            loss, accuracy = numbers_of(self._first.score(self._score, self._evaluated))
        if of_the_mean:
            self.rows.evaluated(loss, accuracy)
        return {"loss": record.json_number(loss), "accuracy": record.json_number(accuracy)}

    def _buffers_at(self, step: int) -> list[torch.Tensor]:
        """Of rank 0 as this step begins there, or as near to it as is known."""
        return self._buffers[min(max(step, min(self._buffers)), max(self._buffers))]

    def _rank(self, rank: int) -> SimulatedRank:
        if rank not in self._ranks:
            model, thread = self._made(rank)
            if shapes_of(model) != self._named:
                raise ValueError("make() gave a model with other parameters than before; let it give the same one for all ranks")
            made = SimulatedRank(model, thread, self.shared.weights, self.shared.gradients, self._optimizer, self._accumulate)
            made.begin_as(self._first, self._buffers_at(0))
            self._ranks[rank] = made
        return self._ranks[rank]

    def _made(self, rank: int) -> tuple[torch.nn.Module, ModelThread]:
        """A model whose communicator, where it joins one, is that of the simulated ranks."""
        thread = ModelThread()

        def joined() -> SimulatedCommunicator:
            thread.communicates = True
            return SimulatedCommunicator(rank, self._count, thread.perform)
        with comm.standing_in(joined):
            return self._make(), thread

    def made_alone(self) -> torch.nn.Module:
        """A model whose forward pass asks for nothing, for counting what it computes."""
        with comm.standing_in(lambda: alike(0, self._count)):
            return self._make()

    def mean_model(self) -> torch.nn.Module:
        """In memory of its own."""
        return self._first.alone(self._means, self._evaluated)


def shapes_of(model: torch.nn.Module) -> list[tuple[str, list[int]]]:
    return [(name, list(one.shape)) for name, one in trained(model)]


def simulate(make: Make, loss: Loss, data: Data, algorithm: "str | algorithms.Make", ranks: int, steps: int, lr: Optional[float],
             optimizer: "Optional[str | MakeOptimizer]", score: Optional[Score], cluster: str, clock: Clock, samples: Optional[int],
             broadcast_buffers: bool, out: "str | pathlib.Path | None", flags: dict[str, object]) -> Simulation:
    refuse(flags, ranks, steps)
    loss = giving_scalars(loss)
    hands_over = "membership" in flags
    spec = algorithm if isinstance(algorithm, str) else algorithms.spec_of(algorithms.made(algorithm), hands_over)
    with alone(), torch.random.fork_rng(devices=[]), torch.enable_grad():
        batch = data(0, 0)
        count = samples if samples is not None else samples_of(batch)
        server = Server(make, loss, data, score, None if isinstance(optimizer, str) else optimizer, count, ranks, steps,
                        whole_of(flags, "accumulate", 1), whole_of(flags, "evaluate_every", 0), broadcast_buffers,
                        None if isinstance(algorithm, str) else algorithm, spec, hands_over)
        check_own(server)
        if hands_over and server.keeps_state:
            raise ValueError("membership hands what one rank keeps to others, and this model keeps buffers, an optimizer of torch or parameters of one "
                             "rank; take a model without, and an optimizer of Trigram, as optimizer=\"momentum\"")
        server.rate = rate_of(server, lr)
        scratch = None if out else results.Scratch()
        folder = scratch.folder if scratch else pathlib.Path(str(out))
        with made(folder):
            given = {"cluster": cluster, "algorithm": spec, "ranks": ranks, "steps": steps, "lr": server.rate, "workload": "python_model",
                     "profile": of_clock(clock, server.made_alone(), loss, batch, count, folder),
                     "optimizer": "python_optimizer" if server.learning_rate is not None else optimizer} | flags
            try:
                serve(server, ["run", *program.words_of(given | {"out": folder})], program.text_of(flags.get("progress", True)) != "off")
            except BaseException as error:
                tell(error, server, given, folder, scratch)
                raise
            finally:
                server.end()
                server.shared.close()
        done = Simulation(folder, scratch)
        done.model = server.mean_model()
        return done


def giving_scalars(loss: Loss) -> Loss:
    """Raises ValueError, as it is called, for what has no gradient."""
    def checked(model: torch.nn.Module, batch: Any) -> torch.Tensor:
        value = loss(model, batch)
        if not isinstance(value, torch.Tensor) or value.numel() != 1:
            what = f"a tensor of shape {list(value.shape)}" if isinstance(value, torch.Tensor) else f"a {type(value).__name__}"
            raise ValueError(f"loss gave {what}; give a tensor of one element, the mean over the batch")
        return value
    return checked


@contextmanager
def alone() -> Iterator[None]:
    """Raises RuntimeError where another thread of this process simulates."""
    if not turn.acquire(blocking=False):
        raise RuntimeError("another thread of this process is in a simulation, and torch's random numbers are those of the whole process: "
                           "simulate one after the other, or in processes of their own")
    try:
        yield
    finally:
        turn.release()


@contextmanager
def made(folder: pathlib.Path) -> Iterator[None]:
    """A folder that is there, and goes again where it was not and an error left no results in it. Raises ValueError where
    there can be none."""
    before = set(folder.iterdir()) if folder.is_dir() else None
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"cannot make the folder '{folder}': {error.strerror}") from error
    try:
        yield
    except BaseException:
        if not (folder / "run.json").exists():
            for path in set(folder.iterdir()) - (before or set()):
                path.unlink()
            if before is None:
                folder.rmdir()
        raise


def refuse(flags: dict[str, object], ranks: int, steps: int) -> None:
    """Raises ValueError for flags of `trigram run` that mean nothing here."""
    for flag in ("workload", "profile", "global_batch", "label_skew", "validation", "mesh", "checkpoint", "checkpoint_every", "resume"):
        if flag in flags:
            raise ValueError(f"simulate has no {flag}: the model, its data, its clock and its state are Python's; leave it out")
    if not str(flags.get("backend", "sim")).startswith("sim"):
        raise ValueError(f"backend={flags['backend']} is no simulation; give sim, or train by with_trigram")
    for name, value in (("ranks", ranks), ("steps", steps)):
        if value < 1:
            raise ValueError(f"{name}={value} is too few; give 1 or more")


def check_own(server: Server) -> None:
    """Raises ValueError where nobody would step what each rank has for itself, as it would be stepped in a real job."""
    if server.own and server.learning_rate is None:
        raise ValueError(f"parameter '{server.own[0]}' is on one rank only, and optimizers of Trigram step what all ranks have; give one of "
                         "torch, as optimizer=lambda model: torch.optim.SGD(model.parameters(), lr=0.1)")


def whole_of(flags: dict[str, object], name: str, otherwise: int) -> int:
    """What no whole number is, the program refuses."""
    text = str(flags.get(name))
    return int(text) if text.isdecimal() and int(text) >= otherwise else otherwise


def rate_of(server: Server, lr: Optional[float]) -> float:
    """Raises ValueError where an optimizer of torch has another one."""
    if server.learning_rate is None:
        return 0.1 if lr is None else lr
    if lr not in (None, server.learning_rate):
        raise ValueError(f"lr={lr} would do nothing beside an optimizer of torch, which has {server.learning_rate}; leave it out")
    return server.learning_rate


def serve(server: Server, words: list[str], shows_progress: bool) -> None:
    """Starts the program and answers it until it ends. Nothing of it is left when this returns or raises."""
    ours, theirs = socket.socketpair()
    with ours, theirs, tempfile.TemporaryFile() as said, progress.shown() as show:
        server.show = show if shows_progress else server.show
        passed = (theirs.fileno(), server.shared.descriptor)
        environment = os.environ | {"TRIGRAM_PEER": ",".join(map(str, passed))}
        command = [str(program.path()), *words]
        with program.running(command, stdout=subprocess.DEVNULL, stderr=said, pass_fds=passed, env=environment) as process:
            theirs.close()
            server.serve(ours)
            process.wait()
            if process.returncode == 0:
                server.tell_progress(server.steps)
        said.seek(0)
        program.judge(process.returncode, said.read().decode("utf-8", "replace").splitlines(), stacklevel=5)


def tell(error: BaseException, server: Server, flags: dict[str, object], folder: pathlib.Path, scratch: Optional[results.Scratch]) -> None:
    """Leaves the steps that were done where they can be read, and says where."""
    if not server.rows.steps:
        return
    reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    facts = {"description": server.describe()["description"], "flags": {key: program.text_of(value) for key, value in flags.items()},
             "ranks": flags["ranks"], "samples": server.describe()["local_batch"] * int(str(flags["ranks"])),
             "stopped": f"{reason} ({server.where})"}
    record.write(folder, facts, server.rows.steps, server.rows.evals())
    run = results.Run(folder, scratch)
    setattr(error, "run", run)
    if hasattr(error, "add_note"):
        error.add_note(f"The simulation ended {server.where}. The {len(run.steps)} steps that were done are the `run` of this error, "
                       f"with their files in {folder}/.")

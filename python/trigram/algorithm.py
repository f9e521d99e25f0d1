"""An algorithm of distributed training in Python, for trying one out: the hooks of a step, over collectives on torch tensors.

    from trigram.algorithm import WeightMethod

    class LocalSgd(WeightMethod):
        def __init__(self, every=4):
            self.every = every

        def communicates(self, step):
            return (step + 1) % self.every == 0

        def exchange(self, worker, bucket):
            worker.comm.all_reduce(bucket.weights, op="mean")

    trigram.simulate(make, loss, data, algorithm=LocalSgd)                       # on simulated ranks
    trigram.with_trigram(model, [optimizer], lambda: LocalSgd(every=2))          # in a job of mpirun

Hooks and their order are those of core/step/algorithm.hpp, and so are the rules of core/README.md; each rank has an object of its
own. Tensors are torch's, where the model is: on a GPU torch's current stream is that of the hook's lane, so that what a hook or a task
computes and sends runs in its order there, later than it returns. What is sent is counted, and takes the cluster's time in a simulation;
what is computed takes none there unless `worker.charge` says so. On the clock of another model (`simulate(…, clock="vgg16")`) buckets stand for
larger ones, and may have no element of their own: what is computed of them costs as much where it is sent, and `costing` says
it of what has another size. An error in a hook ends the run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

from .extras import require

require("torch", "trigram.algorithm")

import torch

from .collectives import TYPES, Call, Collectives
from .device import CPU, Place
from .kept_state import list_state, state_of, take_back
from .modelled import costing as costing
from .modelled import modelled_count as modelled_count

Ask = Callable[..., Any]
"""Asks the lane that works at present for something, by its name and what it needs."""


class Bucket:
    """Parameters that are fused and travel together, as one flat tensor of float32."""

    def __init__(self, index: int, weights: torch.Tensor, gradients: torch.Tensor) -> None:
        self.index = index
        self.modelled_count = modelled_count(weights)
        """Elements that cost: those of the bucket itself, or on another model's clock of the one that it stands for."""
        self.weights = weights
        """Read by forward, and by backward until the bucket's gradients are there."""
        self.gradients = gradients
        """What is in it at `before_update` is what the optimizer steps along."""

    def __repr__(self) -> str:
        return f"bucket {self.index} of {self.weights.numel()} elements"


class Group(Collectives):
    """Ranks, with the collectives of `trigram.comm`, on the lane whose Worker has it."""

    def __init__(self, name: str, setting: "Setting", ask: Ask, perform: Callable[[str, Call], None]) -> None:
        self._name, self._ask = name, ask
        self.rank, self.size = setting.groups[name]
        self._place = setting.place
        self._perform_call = perform

    def exchange_with_those_there(self, sent: Sequence[tuple[int, torch.Tensor]], received: Sequence[tuple[int, torch.Tensor]]) -> list[int]:
        """As `exchange`, but members that are gone are left out, where the class bears absence: gives those ranks, in ascending order, of whom
        some message did not come or did not arrive. What was to be received from them means nothing."""
        self._exchange("exchange_with_those_there", sent, received)
        return [int(rank) for rank in self._ask("gone")] if sent or received else []

    def _perform(self, call: Call) -> None:
        self._perform_call(self._name, call)


class Pending:
    """What `Worker.start` began."""

    def __init__(self, ask: Ask, number: int) -> None:
        self._ask, self._number = ask, number

    def done(self) -> bool:
        """Whether it has ended, on a GPU there; never waits. Who polls this is not deterministic on a real cluster."""
        return bool(self._ask("done", number=self._number))

    def wait(self) -> None:
        """Returns when it has ended, on a GPU once what the main lane does next is ordered behind it. Raises what it failed with. On the
        main lane."""
        self._ask("wait", number=self._number)


@dataclass
class Setting:
    """What a run has alike for all hooks of a rank."""

    groups: dict[str, tuple[int, int]]
    """A rank's place in each, and the size."""
    hierarchy: str
    gradients: torch.dtype
    place: Place = CPU
    """Of its tensors."""

    @staticmethod
    def of(message: dict[str, Any], place: Place = CPU) -> "Setting":
        """As the hook `setup` is told of it."""
        types = {name: kind for kind, name in TYPES.items()}
        return Setting({name: (place[0], place[1]) for name, place in message["groups"].items()}, message["hierarchy"], types[message["gradients"]], place)


class Worker:
    """One lane of one rank, in one hook: a task gets a Worker of its own."""

    def __init__(self, setting: Setting, message: dict[str, Any], ask: Ask, perform: Callable[[str, Call], None],
                 begin: "Callable[[Callable[[Worker], None]], int]") -> None:
        self.comm, self.node, self.leaders = (Group(name, setting, ask, perform) for name in ("all", "node", "leaders"))
        self.rank, self.world = setting.groups["all"]
        self.hierarchy = setting.hierarchy
        """The run's: "none", "leader", "all_nics"."""
        self.gradients = setting.gradients
        """What gradients are rounded to, and full-precision means of them travel as."""
        self.step: int = message["step"]
        """Counts from 0."""
        self.steps: int = message["steps"]
        """Of the whole run; 0 where nobody knows."""
        self.learning_rate: float = message["learning_rate"]
        self.lane: int = message["lane"]
        self._ask, self._begin, self._perform = ask, begin, perform

    def mean(self, x: torch.Tensor) -> torch.Tensor:
        """x = the mean over all ranks, within the run's hierarchy, in full precision: C_FP_S of methods in C++."""
        self.comm._call("mean", [x])
        return x

    def gradient_mean(self, x: torch.Tensor) -> torch.Tensor:
        """The same of gradients: x travels, and is added, in the type of the run's `gradients`."""
        self.comm._call("gradient_mean", [x])
        return x

    def hierarchical(self, x: torch.Tensor, exchange: Callable[[Group, torch.Tensor], None], *, weighted: bool = False) -> torch.Tensor:
        """x = what `exchange(group, part)` makes of the values of the hierarchy's vertices. Without one these are the ranks; else
        the nodes, with the mean of their ranks' x each, or, where it is to be `weighted`, with the sum times nodes / ranks,
        whose mean over nodes is that over ranks. Of "leader" the first rank of each node exchanges all of x, of "all_nics" each
        a chunk. x is float32."""
        return hierarchical(self, x, exchange, weighted)

    def start(self, bucket: Optional[Bucket], task: "Callable[[Worker], None]") -> Pending:
        """Runs the task `task(worker)` beside the main lane: on the lane of the bucket, or on the one for background methods (None).
        Tasks of a lane run in order; every rank starts the same. Nobody else touches its tensors until `wait`."""
        number = self._begin(task)
        self._ask("start", bucket=-1 if bucket is None else bucket.index, number=number)
        return Pending(self._ask, number)

    def now(self) -> float:
        """Seconds of training on the clock of the run."""
        return float(self._ask("now"))

    def record(self, column: str, value: float) -> None:
        """A number of this rank and step for a column of its own in steps.csv. On the main lane."""
        self._ask("record", column=column, value=float(value))

    def charge(self, flops: float = 0.0, bytes: float = 0.0) -> None:
        """In a simulation, spends the time of a kernel with so many FLOPs, which reads and writes so many bytes; on a real
        cluster nothing, since arithmetic takes its time by itself."""
        self._ask("charge", flops=float(flops), bytes_moved=float(bytes))

    def _list(self, name: str, fate: str, x: torch.Tensor) -> None:
        """An item of state, which is saved, or overwritten."""
        self._ask("list", name=name, fate=fate)
        with torch._C.DisableTorchFunction():
            self._perform("state", Call("list", [x]))

    def _list_text(self, name: str, fate: str, text: str) -> str:
        """What it is from then on."""
        return str(self._ask("list_text", name=name, fate=fate, text=text))


class Algorithm:
    """The hooks of a step, all empty by default. State is kept in members."""

    synchronous, full_precision, centralized = True, True, True
    """The three relaxations, for what is printed."""
    deterministic = True
    """False where results depend on timing, as of a polled Pending."""
    local_updates = False
    """True where a bucket may be updated, and `after_update` called, as soon as its own gradient is complete."""
    uses_optimizer = True
    """False where the algorithm changes all weights by itself, in `update`."""
    hierarchical = False
    """True where all exchanges follow the run's hierarchy: those of `worker.mean`, `worker.gradient_mean`, `worker.hierarchical`."""
    bears_absence = False
    """True where each exchange in a step is `exchange_with_those_there`, and a rank weighs itself what those who are gone would have weighed: then nobody
    undoes a step where a member is lost."""
    fates: Mapping[str, str] = {}
    """Of each attribute that `setup` makes and steps change, by its name, one word for what becomes of it where ranks leave or join: "alike"
    where all hold the same; "own" where each goes on with its own, and a newcomer with the mean; "averaged", as residuals, where all go on with the
    mean; "balanced", as own, but moved so that the mean over ranks stays where it was; "joint", as balanced, and as `setup` makes it where a rank was lost; "anew" where `setup` makes it. Attributes are tensors, lists
    or dicts of them, numbers or texts."""

    def setup(self, worker: Worker, buckets: list[Bucket]) -> None:
        """Weights are equal on all ranks."""

    def before_forward(self, worker: Worker) -> None:
        """Exchanges of weights that hide behind forward and backward start here."""

    def gradients_ready(self, worker: Worker, bucket: Bucket) -> None:
        """As soon as a bucket's gradient is complete, on this rank."""

    def before_update(self, worker: Worker) -> None:
        """Waits for what the update needs."""

    def update(self, worker: Worker, bucket: Bucket) -> None:
        """What the algorithm steps by itself, after the optimizer."""

    def after_update(self, worker: Worker, bucket: Bucket) -> None:
        """Where decentralized and model-averaging methods act."""

    def after_step(self, worker: Worker) -> None:
        """Weights are whole when it returns."""

    def finish(self, worker: Worker) -> None:
        """Ends what runs in the background; weights are final."""

    def quiesce(self, worker: Worker) -> None:
        """Before `state_dict`: nothing is under way when it returns."""

    def state_dict(self) -> dict[str, Any]:
        """What members keep from one step to the next and `setup` does not bring back, for checkpoints of with_trigram: all that has
        a fate, unless a class has its own."""
        return state_of(self)

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on from there, after `setup`."""
        take_back(self, state)


class GradientMethod(Algorithm):
    """Exchanges each bucket's gradients as soon as they are complete, behind the rest of backward; the update waits."""

    def exchange(self, worker: Worker, bucket: Bucket) -> None:
        """Turns this rank's gradient into the one to apply; on the bucket's lane."""
        raise NotImplementedError(f"{type(self).__name__} has no exchange(worker, bucket)")

    def gradients_ready(self, worker: Worker, bucket: Bucket) -> None:
        begun(self).append(worker.start(bucket, lambda lane: self.exchange(lane, bucket)))

    def before_update(self, worker: Worker) -> None:
        wait_for_all(self)


class WeightMethod(Algorithm):
    """Updates each bucket locally and exchanges its weights behind the rest of backward; the step ends when all are whole."""

    local_updates = True

    def communicates(self, step: int) -> bool:
        """Whether this step exchanges at all; the same on every rank. Asked once a step."""
        return True

    def exchange(self, worker: Worker, bucket: Bucket) -> None:
        """Turns this rank's weights into the mixed ones; on the bucket's lane."""
        raise NotImplementedError(f"{type(self).__name__} has no exchange(worker, bucket)")

    def after_update(self, worker: Worker, bucket: Bucket) -> None:
        if self.communicates(worker.step):
            begun(self).append(worker.start(bucket, lambda lane: self.exchange(lane, bucket)))

    def after_step(self, worker: Worker) -> None:
        wait_for_all(self)


def hierarchical(worker: Worker, x: torch.Tensor, exchange: Callable[[Group, torch.Tensor], None], weighted: bool) -> torch.Tensor:
    """As core/lane/hierarchy.cpp."""
    def bring(part: torch.Tensor) -> None:
        exchange(worker.leaders, part.mul_(worker.leaders.size / worker.world if weighted else 1 / worker.node.size))

    if worker.hierarchy == "none":
        exchange(worker.comm, x)
    elif worker.hierarchy == "leader":
        worker.node.reduce(x)
        if worker.node.rank == 0:
            bring(x)
        worker.node.broadcast(x)
    else:
        bring(worker.node.reduce_scatter(x))
        worker.node.all_gather_chunks(x)
    return x


def of_another_lane(number: int) -> RuntimeError:
    return RuntimeError(f"a Worker of lane {number} was used outside of the hooks of that lane; a task uses the Worker that it is given, "
                        "and the main lane waits for it")


def begun(algorithm: Algorithm) -> list[Pending]:
    """By a subclass, which need not call an `__init__` of its base."""
    pending: list[Pending] = algorithm.__dict__.setdefault("_begun", [])
    return pending


def wait_for_all(algorithm: Algorithm) -> None:
    for pending in begun(algorithm):
        pending.wait()
    begun(algorithm).clear()


Make = Callable[[], Algorithm]


def made(make: Make) -> Algorithm:
    """Raises ValueError for what makes no algorithm."""
    if isinstance(make, Algorithm):
        raise ValueError(f"algorithm is one {type(make).__name__}, and each rank needs its own; give a function that makes them, as "
                         f"lambda: {type(make).__name__}(…), or the class")
    algorithm = make()
    if not isinstance(algorithm, Algorithm):
        raise ValueError(f"algorithm made a {type(algorithm).__name__}; give a class derived from trigram.algorithm.Algorithm, or a "
                         "function that makes such an object")
    return algorithm


def has_own(algorithm: Algorithm, hook: str, base: type[Algorithm]) -> bool:
    """Whether it is not that of `base`."""
    return getattr(getattr(algorithm, hook), "__func__", None) is not getattr(base, hook)


def exchanges_of(algorithm: Algorithm) -> str:
    """What a method of an ordinary shape exchanges, which then only does that: starting and waiting is the library's."""
    for base, what, hooks in ((GradientMethod, "gradients", ("gradients_ready", "before_update")), (WeightMethod, "weights", ("after_update", "after_step"))):
        if isinstance(algorithm, base) and not any(has_own(algorithm, hook, base) for hook in hooks):
            return what
    return "nothing"


def hooks_of(algorithm: Algorithm) -> list[str]:
    """Those that do something and are its own to run."""
    exchanges = exchanges_of(algorithm)
    base = {"gradients": GradientMethod, "weights": WeightMethod, "nothing": Algorithm}[exchanges]
    methods = [name for name, value in vars(Algorithm).items() if callable(value)]
    return [name for name in methods if has_own(algorithm, name, base)] + (["communicates"] if exchanges == "weights" else [])


def spec_of(algorithm: Algorithm, hands_over: bool = False) -> str:
    """As the program and the library know it. `hands_over`: whether others may go on from what it keeps."""
    words = {"name": type(algorithm).__name__, "synchrony": "synchronous" if algorithm.synchronous else "asynchronous",
             "precision": "full" if algorithm.full_precision else "low",
             "centrality": "centralized" if algorithm.centralized else "decentralized"}
    hooks = hooks_of(algorithm) + (["list_state"] if hands_over else [])
    words |= {"hooks": "+".join(hooks) or "setup", "exchanges": exchanges_of(algorithm)}
    words |= {key: "on" if getattr(algorithm, key) else "off" for key in ("deterministic", "local_updates", "uses_optimizer", "hierarchical", "bears_absence")}
    return "python_algorithm:" + ",".join(f"{key}={value}" for key, value in words.items())


def tell(algorithm: Algorithm, message: dict[str, Any], worker: Worker, buckets: list[Bucket],
         tasks: dict[int, Callable[[Worker], None]]) -> None:
    """Runs the hook, or the task that was begun."""
    with torch.no_grad():
        if "task" in message:
            tasks.pop(message["task"])(worker)
        elif "exchange" in message:
            getattr(algorithm, "exchange")(worker, buckets[message["exchange"]])
        elif message["hook"] == "communicates":
            if getattr(algorithm, "communicates")(worker.step):
                worker._ask("communicates")
        elif message["hook"] == "setup":
            algorithm.setup(worker, buckets)
        elif message["hook"] == "list_state":
            list_state(algorithm, worker)
        elif message["bucket"] >= 0:
            getattr(algorithm, message["hook"])(worker, buckets[message["bucket"]])
        else:
            getattr(algorithm, message["hook"])(worker)

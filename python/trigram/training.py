"""Calls that train a PyTorch model: as a rank of a real job, or on simulated ranks. torch is imported by the first."""

import pathlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Optional, TypeVar, overload

from .extras import require

if TYPE_CHECKING:
    import torch
    from torch.distributed.device_mesh import DeviceMesh

    from . import algorithm as algorithms
    from .conformance import Checked
    from .hook import Hook
    from .members.borders import Stateful
    from .members.course import Members
    from .overflow import Scaler
    from .profile import Clock, Seconds
    from .shard_exchange import ShardExchange
    from .sharded_hook import FsdpHook
    from .simulation import Simulation

    Model = TypeVar("Model", bound=torch.nn.Module)


def with_trigram(model: "Model", optimizers: "Sequence[torch.optim.Optimizer]",
                 algorithm: "str | algorithms.Make" = "all_reduce", *,
                 broadcast_buffers: bool = True, find_unused_parameters: bool = False, learning_rate: Optional[float] = None,
                 grad_scaler: "Optional[Scaler]" = None, mesh: "Optional[DeviceMesh]" = None, **flags: object) -> "Model":
    """Trains `model` together with those of the other processes of a job, by any algorithm of `products("algorithms")`.

        model = Net()                                                     # torchrun --nproc-per-node 4 train.py
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        trigram.with_trigram(model, [optimizer], "bytegrad:error_feedback=on")
        for x, y in loader:                                               # each rank its own samples
            optimizer.zero_grad()
            loss(model(x), y).backward()                                  # gradients are final when it returns
            optimizer.step()                                              # and weights when this does
        with model.trigram.mean_model():                                  # what the ranks have trained together
            if model.trigram.rank == 0: torch.save(model.state_dict(), "model.pt")
        model.trigram.finish()

    All processes call it, with rank 0's weights to begin with. Parameters move into buckets, whose memory `p.data` and `p.grad` are
    until `finish()`; gradients begin every step at 0. `model.trigram` is the Job: its `rank` and `ranks`, `no_sync()` for
    accumulation, `join()` for batches of other numbers on other ranks, `mean_model()` to evaluate and save, `steps()`, `evals()` and
    `trace()` as tables and `save(folder)` as files, which `trigram plot FOLDER OTHER` draws beside those of a simulation, `state_dict()`
    and `load_state_dict()` for checkpoints, `finish()`. Copies of the model, as deepcopy, pickle and AveragedModel make them, are plain
    models without a job.
    The model is trained as it is: a DistributedDataParallel around it is refused. A step begins with a forward pass of the whole model
    in training mode; where an algorithm works on gradients alone, with any backward pass. Optimizers may take closures, also such as ask
    for gradients several times where an algorithm works on gradients alone, and may step in turn. What is frozen stands still from the next
    step on; parameters that are unfrozen, new or replaced are refused by name, until `finish()` and another with_trigram.

    `algorithm`: a name with parameters, or a class of your own (trigram.algorithm), or a function that makes such an object.
    `broadcast_buffers`: at the begin of each step all ranks take rank 0's buffers, as those of batch norm.
    `find_unused_parameters`: those that no rank has used in a step get gradient None, as in DistributedDataParallel, at the
    price of a small exchange; else 0, which momentum and weight decay step along.
    `grad_scaler`: torch's GradScaler, where the loop has one and the method works on gradients alone. A step in which gradients of any
    rank overflow is then left out by all ranks, as if it had never been: residuals are those of before, at the price of a copy of
    them and a look at all gradients in each step. Such a step ends with the `zero_grad()` after it. Means in full precision need no
    `grad_scaler`, unless some parameters are on this rank only; codecs may hide an overflow, and residuals keep it, for which RuntimeError
    is raised where the optimizers are not `fused`, so that the scaler leaves them out.
    A model that fully_shard (FSDP2) has cut over one dimension of a DeviceMesh trains along the other one, each rank with those that have the
    same shards, by any algorithm: FSDP within an island, this between islands. `mesh` is the dimension along which ranks train together, where
    it is not the only one left, and for whole models, as stages of a pipeline are; `job.rank` and `job.ranks` are then those along it. Shards
    train on the CPU by backend torch, without `grad_scaler` and `join()`.
    Parameters in bfloat16, float16 and float64 keep their type, and buckets hold in float32 what ranks exchange and add, gradients or masters of
    weights: gradients are rounded to their type once, masters keep what theirs rounds off, and float64 loses what float32 does not hold.
    Modules with the mark `only_on_this_rank = True`, as experts of `trigram.nn.MoE`, keep their own parameters and buffers.
    An algorithm that steps the weights by itself, as one_bit_adam, is given no optimizer but a `learning_rate`, as no other, and
    `model.trigram.step()` takes the place of `optimizer.step()`.
    `flags` are those of `trigram run`: lanes, overlap, hierarchy, gradients, all_reduce, bucket_size, seed, trace, and backend:
    "torch:timeout=60s", by torch.distributed (gloo), the default where torchrun started the processes, or the script itself has
    called init_process_group; or "mpi:timeout=60s", by MPI, the default below mpirun and srun. Weights are the same to the last
    bit. A model whose parameters and buffers all lie on one CUDA device trains by "gpu:timeout=60s", on NCCL. What "final" says of
    gradients and weights is then said of the stream that is current: ranks' exchange is ordered before whatever it is given next. The
    host waits for the device so as not to be more than two steps ahead, with find_unused_parameters where this rank has left some
    unused, with grad_scaler at the begin of each step, as that does for its scale, and where somebody looks at numbers, as `steps()` and `evaluate` do.
    `timeout` is how long ranks may take to meet, and an exchange to end, 300 s if nothing is said.
    Returns the model. Raises ValueError for what cannot be trained so, with the reason; RuntimeError where a rank has failed, by
    its own word, or because it died or stopped."""
    require("torch", "trigram.with_trigram")
    from .job import Job
    model.trigram = Job(model, optimizers, algorithm, broadcast_buffers, find_unused_parameters, learning_rate, grad_scaler, mesh, flags)
    return model


def with_members(model: "torch.nn.Module", optimizers: "Sequence[torch.optim.Optimizer]", algorithm: "str | algorithms.Make" = "all_reduce", *,
                 also: "Sequence[Stateful]" = (), rendezvous: Optional[str] = None, begin_with: Optional[int] = None, min_members: int = 1,
                 border_every: int = 0, checkpoint_every: int = 0, membership: "Optional[str | pathlib.Path]" = None, heartbeat: float = 3.0,
                 timeout: float = 300.0, learning_rate: Optional[float] = None, broadcast_buffers: bool = True, **flags: object) -> "Members":
    """Trains `model` together with members that come and go: each is a process that was started alone, as by `trigram launch -n 4 -- python
    train.py` or `torchrun --nproc-per-node 1 --max-restarts 100 train.py`.

        members = trigram.with_members(model, [optimizer], "bytegrad:error_feedback=on", also=[schedule])
        for step in members.steps(1000):
            with step:                                            # done by all members or by none
                mine = step.share(len(x), batch=64)               # of 64 samples, whoever is there
                optimizer.zero_grad()
                (step.scale * loss(model(x[mine]), y[mine])).backward()
                optimizer.step()
        members.finish()

    Returns when this process is a member. Members meet in `rendezvous`, a folder on a disk that all see, "file:/shared/job", else what
    TRIGRAM_RENDEZVOUS names; each job takes a folder of its own. The job begins with `begin_with` members, else TRIGRAM_MEMBERS, and goes on
    while `min_members` are there; fewer wait for others. Every `border_every` steps all meet, and each copies what it would go back to; 0
    has them do so as often as takes a fiftieth of the time, and after the steps at which `membership` has others.
    Where one is lost, the others go on from the last border, or, with gossip that needs nobody in particular, from the next one, and what was begun after it leaves no trace in weights, in what the algorithm,
    optimizers and objects in `also` keep (anything with `state_dict` and `load_state_dict`), in buffers and in torch's random numbers. Who
    comes later fetches all that, and begins where the others are. With such gossip members that are cut off train on, which `members.apart` says, and come back with
    what they have. `algorithm` may be a class of your own, whose `fates` say what becomes of what
    it keeps. SIGTERM lets a member leave at the next border, with what it holds, and ends
    the process with 0.
    A job that has lost all its members goes on, with as many as come then, from the last checkpoint in that folder, which is written behind the
    training's back every `checkpoint_every` steps, and where SIGTERM has ended all.
    `membership`: a file as of `trigram run --membership`, by which members of a test come, leave and are lost; where it says steps, no others come.
    `heartbeat`: seconds; a process that is gone is missed at once, one that is silent for two of them, after at most six seconds more. `timeout`:
    how long an exchange, or one who lives, is waited for. Other arguments are those of `with_trigram`. Models train on the CPU, by backend torch, or
    each on a CUDA device of its own, by backend gpu, where gossip goes back to the last border too.
    Raises ValueError for what cannot be trained so, RuntimeError where the same step fails again and again."""
    require("torch", "trigram.with_members")
    from .members.begin import begin
    rules = {"begin_with": begin_with, "at_least": min_members, "border_every": border_every,
             "checkpoint_every": checkpoint_every, "heartbeat": heartbeat, "patience": timeout}
    return begin(model, optimizers, algorithm, also, rendezvous, rules, membership, learning_rate, broadcast_buffers, flags)


def ddp_hook(model: "torch.nn.parallel.DistributedDataParallel", algorithm: str = "bytegrad", *,
             optimizer: "Optional[torch.optim.Optimizer]" = None, grad_scaler: "Optional[Scaler]" = None, **flags: object) -> "Hook":
    """Lets a model that DistributedDataParallel has wrapped average its gradients by a gradient method of Trigram, as
    bytegrad, qsgd or power_sgd; the first two steps average plainly, while DDP finds its buckets.

        model = DistributedDataParallel(Net())                            # after init_process_group
        hook = trigram.ddp_hook(model, "bytegrad:error_feedback=on", optimizer=optimizer)
        …                                                                 # train as before
        hook.finish()

    `optimizer` tells the learning rate, which residuals of codecs follow where it changes. `grad_scaler` and `flags` as in
    `with_trigram`; but that residuals have kept an overflow, where there is a scaler and it was not given, nobody notices here. A model
    on a CUDA device, for which DDP has nccl, is averaged by backend gpu. Returns the Hook: its `steps()` and `finish()`. Raises ValueError
    for other methods."""
    require("torch", "trigram.ddp_hook")
    from .hook import Hook
    return Hook(model, algorithm, optimizer, grad_scaler, flags)


@overload
def fsdp_hook(model: "torch.nn.Module", algorithm: str = "bytegrad", *, mesh: "Optional[DeviceMesh]" = None,
              optimizer: "Optional[torch.optim.Optimizer]" = None, gather: Optional[str] = None, reduce: Optional[str] = None,
              **flags: object) -> "FsdpHook": ...


@overload
def fsdp_hook(model: "torch.nn.Module", algorithm: None, *, gather: Optional[str] = None, reduce: Optional[str] = None,
              **flags: object) -> "ShardExchange": ...


def fsdp_hook(model: "torch.nn.Module", algorithm: Optional[str] = "bytegrad", *, mesh: "Optional[DeviceMesh]" = None,
              optimizer: "Optional[torch.optim.Optimizer]" = None, gather: Optional[str] = None, reduce: Optional[str] = None,
              **flags: object) -> "FsdpHook | ShardExchange":
    """Lets a model that fully_shard has cut over one dimension of a mesh average its gradients along another one by a gradient method of
    Trigram: HSDP, whose all-reduce is ours. Takes torch from 2.7 on.

        mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("replicas", "shards"))
        for layer in (*model.layers, model): fully_shard(layer, mesh=mesh["shards"])
        hook = trigram.fsdp_hook(model, "bytegrad:error_feedback=on", optimizer=optimizer)
        …                                                                 # train as before
        hook.finish()

    Each backward pass that reduces gradients is an exchange, of one bucket for each module of FSDP; accumulate by
    `model.set_requires_gradient_sync(False)`. `mesh` as in `with_trigram`, `optimizer` and `flags` as in `ddp_hook`. Weights are those of the first
    part of `mesh` to begin with where the script makes them so: the hook sees gradients alone.

    `gather` and `reduce`, where torch has `FSDPModule.set_custom_all_gather`: codecs of `products("codecs")` by which FSDP gathers weights and reduces gradients among the shards
    of one model, as "bf16" or "qsgd:levels=7,bucket_size=256,stochastic=off", one frame for each module and rank. Ranks step their shards as
    they are, in f32; what all compute with is what the codec leaves of them, on the rank that owns a shard too. Choose for `gather` one that
    keeps every weight. Gradients are added in f32, each decoded from a frame of its own. With `algorithm=None` there is nothing besides, as where
    a mesh has no other dimension; then the hook has `bytes_sent()` and `finish()` alone. After `finish()` FSDP exchanges plainly.

    Returns the FsdpHook: its `steps()`, `bytes_sent()` and `finish()`. Raises ValueError for other methods, and for what FSDP would not show it."""
    require("torch", "trigram.fsdp_hook")
    if algorithm is None:
        if gather is None and reduce is None:
            raise ValueError("fsdp_hook was given no algorithm between islands and no codec between shards, so it would do nothing; give one of "
                             "algorithm, gather and reduce")
        if mesh is not None or optimizer is not None:
            raise ValueError("mesh or optimizer goes with an algorithm between islands, and fsdp_hook was given none; leave it out")
        from .shard_exchange import ShardExchange
        if unknown := sorted(flags.keys() - set(ShardExchange.FLAGS)):
            raise ValueError(f"fsdp_hook without an algorithm knows no flag '{unknown[0]}'; there are {' and '.join(ShardExchange.FLAGS)}")
        return ShardExchange(model, gather, reduce, flags)
    from .sharded_hook import FsdpHook
    return FsdpHook(model, algorithm, optimizer, mesh, gather, reduce, flags)


def simulate(make: "Callable[[], torch.nn.Module]", loss: "Callable[[torch.nn.Module, Any], torch.Tensor]", data: Callable[[int, int], Any],
             *, algorithm: "str | algorithms.Make" = "all_reduce", ranks: int = 8, steps: int = 100, lr: Optional[float] = None,
             optimizer: "Optional[str | Callable[[torch.nn.Module], torch.optim.Optimizer]]" = None,
             score: "Optional[Callable[[torch.nn.Module], Any]]" = None, cluster: str = "two_by_four", clock: "Clock" = "flops",
             samples: Optional[int] = None, broadcast_buffers: bool = True, out: "str | pathlib.Path | None" = None,
             **flags: object) -> "Simulation":
    """Trains a PyTorch model on simulated ranks: gradients are real, of each rank's own batch; the clock is a cluster's.

        def make(): torch.manual_seed(0); return Net()          # one a simulated rank
        def data(rank, step): return batches[rank][step]
        def loss(model, batch): x, y = batch; return F.cross_entropy(model(x), y)
        def score(model): return F.cross_entropy(model(x), y), accuracy(model)
        run = trigram.simulate(make, loss, data, score=score, algorithm="bytegrad", ranks=8, steps=200, lr=0.1,
                               cluster="two_by_four:nic_bandwidth=1Gbps", clock="vgg16", evaluate_every=20)
        run.evals.plot("time_s", "loss")

    All runs in the thread that calls, on the CPU, so that closures, errors and Ctrl-C are those of any function; but `loss` of
    models that communicate has a thread a rank, and `score` cannot communicate. Weights are those of `with_trigram` under mpirun
    on the same batches, with the same optimizer of torch and the same bucket_size, to the last bit where the algorithm is
    deterministic; but with a profile's clock, whose sizes cut other buckets.

    `make()`: a model in float32, the same each time; rank 0's weights and buffers are what all begin with. A model whose layers meet
    other ranks, as those of `trigram.nn`, takes `comm.join()` within `make`: its collectives run within `loss`, on the cluster's
    network, before the compute of their step, which stands still for them; steps has the columns model_bytes,
    model_bytes_between_nodes and model_s of them, the seconds being within compute_s. What is marked `only_on_this_rank` stays with its
    rank, and is rank 0's in `.model`.
    `data(rank, step)`: what `loss` is given, of any kind; (0, 0) is asked for once more before; with `accumulate=4` steps count
    micro-batches, of which each step has four. `loss(model, batch)`: a scalar, the mean over
    the batch; the model is in training mode, and random numbers of torch are a stream for each rank. `score(model)`: the
    loss, or (loss, accuracy in [0, 1]), of the mean model in evaluation mode, without gradients; it costs no time.
    `optimizer`: one of `products("optimizers")`, with `lr`, 0.1 by default; or a function of the model that makes one of
    torch.optim, once a rank, whose first group's rate is the run's. `schedule` multiplies the rates of either.
    `algorithm`: as in `with_trigram`; what one of your own computes takes no time unless it says so (Worker.charge).
    `clock`: the name of one of `products("profiles")`, whose sizes and times the model borrows ("gpt2_xl:compute=0.4s"); "flops", the
    model's own layers, as `profile_of` counts them, on the cluster's GPU; seconds of a step's compute, spread over layers
    by their FLOPs; or {layer: (forward, backward)} in seconds, by the names of `model.named_modules()`.
    `samples`: of a batch, where the length of its first tensor does not say. `broadcast_buffers`: as in `with_trigram`,
    but it costs neither time nor bytes.
    `out`: the folder of the files, else a temporary one. `flags`: those of `trigram run`, as evaluate_every, seed,
    bucket_size, hierarchy, trace, fidelity.

    Returns the Run, with the trained mean model as `.model`. Raises ValueError for what cannot be simulated; whatever
    the functions raise; FloatingPointError for a loss that is not finite. An error, Ctrl-C too, ends the program, and the
    steps that were done are in `out`, and a Run in the error's `run`."""
    require("torch", "trigram.simulate")
    from . import simulation
    return simulation.simulate(make, loss, data, algorithm, ranks, steps, lr, optimizer, score, cluster, clock, samples, broadcast_buffers,
                               out, flags)


def check(algorithm: "algorithms.Make", *, ranks: Sequence[int] = (1, 2, 4),
          bytes_sent: "Optional[Callable[[int, int, int, list[int]], int]]" = None) -> "Checked":
    """Tries an algorithm in Python on simulated ranks, with gradients that are known beforehand, and holds it to what its class says.

        assert trigram.check(LocalSgd).holds
        trigram.check(lambda: LocalSgd(every=2), bytes_sent=lambda step, rank, ranks, counts:
                      (step % 2) * 2 * (ranks - 1) * sum(4 * count // ranks for count in counts))

    In a shell it is `trigram check mine.py:LocalSgd`, which ends with 1 where something does not hold. What is tried, and of what:

        training        every training ends, without an error and with finite weights
        communication   rank 0 sends something, of more than one rank
        replicas        ranks have equal weights, to the bit, after each exchange: GradientMethod and WeightMethod that are centralized and synchronous
        mean            the mean of weights follows the mean gradient: what is synchronous, in full precision, and leaves the step to an optimizer
        direction       where gradients are the same in each step, weights end against them
        influence       other gradients on any one rank change the weights of others
        bits            weights are the same again, and without overlap: what is deterministic
        bytes           what rank 0 sends in each step is what `bytes_sent(step, rank, ranks, counts)` says, where it is given; `counts` are the
                        elements of each bucket

    `ranks`: on how many; what says `hierarchical = True` is tried in hierarchies of two nodes of two ranks besides. Returns what came of it: `holds`,
    `findings`, and a text that names claim, ranks and step of what fails. Raises ValueError for what is no algorithm."""
    require("torch", "trigram.check")
    from . import conformance
    return conformance.check(algorithm, ranks, bytes_sent)


def profile_of(model: "torch.nn.Module", batch: Any, path: "str | pathlib.Path", *,
               loss: "Optional[Callable[[torch.nn.Module, Any], Any]]" = None, samples: Optional[int] = None,
               seconds: "Optional[Seconds]" = None) -> pathlib.Path:
    """Writes a model as a table of layers, which is a profile: each trained parameter once, with its shape, also of modules
    that are never called; FLOPs and activations of each layer, as one forward pass of `batch` in training mode has them.

        with torch.device("meta"):                             # no memory, no arithmetic: a billion parameters in a second
            model, tokens = GPT(), torch.zeros(4, 1024, dtype=torch.long)
        table = trigram.profile_of(model, tokens, "gpt.csv")
        trigram.run(workload=f"profile:file={table},compute=roofline", ranks=1024, cluster="dgx_h100")

    `batch`: a tensor, or a tuple, a list or a dict of the model's arguments; with `loss(model, batch)`, whatever that takes. A
    layer is a module with parameters of its own; what is computed outside of those counts for the one before. Matrix products
    and convolutions have two FLOPs a multiply-add, all else one an element; backward is taken as twice forward.
    `samples`: of the batch, where the length of its first tensor does not say. `seconds`: {layer: (forward, backward)} that
    were measured, in place of FLOPs; then nothing is computed. Returns the path. Raises ValueError for a model that trains
    nothing, for a batch without samples, and for layers that `seconds` lacks or that it alone has."""
    require("torch", "trigram.profile_of")
    from . import profile
    return profile.profile_of(model, batch, path, loss, samples, seconds)

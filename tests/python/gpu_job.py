"""One rank of a job that launch.sh started, on doubles of CUDA and NCCL: the same models by backend torch and by backend gpu, whose
memory is here the host's, and whose streams are the double's and run late. gpu_job.py FOLDER; rank 0 prints which cases held."""

import contextlib
import ctypes
import math
import os
import sys
import unittest.mock
import warnings

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import trigram
import python_algorithms
from job_case import STEPS, JobCase, Net, loss_of, momentum, plain, scaler_of, seeded, wrapped
from trigram import algorithm, comm, device, job_hooks, library, nn

GPU = "gpu:timeout=60s"
METHODS = ["all_reduce", "bytegrad:error_feedback=on", "local_sgd:every=2", "decentralized:topology=ring", "qsgd"]
# The double of kernels as plain C++ has CUDA's names as C++ makes them; that of kernels as PTX has them as they are.
IN_CPLUSPLUS = {"cudaMemsetAsync": "_Z15cudaMemsetAsyncPvimP11CUstream_st", "cudaStreamCreate": "_Z16cudaStreamCreatePP11CUstream_st",
                "cudaMemcpyAsync": "_Z15cudaMemcpyAsyncPvPKvm14cudaMemcpyKindP11CUstream_st",
                "cudaSetDevice": "_Z13cudaSetDevicei", "cudaStreamSynchronize": "_Z21cudaStreamSynchronizeP11CUstream_st"}
WITHIN_THE_DEVICE = 3


class Double(device.Place):
    """The double as a device whose memory torch's CPU has. Nobody waits for more of it than the stream that is current: what is not
    ordered behind that is seen too late."""

    kind = "cuda"
    settings = {"device": 0}

    def __init__(self):
        self.streams = [ctypes.c_void_p() for _ in range(2)]
        for one in self.streams:
            self.ask("cudaStreamCreate", ctypes.byref(one))
        self.chosen = self.guards = 0
        self.lane = None  # a stream of the library's, while a hook of an algorithm in Python works there
        self.waits = True

    def __str__(self):
        return "the double"

    @contextlib.contextmanager
    def current(self):
        self.guards += 1
        yield

    @contextlib.contextmanager
    def on(self, stream):
        before, self.lane = self.lane, ctypes.c_void_p(stream)
        try:
            if self.waits:
                self.synchronize()
            yield
        finally:
            self.lane = before

    def present(self):
        return self.lane or self.streams[self.chosen]

    def stream(self):
        return self.present().value

    def synchronize(self):
        self.ask("cudaStreamSynchronize", self.present())

    def ask(self, function, *arguments):
        loaded = library.library()
        call = getattr(loaded, function, None) or loaded[IN_CPLUSPLUS[function]]
        assert call(*arguments) == 0, function

    def fill(self, x, byte):
        self.ask("cudaMemsetAsync", ctypes.c_void_p(x.data_ptr()), byte, ctypes.c_size_t(x.numel() * x.element_size()), self.present())

    def copy(self, to, x):
        self.ask("cudaMemcpyAsync", ctypes.c_void_p(to.data_ptr()), ctypes.c_void_p(x.data_ptr()), ctypes.c_size_t(x.numel() * x.element_size()),
                 WITHIN_THE_DEVICE, self.present())


@contextlib.contextmanager
def on(double, waits=True):
    """Models and communicators are there; with `waits` torch sees what the stream has done when a moment or a call returns, and in hooks of
    algorithms in Python, unless `double.waits` says no."""
    def then_wait(ordered, hook=False):
        def both(*arguments):
            ordered(*arguments)
            if double.waits or not hook:
                double.synchronize()
        return both if waits else ordered

    with contextlib.ExitStack() as stack:
        for place, name, value in ((device, "place_of", lambda tensors: double), (comm, "place_named", lambda given: double),
                                   (library.Session, "_hook", then_wait(library.Session._hook)),
                                   (comm.Joined, "call", then_wait(comm.Joined.call)),
                                   (job_hooks.JobHooks, "_call", then_wait(job_hooks.JobHooks._call, hook=True))):
            stack.enter_context(unittest.mock.patch.object(place, name, value))
        yield


class Late(algorithm.GradientMethod):
    """all_reduce, for which nothing waits: what comes too early, or too late, sees zeros."""

    def __init__(self, double):
        self.double, self.buckets = double, []

    def there_and_back(self, x):
        kept = torch.empty_like(x)
        self.buckets.append(kept)  # which lives until it has been read
        self.double.copy(kept, x)
        self.double.fill(x, 0)
        self.double.copy(x, kept)

    def exchange(self, worker, bucket):
        self.there_and_back(bucket.gradients)
        worker.comm.all_reduce(bucket.gradients, op="mean")

    def gradients_ready(self, worker, bucket):
        self.there_and_back(bucket.gradients)
        super().gradients_ready(worker, bucket)

    def update(self, worker, bucket):
        self.there_and_back(bucket.weights)


class Cases(JobCase):
    def __init__(self):
        super().__init__()
        self.double = Double()

    def both(self, body, *arguments):
        """What it gives on either."""
        on_cpu = body("torch:timeout=60s", *arguments)
        with on(self.double):
            return on_cpu, body(GPU, *arguments)

    def same(self, pair):
        assert all(map(torch.equal, *pair)), [float((a - b).abs().max()) for a, b in zip(*pair)]

    def weights(self, backend, method):
        model = self.train(method, backend=backend)
        model.trigram.finish()
        return [one.detach() for one in model.parameters()]

    def case_methods_have_the_bits_of_the_cpu(self):
        for method in METHODS:
            self.same(self.both(self.weights, method))

    def case_algorithms_in_python_have_the_bits_of_the_cpu(self):
        for method in python_algorithms.TWINS.values():
            self.same(self.both(self.weights, method))

    def case_algorithms_in_python_order_on_the_lanes(self):
        expected = self.weights("torch:timeout=60s", "all_reduce")
        for lanes in (1, 2):
            with on(self.double), unittest.mock.patch.object(self.double, "waits", False):
                late = Late(self.double)
                model = self.train(lambda: late, backend=GPU, lanes=lanes)
                model.trigram.finish()
            self.same((expected, list(model.parameters())))

    def case_a_method_that_steps_by_itself(self):
        def body(backend):
            model = seeded(Net)
            wrapped(model, [], "one_bit_adam:warmup=2", learning_rate=0.01, backend=backend)
            for number in range(STEPS):
                loss_of(model, self.rank, number).backward()
                model.trigram.step()
            model.trigram.finish()
            return list(model.parameters())
        self.same(self.both(body))

    def case_a_step_that_overflows_is_left_out(self):
        def body(backend):
            model, scaler = seeded(Net), scaler_of(1024.0)
            optimizer = momentum(model)
            wrapped(model, [optimizer], "bytegrad:error_feedback=on", grad_scaler=scaler, backend=backend)
            for number in range(STEPS):
                optimizer.zero_grad()
                loss = loss_of(model, self.rank, number) * (math.inf if (number, self.rank) == (1, 0) else 1)
                scaler.scale(loss).backward()
                scaler.step(optimizer)
                scaler.update()
            model.trigram.finish()
            assert scaler.get_scale() == 512, scaler.get_scale()
            return list(model.parameters())
        self.same(self.both(body))

    def case_buffers_unused_parameters_scores_and_losses(self):
        def body(backend):
            model = seeded(lambda: torch.nn.ModuleDict({"net": Net(), "norm": torch.nn.BatchNorm1d(6)}))
            model.forward = lambda x, branch=True: model["net"](model["norm"](x), branch=branch)
            optimizer = momentum(model)
            job = wrapped(model, [optimizer], find_unused_parameters=True, backend=backend).trigram
            for number in range(STEPS):
                optimizer.zero_grad()
                loss = loss_of(model, self.rank, number, branch=number < 2 and self.rank == 0)
                loss.backward()
                assert (model["net"].branch.weight.grad is None) == (number >= 2)
                optimizer.step()
                job.record_loss(loss)
            job.evaluate(lambda model: (loss_of(model, 7, 0), 0.5))
            job.finish()
            table = job.steps()
            told = torch.tensor([*table["loss"], *table["bytes_sent"], job.evals()["loss"][0], job.evals()["consensus_distance"][0]])
            return [*model.parameters(), *model.buffers(), told]
        self.same(self.both(body))

    def case_resumed_is_never_stopped(self):
        def body(backend):
            model = seeded(Net)
            optimizer = plain(model)
            job = wrapped(model, [optimizer], METHODS[1], backend=backend).trigram
            for number in range(STEPS):
                if number == 2:
                    state = job.state_dict()
                    job.finish()
                    job = wrapped(model, [optimizer], METHODS[1], backend=backend).trigram
                    job.load_state_dict(state)
                self.one(model, optimizer, number, None)
            job.finish()
            return list(model.parameters())
        pair = self.both(body)
        self.same(pair)
        self.same((pair[1], self.both(lambda backend: [*self.plainly(backend)])[1]))

    def plainly(self, backend):
        model = seeded(Net)
        optimizer = plain(model)
        wrapped(model, [optimizer], METHODS[1], backend=backend)
        for number in range(STEPS):
            self.one(model, optimizer, number, None)
        model.trigram.finish()
        return model.parameters()

    def case_hooks_of_ddp(self):
        def body(backend):
            model = DistributedDataParallel(seeded(Net), bucket_cap_mb=0.0003)
            optimizer = momentum(model)
            hook = trigram.ddp_hook(model, METHODS[1], optimizer=optimizer, backend=backend)
            for number in range(STEPS):
                self.one(model, optimizer, number, None)
            hook.finish()
            return list(model.parameters())
        self.same(self.both(body))

    def case_collectives(self):
        def body(backend):
            world = comm.join(backend=backend)
            generator = torch.Generator().manual_seed(self.rank)
            x, y = torch.randn(3, 700, generator=generator), torch.randn(41, generator=generator)
            parts = [torch.zeros(5) for _ in range(self.ranks)]
            parts[self.rank] += self.rank + 1
            handle = world.begin_all_reduce(y)
            seen = [world.all_reduce(x.clone()), world.reduce_scatter(x.clone()).clone(), *world.all_gather(parts),
                    world.broadcast(x.clone(), root=self.ranks - 1), *world.all_to_all(list(x[:1].repeat(self.ranks, 1)), list(torch.zeros(self.ranks, 700)))]
            handle.wait()
            alone = world.split(color=self.rank)
            seen += [y, alone.all_reduce(x.clone(), op="max"), comm.exchanged(world, torch.arange(4.0 * self.ranks).view(self.ranks, 4) + self.rank)]
            world.barrier()
            world.leave()
            return seen
        self.same(self.both(body))

    def case_layers(self):
        def body(backend):
            world = comm.join(backend=backend)
            model = seeded(lambda: torch.nn.Sequential(nn.SyncBatchNorm(6, world), torch.nn.Linear(6, 8)))
            experts = seeded(lambda: nn.MoE(8, lambda: torch.nn.Linear(8, 8), experts=2 * self.ranks, communicator=world, choices=2))
            x = torch.randn(9, 6, generator=torch.Generator().manual_seed(self.rank))
            torch.manual_seed(5)
            made = experts(model(x))
            (made.output.square().mean() + made.balance_loss).backward()
            world.leave()
            return [one.grad for one in (*model.parameters(), *experts.parameters()) if one.grad is not None]
        self.same(self.both(body))

    def case_streams_follow_each_other(self):
        """Each round on the other stream: what is filled there late is what is added up, and is cleared after that only."""
        with on(self.double, waits=False):
            world = comm.join(backend=GPU)
        x, seen = torch.zeros(1 << 16, dtype=torch.uint8), torch.zeros(1 << 16, dtype=torch.uint8)
        guards = self.double.guards
        for round in range(1, 21):
            self.double.chosen = round % 2
            self.double.fill(x, round)
            if round % 3:
                world.all_reduce(x)
            else:
                handle = world.begin_all_reduce(x)
                handle.wait()
            self.double.copy(seen, x)
            self.double.fill(x, 0)
            self.double.synchronize()
            assert self.double.guards == guards + round + (round // 3)
            assert bool((seen == round * self.ranks).all()), (round, seen.unique())
        world.leave()

    def case_a_gpu_refuses(self):
        model = seeded(Net)
        with on(self.double):
            self.raises(ValueError, "the model is on the double, and backend 'mpi' has its ranks on the CPU; leave backend out",
                        lambda: wrapped(model, [plain(model)], backend="mpi"))
            self.raises(ValueError, "the communicator is on the double, and backend 'torch' has its ranks on the CPU",
                        lambda: comm.join(backend="torch"))
            wrapped(model, [plain(model)], backend=None)
            assert model.trigram._flags["backend"] == "gpu"
            model.trigram.finish()
        self.raises(ValueError, "the model is on the CPU, and backend 'gpu' has its ranks on CUDA devices; leave backend out",
                    lambda: wrapped(model, [plain(model)], backend=GPU))


def main(folder):
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=int(os.environ["RANK"]),
                            world_size=int(os.environ["WORLD_SIZE"]))
    cases = Cases()
    for name in [key for key in dir(Cases) if key.startswith("case_")]:
        getattr(cases, name)()
        if cases.rank == 0:
            print("held", name.removeprefix("case_"), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])

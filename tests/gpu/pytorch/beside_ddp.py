"""PyTorch models on GPUs by with_trigram, beside DistributedDataParallel, loops of a few lines, and the CPU: one rank of a job that
torchrun or launch.sh started. beside_ddp.py FOLDER [CASE…], an empty folder that all ranks see; rank 0 prints which cases held, and
the speeds. Ends with 77 and why where torch or a CUDA device is not there; with --there alone it says so and does nothing else."""

import os
import sys
import unittest

import without_cuda

os.environ.setdefault("NCCL_LAUNCH_ORDER_IMPLICIT", "1")  # which NCCL reads once, for DDP
if why := without_cuda.reason():
    print(f"skipped: {why}")
    sys.exit(77)

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel

import trigram
from resnet50 import resnet50
from speed import Speed
from trigram import comm, nn
from trigram.algorithm import GradientMethod

BACKEND = "gpu:timeout=60s"
STEPS = 6
METHODS = ["all_reduce", "bytegrad:error_feedback=on", "qsgd", "local_sgd:every=2", "decentralized:topology=ring", "low_precision_decentralized"]
LONG = 200_000_000  # clock cycles, a tenth of a second or so


class Late(torch.autograd.Function):
    """Whose gradient takes the device its time."""

    @staticmethod
    def forward(context, x):
        return x.view_as(x)

    @staticmethod
    def backward(context, gradient):
        torch.cuda._sleep(LONG)
        return gradient * 1.0


class LateMean(GradientMethod):
    """all_reduce in Python, whose lane takes the device its time between what it copies, sends and divides."""

    def exchange(self, worker, bucket):
        kept = bucket.gradients.clone()
        torch.cuda._sleep(LONG // 10)
        worker.comm.all_reduce(kept)
        bucket.gradients.copy_(kept.div_(worker.world))


class Known(torch.nn.Module):
    """Its gradients are numbers that the caller gives, so that those of all devices are alike to the last bit."""

    def __init__(self, counts=(4096, 36, 1001, 8192)):
        super().__init__()
        self.pieces = torch.nn.ParameterList(torch.nn.Parameter(torch.randn(count)) for count in counts)

    def forward(self, gradients):
        return sum((piece * one).sum() for piece, one in zip(self.pieces, gradients))


def network():
    return torch.nn.Sequential(torch.nn.Linear(32, 256), torch.nn.Tanh(), torch.nn.Linear(256, 256), torch.nn.Tanh(), torch.nn.Linear(256, 16))


def seeded(make, seed=3):
    torch.manual_seed(seed)
    return make()


def momentum(model):
    return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


class Cases:
    """A method a case, which asserts on every rank."""

    def __init__(self, folder):
        self.rank, self.ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        devices = torch.cuda.device_count()
        self.device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", self.rank)) % devices)
        torch.cuda.set_device(self.device)
        torch.backends.cudnn.deterministic = True
        self.ddp = "nccl" if self.ranks <= devices else "gloo"  # NCCL of torch refuses two ranks on one GPU
        dist.init_process_group(self.ddp, init_method=f"file://{folder}/store", rank=self.rank, world_size=self.ranks)

    def batch(self, step, samples=16):
        generator = torch.Generator().manual_seed(1000 * self.rank + step)
        x, y = torch.randn(samples, 32, generator=generator), torch.randint(16, (samples,), generator=generator)
        return x.to(self.device), y.to(self.device)

    def backward(self, model, step, late=lambda x: x):
        x, y = self.batch(step)
        loss = F.cross_entropy(late(model(x)), y)
        loss.backward()
        return loss.detach()

    def here(self, make=network):
        return seeded(make).to(self.device)

    def wrapped(self, model, optimizers, algorithm="all_reduce", **options):
        return trigram.with_trigram(model, optimizers, algorithm, **({"backend": BACKEND, "bucket_size": "64KiB"} | options)).trigram

    def same(self, ours, theirs):
        """DDP halves the gradients of two ranks and adds them, which rounds as adding and halving does; more are added in other orders."""
        difference = max(float((a - b).abs().max()) for a, b in zip(ours.parameters(), theirs.parameters()))
        assert difference <= (0 if self.ranks <= 2 else 1e-6), difference

    def beside_ddp(self, step, make=network, **options):
        """Both models, trained by `step(model, optimizer, number)`."""
        ours, theirs = self.here(make), DistributedDataParallel(self.here(make))
        optimizers = momentum(ours), momentum(theirs)
        job = self.wrapped(ours, [optimizers[0]], **options)
        for number in range(STEPS):
            step(ours, optimizers[0], number)
            step(theirs, optimizers[1], number)
        torch.cuda.synchronize()  # whatever stream the last step was on
        job.finish()
        self.same(ours, theirs.module)
        return job

    def one(self, model, optimizer, number, late=lambda x: x):
        optimizer.zero_grad(set_to_none=True)
        self.backward(model, number, late)
        optimizer.step()

    def case_all_reduce_is_ddp(self):
        for lanes in (1, 2):
            job = self.beside_ddp(self.one, lanes=lanes)
            assert len(job.steps()) == STEPS

    def case_an_algorithm_in_python_is_ddp(self):
        """Each line of it follows the one before on the stream of its lane, and the optimizer all of them."""
        for lanes in (1, 2):
            self.beside_ddp(self.one, algorithm=LateMean, lanes=lanes)

    def case_gradients_may_be_late(self):
        """On one rank only: its lanes have to wait for the stream that writes gradients, and the optimizers of others for its part."""
        def step(model, optimizer, number):
            self.one(model, optimizer, number, Late.apply if self.rank == self.ranks - 1 else lambda x: x)
        self.beside_ddp(step)

    def case_streams_may_change(self):
        """Steps on a stream of one's own, backward on another than the forward pass of the step before."""
        streams = [torch.cuda.current_stream(), torch.cuda.Stream(), torch.cuda.Stream()]

        def step(model, optimizer, number):
            stream = streams[number % 3]
            stream.wait_stream(streams[(number - 1) % 3])
            with torch.cuda.stream(stream):
                self.one(model, optimizer, number, Late.apply)
        self.beside_ddp(step)

    def case_weights_may_be_late(self):
        """Averages of weights come when the step has returned; the next forward pass of all ranks has to wait for the slowest."""
        model, loop = self.here(), self.here()
        optimizers = [torch.optim.SGD(one.parameters(), lr=0.1) for one in (model, loop)]
        job = self.wrapped(model, optimizers[:1], "local_sgd:every=2")
        for number in range(STEPS):
            late = Late.apply if self.rank == self.ranks - 1 else lambda x: x
            self.one(model, optimizers[0], number, late)
            self.one(loop, optimizers[1], number)
            if number % 2 == 1:
                for p in loop.parameters():
                    dist.all_reduce(p.data)
                    p.data /= self.ranks
        job.finish()
        for a, b in zip(model.parameters(), loop.parameters()):
            assert float((a - b).abs().max()) <= 1e-6

    def case_no_step_waits(self):
        """Torch raises where it would itself; and the host is through with a step before the device is."""
        model = self.here()
        optimizer = momentum(model)
        job = self.wrapped(model, [optimizer])
        ahead = []
        for x, y in [self.batch(number) for number in range(STEPS)]:
            torch.cuda.synchronize()
            torch.cuda.set_sync_debug_mode("error" if len(ahead) > 1 else "default")
            optimizer.zero_grad(set_to_none=True)
            loss = F.cross_entropy(Late.apply(model(x)), y)
            loss.backward()
            job.record_loss(loss)
            optimizer.step()
            ahead.append(not torch.cuda.current_stream().query())
            torch.cuda.set_sync_debug_mode("default")
        job.finish()
        assert all(ahead[2:]), ahead
        assert job.steps()["loss"].notna().all()

    def case_scaled_losses(self):
        """In step 1 gradients of one rank overflow, and all leave the step out."""
        scalers, make = {}, torch.amp.GradScaler if hasattr(torch.amp, "GradScaler") else torch.cuda.amp.GradScaler

        def step(model, optimizer, number):
            scaler = scalers.setdefault(optimizer, make(init_scale=1024.0))
            optimizer.zero_grad(set_to_none=True)
            x, y = self.batch(number)
            with torch.autocast("cuda", dtype=torch.float16):
                loss = F.cross_entropy(model(x), y)
            scaler.scale(loss * (float("inf") if number == 1 and self.rank == 0 else 1)).backward()
            scaler.step(optimizer)
            scaler.update()
        self.beside_ddp(step)
        assert [one.get_scale() for one in scalers.values()] == [512.0, 512.0]

    def case_methods_have_the_bits_of_the_cpu(self):
        """Gradients are given, and the learning rate is a power of two, so that torch rounds on both alike."""
        def train(method, backend, device):
            model = seeded(Known).to(device)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.25)
            job = self.wrapped(model, [optimizer], method, backend=backend, bucket_size="16KiB")
            for number in range(STEPS):
                generator = torch.Generator().manual_seed(1000 * self.rank + number)
                optimizer.zero_grad()
                model([torch.randn(len(one), generator=generator).to(device) for one in model.pieces]).backward()
                optimizer.step()
            job.finish()
            return [one.detach().cpu() for one in model.parameters()]
        for method in METHODS:
            if self.ranks > 1 or "decentralized" not in method:
                assert all(map(torch.equal, train(method, BACKEND, self.device), train(method, "torch:timeout=60s", "cpu"))), method

    def case_bytegrad_is_a_loop(self):
        """8 bits of each chunk's own extremes, once from every rank to the chunk's, and once back."""
        def decoded(x):
            scale = 255 / (x.max() - x.min() + 1e-7)
            upper = torch.round(x.max() * scale)
            return ((torch.minimum(torch.round(x * scale), upper) - (upper - 255)).clamp(0, 255) + (upper - 255)) / scale

        model = self.here(lambda: Known([8192]))
        job = self.wrapped(model, [torch.optim.SGD(model.parameters(), lr=1.0)], "bytegrad")
        x = torch.randn(self.ranks, 8192, generator=torch.Generator().manual_seed(9)).to(self.device)
        model([x[self.rank]]).backward()
        chunks = zip(*(one.tensor_split(self.ranks) for one in x))
        mean = torch.cat([decoded(torch.stack([decoded(one) for one in chunk]).mean(0)) for chunk in chunks]) if self.ranks > 1 else x[0]
        off = (model.pieces[0].grad - mean).abs()  # a level, where rounding another way around a tie took another
        assert int((off > 1e-5).sum()) <= 8 and float(off.max()) < 0.1, off.max()
        job.skip_step()
        job.finish()

    def case_hooks_of_ddp(self):
        """The mean of all_reduce is DDP's own, and bytegrad's is near."""
        if self.ddp != "nccl":
            raise unittest.SkipTest("ranks that share a GPU have no NCCL of torch, and futures of gloo follow no stream")

        def train(method):
            model = DistributedDataParallel(self.here(), bucket_cap_mb=0.1)
            optimizer = momentum(model)
            hook = method and trigram.ddp_hook(model, method, optimizer=optimizer, backend=BACKEND)
            for number in range(STEPS):
                self.one(model, optimizer, number, Late.apply)
            if hook:
                hook.finish()
            return model.module

        plainly = train(None)
        self.same(train("all_reduce"), plainly)
        difference = max(float((a - b).abs().max()) for a, b in zip(train("bytegrad").parameters(), plainly.parameters()))
        assert 0 < difference < 0.05, difference

    def case_layers_are_those_of_the_cpu(self):
        def gradients(backend, device):
            world = comm.join(backend=backend, device=device)
            model = seeded(lambda: torch.nn.Sequential(nn.SyncBatchNorm(32, world), torch.nn.Linear(32, 8))).to(device)
            experts = seeded(lambda: nn.MoE(8, lambda: torch.nn.Linear(8, 8), experts=2 * self.ranks, communicator=world, choices=2,
                                            explores=False)).to(device)
            made = experts(model(self.batch(0)[0].to(device)))
            (made.output.square().mean() + made.balance_loss).backward()
            parts = list(torch.arange(3.0 * self.ranks, device=device).view(self.ranks, 3) * (self.rank + 1))
            sums = world.all_reduce(torch.stack(parts)), world.begin_barrier().wait()
            world.leave()
            return [one.grad.cpu() for one in (*model.parameters(), *experts.parameters()) if one.grad is not None] + [sums[0].cpu()]
        for a, b in zip(gradients("torch:timeout=60s", "cpu"), gradients(BACKEND, self.device)):
            assert a.shape == b.shape and float((a - b).abs().max()) < 1e-4 * max(1.0, float(a.abs().max())), (a, b)

    def case_speed(self):
        """Of a model of ResNet-50's size; interleaved, since GPUs and whoever shares them change their pace."""
        images = 32 if self.ddp == "nccl" else 8
        speed = Speed(self.device, images)
        ours, theirs = self.here(resnet50), DistributedDataParallel(self.here(resnet50))
        optimizers = momentum(ours), momentum(theirs)
        job = self.wrapped(ours, [optimizers[0]], bucket_size="25MiB")
        came = speed.of({"with_trigram(all_reduce)": (ours, optimizers[0]), f"DistributedDataParallel on {self.ddp}": (theirs, optimizers[1])})
        job.finish()
        if self.rank == 0:
            print(f"images/s of each of {self.ranks} ranks, {images} a step: {came}", flush=True)


def main(folder, names):
    cases = Cases(folder)
    for name in names or [key.removeprefix("case_") for key in dir(Cases) if key.startswith("case_")]:
        try:
            getattr(cases, f"case_{name}")()
            came = f"held {name}"
        except unittest.SkipTest as reason:
            came = f"left out {name}: {reason}"
        torch.cuda.synchronize()
        if cases.rank == 0:
            print(came, flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    if sys.argv[1:] != ["--there"]:
        main(sys.argv[1], sys.argv[2:])

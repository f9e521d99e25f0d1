"""Cases of sharded_job.py: models that fully_shard has cut, beside PyTorch's own HSDP, and beside the same method on whole models."""

import tempfile

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

import trigram
from job_case import STEPS, batch, momentum, seeded
from plain_hook import byte_grad
from sharded_case import BUCKETS, Rows, ShardedCase, far, whole

SHARD = 4 * (24 + 4 + 24 + 3 + 10 + 2 + 5)
"""Bytes of a rank's parameters, with padding: half of the rows of each, rounded up."""


class Sharded(ShardedCase):
    def beside_hsdp(self, step, **options):
        """`step(model, optimizer, number, no_sync)`, with all_reduce here and by PyTorch alone."""
        mesh = self.mesh()
        ours, optimizer = self.cut(mesh["shards"], **options)
        job = trigram.with_trigram(ours, [optimizer], **BUCKETS).trigram
        theirs, their_optimizer = self.cut(mesh, **options)
        for number in range(STEPS):
            step(ours, optimizer, number)
            step(theirs, their_optimizer, number)
        job.finish()
        assert far(ours, theirs) == 0, far(ours, theirs)
        return job

    def case_sharded_all_reduce_is_hsdp(self):
        """Each sum is one of two ranks, in one order: bits are equal."""
        job = self.beside_hsdp(lambda model, optimizer, number: self.step(model, optimizer, batch(self.rank, number)))
        assert (job.rank, job.ranks) == (self.replica, 2)
        sent = torch.tensor([float(one) for one in job.steps()["bytes_sent"]])
        dist.all_reduce(sent)
        assert (sent == 4 * SHARD).all(), (sent, SHARD)

    def case_sharded_loops_are_hsdps(self):
        """Micro-batches, clipping over shards, recomputed activations, and sums in bfloat16."""
        from torch.distributed.fsdp import MixedPrecisionPolicy

        def loop(model, optimizer, number):
            optimizer.zero_grad()
            for part in range(2):
                model.set_requires_gradient_sync(part == 1)
                x, y = batch(self.rank, 2 * number + part)
                (F.cross_entropy(model(x), y) / 2).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
            optimizer.step()

        def recomputed(model, optimizer, number):
            optimizer.zero_grad()
            x, y = batch(self.rank, number)
            inner = model.first.forward
            model.first.forward = lambda x: checkpoint(inner, x, use_reentrant=False)
            F.cross_entropy(model(x), y).backward()
            model.first.forward = inner
            optimizer.step()

        self.beside_hsdp(loop)
        self.beside_hsdp(recomputed)
        self.beside_hsdp(loop, mp_policy=MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32))
        self.beside_hsdp(loop, reshard_after_forward=False)

    def case_sharded_in_bf16(self):
        """Shards keep their type, and masters add in f32, where HSDP adds in bf16 too: of two replicas that is one rounding."""
        def step(model, optimizer, number):
            x, y = batch(self.rank, number)
            self.step(model, optimizer, (x.bfloat16(), y))

        self.beside_hsdp(step, make=lambda: Rows().bfloat16())
        mesh = self.mesh()
        model, optimizer = self.cut(mesh["shards"], make=lambda: Rows().bfloat16())
        job = trigram.with_trigram(model, [optimizer], "local_sgd:every=2", **BUCKETS).trigram
        for number in range(STEPS):
            step(model, optimizer, number)
        job.finish(mean=True)
        for one in whole(model):
            mine = one.float()
            dist.all_reduce(mine)
            assert one.dtype == torch.bfloat16 and torch.equal(mine / 4, one.float())

    def case_sharded_and_compiled(self):
        """Its layers by themselves, as torchtitan compiles blocks, and the whole of it; of methods of weights too."""
        def layers(model, optimizer, number):
            if number == 0:
                for one in (model.first, model.second):
                    one.compile(backend="aot_eager")
            self.step(model, optimizer, batch(self.rank, number))

        def whole_model(model, optimizer, number):
            compiled = torch.compile(model, backend="aot_eager") if number == 0 else self.compiled[id(model)]
            self.compiled[id(model)] = compiled
            self.step(compiled, optimizer, batch(self.rank, number))

        self.compiled = {}
        self.beside_hsdp(layers)
        self.beside_hsdp(whole_model)
        mesh = self.mesh()
        model, optimizer = self.cut(mesh["shards"])
        trigram.with_trigram(model, [optimizer], "local_sgd:every=2", **BUCKETS)
        compiled = torch.compile(model, backend="aot_eager")
        for number in range(STEPS):
            self.step(compiled, optimizer, batch(self.rank, number))
        plain = self.train_shards(mesh, "local_sgd:every=2")
        for one in (model, plain):
            one.trigram.finish()
        assert far(model, plain) == 0, far(model, plain)

    def case_sharded_methods_are_those_of_whole_models(self):
        mesh = self.mesh()
        for algorithm in ("all_reduce", "local_sgd:every=2", "diloco:every=3", "decentralized", "decentralized:mix=before", "slow_mo:every=2"):
            ours, theirs = self.train_shards(mesh, algorithm), self.train_whole(mesh, algorithm)
            with ours.trigram.mean_model():
                mean = whole(ours)
            ours.trigram.finish()
            assert far(ours, theirs) < 1e-6, (algorithm, far(ours, theirs))
            for one, expected in zip(mean, self.means_of(mesh, ours) if algorithm.split(":")[0] not in ("diloco", "slow_mo") else mean):
                assert float((one - expected).abs().max()) < 1e-6, algorithm

    def means_of(self, mesh, model):
        means = whole(model)
        for one in means:
            dist.all_reduce(one, group=mesh["replicas"].get_group())
            one /= 2
        return means

    def case_sharded_bytegrad(self):
        """As Bagua's paper has it, of each shard, in lines that share nothing with ours."""
        mesh = self.mesh()
        ours = self.train_shards(mesh, "bytegrad", bucket_size=0)
        ours.trigram.finish()
        models = [seeded(Rows) for _ in range(2)]
        optimizers = [momentum(one) for one in models]
        for number in range(STEPS):
            for replica, model in enumerate(models):
                optimizers[replica].zero_grad()
                for shard in range(2):
                    x, y = batch(2 * replica + shard, number)
                    (F.cross_entropy(model(x), y) / 2).backward()
            for same in zip(*(one.parameters() for one in models)):
                rounded = torch.cat([self.rounded([one.grad for one in same], shard) for shard in range(2)])
                for one in same:
                    one.grad.copy_(rounded)
            for optimizer in optimizers:
                optimizer.step()
        assert far(ours, models[0]) < 1e-6, far(ours, models[0])

    def rounded(self, gradients, shard):
        """The rows of a shard, of which the last has zeros behind them."""
        rows = -(-gradients[0].shape[0] // 2)
        mine = [one[shard * rows:(shard + 1) * rows] for one in gradients]
        padded = [torch.cat([one, one.new_zeros(rows - one.shape[0], *one.shape[1:])]) for one in mine]
        mean = byte_grad([one.flatten() for one in padded]).view_as(padded[0])
        return mean[:mine[0].shape[0]]

    def case_every_other_algorithm_trains_shards(self):
        mesh = self.mesh()
        for algorithm in ("qsgd", "power_sgd", "async_average", "low_precision_decentralized", "ad_psgd", "bytegrad:error_feedback=on"):
            model = self.train_shards(mesh, algorithm)
            model.trigram.finish()
            assert all(bool(one.isfinite().all()) for one in whole(model)), algorithm
            assert far(model, seeded(Rows)) > 1e-3, algorithm

    def case_sharded_and_resumed(self):
        """In the checkpoints of torch.distributed, by one mesh; and what ranks have trained together, by another."""
        import torch.distributed.checkpoint as checkpoints
        mesh = self.mesh()
        folder = [tempfile.mkdtemp() if self.rank == 0 else None]
        dist.broadcast_object_list(folder)
        for algorithm in ("bytegrad:error_feedback=on", "local_sgd:every=3", "diloco:every=3"):
            straight = self.train_shards(mesh, algorithm)
            stopped = self.train_shards(mesh, algorithm, steps=2)
            kept, state = stopped.state_dict(), stopped.trigram.state_dict()
            kept = {name: one.to_local().clone() for name, one in kept.items()}
            place = f"{folder[0]}/{algorithm}"
            with stopped.trigram.mean_model():
                checkpoints.save({"model": stopped.state_dict()}, checkpoint_id=place)
                mean = whole(stopped)
            stopped.trigram.finish()
            other, _ = self.cut(dist.device_mesh.init_device_mesh("cpu", (4,)))
            loaded = {"model": other.state_dict()}
            checkpoints.load(loaded, checkpoint_id=place)
            assert all(map(torch.equal, mean, whole(other))), algorithm
            assert state["rank"] == self.replica and kept

            again, optimizer = self.cut(mesh["shards"])
            trigram.with_trigram(again, [optimizer], algorithm, **BUCKETS)
            for number in range(STEPS):
                self.step(again, optimizer, batch(self.rank, number))
                if number == 1:
                    again.trigram.load_state_dict(again.trigram.state_dict())
            assert far(again, straight) == 0, (algorithm, far(again, straight))
            for one in (again, straight):
                one.trigram.finish()

    def case_sharded_scores(self):
        """Of the mean model, also where FSDP has just gathered another."""
        mesh = self.mesh()
        model = self.train_shards(mesh, "local_sgd:every=100")
        x, y = batch(7, 7)
        score = lambda one: F.cross_entropy(one(x), y)  # noqa: E731
        with torch.no_grad():
            model(x)
        model.trigram.evaluate(score)
        mean = seeded(Rows)
        with torch.no_grad():
            own = score(model)
            for one, value in zip(mean.parameters(), self.means_of(mesh, model)):
                one.copy_(value)
            assert abs(model.trigram.evals()["loss"].iloc[0] - float(score(mean))) < 1e-6
            assert abs(float(own) - float(score(mean))) > 1e-6
            with model.trigram.mean_model():
                assert abs(float(score(model)) - float(score(mean))) < 1e-6
            assert torch.equal(score(model), own)
        model.trigram.finish()

    def case_shards_of_tensor_parallel_layers(self):
        from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
        self.mesh()
        mesh = dist.device_mesh.init_device_mesh("cpu", (2, 1, 2), mesh_dim_names=("replicas", "shards", "tensor"))
        model = seeded(lambda: torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3)))
        alone = seeded(lambda: torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3)))
        parallelize_module(model, mesh["tensor"], {"0": ColwiseParallel(), "2": RowwiseParallel()})
        self.fully_shard(model, mesh=mesh["shards"])
        optimizers = momentum(model), momentum(alone)
        trigram.with_trigram(model, [optimizers[0]], "local_sgd:every=2", **BUCKETS)
        trigram.with_trigram(alone, [optimizers[1]], "local_sgd:every=2", mesh=mesh["replicas"], **BUCKETS)
        for number in range(4):
            for one, optimizer in zip((model, alone), optimizers):
                self.step(one, optimizer, batch(self.replica, number))
        model.trigram.finish()
        alone.trigram.finish()
        assert far(model, alone) < 1e-6, far(model, alone)

    def case_stages_have_replicas_of_their_own(self):
        """Ranks of a dimension train together whole models, of another kind on each of its parts."""
        mesh = self.mesh()
        made = [lambda: torch.nn.Linear(6, 3), Rows][self.shard]
        model = seeded(made, seed=self.rank)
        optimizer = momentum(model)
        job = trigram.with_trigram(model, [optimizer], mesh=mesh["replicas"], **BUCKETS).trigram
        alone = seeded(made, seed=self.shard)
        optimizers = optimizer, momentum(alone)
        for number in range(STEPS):
            self.step(model, optimizers[0], batch(self.replica, number))
            both = [batch(replica, number) for replica in range(2)]
            self.step(alone, optimizers[1], tuple(map(torch.cat, zip(*both))))
        job.finish()
        assert job.ranks == 2 and far(model, alone) < 1e-6, far(model, alone)

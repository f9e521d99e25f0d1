"""Cases of sharded_job.py: gradient methods as FSDP2's all-reduce hook, and what is refused of sharded models."""

import contextlib
import io
import unittest.mock

import torch
import torch.distributed as dist
import torch.nn.functional as F

import trigram
import trigram.optim
from job_case import STEPS, batch, momentum, seeded
from plain_hook import byte_grad
from sharded_case import BUCKETS, Rows, ShardedCase, far, whole
from trigram.mesh import members_of

HOOKED = {"backend": "torch:timeout=60s"}


class ShardedHooks(ShardedCase):
    def case_fsdp_hook_is_hsdp(self):
        """Also with gradients that add up, over passes that reduce and passes that do not."""
        mesh = self.mesh()
        for synchronizes in ((True,), (False, True), (True, True)):
            ours, optimizer = self.cut(mesh["shards"])
            theirs, their_optimizer = self.cut(mesh)
            hook = trigram.fsdp_hook(ours, "all_reduce", optimizer=optimizer, **HOOKED)
            for number in range(STEPS):
                for model, its_optimizer in ((ours, optimizer), (theirs, their_optimizer)):
                    its_optimizer.zero_grad()
                    for part, reduces in enumerate(synchronizes):
                        model.set_requires_gradient_sync(reduces)
                        x, y = batch(self.rank, 10 * number + part)
                        F.cross_entropy(model(x), y).backward()
                    its_optimizer.step()
            assert far(ours, theirs) == 0, (synchronizes, far(ours, theirs))
            assert list(hook.steps()["step"]) == list(range(STEPS * sum(synchronizes)))
            hook.finish()
            x, y = batch(self.rank, 0)
            self.raises(RuntimeError, "the hook has finished", lambda: F.cross_entropy(ours(x), y).backward())

    def case_fsdp_hook_in_bf16(self):
        """Gradients that FSDP has reduced in bf16 are added in f32 and rounded once, which of two replicas is what HSDP does; also where they
        add up."""
        mesh = self.mesh()
        for passes in (1, 2):
            (ours, optimizer), (theirs, their_optimizer) = (self.cut(each, make=lambda: Rows().bfloat16()) for each in (mesh["shards"], mesh))
            hook = trigram.fsdp_hook(ours, "all_reduce", optimizer=optimizer, **HOOKED)
            for number in range(STEPS):
                for model, its_optimizer in ((ours, optimizer), (theirs, their_optimizer)):
                    its_optimizer.zero_grad()
                    for part in range(passes):
                        x, y = batch(self.rank, 10 * number + part)
                        F.cross_entropy(model(x.bfloat16()), y).backward()
                    its_optimizer.step()
            hook.finish()
            assert far(ours, theirs) == 0, (passes, far(ours, theirs))
            assert all(one.dtype == torch.bfloat16 for one in whole(ours))

    def case_fsdp_hook_of_bytegrad(self):
        """Of all gradients of a module's shards at once, in lines that share nothing with ours."""
        mesh = self.mesh()
        ours, optimizer = self.cut(mesh["shards"])
        hook = trigram.fsdp_hook(ours, "bytegrad", mesh=mesh["replicas"], optimizer=optimizer, **HOOKED)
        theirs, their_optimizer = self.cut(mesh["shards"])
        for module in (theirs.first, theirs.second, theirs):
            module.set_all_reduce_hook(lambda reduced: self.by_hand(reduced, mesh["replicas"].get_group()))
        for number in range(STEPS):
            for model, its_optimizer in ((ours, optimizer), (theirs, their_optimizer)):
                self.step(model, its_optimizer, batch(self.rank, number))
        hook.finish()
        assert far(ours, theirs) < 1e-6, far(ours, theirs)

    def by_hand(self, reduced, group):
        both = [torch.empty_like(reduced) for _ in range(2)]
        dist.all_gather(both, reduced, group=group)
        reduced.copy_(byte_grad(both))

    def case_sums_in_place_of_means_are_told(self):
        """Where gloo scatters sums though FSDP asks for means; not where FSDP divides by itself."""
        from torch.distributed.fsdp import MixedPrecisionPolicy
        mesh, collective = self.mesh(), dist.reduce_scatter_tensor

        def summed(*arguments, op, **named):
            return collective(*arguments, op=dist.ReduceOp.SUM, **named)

        for scatter, kind, told in ((summed, None, True), (collective, None, False), (summed, torch.float64, False)):
            model, optimizer = self.cut(mesh["shards"], mp_policy=MixedPrecisionPolicy(reduce_dtype=kind))
            with unittest.mock.patch.object(dist, "reduce_scatter_tensor", scatter), contextlib.redirect_stderr(io.StringIO()) as said:
                job = trigram.with_trigram(model, [optimizer], **BUCKETS).trigram
            job.finish()
            expected = "so that they are 2 times as large as they should be; give fully_shard mp_policy=" if told and job.rank == 0 else ""
            assert expected in said.getvalue() and bool(said.getvalue()) == bool(expected), said.getvalue()

    def case_shards_that_cannot_train_are_refused(self):
        from torch.distributed.fsdp import FullyShardedDataParallel
        mesh = self.mesh()
        model, optimizer = self.cut(mesh["shards"])

        def refused(text, model=model, optimizer=optimizer, **options):
            self.raises(ValueError, text, lambda: trigram.with_trigram(model, [optimizer], **options))

        refused("fully_shard averages gradients over dimension 'replicas' of its mesh by itself; give it", *self.cut(mesh))
        refused("fully_shard has left no dimension of", *self.cut(dist.device_mesh.init_device_mesh("cpu", (4,), mesh_dim_names=("shards",))))
        refused("have different shards of one model; give the other dimension", mesh=mesh["shards"])
        refused("has not one dimension", mesh=mesh)
        self.raises(ValueError, "by backend torch, and not by 'mpi'", lambda: members_of(model, mesh["replicas"], "mpi"))
        refused("grad_scaler beside fully_shard", grad_scaler=torch.amp.GradScaler("cpu"), algorithm="bytegrad:error_feedback=on")
        self.raises(ValueError, "a parameter is a DTensor, of which each rank holds a part; fuse", lambda: trigram.optim.fuse(optimizer))
        hidden = FullyShardedDataParallel(seeded(Rows), device_id=torch.device("cpu"))
        refused("is wrapped by FullyShardedDataParallel", hidden, momentum(hidden))
        part = seeded(Rows)
        self.fully_shard(part.first, mesh=mesh["shards"])
        self.raises(ValueError, "parameter 'scale' is in no module of FSDP", lambda: trigram.fsdp_hook(part, "bytegrad", **HOOKED))
        self.raises(ValueError, "works on more than gradients, which is all that a hook sees", lambda: trigram.fsdp_hook(model, "diloco", **HOOKED))
        job = trigram.with_trigram(model, [optimizer], **BUCKETS).trigram
        x, y = batch(self.rank, 0)
        self.raises(RuntimeError, "job.join() was called for a model that fully_shard has cut", lambda: job.join().__enter__())
        F.cross_entropy(model(x), y).backward()
        job.skip_step()
        self.step(model, optimizer, batch(self.rank, 0))
        job.finish()
        assert all(bool(one.isfinite().all()) for one in whole(model))

"""Cases of sharded_job.py: what FSDP2 gathers and reduces among shards, by codecs, beside FSDP2 as it is."""

import unittest.mock

import torch
import torch.distributed as dist
import torch.nn.functional as F

import trigram
from job_case import STEPS, batch, momentum, seeded
from sharded_case import Rows, ShardedCase, far, whole

HOOKED = {"backend": "torch:timeout=60s"}
MODULES = {"first": 24 + 4, "second": 24 + 3, "root": 10 + 2 + 5}
"""Elements of a rank's shards of each module, with padding, on two ranks."""
QUARTER = "qsgd:levels=7,bucket_size=64,stochastic=off"


class Tokens(torch.nn.Module):
    """A transformer of one block, which learns to say which token came first."""

    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(8, 16)
        self.block = torch.nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
        self.head = torch.nn.Linear(16, 8)

    def forward(self, tokens):
        x = self.embed(tokens)
        x[:, 0] += 1
        return self.head(self.block(x).mean(1))


def rounded(one):
    return one.bfloat16().float()


class GatherByHand:
    """As a codec bf16, in lines that share nothing with ours."""

    def allocate(self, size, *, dtype, device):
        return torch.empty(*size, dtype=dtype, device=device)

    def __call__(self, output_tensor, input_tensor, group, async_op=False):
        dist.all_gather_into_tensor(output_tensor, rounded(input_tensor), group=group)


class ReduceByHand(GatherByHand):
    def __call__(self, output_tensor, input_tensor, group, op, async_op=False):
        dist.reduce_scatter_tensor(output_tensor, rounded(input_tensor), group=group, op=op)


class ShardCodecs(ShardedCase):
    def pair(self, mesh, hook, **options):
        """The model of `hook` and a plain one, trained alike: `hook(model, optimizer)`."""
        ours, optimizer = self.cut(mesh, **options)
        theirs, their_optimizer = self.cut(mesh, **options)
        made = hook(ours, optimizer)
        return made, (ours, optimizer), (theirs, their_optimizer)

    def train_both(self, both, steps=STEPS):
        for number in range(steps):
            for model, optimizer in both:
                self.step(model, optimizer, batch(self.rank, number))

    def case_codecs_that_lose_nothing_are_fsdp(self):
        """To the bit where two gradients are added, and in whatever order four are."""
        from torch.distributed.fsdp import MixedPrecisionPolicy
        mesh = self.mesh()
        flat = dist.device_mesh.init_device_mesh("cpu", (4,), mesh_dim_names=("shards",))
        half = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
        in_bf16 = {"make": lambda: Rows().bfloat16(), "mp_policy": MixedPrecisionPolicy(param_dtype=torch.bfloat16)}
        for shards, allowed, options in ((mesh["shards"], 0, {}), (mesh["shards"], 0, {"mp_policy": half}),
                                         (mesh["shards"], 0, {"reshard_after_forward": False}), (mesh["shards"], 0, in_bf16), (flat, 1e-6, {})):
            for codecs in ({"gather": "identity"}, {"reduce": "identity"}, {"gather": "identity", "reduce": "identity"}):
                hook, *both = self.pair(shards, lambda model, _: trigram.fsdp_hook(model, None, **codecs, **HOOKED), **options)
                self.train_both(both)
                hook.finish()
                assert far(both[0][0], both[1][0]) <= allowed, (options, codecs, far(both[0][0], both[1][0]))

    def case_codecs_within_islands_and_a_method_between(self):
        mesh = self.mesh()
        ours, optimizer = self.cut(mesh["shards"])
        theirs, their_optimizer = self.cut(mesh)
        hook = trigram.fsdp_hook(ours, "all_reduce", optimizer=optimizer, gather="identity", reduce="identity", **HOOKED)
        self.train_both(((ours, optimizer), (theirs, their_optimizer)))
        assert far(ours, theirs) == 0, far(ours, theirs)
        assert set(hook.steps()["bytes_sent"]) == {4 * sum(MODULES.values())}
        assert hook.bytes_sent()["reduce"] == STEPS * 4 * sum(MODULES.values())
        hook.finish()
        assert hook.finished and hook._shards.finished

    def case_shard_bytes_in_closed_form(self):
        """A gather for each forward pass, and one more for the backward pass of what is given back between both; a reduction for each
        backward pass."""
        mesh = self.mesh()
        frames = {"fp16": lambda d: 2 * d, "bf16": lambda d: 2 * d, "minmax_uint8": lambda d: 32 + 32 * -(-d // 32),
                  QUARTER: lambda d: 4 * -(-d // 64) + -(-4 * d // 8)}
        for codec, frame in frames.items():
            model, optimizer = self.cut(mesh["shards"])
            hook = trigram.fsdp_hook(model, None, gather=codec, reduce=codec, **HOOKED)
            for number in range(2):
                self.step(model, optimizer, batch(self.rank, number))
            modules = {name: frame(count) for name, count in MODULES.items()}
            gathered = 2 * (modules["root"] + 2 * modules["first"] + 2 * modules["second"])
            assert hook.bytes_sent() == {"gather": gathered, "reduce": 2 * sum(modules.values())}, (codec, hook.bytes_sent(), modules)
            hook.finish()
            self.step(model, optimizer, batch(self.rank, 3))
            assert hook.bytes_sent()["gather"] == gathered, "FSDP exchanges plainly after finish()"

    def case_half_precision_between_shards(self):
        """Bits are those of a custom exchange by hand, and near FSDP's in f32."""
        mesh = self.mesh()
        hook, ours, plain = self.pair(mesh["shards"], lambda model, _: trigram.fsdp_hook(model, None, gather="bf16", reduce="bf16", **HOOKED))
        by_hand = self.cut(mesh["shards"])
        for module in (by_hand[0].first, by_hand[0].second, by_hand[0]):
            module.set_custom_all_gather(GatherByHand())
            module.set_custom_reduce_scatter(ReduceByHand())
        self.train_both((ours, plain, by_hand))
        hook.finish()
        assert far(ours[0], by_hand[0]) == 0, far(ours[0], by_hand[0])
        assert 0 < far(ours[0], plain[0]) < STEPS * 2 ** -8, far(ours[0], plain[0])

    def case_eight_bits_keep_their_bound(self):
        """Of what all ranks compute with, the owner too; and of gradients that are added."""
        mesh = self.mesh()
        model, _ = self.cut(mesh["shards"])
        exact = whole(model)
        hook = trigram.fsdp_hook(model, None, gather="minmax_uint8", reduce="minmax_uint8", **HOOKED)
        model.first.unshard()
        used = [one.detach().clone() for one in model.first.parameters()]
        model.first.reshard()
        island = mesh["shards"].get_group()
        for one, true in zip(used, exact[1:3]):  # the first is that of the root
            both = [torch.empty_like(one) for _ in range(2)]
            dist.all_gather(both, one, group=island)
            assert torch.equal(*both), "ranks of an island compute with other weights"
            assert 0 < float((one - true).abs().max()) <= (self.largest(exact[1:3]) * 2 + 1e-7) / 510 * 1.001
        hook.finish()
        reduced, _ = self.cut(mesh["shards"])
        plain, _ = self.cut(mesh["shards"])
        hook = trigram.fsdp_hook(reduced, None, reduce="minmax_uint8", **HOOKED)
        x, y = batch(self.rank, 0)
        for one in (reduced, plain, alone := seeded(Rows)):
            F.cross_entropy(one(x), y).backward()
        hook.finish()
        range_of_all = torch.tensor(2 * self.largest([one.grad for one in alone.parameters()]))
        dist.all_reduce(range_of_all, op=dist.ReduceOp.MAX)
        off = [a.grad.to_local() - b.grad.to_local() for a, b in zip(reduced.parameters(), plain.parameters())]
        assert 0 < self.largest([one for one in off if one.numel()]) <= (float(range_of_all) + 1e-7) / 510 * 1.001, (off, range_of_all)

    def largest(self, parameters):
        return max(float(one.abs().max()) for one in parameters)

    def case_random_frames_are_the_same_in_both_passes(self):
        """Of the same weights; those of the next step are drawn anew."""
        mesh = self.mesh()
        model, _ = self.cut(mesh["shards"])
        seen = []
        inner = model.first.forward

        def watched(x):
            seen.append(model.first.weight.detach().clone())
            y = inner(x)
            y.register_hook(lambda _: seen.append(model.first.weight.detach().clone()))
            return 1 * y  # whose hook of FSDP comes before

        model.first.forward = watched
        optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
        hook = trigram.fsdp_hook(model, None, gather="qsgd:levels=3", **HOOKED)
        for number in range(2):
            optimizer.zero_grad()
            x, y = batch(self.rank, number)
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
        assert len(seen) == 4 and torch.equal(seen[0], seen[1]) and torch.equal(seen[2], seen[3])
        assert not torch.equal(seen[0], seen[2]), "weights stood still, and were rounded in the same way in both steps"
        hook.finish()

    def case_a_transformer_learns_in_four_bits(self):
        """ZeRO++'s formats: weights in eight bits, gradients in four."""
        flat = self.flat()
        ends = {}
        for name, codecs in (("plain", {}), ("zero_pp", {"gather": "qsgd:levels=127,bucket_size=64,stochastic=off", "reduce": QUARTER})):
            model = seeded(Tokens)
            for part in (model.block, model):
                self.fully_shard(part, mesh=flat)
            optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
            hook = trigram.fsdp_hook(model, None, **codecs, **HOOKED) if codecs else None
            losses = [self.learn(model, optimizer, number) for number in range(60)]
            ends[name] = sum(losses[-5:]) / 5
            assert losses[0] > 2 and ends[name] < 0.5, (name, losses[0], ends[name])
            if hook is not None:
                sent = hook.bytes_sent()
                assert sent["reduce"] < sent["gather"] / 3, sent
                hook.finish()
        assert ends["zero_pp"] < ends["plain"] + 0.1, ends

    def flat(self):
        self.mesh()
        return dist.device_mesh.init_device_mesh("cpu", (4,), mesh_dim_names=("shards",))

    def learn(self, model, optimizer, number):
        tokens = torch.randint(8, (16, 6), generator=torch.Generator().manual_seed(100 * self.rank + number))
        optimizer.zero_grad()
        loss = F.cross_entropy(model(tokens), tokens[:, 0])
        loss.backward()
        optimizer.step()
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        return float(mean) / 4

    def case_shard_codecs_that_cannot_be_are_refused(self):
        from torch.distributed.fsdp import FSDPModule
        mesh = self.mesh()
        model, optimizer = self.cut(mesh["shards"])

        def refused(text, *words, model=model, **options):
            self.raises(ValueError, text, lambda: trigram.fsdp_hook(model, *words, **(HOOKED | options)))

        refused("no codec between shards, so it would do nothing", None)
        refused("unknown codec 'bf17' (did you mean 'bf16'?)", None, gather="bf17")
        refused("unknown codec 'bf17' (did you mean 'bf16'?)", "bytegrad", reduce="bf17")
        refused("by backend torch, and not by 'mpi'", None, gather="bf16", backend="mpi")
        refused("no part of the model is one that fully_shard has cut", None, gather="bf16", model=seeded(Rows))
        refused("knows no flag 'lanes'", None, gather="bf16", lanes=2)
        refused("goes with an algorithm between islands", None, gather="bf16", mesh=mesh["replicas"])
        with unittest.mock.patch.object(FSDPModule, "set_custom_all_gather"):
            del FSDPModule.set_custom_all_gather
            refused(f"torch {torch.__version__} has no FSDPModule.set_custom_all_gather, by which", None, gather="bf16")
        hook = trigram.fsdp_hook(model, None, reduce="bf16", **HOOKED)
        model.first.set_gradient_divide_factor(3.0)
        x, y = batch(self.rank, 0)
        self.raises(RuntimeError, "leave set_gradient_divide_factor out", lambda: F.cross_entropy(model(x), y).backward())
        hook.finish()

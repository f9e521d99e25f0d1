"""Algorithms in Python whose members come and go: each says what becomes of what it keeps."""

import torch
from python_algorithms import AllReduce, LocalSgd, Ring, RingBefore

from trigram.algorithm import GradientMethod, WeightMethod


class Largest(GradientMethod):
    """The larger half of each gradient; what it left out is added to the next one."""

    full_precision = False
    fates = {"residuals": "averaged"}

    def setup(self, worker, buckets):
        self.residuals = [torch.zeros_like(bucket.gradients) for bucket in buckets]

    def exchange(self, worker, bucket):
        wanted = bucket.gradients + self.residuals[bucket.index]
        smaller = wanted.abs().topk(wanted.numel() // 2, largest=False).indices
        sent = wanted.index_fill(0, smaller, 0.0)
        self.residuals[bucket.index].copy_(wanted - sent)
        bucket.gradients.copy_(worker.mean(sent))


class Tracked(WeightMethod):
    """Neighbours mix weights, and each weights the last gradients that it has seen; kinds and shapes of all sorts."""

    centralized = False
    fates = {"seen": "balanced", "moves": "own", "steps": "alike", "met": "anew", "names": "own"}

    def setup(self, worker, buckets):
        self.ring = Ring()
        self.seen = {f"bucket {bucket.index}": torch.zeros_like(bucket.weights) for bucket in buckets}
        self.moves = (torch.zeros(2), [torch.zeros(3, dtype=torch.float32)])
        self.steps, self.names = 0, ["nobody"]
        self.met = torch.full((worker.world,), 1.0)

    def before_forward(self, worker):
        self.steps += 1
        self.moves[1][0].add_(float(worker.rank + self.steps))
        self.met.add_(1)
        worker.record("own_move", float(self.moves[1][0][0]))

    def exchange(self, worker, bucket):
        seen = self.seen[f"bucket {bucket.index}"]
        seen.mul_(0.5).add_(bucket.gradients)
        bucket.weights.sub_(0.01 * seen + 0.001 * self.moves[1][0][0] + 0.0001 * self.met[-1])
        self.ring.exchange(worker, bucket)


class Outer(WeightMethod):
    """DiLoCo's shape: every third step ranks go on from outer weights, which step along the mean of what ranks have moved."""

    fates = {"outer": "alike", "speed": "alike"}

    def setup(self, worker, buckets):
        self.outer = [bucket.weights.clone() for bucket in buckets]
        self.speed = [torch.zeros_like(bucket.weights) for bucket in buckets]

    def communicates(self, step):
        return (step + 1) % 3 == 0

    def exchange(self, worker, bucket):
        outer, speed = self.outer[bucket.index], self.speed[bucket.index]
        moved = worker.mean(outer - bucket.weights)
        speed.mul_(0.9).add_(moved)
        outer.sub_(0.7 * speed)
        bucket.weights.copy_(outer)


class Silent(Largest):
    """Does not say what becomes of its residuals."""

    fates = {}


ALL = {f"own:{name}": make for name, make in
       {"AllReduce": AllReduce, "LocalSgd": lambda: LocalSgd(every=2), "Largest": Largest, "Tracked": Tracked, "Outer": Outer,
        "Silent": Silent, "Ring": Ring, "RingBefore": RingBefore}.items()}

"""Algorithms in Python, each beside the name of its twin in C++, of which it has every bit and every byte."""

from trigram.algorithm import Algorithm, GradientMethod, WeightMethod


class AllReduce(GradientMethod):
    def exchange(self, worker, bucket):
        worker.comm.all_reduce(bucket.gradients, op="mean")


class LocalSgd(WeightMethod):
    def __init__(self, every=4):
        self.every = every

    def communicates(self, step):
        return (step + 1) % self.every == 0

    def exchange(self, worker, bucket):
        worker.comm.all_reduce(bucket.weights, op="mean")


class Ring(WeightMethod):
    """Weights of a rank and of its two neighbours, a third each; of two ranks the other counts twice."""

    centralized = False

    def exchange(self, worker, bucket):
        x, n = bucket.weights, worker.world
        peers = sorted({(worker.rank - 1) % n, (worker.rank + 1) % n} - {worker.rank})
        received = {peer: x.clone() for peer in peers}
        worker.comm.exchange([(peer, x) for peer in peers], list(received.items()))
        share = {peer: 2 / 3 if n == 2 else 1 / 3 for peer in peers} | {worker.rank: 1 if n == 1 else 1 / 3}
        terms = [(received | {worker.rank: x})[rank] * share[rank] for rank in sorted(share)]
        mixed = terms[0]
        for term in terms[1:]:
            mixed = mixed + term
        x.copy_(mixed)


class RingBefore(Algorithm):
    """The same of a snapshot, behind forward and backward."""

    centralized = False

    def setup(self, worker, buckets):
        self.buckets = buckets
        self.ring = Ring()

    def before_forward(self, worker):
        self.snapshots = [Snapshot(bucket.weights.clone()) for bucket in self.buckets]
        self.pending = [worker.start(bucket, lambda lane, snapshot=snapshot: self.ring.exchange(lane, snapshot))
                        for bucket, snapshot in zip(self.buckets, self.snapshots)]

    def before_update(self, worker):
        for pending, bucket, snapshot in zip(self.pending, self.buckets, self.snapshots):
            pending.wait()
            bucket.weights.copy_(snapshot.weights)
        worker.record("mixed", len(self.pending))


class Snapshot:
    def __init__(self, weights):
        self.weights = weights


TWINS = {"all_reduce": AllReduce, "local_sgd:every=2": lambda: LocalSgd(every=2), "decentralized:mix=after": Ring,
         "decentralized": RingBefore}

"""Algorithms in Python, each beside the name of its twin in C++, of which it has every bit and every byte."""

from trigram.algorithm import Algorithm, GradientMethod, WeightMethod, modelled_count


class AllReduce(GradientMethod):
    hierarchical = True

    def exchange(self, worker, bucket):
        worker.gradient_mean(bucket.gradients)


class LocalSgd(WeightMethod):
    hierarchical = True

    def __init__(self, every=4):
        self.every = every

    def communicates(self, step):
        return (step + 1) % self.every == 0

    def exchange(self, worker, bucket):
        worker.mean(bucket.weights)


def mix(worker, group, x):
    """What a vertex has and what its two neighbours have, a third each; of two vertices the other counts twice. What one would weigh that is
    gone, its own value does."""
    rank, n = group.rank, group.size
    if n == 1:
        return
    peers = sorted({(rank - 1) % n, (rank + 1) % n} - {rank})
    received = {peer: x.clone() for peer in peers}
    gone = group.exchange_with_those_there([(peer, x) for peer in peers], list(received.items()))
    share = {peer: 2 / 3 if n == 2 else 1 / 3 for peer in peers} | {rank: 1 / 3}
    for peer in gone:
        share[rank] += share.pop(peer)
    terms = [(received | {rank: x})[vertex] * share[vertex] for vertex in sorted(share)]
    mixed = terms[0]
    for term in terms[1:]:
        mixed = mixed + term
    x.copy_(mixed)
    worker.charge(flops=2 * len(terms) * modelled_count(x), bytes=4 * (len(terms) + 1) * modelled_count(x))


class Ring(WeightMethod):
    """Each vertex is a rank, or in a hierarchy a node."""

    centralized, hierarchical, bears_absence = False, True, True

    def exchange(self, worker, bucket):
        worker.hierarchical(bucket.weights, lambda group, part: mix(worker, group, part))


class RingBefore(Algorithm):
    """The same of a snapshot, behind forward and backward."""

    centralized, hierarchical, bears_absence = False, True, True

    def setup(self, worker, buckets):
        self.buckets = buckets
        self.ring = Ring()

    def before_forward(self, worker):
        self.snapshots, self.pending = [], []
        for bucket in self.buckets:
            snapshot = Snapshot(copied(worker, bucket, bucket.weights.clone()))
            self.snapshots.append(snapshot)
            self.pending.append(worker.start(bucket, lambda lane, snapshot=snapshot: self.ring.exchange(lane, snapshot)))

    def before_update(self, worker):
        for pending in self.pending:
            pending.wait()
        for bucket, snapshot in zip(self.buckets, self.snapshots):
            copied(worker, bucket, bucket.weights.copy_(snapshot.weights))
        worker.record("mixed", len(self.pending))


def copied(worker, bucket, x):
    worker.charge(bytes=8 * bucket.modelled_count)
    return x


class Snapshot:
    def __init__(self, weights):
        self.weights = weights


TWINS = {"all_reduce": AllReduce, "local_sgd:every=2": lambda: LocalSgd(every=2), "decentralized:mix=after": Ring,
         "decentralized": RingBefore}

"""Algorithms in Python that do not hold what their classes say, each beside the claim that tells."""

import random

import torch
from python_algorithms import AllReduce, LocalSgd, Ring

from trigram.algorithm import GradientMethod, WeightMethod


class Alone(GradientMethod):
    """Exchanges nothing."""

    def exchange(self, worker, bucket):
        pass


class HalfDeaf(AllReduce):
    """The last rank's gradients are lost."""

    hierarchical = False

    def exchange(self, worker, bucket):
        if worker.rank == worker.world - 1 and worker.world > 1:
            bucket.gradients.zero_()
        worker.gradient_mean(bucket.gradients)


class Sums(AllReduce):
    """A sum in place of a mean."""

    hierarchical = False

    def exchange(self, worker, bucket):
        worker.comm.all_reduce(bucket.gradients)


class Uphill(AllReduce):
    full_precision = False

    def exchange(self, worker, bucket):
        worker.gradient_mean(bucket.gradients.neg_())


class UnsaidGossip(Ring):
    """Does not say that it is decentralized."""

    centralized, hierarchical = True, False


class Drops(LocalSgd):
    """Half of the buckets stay apart."""

    def exchange(self, worker, bucket):
        if bucket.index % 2 == 0:
            worker.mean(bucket.weights)


class Random(AllReduce):
    """Draws, and does not say so."""

    full_precision, hierarchical = False, False

    def exchange(self, worker, bucket):
        worker.gradient_mean(bucket.gradients)
        bucket.gradients.mul_(random.uniform(0.9, 1.1))
        worker.comm.broadcast(bucket.gradients)


class Throws(WeightMethod):
    def exchange(self, worker, bucket):
        raise OverflowError("the flux is 7")


class Corrected(GradientMethod):
    """Each rank steps along its gradient and a correction; the sum of corrections over ranks is 0, also where ranks leave and join."""

    centralized = False
    fates = {"corrections": "balanced"}

    def setup(self, worker, buckets):
        self.corrections = [torch.zeros_like(bucket.gradients) for bucket in buckets]

    def exchange(self, worker, bucket):
        own, correction = bucket.gradients.clone(), self.corrections[bucket.index]
        bucket.gradients.add_(correction)
        correction.add_(0.5 * (worker.mean(own.clone()) - own))


class KeepsItsCorrections(Corrected):
    """Whoever leaves takes a part of the sum away."""

    fates = {"corrections": "own"}


WRONG = {Alone: "communication", HalfDeaf: "mean", Sums: "mean", Uphill: "direction", UnsaidGossip: "replicas", Drops: "replicas", Random: "bits",
         Throws: "training", KeepsItsCorrections: "members"}

"""Tries an algorithm in Python on gradients that are known beforehand, and holds it to what its class says: `trigram.check`."""

import math
import pathlib
import tempfile
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Optional

import torch

from . import algorithm as algorithms
from . import simulation
from .algorithm import Algorithm, GradientMethod, WeightMethod
from .kept_state import WithoutFate

SIZES = 5, 15, 1, 3
"""Of the parameters."""
LEARNING_RATE = 0.125
STEPS = 12
BUCKET = "64B"
LEAVES_AT, JOINS_AT = 4, 8

Formula = Callable[[int, int, int, list[int]], int]
"""Bytes that a rank sends in a step: of (step, rank, ranks, elements of each bucket)."""
Gradient = Callable[[int, int, int], int]
"""Of (step, rank, element): a whole number, so that sums of few are exact."""


def known_gradient(step: int, rank: int, element: int) -> int:
    """From −24 to 24."""
    return (37 * step + 11 * rank + 29 * element + 5 * rank * element) % 49 - 24


def same_gradient(step: int, rank: int, element: int) -> int:
    """In each step and on each rank."""
    return known_gradient(0, 0, element) or 1


class Known(torch.nn.Module):  # type: ignore[misc]
    """A model whose every gradient is what its batch says, whatever the weights."""

    def __init__(self) -> None:
        super().__init__()
        self.parts = torch.nn.ParameterList([torch.nn.Parameter(0.01 * torch.arange(count, dtype=torch.float32)) for count in SIZES])

    def weights(self) -> torch.Tensor:
        return torch.cat([one.detach() for one in self.parts])


@dataclass
class Trained:
    """What came of one training."""

    weights: dict[tuple[int, int], torch.Tensor]
    """By (steps that are done, rank)."""
    bytes_sent: list[int]
    """Of rank 0, by step."""
    counts: list[int]
    """Elements of each bucket."""
    ranks_after: Callable[[int], int]
    """How many ranks there are, of steps that are done."""

    def of_all(self, steps: int) -> torch.Tensor:
        return torch.stack([self.weights[steps, rank] for rank in range(self.ranks_after(steps))])


@dataclass(frozen=True)
class Finding:
    """What one claim came to in one place."""

    where: str
    claim: str
    wrong: str = ""
    """A sentence; empty where it holds."""


class Checked:
    """What an algorithm was held to."""

    def __init__(self, name: str, findings: Sequence[Finding]) -> None:
        self.name, self.findings = name, list(findings)

    @property
    def holds(self) -> bool:
        """Whether all of it does."""
        return not any(one.wrong for one in self.findings)

    def __repr__(self) -> str:
        lines = [f"{one.where}: {one.claim}: {one.wrong}" for one in self.findings if one.wrong]
        if not lines:
            claims = ", ".join(dict.fromkeys(one.claim for one in self.findings))
            places = "; ".join(dict.fromkeys(one.where for one in self.findings))
            return f"algorithm {self.name} holds what it says: {claims}; on {places}"
        return "\n".join([f"algorithm {self.name} does not hold what it says:", *lines])


class Trial:
    """One algorithm on one number of ranks."""

    def __init__(self, make: Callable[[], Algorithm], ranks: int, hierarchy: str = "none") -> None:
        self.make, self.ranks, self.hierarchy = make, ranks, hierarchy
        self.where = f"{ranks} ranks" + ("" if hierarchy == "none" else f" of 2 nodes by {hierarchy}")

    def train(self, gradient: Gradient = known_gradient, **flags: object) -> Trained:
        """Raises whatever hooks raise."""
        weights: dict[tuple[int, int], torch.Tensor] = {}
        counts: list[int] = []
        total = sum(SIZES)

        def made() -> Algorithm:
            one = self.make()
            setup = one.setup

            def told(worker: Any, buckets: list[algorithms.Bucket]) -> None:
                counts[:] = [bucket.weights.numel() for bucket in buckets]
                setup(worker, buckets)

            setattr(one, "setup", told)
            return one

        def loss(model: Known, batch: tuple[int, int]) -> torch.Tensor:
            step, rank = batch
            weights[step, rank] = model.weights()
            slopes = torch.tensor([float(gradient(step, rank, element)) for element in range(total)]).split(SIZES)
            return sum(((one * slope).sum() for one, slope in zip(model.parts, slopes)), torch.zeros(()))

        cluster = "two_by_four" if self.hierarchy == "none" else "two_by_four:gpus_per_node=2"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what has no influence on so few ranks
            run = simulation.simulate(Known, loss, lambda rank, step: (step, rank), made, self.ranks, STEPS + 1, LEARNING_RATE, "sgd", None, cluster,
                                      1e-3, 1, False, None, {"bucket_size": BUCKET, "hierarchy": self.hierarchy, "progress": False} | flags)
        sent = run.steps[run.steps["rank"] == 0]["bytes_sent"]
        return Trained(weights, [int(one) for one in sent], counts, self._ranks_after if "membership" in flags else lambda _: self.ranks)

    def train_with_members(self) -> Trained:
        """Rank 0 leaves, and then somebody joins."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "members.txt"
            path.write_text(f"at {LEAVES_AT} leave 0\nat {JOINS_AT} join 1\n")
            return self.train(membership=path)

    def _ranks_after(self, steps: int) -> int:
        return self.ranks - 1 if LEAVES_AT <= steps < JOINS_AT else self.ranks


def wrong_replicas(one: Algorithm, done: Trained) -> Optional[str]:
    """None where nothing says which ranks are equal when."""
    if not (one.synchronous and one.centralized and isinstance(one, (GradientMethod, WeightMethod))):
        return None
    for step in range(STEPS):
        if isinstance(one, WeightMethod) and not one.communicates(step):
            continue
        all_ranks = done.of_all(step + 1)
        for rank in range(1, len(all_ranks)):
            if not torch.equal(all_ranks[rank], all_ranks[0]):
                far = float((all_ranks[rank] - all_ranks[0]).abs().max())
                return (f"after step {step} the weights of rank {rank} are {far:g} off from those of rank 0; where ranks are not to be equal, say "
                        "centralized = False in the class")
    return ""


def wrong_mean(one: Algorithm, done: Trained) -> Optional[str]:
    """None of what does not follow the mean gradient by itself."""
    if not (one.synchronous and one.full_precision) or not one.uses_optimizer:
        return None
    expected = done.of_all(0).double().mean(0)
    for step in range(STEPS):
        gradients = [[known_gradient(step, rank, element) for element in range(sum(SIZES))] for rank in range(done.ranks_after(step))]
        expected = expected - LEARNING_RATE * torch.tensor(gradients, dtype=torch.float64).mean(0)
        off = (done.of_all(step + 1).double().mean(0) - expected).abs().max()
        if not float(off) < 1e-4:
            return (f"after step {step} the mean of weights over ranks is {float(off):g} off from where the mean gradient leads; let exchanges keep "
                    "the mean, or say full_precision = False in the class where a codec rounds it")
    return ""


def wrong_direction(trial: Trial) -> str:
    done = trial.train(same_gradient)
    moved = (done.of_all(STEPS) - done.of_all(0)).double().mean(0)
    slope = torch.tensor([float(same_gradient(0, 0, element)) for element in range(sum(SIZES))], dtype=torch.float64)
    along = float((moved * slope).sum())
    return "" if along < 0 else (f"gradients are the same in each of {STEPS} steps, and weights end {along:g} along them, where descent goes against")


def wrong_influence(trial: Trial, done: Trained) -> str:
    """Of each rank: whether others learn of its gradients."""
    for rank in range(trial.ranks):
        other = trial.train(lambda step, of, element: known_gradient(step, of, element) + (3 if of == rank else 0))
        neighbours = [one for one in range(trial.ranks) if one != rank]
        if all(torch.equal(done.weights[STEPS, one], other.weights[STEPS, one]) for one in neighbours):
            return f"other gradients on rank {rank} change no other rank's weights in {STEPS} steps"
    return ""


def wrong_bits(trial: Trial, done: Trained, overlap: bool, how: str) -> str:
    again = trial.train(overlap=overlap)
    apart = next((key for key in done.weights if not torch.equal(done.weights[key], again.weights[key])), None)
    return "" if apart is None else (f"rank {apart[1]} has other weights after step {apart[0] - 1} {how}; say deterministic = False in the class "
                                     "where that is meant")


def wrong_bytes(trial: Trial, done: Trained, formula: Formula) -> str:
    for step, sent in enumerate(done.bytes_sent):
        declared = formula(step, 0, trial.ranks, done.counts)
        if declared != sent:
            return f"in step {step} rank 0 sends {sent} bytes, and the formula says {declared}, of buckets of {done.counts} elements"
    return ""


def wrong_members(one: Algorithm, trial: Trial) -> Optional[str]:
    """None where the class does not say what becomes of what it keeps, and there is nobody to leave."""
    if trial.ranks == 1 or trial.hierarchy != "none":
        return None
    try:
        done = trial.train_with_members()
    except WithoutFate:
        return None
    wrong = wrong_replicas(one, done) or wrong_mean(one, done)
    return f"where rank 0 leaves after {LEAVES_AT} steps, and one joins after {JOINS_AT}: {wrong}" if wrong else ""


def claims_of(trial: Trial, formula: Optional[Formula]) -> list[Finding]:
    """What one number of ranks came to. A training that fails is the last claim."""
    findings: list[Finding] = []

    def found(claim: str, wrong: Optional[str]) -> None:
        if wrong is not None:
            findings.append(Finding(trial.where, claim, wrong))

    one = trial.make()
    try:
        done = trial.train()
        found("training", "")
        if not math.isfinite(float(done.of_all(STEPS).sum())):
            found("training", "weights are not finite")
        found("communication", "" if trial.ranks == 1 or sum(done.bytes_sent) > 0 else f"rank 0 sends nothing in {STEPS} steps")
        found("replicas", wrong_replicas(one, done))
        found("mean", wrong_mean(one, done))
        found("direction", wrong_direction(trial))
        if trial.ranks > 1 and trial.hierarchy == "none":
            found("influence", wrong_influence(trial, done))
        found("members", wrong_members(one, trial))
        if one.deterministic:
            found("bits", wrong_bits(trial, done, True, "the second time"))
            found("bits", wrong_bits(trial, done, False, "without overlap"))
        if formula is not None and trial.hierarchy == "none":
            found("bytes", wrong_bytes(trial, done, formula))
    except Exception as error:  # of whatever kind: it is what hooks raised
        found("training", f"{type(error).__name__}: {error}")
    return findings


def check(algorithm: algorithms.Make, ranks: Sequence[int], formula: Optional[Formula]) -> Checked:
    one = algorithms.made(algorithm)
    trials = [Trial(algorithm, count) for count in ranks]
    if one.hierarchical:
        trials += [Trial(algorithm, 4, hierarchy) for hierarchy in ("leader", "all_nics")]
    return Checked(type(one).__name__, [finding for trial in trials for finding in claims_of(trial, formula)])

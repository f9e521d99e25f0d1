"""What is to be short, read from a run.json."""

import math


class IterationTime:
    """Mean seconds of an iteration."""

    name = "time of an iteration"

    def value(self, run):
        return run["summary"]["iteration_s"]

    def order(self, run):
        return self.value(run)

    def words(self, run):
        return seconds(self.value(run))


class TimeToLoss:
    """Seconds until an evaluation has the goal's loss or less; None where none has."""

    # Behind every time that a run can take: who never arrives is ordered by the loss that it ends with.
    NEVER = 1e12

    def __init__(self, goal):
        self.goal = goal
        self.name = f"time to loss {goal:g}"

    def value(self, run):
        return next((point["time_s"] for point in run["curve"] if finite(point["loss"]) and point["loss"] <= self.goal), None)

    def order(self, run):
        value = self.value(run)
        if value is not None:
            return value
        last = run["curve"][-1]["loss"] if run["curve"] else None
        return self.NEVER * min(last / self.goal, 1e12) if finite(last) else self.NEVER**2

    def words(self, run):
        value = self.value(run)
        if value is not None:
            return seconds(value)
        last = run["curve"][-1]["loss"] if run["curve"] else None
        return f"never (ends at loss {last:.4g})" if finite(last) else "never (diverges)"


def finite(value):
    return value is not None and math.isfinite(value)


def seconds(value):
    return f"{value:.4g} s"


def measure_of(plan):
    return IterationTime() if plan["measure"] == "iteration_s" else TimeToLoss(plan["goal"])

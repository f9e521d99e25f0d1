"""Cells in groups: each lasts as long as a task of an executor should, and what is expected to take longest comes first."""

import collections
import json
import math

MOST = 10_000  # cells of a group
LONGEST = 10  # seconds that a group lasts where there is much to do
PARTS = 4  # that each slot has left at least, so that all end at about the same time


class Mean:
    def __init__(self):
        self.count, self.sum = 0, 0.0

    def add(self, value):
        self.count += 1
        self.sum += value

    def value(self):
        return self.sum / self.count if self.count else None


class Expectations:
    """What cells are expected to take, by those that were made: of those like it, else of its row, else what its plan says,
    else of all."""

    def __init__(self):
        self.like, self.row, self.all = collections.defaultdict(Mean), collections.defaultdict(Mean), Mean()

    def add(self, row, like, seconds):
        for mean in (self.like[like], self.row[row], self.all):
            mean.add(seconds)

    def of(self, cell):
        """Seconds, None where nobody knows."""
        for means, key in ((self.like, cell.like), (self.row, cell.row)):
            if key in means:
                return means[key].value()
        return cell.seconds if cell.seconds is not None else self.all.value()


class Groups:
    """Hands out groups of `cells` to `slots()` tasks at a time: longer ones while there is much to do, since each costs the start of
    a program. While nobody knows what a cell takes it goes alone, one of each row first."""

    def __init__(self, cells, task_seconds, slots=lambda: math.inf, expectations=None):
        self.task_seconds, self.slots, self.expectations = task_seconds, slots, expectations or Expectations()
        self.waiting = collections.deque(samples_first(cells))
        self.sort_at = 1  # costs that are known

    def add_costs(self, text):
        """What the program prints of cells that it has made."""
        for line in text.splitlines():
            cost = json.loads(line)
            self.expectations.add(cost["row"], cost["like"], cost["seconds"])
        if self.expectations.all.count >= self.sort_at:
            self.sort_at = 2 * self.expectations.all.count
            self.waiting = collections.deque(sorted(self.waiting, key=self.order))

    def order(self, cell):
        seconds = self.expectations.of(cell)
        return -math.inf if seconds is None else -seconds

    def next(self):
        """The next group; empty where none is left."""
        group, lasts, should_last = [], 0.0, self.seconds_of_group()
        while self.waiting and len(group) < MOST:
            seconds = self.expectations.of(self.waiting[0])
            if group and seconds is None:
                break
            group.append(self.waiting.popleft())
            lasts += math.inf if seconds is None else seconds
            if lasts >= should_last:
                break
        return group

    def seconds_of_group(self):
        mean = self.expectations.all.value() or 0.0
        return max(self.task_seconds, min(LONGEST, len(self.waiting) * mean / (PARTS * self.slots())))

    def seconds_left(self, running):
        """Of all cells that wait and of those of `running` groups, one after the other; None where nobody knows."""
        if self.expectations.all.count == 0:
            return None
        return sum(map(self.expectations.of, self.waiting)) + sum(self.expectations.of(cell) for group in running for cell in group)


def samples_first(cells):
    rows, samples, others = set(), [], []
    for cell in cells:
        is_sample = cell.seconds is None and cell.row not in rows
        rows.add(cell.row)
        (samples if is_sample else others).append(cell)
    return samples + others

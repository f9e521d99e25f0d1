"""What is promised of a job whatever happens to it, held to what its members said and its folder has."""

import signal

from history import borders, chain, mean, was_resumed
from member import STEPS
from member_script import BATCH, SAMPLES
from trigram.library import bears_absence
from trigram.members.sharing import batch_of, share_of


BREAK_NO_CONNECTION = {"join", "end", "full disk", "slow disk"}


class Promises:
    """Of a job that has ended. Each method gives what is broken, in words."""

    def __init__(self, job):
        self._job, self.bears_absence = job, bears_absence(job.algorithm)
        said = [(child, told) for child in job.children.values() for told in child.told]
        steps, ends = [(child, told) for child, told in said if "step" in told], [told["end"] for _, told in said if "end" in told]
        self._steps, self._apart = ([(child, told) for child, told in steps if bool(told["part"]) is apart] for apart in (False, True))
        self._has_finished = bool(ends) or (job.folder / "meeting" / "finished").exists()  # before all were killed
        self.ends = sorted((one for one in ends if not one["part"]), key=lambda one: one["rank"])
        self.links = []
        if self.ends:
            last = max(one["epoch"] for one in self.ends)
            self.links = chain(job.folder / "meeting", last)
            self.ends = [one for one in self.ends if one["epoch"] == last]

    def broken(self):
        yield from self._job.hangs
        yield from self._wrong_ends()
        yield from self._broken_apart()
        if not self._has_finished:
            yield "nobody has finished"
        if not self.ends:
            return  # all others have died, or left
        yield from self._wrong_weights()
        yield from self._wrong_samples()
        yield from self._split()

    def _wrong_ends(self):
        for number, child in self._job.children.items():
            if child.code not in (0, *self._ends_of(number, child)) and not self._job.hangs:
                yield f"process {number} ended with {child.code}: {' | '.join(child.said[-12:])}"
        if self._job.left and not self._job.hangs:
            yield f"{self._job.left} processes were left over"

    def _ends_of(self, number, child):
        """Codes other than 0 that it may end with."""
        if number in self._job.killed:
            yield -signal.SIGKILL
        if number in self._job.asked_to_end and not child.told:  # before it had called the library, which knows what to do then
            yield -signal.SIGTERM

    def _broken_apart(self):
        """Where absence is borne, nobody's weights are lost, and in each part a sample is taken by one member; elsewhere nobody is apart."""
        numbers, taken = {}, {}
        for child, told in self._steps + self._apart:
            numbers.setdefault(child.number, set()).add(told["number"])
        for child, told in self._apart:
            taken.setdefault((told["part"], told["epoch"], told["step"]), {})[told["rank"]] = told["samples"]
        for process, known in numbers.items():
            if len(known) > 1 and self.bears_absence:
                yield f"process {process} was members {sorted(known)}, and so has lost what it had trained"
        for place, shares in taken.items():
            samples = [sample for share in shares.values() for sample in share]
            if len(set(samples)) < len(samples):
                yield f"in {place} samples were taken twice"
        if self._apart and not self.bears_absence:
            yield "somebody has trained apart from the others"

    def _wrong_weights(self):
        if not self.ends[0]["equal"]:
            return
        known = {}
        for _, told in self._steps:
            if known.setdefault((told["epoch"], told["step"]), told["weights"]) != told["weights"]:
                yield f"members begin step {told['step']} of epoch {told['epoch']} with other weights than each other"
        if any(one["weights"] != self.ends[0]["weights"] for one in self.ends):
            yield "those who have finished have other weights than each other"

    def _wrong_samples(self):
        """Of each step, in the epoch in which it was done at last, each sample of its batch is taken by one member."""
        for (epoch, begin, end), after in zip(borders(self.links), [*self.links[1:], None]):
            for step in range(begin, end):
                told = [one for _, one in self._steps if (one["epoch"], one["step"]) == (epoch, step)]
                taken = [sample for one in told for sample in one["samples"]] + self._left_out(step, told, after)
                if sorted(taken) != sorted(batch_of(step, SAMPLES, BATCH, 0).tolist()):
                    yield f"step {step} of epoch {epoch} took other samples than its own: {[(one['rank'], one['ranks'], len(one['samples'])) for one in told]}"

    def _left_out(self, step, told, after):
        """The samples of those who did not take part, where they are lost at the end of the epoch and the others bear that."""
        if not self.bears_absence or after is None:
            return []
        ranks = len(after["sources"]) - len(after["back"])
        lost = [rank for rank, one in enumerate(after["sources"]) if one is None and rank not in {one["rank"] for one in told}]
        return [sample for rank in lost for sample in share_of(batch_of(step, SAMPLES, BATCH, 0), rank, ranks).tolist()]

    def are_simulated(self):
        """Whether the simulator has the same course: where absence is borne, exchanges may have been left out before a border, also with who came back."""
        return not self.bears_absence or not self._job.struck or not self._apart and set(self._job.struck) <= BREAK_NO_CONNECTION

    def _split(self):
        """Nobody who lives has known a border to be held by all that is behind the one from which others went on."""
        ends, were_apart = {epoch: end for epoch, _, end in borders(self.links)}, {child.number for child, _ in self._apart}
        after = dict(zip([one["epoch"] for one in self.links], self.links[1:]))
        for child, told in self._steps:
            if told["epoch"] < self.links[0]["epoch"] or was_resumed(after.get(told["epoch"], {"sources": []})):
                if child.code == 0 and child.number not in self._job.killed | were_apart and not self._was_asked(child):
                    yield f"process {child.number} trained in epoch {told['epoch']} and lived, and the job began again without it"
            elif told["border"] > ends.get(told["epoch"], STEPS) and child.number not in self._job.killed:
                yield f"process {child.number} knew of a border after {told['border']} steps of epoch {told['epoch']}, which had ended at {ends[told['epoch']]}"

    def _was_asked(self, child):
        return any("leaves after" in line for line in child.said)

    def mean(self):
        """The weights of the mean model of those who have finished; None where not all of the last epoch have."""
        is_whole = len(self.ends) == len(self.links[-1]["members"])
        return mean([one["weights"] for one in self.ends]) if is_whole else self.ends[0]["weights"] if self.ends[0]["equal"] else None

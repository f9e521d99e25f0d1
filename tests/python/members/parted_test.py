"""A network that breaks in two where the algorithm bears absence: both parts train, and are one again once it is whole. Needs the rights of root, since each
member has a network of its own. Ends with 77 without them, or without torch."""

import functools
import importlib.util
import mmap
import os
import pathlib
import signal
import sys
import tempfile
import time
import unittest

if importlib.util.find_spec("torch") is None or os.geteuid() != 0:
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "chaos"), str(HERE)]

import member  # noqa: E402
import torch  # noqa: E402
from member_script import BATCH, SAMPLES, data, loss, make  # noqa: E402
from network import Network, are_allowed, leave_the_hosts  # noqa: E402
from nursery import Nursery  # noqa: E402

import trigram  # noqa: E402
from trigram.members.sharing import batch_of  # noqa: E402
from trigram.optim import SGD  # noqa: E402

PLACES, HEARTBEAT, PATIENCE, RATE = 4, 0.5, 120, 0.1
SIDES = ([0, 1], [2, 3]), ([2, 3], [0, 1])
"""Of a network in two parts, of which the one that has come first goes on as the job."""
STEPS, PACE = 400, 0.1
"""As many as nobody does before all is over, at that many seconds each."""


def flat(model):
    return [float(one) for part in model.parameters() for one in part.detach().reshape(-1)]


def after(number, told):
    """The weights that a step of one member alone makes of those that it told."""
    model = make()
    torch.nn.utils.vector_to_parameters(torch.tensor(told["weights"]), model.parameters())
    loss(model, data(number, told["step"])).backward()
    torch.optim.SGD(model.parameters(), lr=told["rate"]).step()
    return flat(model)


def train(say, hurries, number, host, meeting, steps, algorithm, begin_with, **rules):
    os.environ |= {"TRIGRAM_MEMBER": str(number), "TRIGRAM_HOST": host, "GLOO_SOCKET_IFNAME": "eth0"}
    model = make()
    optimizer = SGD(model.parameters(), lr=RATE)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (1 + 0.01 * step))
    members = trigram.with_members(model, [optimizer], algorithm, also=[schedule], rendezvous=f"file:{meeting}", begin_with=begin_with,
                                   heartbeat=HEARTBEAT, timeout=60, **rules)
    for step in members.steps(steps):
        with step:
            say({"step": step.number, "number": members.number, "ranks": step.ranks, "apart": members.apart, "weights": flat(model),
                 "samples": step.share(SAMPLES, BATCH).tolist(), "rate": optimizer.param_groups[0]["lr"]})
            optimizer.zero_grad()
            loss(model, data(number, step.number)).backward()
            optimizer.step()
            schedule.step()
            time.sleep(0 if hurries() else PACE)
    members.finish()
    say({"end": flat(model), "apart": members.apart})


class Job(Nursery):
    """Whose member of number 0 is at place 0, and so on."""

    def __init__(self, network, folder, steps, algorithm, begin_with, **rules):
        super().__init__()
        self._network, self._meeting = network, pathlib.Path(folder) / "meeting"
        self._hurries = mmap.mmap(-1, 1)  # which processes that this one forks see too
        self._told = steps, algorithm, begin_with, rules
        for number in range(begin_with):
            self.start(number)

    def start(self, place):
        return self.fork(functools.partial(self._member, place, *self._told)).number

    def _member(self, number, steps, algorithm, begin_with, rules, say):
        self._network.enter(number)
        train(say, lambda: self._hurries[0], number, self._network.address(number), self._meeting, steps, algorithm, begin_with, **rules)

    def until(self, condition):
        end = self.now + PATIENCE
        while not condition():
            self.look()
            if self.now > end or not self.living() and not condition():
                raise AssertionError("; ".join(f"{one.number}: {one.code} {[told.get('step') for told in one.told[-1:]]} {one.said[-4:]}"
                                               for one in self.children.values()))

    def last(self, number):
        return self.children[number].told[-1] if self.children[number].told else {"step": -1, "ranks": 0, "apart": False}

    def are(self, numbers, ranks, apart):
        """Whether these train as so many, in a part or not."""
        return all(self.last(one).get("ranks") == ranks and self.last(one)["apart"] == apart for one in numbers)

    def end(self):
        """Of each, its code and what it told, once all are done as fast as they can."""
        self._hurries[0] = 1
        self.until(lambda: not self.living())
        return {number: (one.code, one.told) for number, one in self.children.items()}


class Parted(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.addCleanup(NETWORK.heal, range(PLACES))

    def job(self, steps=STEPS, algorithm="decentralized", begin_with=4, **rules):
        job = Job(NETWORK, self.folder, steps, algorithm, begin_with, **rules)
        self.addCleanup(job.kill)
        job.until(lambda: job.are(range(begin_with), begin_with, False) and job.last(0)["step"] >= 3)
        return job

    def check_steps(self, told, steps):
        """Each was done, by who it was from the beginning on, but for those by which the others were ahead."""
        done = [one for one in told if "step" in one]
        ahead = [range(one["step"] + 1, then["step"]) for one, then in zip(done, done[1:]) if one["apart"] and not then["apart"]]
        self.assertEqual(sorted({one["step"] for one in done}.union(*ahead)), list(range(steps)))
        self.assertEqual(len({one["number"] for one in done}), 1)

    def after(self, number, told):
        """The weights that it has after that step, alone and without momentum."""
        model = make()
        torch.nn.utils.vector_to_parameters(torch.tensor(told["weights"]), model.parameters())
        loss(model, data(number, told["step"])).backward()
        return torch.tensor([weight - told["rate"] * slope for weight, slope in zip(flat(model), (float(one) for part in model.parameters()
                                                                                                  for one in part.grad.reshape(-1)))])

    def test_both_parts_train_and_are_one_again(self):
        for algorithm in ("decentralized", "low_precision_decentralized"):
            with self.subTest(algorithm):
                self.setUp()
                job = self.job(algorithm=algorithm)
                NETWORK.part([2, 3])
                job.until(lambda: any(job.are(home, 2, False) and job.are(others, 2, True) for home, others in SIDES))
                steps_then = [job.last(number)["step"] for number in range(4)]
                job.until(lambda: all(job.last(number)["step"] > steps_then[number] + 5 for number in range(4)))
                NETWORK.heal([2, 3])
                job.until(lambda: job.are(range(4), 4, False))
                for number, (code, told) in job.end().items():
                    self.assertEqual(code, 0)
                    self.check_steps(told, STEPS)
                    self.check_rates(told)
                self.check_samples(job)

    def check_rates(self, told):
        """The schedule is where the steps are, also in a part and of who is back."""
        for one in told:
            if "step" in one:
                self.assertAlmostEqual(one["rate"], RATE / (1 + 0.01 * one["step"]))

    def check_samples(self, job):
        """Each part takes the whole batch."""
        for apart in (False, True):
            first = next(one for number in (0, 2) for one in job.children[number].told if one.get("apart") == apart and one.get("ranks") == 2)["step"] + 2
            taken = [sample for child in job.children.values() for one in child.told
                     if one.get("step") == first and one["apart"] == apart and one["ranks"] == 2 for sample in one["samples"]]
            self.assertEqual(sorted(taken), sorted(batch_of(first, SAMPLES, BATCH, 0).tolist()))

    def test_one_alone_comes_back_with_the_weights_that_it_has_trained(self):
        job = self.job(begin_with=3)
        NETWORK.cut([2])
        job.until(lambda: job.are([0, 1], 2, False) and job.are([2], 1, True))
        NETWORK.heal([2])
        job.until(lambda: job.are(range(3), 3, False))
        told = job.children[2].told
        back = next(place for place, one in enumerate(told) if one["apart"] and not told[place + 1]["apart"])
        self.assertGreater(max(abs(one - other) for one, other in zip(told[back]["weights"], told[back + 1]["weights"])), 0)
        apart = float((self.after(2, told[back]) - torch.tensor(told[back + 1]["weights"])).abs().max())
        self.assertLess(apart, 1e-6)

    def test_where_the_others_have_finished_one_alone_does_its_own_steps(self):
        job = self.job(60, begin_with=3)
        NETWORK.cut([2])
        for number, (code, told) in job.end().items():
            self.assertEqual((code, told[-1]["apart"]), (0, number == 2), told[-1])
            self.check_steps(told, 60)
        self.assertTrue((self.folder / "meeting" / "finished").exists())

    def test_where_the_others_have_died_one_alone_does_its_own_steps(self):
        job = self.job(begin_with=3)
        NETWORK.cut([2])
        job.until(lambda: job.are([2], 1, True))
        for number in (0, 1):
            job.children[number].signal(signal.SIGKILL)
        NETWORK.heal([2])
        code, told = job.end()[2]
        self.assertEqual((code, told[-1]["apart"]), (0, True))
        self.check_steps(told, STEPS)
        self.assertFalse((self.folder / "meeting" / "finished").exists())

    def test_where_the_others_have_begun_again_one_alone_comes_back_to_them(self):
        job = self.job(begin_with=3)
        NETWORK.cut([2])
        job.until(lambda: job.are([2], 1, True))
        for number in (0, 1):
            job.children[number].signal(signal.SIGKILL)
        again = [job.start(place) for place in (0, 1, 3)]
        job.until(lambda: job.are(again, 3, False) and job.last(again[0])["step"] >= 2)
        NETWORK.heal([2])
        job.until(lambda: job.are([2, *again], 4, False))
        self.assertEqual(job.children[again[0]].told[0]["step"], 0)
        told = job.children[2].told
        self.assertEqual(len({one["number"] for one in told}), 1)
        back = next(place for place, one in enumerate(told) if one["ranks"] == 4)
        kept = torch.tensor(told[back]["weights"]).sub(torch.tensor(after(2, told[back - 1]))).norm()
        self.assertLess(float(kept), 1e-5, "who has come back has not kept what it had trained")

    def test_fewer_than_min_members_wait_until_the_others_are_reached(self):
        job = self.job(begin_with=3, min_members=2)
        NETWORK.cut([2])
        job.until(lambda: job.are([0, 1], 2, False))
        step = job.last(0)["step"]
        job.until(lambda: job.last(0)["step"] > step + 20)
        NETWORK.heal([2])
        job.until(lambda: job.are(range(3), 3, False))
        self.assertFalse([one for one in job.children[2].told if one["apart"]])

    def test_where_absence_is_not_borne_the_smaller_part_waits(self):
        job = self.job(algorithm="all_reduce", begin_with=3)
        NETWORK.cut([2])
        job.until(lambda: job.are([0, 1], 2, False))
        NETWORK.heal([2])
        job.until(lambda: job.are(range(3), 3, False))
        told = job.children[2].told
        self.assertFalse([one for one in told if one["apart"]])
        self.assertEqual(len({one["number"] for one in told if "step" in one}), 2)


if __name__ == "__main__":
    if not are_allowed():
        sys.exit(77)
    member.load()
    leave_the_hosts()
    NETWORK = Network(PLACES)
    unittest.main()

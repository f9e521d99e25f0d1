"""Members that are lost where the algorithm bears absence: the others undo nothing, and leave out what they would have exchanged with them until the
next border. Ends with 77 without torch."""

import pathlib
import re
import signal
import sys
import unittest

try:
    import torch
except ImportError:
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from case import Case  # noqa: E402
from member_script import data, labelled, loss, make  # noqa: E402
from members_case import PATIENCE, Members  # noqa: E402

STEPS, EVERY, BEGIN_WITH = 20, 8, 4
ASYNCHRONOUS = ("ad_psgd", "moniqua", "async_average", "low_precision_async_average")


def exam(weights):
    """The loss on samples that nobody has trained on."""
    model = make()
    torch.nn.utils.vector_to_parameters(weights, model.parameters())
    with torch.no_grad():
        return float(sum(loss(model, labelled(data(rank, -1))) for rank in range(100, 150))) / 50


class OnPaper:
    """Members on a ring of which one is lost, as torch alone computes them: mean with both neighbours, then SGD with momentum."""

    def __init__(self, lost, dies_at):
        self._lost, self._dies_at = lost, dies_at
        self._models = {number: make() for number in range(BEGIN_WITH)}
        self._optimizers = {number: torch.optim.SGD(one.parameters(), lr=0.1, momentum=0.9) for number, one in self._models.items()}

    def weights(self):
        """Of those who are left, by number."""
        border = (self._dies_at // EVERY + 1) * EVERY
        for step in range(STEPS):
            ring = list(range(BEGIN_WITH)) if step < border else [one for one in range(BEGIN_WITH) if one != self._lost]
            here = [one for one in ring if one != self._lost or step < self._dies_at]
            self._step(step, ring, here)
        return {number: one for number, one in self._flat().items() if number != self._lost}

    def _step(self, step, ring, here):
        mixed = self._mixed(self._flat(), ring, here)
        self._learn(step, ring, here, lambda one, model: torch.nn.utils.vector_to_parameters(mixed[one], model.parameters()))

    def _learn(self, step, ring, here, before_update):
        for rank, one in enumerate(ring):
            if one not in here:
                continue
            model = self._models[one]
            self._optimizers[one].zero_grad()
            loss(model, data(rank, step)).backward()
            before_update(one, model)
            self._optimizers[one].step()

    def _mixed(self, values, ring, here):
        """What a neighbour that is lost would weigh, one's own value does."""
        mixed = {}
        for place, one in enumerate(ring):
            neighbours = [ring[place - 1], one, ring[(place + 1) % len(ring)]]
            mixed[one] = sum(values[other if other in here else one] for other in neighbours) / 3
        return mixed

    def _flat(self):
        return {number: torch.cat([part.detach().reshape(-1) for part in one.parameters()]) for number, one in self._models.items()}


class NoLoCoOnPaper(OnPaper):
    """The same ring, on which every third step moves slow weights."""

    def __init__(self, lost, dies_at):
        super().__init__(lost, dies_at)
        self._slow = self._flat()
        self._moves = {number: torch.zeros_like(one) for number, one in self._slow.items()}

    def _step(self, step, ring, here):
        self._learn(step, ring, here, lambda *_: None)
        if (step + 1) % 3:
            return
        weights = self._flat()
        learned = self._mixed({one: self._slow[one] - weights[one] for one in ring}, ring, here)
        slow = self._mixed(self._slow, ring, here)
        for one in here:
            self._moves[one] = 0.5 * self._moves[one] - 0.7 * learned[one] - (self._slow[one] - slow[one])
            self._slow[one] = self._slow[one] + self._moves[one]
            torch.nn.utils.vector_to_parameters(self._slow[one].clone(), self._models[one].parameters())


class Absence(Case):
    def trained(self, algorithm, lost, **told):
        """What those who are left have left, by number."""
        members = Members(self.folder, BEGIN_WITH, algorithm, **{"steps": STEPS, "border_every": EVERY, **told})
        self.addCleanup(members.kill)
        if "stops_at" in told:
            members.wait_for_line(f"member {lost} stands still")
            members.all[lost].signal(signal.SIGSTOP)
            self.wait_for_ends(members, lost)
            members.all[lost].signal(signal.SIGKILL)
        ends = members.end()
        self.assertEqual({number: code for number, (code, _) in ends.items()}, {number: -signal.SIGKILL if number == lost else 0 for number in ends}, ends)
        for number, (_, said) in ends.items():
            begun = [int(one) for one in re.findall(r"^step (\d+) ", said, re.MULTILINE)]
            if number != lost:
                self.assertEqual(begun, list(range(STEPS)), f"member {number} has undone steps: {said}")
        return members.left()

    def wait_for_ends(self, members, lost):
        for number, one in members.all.items():
            if number != lost:
                one.wait()

    def check(self, lost, dies_at, algorithm="decentralized", on_paper=OnPaper):
        left = self.trained(algorithm, lost, dies=lost, dies_at=dies_at)
        for number, wanted in on_paper(lost, dies_at).weights().items():
            apart = float((left[number]["weights"] - wanted).abs().max())
            self.assertLess(apart, 1e-5, f"member {number}")
        border = (dies_at // EVERY + 1) * EVERY
        ranks = [left[number]["taken"][step]["ranks"] for number in left for step in range(STEPS)]
        self.assertEqual(ranks, ([BEGIN_WITH] * min(border, STEPS) + [BEGIN_WITH - 1] * (STEPS - border)) * (BEGIN_WITH - 1))

    def test_partners_leave_out_the_exchange_and_the_next_border_has_new_neighbours(self):
        self.check(lost=1, dies_at=10)

    def test_so_do_they_where_the_first_rank_is_lost(self):
        self.check(lost=0, dies_at=5)

    def test_so_do_those_of_a_class_in_python(self):
        self.check(1, 10, "own:RingBefore")

    def test_at_the_last_border_the_job_has_finished(self):
        self.check(lost=2, dies_at=STEPS - 2)
        self.assertTrue((self.folder / "meeting" / "finished").exists())

    def test_slow_weights_meet_those_who_are_there(self):
        self.check(2, 10, "no_loco:every=3,topology=ring", NoLoCoOnPaper)

    def test_others_that_bear_absence(self):
        for algorithm in ("low_precision_decentralized", "choco_sgd:codec=minmax_uint8", "matcha", "decentralized:topology=one_peer_exponential"):
            with self.subTest(algorithm):
                self.setUp()
                left = self.trained(algorithm, 1, dies=1, dies_at=10)
                weights = torch.stack([one["weights"] for one in left.values()])
                self.assertLess(float((weights - weights.mean(0)).norm(dim=1).max()), 0.2 * float(weights.mean(0).norm()))

    def check_asynchronous(self, algorithm, lost, **told):
        """Nobody waits for a sign of life: heartbeats are longer than this test."""
        left = self.trained(algorithm, lost, dies=lost, teacher=1, heartbeat=5 * PATIENCE, timeout=10 * PATIENCE, **told)
        weights = torch.stack([one["weights"] for one in left.values()])
        self.assertTrue(torch.isfinite(weights).all())
        begun = exam(torch.nn.utils.parameters_to_vector(make().parameters()).detach())
        for number, one in left.items():
            self.assertLess(exam(one["weights"]), 0.95 * begun, f"member {number} has learned nothing")
            self.assertEqual([one["taken"][step]["ranks"] for step in (0, STEPS - 1)], [BEGIN_WITH, BEGIN_WITH - 1])

    def test_asynchronous_methods_notice_at_the_next_border(self):
        """Where the others wait by then."""
        for algorithm in ASYNCHRONOUS:
            with self.subTest(algorithm):
                self.setUp()
                self.check_asynchronous(algorithm, 1, dies_at=10)

    def test_they_go_on_alone_until_then(self):
        """Some steps of 0.1 s after the loss, of a rank that others ask and of one that asks."""
        for algorithm, lost in zip(ASYNCHRONOUS, (1, 2, 1, 0)):
            with self.subTest(algorithm, lost=lost):
                self.setUp()
                self.check_asynchronous(algorithm, lost, dies_at=2, border_every=16, step_s=0.1)

    def test_an_asynchronous_one_that_stands_still_is_left_out(self):
        for algorithm in ("ad_psgd", "async_average"):
            with self.subTest(algorithm):
                self.setUp()
                self.trained(algorithm, 1, dies=1, stops_at=10, heartbeat=0.5, timeout=10 * PATIENCE)

    def test_who_stands_still_is_left_out(self):
        self.trained("decentralized", 1, dies=1, stops_at=10, heartbeat=0.5, timeout=10 * PATIENCE)

    def test_who_was_only_slow_is_there_again_after_the_border(self):
        members = Members(self.folder, BEGIN_WITH, "decentralized", steps=STEPS, border_every=EVERY, step_s=0.05, heartbeat=0.5, timeout=10 * PATIENCE)
        self.addCleanup(members.kill)
        members.wait_for_step(9, 1)
        members.all[1].signal(signal.SIGSTOP)
        members.wait_for_step(13, 0)
        members.all[1].signal(signal.SIGCONT)
        ends = members.end()
        self.assertEqual({code for code, _ in ends.values()}, {0}, ends)
        for _, said in ends.values():
            self.assertEqual([int(one) for one in re.findall(r"^step (\d+) ", said, re.MULTILINE)], list(range(STEPS)))
        for one in members.left().values():
            self.assertEqual([(one["taken"][step]["epoch"], one["taken"][step]["ranks"]) for step in (0, 15, 16)], [(0, 4), (0, 4), (1, 4)])

    def test_what_waits_for_all_goes_back(self):
        """As all_reduce, gossip with an average of all, and what looks back on sums over all."""
        for algorithm in ("all_reduce", "gossip_pga", "d2", "async_average:warmup=20", "own:LocalSgd"):
            with self.subTest(algorithm), self.assertRaisesRegex(AssertionError, "has undone steps"):
                self.setUp()
                self.trained(algorithm, 1, dies=1, dies_at=10)


if __name__ == "__main__":
    unittest.main()

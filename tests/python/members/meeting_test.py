"""Who becomes a member, decided without any process, and which samples members take."""

import importlib.util
import sys
import tempfile
import threading
import unittest

if importlib.util.find_spec("torch") is None:
    sys.exit(77)

from trigram.members import decision, sharing
from trigram.members.begin import checked
from trigram.members.borders import mean_of, of_one_back
from trigram.members.folder import Folder
from trigram.members.meeting import Rules
from trigram.members.plan import Plan, PlanBySteps
from trigram.members.spacing import MOST, Spacing


def member(name, number):
    return {"name": name, "number": number, "address": ["host", number]}


def came(name, settled, *moments, leaving=False):
    return {"name": name, "address": ["host", 1], "leaving": leaving, "settled": settled,
            "moments": [{"moment": list(one), "digests": [f"{name}{one}", ""]} for one in moments]}


def back(name, number, steps):
    return member(name, number) | {"brings": {"moment": [decision.APART, steps], "digests": [f"{name}{steps}", ""]}}


class Decisions(unittest.TestCase):
    EPOCHS = {0: {"members": [member("a", 0), member("b", 1), member("c", 2)], "next": 3}}

    def decide(self, *told, newcomers=(), epoch=1, epochs=None):
        return decision.decision(epoch, {one["name"]: one for one in told}, newcomers, (epochs or self.EPOCHS).__getitem__)

    def test_who_has_not_come_is_lost_and_ranks_move_up(self):
        told = self.decide(came("a", (0, 5), (0, 5)), came("c", (0, 5), (0, 5)), newcomers=[member("d", 0)])
        self.assertEqual([one["number"] for one in told["members"]], [0, 2, 3])
        self.assertEqual((told["were"], told["lost"], told["joined"], told["left"], told["next"]), ([0, 2, -1], [1], [3], [], 4))
        self.assertIsNone(told["sources"][1])

    def test_who_leaves_is_still_a_source(self):
        told = self.decide(*(came(name, (0, 5), (0, 5), leaving=name == "b") for name in "abc"))
        self.assertEqual((told["were"], told["left"], told["lost"]), ([0, 2], [1], []))
        self.assertEqual(told["sources"][1]["digests"][0], "b(0, 5)")

    def test_what_only_some_have_begun_is_undone(self):
        told = self.decide(came("a", (0, 5), (0, 5), (0, 6)), came("b", (0, 5), (0, 5), (0, 6)))
        self.assertEqual(told["begin"], [0, 5])

    def test_what_one_knows_to_be_reached_by_all_is_kept(self):
        told = self.decide(came("a", (0, 6), (0, 6)), came("b", (0, 5), (0, 5), (0, 6)))
        self.assertEqual((told["begin"], told["sources"][1]["digests"][0]), ([0, 6], "b(0, 6)"))

    def test_where_absence_is_borne_all_go_on_from_the_newest_that_all_hold(self):
        a, b = came("a", (0, 5), (0, 5), (0, 6)), came("b", (0, 5), (0, 5), (0, 6))
        for c, border in ((came("c", (0, 5), (0, 5), (0, 6)), [0, 6]), (came("c", (0, 5), (0, 5)), [0, 5]), (came("c", None), [0, 6])):
            told = decision.decision(1, {one["name"]: one for one in (a, b, c)}, (), self.EPOCHS.__getitem__, bears_absence=True)
            self.assertEqual(told["begin"], border)

    def test_an_epoch_that_never_began_is_passed_over(self):
        epochs = self.EPOCHS | {1: {"members": [member("a", 0), member("d", 3)], "next": 4}}
        told = self.decide(came("a", (0, 5), (0, 5)), came("d", None), newcomers=[member("d", 3)], epoch=2, epochs=epochs)
        self.assertEqual(([one["number"] for one in told["members"]], told["were"], told["lost"]), ([0, 4], [0, -1], [1, 2]))

    def test_newcomers_take_the_places_of_those_who_wrote_a_checkpoint(self):
        written = {name: came(name, (0, 5), (0, 5), leaving=True) | {"address": None} for name in "abc"}
        for names, were in (("d", [0]), ("def", [0, 1, 2]), ("defg", [0, 1, 2, -1])):
            told = decision.resumption(4, written, [member(name, 0) for name in names], (self.EPOCHS | {3: {"members": [], "next": 9}}).__getitem__)
            self.assertEqual((told["begin"], told["were"], told["lost"]), ([0, 5], were, []))
            self.assertEqual([(one["name"], one["number"]) for one in told["members"]], [(name, 9 + i) for i, name in enumerate(names)])
            self.assertEqual(told["sources"][1], {"address": None, "digests": ["b(0, 5)", ""]})

    def test_without_a_checkpoint_newcomers_begin_anew(self):
        told = decision.resumption(4, {}, [member("d", 0)], {3: {"members": [], "next": 9}}.__getitem__)
        self.assertEqual((told["begin"], told["were"], told["sources"]), (None, [-1], []))

    def test_who_has_trained_apart_comes_behind_those_who_were_there_and_begins_where_they_are(self):
        told = self.decide(came("a", (0, 5), (0, 5)), came("b", (0, 5), (0, 5)), newcomers=[back("c", 2, 9), member("d", 0), back("e", 7, 3)])
        self.assertEqual(told["begin"], [0, 5])
        self.assertEqual([(one["name"], one["number"]) for one in told["members"]], [("a", 0), ("b", 1), ("c", 2), ("e", 7), ("d", 3)])
        self.assertEqual((told["were"], told["apart"], told["back"], told["joined"], told["next"]), ([0, 1, 3, 4, -1], [3, 4], [2, 7], [3], 4))
        self.assertEqual(told["sources"][3], {"address": ["host", 2], "moment": [decision.APART, 9], "digests": ["c9", ""]})

    def test_where_nobody_else_holds_anything_all_begin_where_the_one_is_that_has_done_most_steps(self):
        told = self.decide(newcomers=[back("c", 2, 5), member("d", 0), back("e", 7, 9)])
        self.assertEqual(told["begin"], [decision.APART, 9])
        self.assertEqual([(one["name"], one["number"]) for one in told["members"]], [("e", 7), ("c", 2), ("d", 3)])
        self.assertEqual((told["were"], told["apart"], told["next"]), ([0, 1, -1], [1], 4))

    def test_of_several_decisions_the_first_one_stands(self):
        with tempfile.TemporaryDirectory() as place:
            folders = [Folder(place) for _ in range(8)]
            threads = [threading.Thread(target=one.decide, args=(0, {"by": index})) for index, one in enumerate(folders)]
            for one in threads:
                one.start()
            for one in threads:
                one.join()
            self.assertEqual(len({str(one.decided(0)) for one in folders}), 1)
            self.assertEqual(len({one.secret for one in folders}), 1)


class JobRules(unittest.TestCase):
    def test_a_checkpoint_between_borders_is_refused(self):
        with self.assertRaisesRegex(ValueError, "checkpoint_every=3 is no multiple of border_every=2"):
            checked(Rules(border_every=2, checkpoint_every=3))


class Samples(unittest.TestCase):
    def test_each_comes_once_an_epoch_of_the_data_at_any_membership(self):
        for ranks_of_step in ([1] * 5, [3, 4, 2, 5, 1]):
            taken = [sample for step, ranks in enumerate(ranks_of_step) for rank in range(ranks)
                     for sample in sharing.share_of(sharing.batch_of(step, 35, 7, seed=2), rank, ranks).tolist()]
            self.assertEqual(sorted(taken), list(range(35)))

    def test_a_batch_goes_on_into_the_next_epoch(self):
        batches = [sharing.batch_of(step, 10, 4, seed=0).tolist() for step in range(5)]
        self.assertEqual([len(one) for one in batches], [4] * 5)
        self.assertEqual(sorted(sum(batches, [])), sorted([*range(10)] * 2))


class Borders(unittest.TestCase):
    """Of two members, one of which is slower."""

    def distances(self, border_s, count=6, **rules):
        """Of so many borders, from the first step on, where a border and a step took so long."""
        one, found = Spacing(Rules(**rules)), []
        one.epoch_begins(0)
        border = self.next(one, 0)
        for _ in range(count):
            one.border_ends(border, [[border_s, 0.1], [border_s, 0.3]])
            found.append(self.next(one, border) - border)
            border += found[-1]
        return found

    def next(self, one, done):
        return next(step for step in range(done + 1, 5000) if one.is_border(step))

    def test_they_are_as_far_apart_as_they_cost(self):
        self.assertEqual(self.distances(0.1), [2, 4, 8, 16, 25, 25])
        self.assertEqual(self.distances(0.0), [1] * 6)
        self.assertEqual(self.distances(1000.0, 11)[-2:], [MOST, MOST])

    def test_one_that_took_long_puts_off_no_others(self):
        one = Spacing(Rules())
        one.epoch_begins(0)
        one.border_ends(1, [[1000.0, 0.1], [1000.0, 0.1]])
        self.assertEqual(self.next(one, 1), 1 + 2)

    def test_an_epoch_begins_with_short_ones(self):
        one = Spacing(Rules())
        one.epoch_begins(0)
        for border in (1, 3, 7):
            one.border_ends(border, [[0.1, 0.1]])
        one.epoch_begins(9)
        self.assertEqual(self.next(one, 9), 10)
        one.border_ends(10, [[0.1, 0.1]])
        self.assertEqual(self.next(one, 10), 12)

    def test_they_are_where_they_are_asked_for_and_where_checkpoints_are(self):
        self.assertEqual(self.distances(0.1, border_every=3), [3] * 6)
        self.assertEqual(self.distances(0.1, checkpoint_every=4), [2, 1, 4, 4, 4, 4])

    def test_they_are_where_a_schedule_changes_members(self):
        plan = PlanBySteps([{"begin": begin} for begin in (0, 5, 7)])
        for every, wanted in ((0, [2, 2, 2, 16]), (3, [2, 2, 1, 1]), (100, [4, 2, 93, 100])):
            one = Spacing(Rules(border_every=every), plan.border_behind)
            one.epoch_begins(0)
            border, found = 1, []
            for _ in wanted:
                one.border_ends(border, [[0.1, 0.1]])
                found.append(self.next(one, border) - border)
                border += found[-1]
            self.assertEqual(found, wanted, every)

    def test_a_schedule_may_be_read_once_an_epoch_has_begun(self):
        plan = Plan()
        one = Spacing(Rules(border_every=4), lambda step: plan.border_behind(step))
        one.epoch_begins(0)
        plan = PlanBySteps([{"begin": 2}])
        one.look_ahead(0)
        self.assertEqual(self.next(one, 0), 2)

    def test_what_is_told_of_a_border_is_the_time_of_the_last_one_and_of_a_step(self):
        one = Spacing(Rules())
        one.epoch_begins(4)
        border_s, step_s = one.border_begins(6)
        self.assertEqual(border_s, 0.0)
        self.assertGreater(step_s, 0.0)


class Means(unittest.TestCase):
    def test_a_newcomer_begins_with_the_mean_of_momenta_and_the_count_of_all(self):
        import torch
        states = [{"step": 4, "m": torch.tensor([one]), "n": torch.tensor(3)} for one in (1.0, 2.0, 6.0)]
        self.assertEqual(mean_of(states), {"step": 4, "m": torch.tensor([3.0]), "n": torch.tensor(3)})

    def test_who_has_trained_apart_keeps_its_tensors_and_has_the_numbers_of_the_others(self):
        import torch
        own = {"m": torch.tensor([1.0, 2.0]), "n": torch.tensor(9), "lr": 0.5, "list": [torch.tensor([3.0]), 7], "mine": 1}
        others = {"m": torch.tensor([5.0, 5.0]), "n": torch.tensor(3), "lr": 0.1, "list": [torch.tensor([4.0]), 8], "theirs": torch.tensor([6.0])}
        wanted = {"m": torch.tensor([1.0, 2.0]), "n": torch.tensor(3), "lr": 0.1, "list": [torch.tensor([3.0]), 8], "theirs": torch.tensor([6.0])}
        self.assertEqual(str(of_one_back(own, others)), str(wanted))


if __name__ == "__main__":
    unittest.main()

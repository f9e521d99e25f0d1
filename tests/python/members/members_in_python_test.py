"""Algorithms in Python whose ranks leave and join: what each attribute comes to by its word, and that processes have the bits of the simulator,
and twins in C++ theirs. Ends with 77 without torch."""

import pathlib
import signal
import sys
import threading
import unittest

try:
    import torch
except ImportError:
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import own_algorithms  # noqa: E402
from case import Case  # noqa: E402
from member_script import data, loss, make  # noqa: E402
from members_resumed_test import EVERY, Resumed  # noqa: E402
from with_members_test import SCHEDULE, OneSchedule, simulated  # noqa: E402

import trigram  # noqa: E402
from trigram.algorithm import GradientMethod  # noqa: E402

ALL = own_algorithms.ALL


def weights_of(run):
    return torch.cat([one.detach().reshape(-1) for one in run.model.parameters()])


class OfPython(OneSchedule):
    """As C++'s, on processes and in the simulator."""

    def simulated(self, algorithm):
        return simulated(ALL[algorithm], SCHEDULE, self.folder, 3)


for method in ("AllReduce", "LocalSgd", "Largest", "Tracked", "Outer"):
    setattr(OfPython, f"test_{method}", lambda self, method=method: self.check(f"own:{method}"))


class Twins(Case):
    """In the simulator, with the same changes."""

    def test_have_the_bits_of_those_in_cpp(self):
        for algorithm, twin in (("own:AllReduce", "all_reduce"), ("own:LocalSgd", "local_sgd:every=2")):
            with self.subTest(twin):
                ours, theirs = simulated(ALL[algorithm], SCHEDULE, self.folder, 3), simulated(twin, SCHEDULE, self.folder, 3)
                self.assertTrue(torch.equal(weights_of(ours), weights_of(theirs)))
                for column in ("bytes_sent", "time_s"):
                    self.assertEqual(list(ours.steps[column]), list(theirs.steps[column]), column)


    def test_by_the_clock_too(self):
        """Where the same steps are simulated several times, until it is known which one a change comes after."""
        def run(algorithm, schedule):
            return simulated(algorithm, schedule, self.folder, 3, detection="1ms")
        whole = float(run("all_reduce", "").steps["time_s"].iloc[-1])
        schedule = "".join(f"at {share * whole * 1e6:.0f}us {change}\n" for share, change in ((0.2, "lose 1"), (0.4, "join 1"), (0.6, "leave 0")))
        ours, theirs = run(ALL["own:LocalSgd"], schedule), run("local_sgd:every=2", schedule)
        self.assertTrue(torch.equal(weights_of(ours), weights_of(theirs)))
        self.assertEqual(list(ours.steps["time_s"]), list(theirs.steps["time_s"]))
        self.assertTrue(torch.equal(weights_of(run(ALL["own:Tracked"], schedule)), weights_of(run(ALL["own:Tracked"], schedule))))
        self.assertEqual(threading.active_count(), 1, "threads of lanes of members that are gone")

    def test_where_absence_is_borne(self):
        """A member dies in the midst of a step of 12, after which the others go on; a class that does not say so has them do it again."""
        def run(algorithm, schedule):
            return simulated(algorithm, schedule, self.folder, 4, detection="1ms")

        def in_the_sixth_step(algorithm):
            times = [float(one) for one in run(algorithm, "").steps["time_s"]]
            return f"at {(times[4] + times[5]) / 2 * 1e6:.3f}us lose 1\n"

        class Forgetful(own_algorithms.Ring):
            bears_absence = False
        for name, twin in (("own:Ring", "decentralized:mix=after"), ("own:RingBefore", "decentralized")):
            with self.subTest(twin):
                schedule = in_the_sixth_step(twin)
                ours, theirs = run(ALL[name], schedule), run(twin, schedule)
                self.assertTrue(torch.equal(weights_of(ours), weights_of(theirs)))
                self.assertEqual(list(ours.steps["time_s"]), list(theirs.steps["time_s"]))
                self.assertEqual(self.epochs(ours), [0, 6])
        self.assertEqual(self.epochs(run(Forgetful, in_the_sixth_step(Forgetful))), [0, 5])

    def epochs(self, run):
        return [one["step"] for one in run.facts["membership"]["epochs"]]


class Words(Case):
    """What ranks go on from after a change, told by what `before_forward` sees."""

    WORDS = {"with_alike": "alike", "with_own": "own", "with_averaged": "averaged", "with_balanced": "balanced", "with_anew": "anew", "number": "own"}
    BEGIN = {"with_alike": 1.0, "with_own": 2.0, "with_averaged": 3.0, "with_balanced": 4.0, "with_anew": 5.0}

    def seen(self, schedule, ranks, steps=4, change_at=2):
        """By rank, what its attributes are in the first step after the change; each step adds 10 times its own number, 1, 2, …, to each, but
        to what is alike."""
        seen, case = {}, self

        class Keeps(own_algorithms.AllReduce):
            fates = case.WORDS

            def setup(self, worker, buckets):
                for name, value in case.BEGIN.items():
                    setattr(self, name, [torch.full((2,), value)])
                self.number = 0

            def before_forward(self, worker):
                if worker.step == change_at:
                    seen[worker.rank] = {name: getattr(self, name)[0].tolist() for name in case.BEGIN} | {"number": self.number}
                self.number = worker.rank + 1
                for name in case.BEGIN:
                    getattr(self, name)[0].add_(10.0 * (1 if name == "with_alike" else self.number))

        path = self.folder / "members.txt"
        path.write_text(schedule)
        trigram.simulate(make, loss, data, algorithm=Keeps, ranks=ranks, steps=steps, optimizer="sgd", lr=0.1, membership=path, progress=False)
        return seen

    def test_where_one_leaves(self):
        """After two steps members 0, 1 and 2 have added 20, 40 and 60; the mean is 40, and that of 1 and 2 would be 50."""
        seen = self.seen("at 2 leave 0", 3)
        self.assertEqual(seen[0], {"with_alike": [21, 21], "with_own": [42, 42], "with_averaged": [43, 43], "with_balanced": [34, 34],
                                   "with_anew": [5, 5], "number": 2})
        self.assertEqual(seen[1], {"with_alike": [21, 21], "with_own": [62, 62], "with_averaged": [43, 43], "with_balanced": [54, 54],
                                   "with_anew": [5, 5], "number": 3})
        self.assertEqual(len(seen), 2)

    def test_where_one_is_lost(self):
        """Of what it held nothing is known: means are over 0 and 2."""
        seen = self.seen("at 2 lose 1", 3)
        self.assertEqual(seen[0], {"with_alike": [21, 21], "with_own": [22, 22], "with_averaged": [43, 43], "with_balanced": [24, 24],
                                   "with_anew": [5, 5], "number": 1})
        self.assertEqual(seen[1]["with_balanced"], [64, 64])

    def test_where_one_joins(self):
        """It begins with the mean of 20 and 40, and with what is no number as the first one has it."""
        seen = self.seen("at 2 join 1", 2)
        self.assertEqual(seen[2], {"with_alike": [21, 21], "with_own": [32, 32], "with_averaged": [33, 33], "with_balanced": [34, 34],
                                   "with_anew": [5, 5], "number": 1})
        self.assertEqual([seen[rank]["with_own"] for rank in (0, 1)], [[22, 22], [42, 42]])


class Refused(Case):
    """Before the first step, by the attribute's name."""

    def run_with(self, algorithm, steps=6):
        path = self.folder / "members.txt"
        path.write_text("at 2 leave 0")
        return trigram.simulate(make, loss, data, algorithm=algorithm, ranks=3, steps=steps, optimizer="sgd", lr=0.1, membership=path, progress=False)

    def refused(self, why, **attributes):
        of_class = type("Mine", (own_algorithms.AllReduce,), attributes)
        with self.assertRaisesRegex(ValueError, why):
            self.run_with(of_class)

    @staticmethod
    def keeping(make_value, name="kept"):
        return lambda self, worker, buckets: setattr(self, name, make_value())

    def test_tensors_without_a_word(self):
        with self.assertRaisesRegex(ValueError, "Silent keeps tensors as 'residuals', and does not say what becomes of them"):
            self.run_with(own_algorithms.Silent)

    def test_a_word_that_is_none(self):
        self.refused("says 'summed' of 'kept'; give one of alike", fates={"kept": "summed"}, setup=self.keeping(lambda: torch.zeros(2)))

    def test_an_attribute_that_is_not_there(self):
        self.refused("names 'other', and setup of Mine has made no such attribute", fates={"other": "own"})

    def test_what_nobody_can_read(self):
        self.refused("'kept' is a Generator, which nobody can take over", fates={"kept": "own"}, setup=self.keeping(torch.Generator))
        self.refused("'kept' is of torch.bool", fates={"kept": "alike"}, setup=self.keeping(lambda: torch.zeros(2, dtype=torch.bool)))

    def test_tensors_that_steps_have_made(self):
        def before_update(self, worker):
            self.kept.append(torch.zeros(2))
        self.refused("'kept' has other tensors than setup of Mine has made", fates={"kept": "own"}, setup=self.keeping(list),
                     before_update=before_update)

    def test_what_is_not_alike(self):
        def before_update(self, worker):
            self.kept.fill_(worker.rank)
        self.refused("rank 1 holds another 'algorithm, kept' than rank 0", fates={"kept": "alike"}, setup=self.keeping(lambda: torch.zeros(2)),
                     before_update=before_update)


class Real(OneSchedule):
    def test_tensors_without_a_word_are_refused(self):
        ends, _ = self.trained("own:Silent", "at 4 lose 1\n", joining=0)
        for code, said in ends.values():
            self.assertEqual(code, 1)
            self.assertIn("Silent keeps tensors as 'residuals'", said)

    def test_one_is_killed_in_the_midst_of_an_exchange(self):
        """By no plan: what the others make of it is equal among them."""
        from members_case import Members
        members = Members(self.folder, 3, "own:Largest", steps=400)
        self.addCleanup(members.kill)
        members.wait_for_step(5)
        members.all[1].signal(signal.SIGKILL)
        members.wait_for_line("of 2")
        ends = members.end()
        self.assertEqual([code for code, _ in ends.values()], [0, -signal.SIGKILL, 0], ends)
        left = members.left()
        self.assertTrue(torch.equal(left[0]["weights"], left[2]["weights"]))


class OfCheckpoints(Resumed):
    def test_killed_and_resumed_as_if_nobody_had_been(self):
        for algorithm in ("own:Largest", "own:Tracked"):
            with self.subTest(algorithm):
                self.folder = self.folder_of(algorithm.removeprefix("own:"))
                self.check(algorithm, signal.SIGKILL, -signal.SIGKILL, 2 * EVERY)


class Checkpointed(Case):
    def test_state_dict_is_all_that_has_a_fate(self):
        one, other = own_algorithms.Tracked(), own_algorithms.Tracked()
        for made in (one, other):
            made.seen, made.moves, made.steps, made.names, made.met = {"a": torch.zeros(2)}, (torch.zeros(1), [torch.ones(2)]), 0, [], torch.ones(1)
        memory = other.seen["a"]
        one.seen["a"].fill_(3)
        one.steps, one.names = 7, ["somebody"]
        state = one.state_dict()
        one.seen["a"].fill_(4)
        other.load_state_dict(state)
        self.assertEqual((memory.tolist(), other.steps, other.names, other.moves[1][0].tolist()), ([3, 3], 7, ["somebody"], [1, 1]))
        self.assertIs(other.seen["a"], memory)

    def test_a_class_without_fates_has_none(self):
        self.assertEqual(GradientMethod().state_dict(), {})


def leave_out(of_python, base):
    """Tests of methods in C++."""
    for name in vars(base):
        if name.startswith("test_"):
            setattr(of_python, name, None)


leave_out(OfPython, OneSchedule)
leave_out(Real, OneSchedule)
leave_out(OfCheckpoints, Resumed)
del OneSchedule, Resumed
if __name__ == "__main__":
    unittest.main()

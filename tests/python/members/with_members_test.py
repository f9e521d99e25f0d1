"""Members of a real job that are lost, leave and join: what they have trained is what the simulator makes of the same schedule, to the bit."""

import itertools
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

try:
    import torch
except ImportError:
    sys.exit(77)

import trigram

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from case import Case  # noqa: E402
from member_script import BATCH, SAMPLES, data, loss, make  # noqa: E402
from members_case import Members  # noqa: E402

LAUNCHER = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]
STEPS = 12
SCHEDULE = "at 4 lose 1\nat 6 join 1\nat 9 leave 0\n"
METHODS = ["all_reduce", "bytegrad:error_feedback=on", "local_sgd:every=2", "diloco:every=3", "decentralized", "qsgd"]


def simulated(algorithm, schedule, folder, ranks, **flags):
    """The weights of the mean model."""
    path = pathlib.Path(folder) / "members.txt"
    path.write_text(schedule)
    return trigram.simulate(make, loss, data, algorithm=algorithm, ranks=ranks, steps=STEPS, optimizer="momentum:momentum=0.9", lr=0.1,
                            membership=path, bucket_size="128B", progress=False, **flags)


class Unconnected(Members):
    """By a network that is not there."""

    variables = {"GLOO_SOCKET_IFNAME": "nowhere0"}


class OneSchedule(Case):
    """For the simulator and for processes."""

    def trained(self, algorithm, schedule, begin_with=3, joining=1, **told):
        path = self.folder / "members.txt"
        path.write_text(schedule)
        members = Members(self.folder, begin_with, algorithm, membership=path, steps=STEPS, **told)
        self.addCleanup(members.kill)
        for _ in range(joining):
            members.start()
        ends = members.end()
        return ends, members.left()

    def simulated(self, algorithm):
        return simulated(algorithm, SCHEDULE, self.folder, 3)

    def check(self, algorithm, **told):
        ends, left = self.trained(algorithm, SCHEDULE, **told)
        self.assertEqual([ends[number][0] for number in range(4)], [0, -signal.SIGKILL, 0, 0], ends)
        self.assertEqual(sorted(left), [2, 3])
        run = self.simulated(algorithm)
        whole = torch.cat([one.detach().reshape(-1) for one in run.model.parameters()])
        mean = (sum(one["weights"].double() for one in left.values()) / len(left)).float()
        self.assertTrue(torch.equal(whole, mean), f"{algorithm}: {float((whole - mean).abs().max())} apart")
        self.assertEqual(left[3]["taken"].keys(), set(range(6, STEPS)))

    def test_its_steps_are_borders_however_far_these_are_apart(self):
        self.check("all_reduce", border_every=5)


for method in METHODS:
    name = "test_" + "".join(one if one.isalnum() else "_" for one in method)
    setattr(OneSchedule, name, lambda self, method=method: self.check(method))


class Undisturbed(Case):
    def test_members_meet_as_rarely_as_they_choose(self):
        """Where a border each step would take a tenth of a step at least."""
        members = Members(self.folder, 2, "all_reduce", steps=60, step_s=0.02)
        self.addCleanup(members.kill)
        self.assertEqual([code for code, _ in members.end().values()], [0, 0])
        borders = [{step["border"] for step in one["taken"].values()} for one in members.left().values()]
        self.assertEqual(borders[0], borders[1])
        self.assertLess(len(borders[0]), 60 / 2)


class ByTheClock(Case):
    """The seconds of a schedule."""

    def test_members_come_and_go_when_it_says(self):
        path = self.folder / "members.txt"
        path.write_text("at 2s lose 1\nat 5s join 1\nat 8s leave 0\n")
        members = Members(self.folder, 3, "all_reduce", membership=path, steps=110, step_s=0.1)
        self.addCleanup(members.kill)
        members.start()
        ends = members.end()
        self.assertEqual([code for code, _ in ends.values()], [0, -signal.SIGKILL, 0, 0], ends)
        left = members.left()
        self.assertEqual(sorted(left), [2, 3])
        ranks = [left[2]["taken"][step]["ranks"] for step in range(110)]
        self.assertEqual([count for count, _ in itertools.groupby(ranks)], [3, 2, 3, 2])
        self.assertGreaterEqual(ranks.count(3) * 0.1, 0.5)
        self.assertLess(ranks.index(2), 2 / 0.1 + 1, "steps of 0.1 s at least")
        self.assertTrue(torch.equal(left[2]["weights"], left[3]["weights"]))

    def test_a_line_that_is_none_is_refused(self):
        path = self.folder / "members.txt"
        for text, why in (("at 2s lose 7", "at 2s member 7 goes, who is not there"), ("at 2q lose 1", "line 1")):
            path.write_text(text)
            members = Members(self.folder, 1, "all_reduce", membership=path)
            code, said = members.end()[0]
            self.assertEqual(code, 1, said)
            self.assertIn(why, said)


class Fixed(Case):
    """Ranks of a launcher."""

    def test_mpi_says_that_its_ranks_stay(self):
        path = self.folder / "members.txt"
        path.write_text("at 4 lose 1\n")
        ended = subprocess.run([*LAUNCHER, "-n", "2", os.environ["TRIGRAM_PROGRAM"], "run", "--backend", "mpi", "--workload", "quadratic", "--steps", "8",
                                "--membership", path, "--out", self.folder / "out"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240)
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("a job that a launcher started, as of mpi, ends with any of its ranks, and nobody can join it", ended.stdout + ended.stderr)


class Lost(Case):
    """Processes that are killed, by nobody's plan."""

    def members(self, begin_with, algorithm="all_reduce", **told):
        members = Members(self.folder, begin_with, algorithm, **told)
        self.addCleanup(members.kill)
        return members

    def test_the_others_go_on_and_one_who_comes_is_equal(self):
        members = self.members(4, "bytegrad:error_feedback=on", steps=4000)
        members.wait_for_step(3)
        members.all[2].signal(signal.SIGKILL)
        members.wait_for_line("of 3")
        joined = members.start()
        members.wait_for_line("as 3 of 4")
        for number in (0, 1, 3):
            members.all[number].signal(signal.SIGTERM)
        members.wait_for_line("as 0 of 1")
        joined.signal(signal.SIGTERM)
        ends = members.end()
        self.assertEqual([code for code, _ in ends.values()], [0, 0, -signal.SIGKILL, 0, 0], ends)

    def test_fewer_than_are_needed_wait_and_say_for_whom(self):
        members = self.members(2, steps=60, min_members=2)
        members.wait_for_step(2)
        members.all[1].signal(signal.SIGKILL)
        members.wait_for_line("for 1 more members, since 2 are needed and 1 are here")
        members.start()
        ends = members.end()
        self.assertEqual([code for code, _ in ends.values()], [0, -signal.SIGKILL, 0], ends)
        left = members.left()
        self.assertTrue(torch.equal(left[0]["weights"], left[2]["weights"]))

    def test_who_can_never_connect_ends_with_the_reason(self):
        members = Unconnected(self.folder, 1, "all_reduce", steps=STEPS)
        self.addCleanup(members.kill)
        code, said = members.all[0].end()
        self.assertEqual(code, 1, said)
        self.assertRegex(said, "ConnectionError: 1 members, all of which are there, have tried 10 times in a row to connect: .*nowhere0")

    def test_an_error_of_one_script_is_its_own(self):
        members = self.members(3, steps=10, fails_at=4)
        ends = members.end()
        self.assertEqual([code for code, _ in ends.values()], [0, 1, 0], ends)
        self.assertIn("ZeroDivisionError: of this script", ends[1][1])
        self.assertEqual(sorted(members.left()), [0, 2])


if __name__ == "__main__":
    unittest.main()

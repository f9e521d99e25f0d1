"""Members whose models lie on CUDA devices, on doubles of these and of NCCL, by which no death of a peer is noticed: what they train is what members
on CPUs do by the same schedule, to the bit. Ends with 77 without torch, and where TRIGRAM_SESSION names no library on doubles."""

import pathlib
import signal
import sys
import time
import unittest

try:
    import torch
except ImportError:
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import members_case  # noqa: E402
import on_doubles  # noqa: E402
from case import Case  # noqa: E402

STEPS = 12
METHODS = ["all_reduce", "bytegrad:error_feedback=on", "local_sgd:every=2", "decentralized", "diloco:every=3", "own:Largest"]
NOBODY_IS_SILENT = 1000
"""Seconds of a heartbeat with which who has died has to be missed by something else than its silence."""


class OnGpus(Case):
    def job(self, kind, name, begin_with, algorithm, **told):
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        members = kind(folder, begin_with, algorithm, steps=STEPS, **told)
        self.addCleanup(members.kill)
        return members

    def on_doubles(self, begin_with, algorithm="all_reduce", name="doubles", **told):
        return self.job(on_doubles.Members, name, begin_with, algorithm, **told)

    def on_cpus(self, schedule, begin_with, algorithm, joining=0):
        """What members have left there."""
        return self.by_schedule(members_case.Members, "cpus", schedule, begin_with, algorithm, joining)

    def by_schedule(self, kind, name, schedule, begin_with, algorithm, joining=0):
        path = self.folder / "members.txt"
        path.write_text(schedule)
        members = self.job(kind, name, begin_with, algorithm, membership=path)
        for _ in range(joining):
            members.start()
        ends = members.end()
        self.assertEqual(sorted(code for code, _ in ends.values() if code), [-signal.SIGKILL], ends)
        return members.left()

    def same(self, left, expected):
        self.assertEqual(sorted(left), sorted(expected))
        for number, one in expected.items():
            mine, theirs = left[number]["weights"], one["weights"]
            self.assertTrue(torch.equal(mine, theirs), f"member {number}: {float((mine - theirs).abs().max())} apart")


class OneSchedule(OnGpus):
    SCHEDULE = "at 4 lose 1\nat 6 join 1\nat 9 leave 0\n"

    def check(self, algorithm):
        left = self.by_schedule(on_doubles.Members, "doubles", self.SCHEDULE, 3, algorithm, joining=1)
        self.same(left, self.on_cpus(self.SCHEDULE, 3, algorithm, joining=1))
        self.assertEqual(sorted(left), [2, 3])


class CutOff(OnGpus):
    """Others wait for a member in the midst of a step, with messages under way."""

    def check(self, algorithm, lost=1, **told):
        members = self.on_doubles(3, algorithm, border_every=1, dies=lost, **{"dies_at": 4, "heartbeat": NOBODY_IS_SILENT, **told})
        ends = members.end()
        self.assertEqual([code for code, _ in ends.values()], [-signal.SIGKILL if number == lost else 0 for number in range(3)], ends)
        self.same(members.left(), self.on_cpus(f"at 4 lose {lost}\n", 3, algorithm))

    def test_rank_0_at_whose_place_all_meet(self):
        self.check("all_reduce", lost=0)

    def test_one_that_stands_still(self):
        """It is missed for its silence, and is no member any more when it wakes."""
        members = self.on_doubles(3, "bytegrad:error_feedback=on", border_every=1, heartbeat=1, dies=1, freezes_at=4)
        ends = {number: members.all[number].end() for number in (0, 2)}
        self.assertEqual([code for code, _ in ends.values()], [0, 0], ends)
        members.all[1].signal(signal.SIGCONT)
        code, said = members.all[1].end()
        self.assertEqual(code, 0, said)
        self.assertIn("the job has finished, and needs nobody any more", said)
        self.same(members.left(), self.on_cpus("at 4 lose 1\n", 3, "bytegrad:error_feedback=on"))

    def test_what_a_script_finds_wrong_in_such_a_step_is_no_error_of_its_own(self):
        members = self.on_doubles(2, border_every=1, gives_up_at=4)
        ends = members.end()
        self.assertEqual([code for code, _ in ends.values()], [0, 0], ends)
        undisturbed = self.job(members_case.Members, "cpus", 2, "all_reduce")
        undisturbed.end()
        self.same(members.left(), undisturbed.left())
        self.assertEqual({step["epoch"] for one in members.left().values() for step in one["taken"].values()}, {0, 1})


class Coming(OnGpus):
    def test_who_is_asked_to_leave_goes_and_who_comes_is_equal(self):
        members = self.on_doubles(2, "bytegrad:error_feedback=on", border_every=1, step_s=0.1, name="doubles")
        members.wait_for_step(2)
        members.start()
        members.wait_for_line("as 2 of 3")
        members.all[0].signal(signal.SIGTERM)
        ends = members.end()
        self.assertEqual([code for code, _ in ends.values()], [0, 0, 0], ends)
        self.assertIn("member 0 leaves after", ends[0][1])
        left = members.left()
        self.same({number: left[number] for number in (1, 2)}, {number: left[1] for number in (1, 2)})

    def test_a_job_that_has_lost_all_goes_on_from_its_checkpoint(self):
        told = {"algorithm": "bytegrad:error_feedback=on", "border_every": 1, "checkpoint_every": 4}
        lost = self.on_doubles(2, holds_at=10, **told)
        self.wait_for_checkpoint(8, 2)
        for one in lost.all.values():
            one.signal(signal.SIGKILL)
        self.assertEqual([code for code, _ in lost.end().values()], [-signal.SIGKILL] * 2)
        again = self.on_doubles(2, **told)
        ends = again.end()
        self.assertEqual([code for code, _ in ends.values()], [0, 0], ends)
        self.assertEqual({said.split(" as ")[0].splitlines()[-1] for _, said in ends.values()}, {"step 8"}, ends)
        undisturbed = self.job(members_case.Members, "cpus", 2, told["algorithm"])
        undisturbed.end()
        by_rank = [{one["rank"]: one for one in members.left().values()} for members in (again, undisturbed)]
        self.same(*by_rank)

    def wait_for_checkpoint(self, step, members):
        """All parts of it, of which each member writes two."""
        deadline = time.monotonic() + members_case.PATIENCE
        folder = self.folder / "doubles" / "meeting" / "checkpoints"
        while len(list(folder.glob(f"*-{step}/[0-9]*"))) < 2 * members and time.monotonic() < deadline:
            time.sleep(0.05)

    def test_whose_gpu_another_member_has_is_refused(self):
        members = self.on_doubles(2, border_every=1, step_s=0.1)
        members.wait_for_step(2)
        code, said = members.start(device=0).end()
        self.assertEqual(code, 1, said)
        self.assertRegex(said, "ranks 0, 2 share GPU-.*, and members that come and go need a GPU each; start this one with another")
        ends = members.end()
        self.assertEqual([code for code, _ in ends.values()], [0, 0, 1], ends)


def each_method_in(*cases):
    for method in METHODS:
        name = "test_" + "".join(one if one.isalnum() else "_" for one in method)
        for case in cases:
            setattr(case, name, lambda self, method=method: self.check(method))


each_method_in(OneSchedule, CutOff)

if __name__ == "__main__":
    if not on_doubles.ARE_THERE:
        sys.exit(77)
    unittest.main()

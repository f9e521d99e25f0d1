"""Members that are cut off from the others meet in a part of the job, and find back: without any training. Ends with 77 without torch."""

import contextlib
import importlib.util
import io
import socket
import sys
import tempfile
import threading
import time
import unittest

if importlib.util.find_spec("torch") is None:
    sys.exit(77)

from trigram.members.decision import APART
from trigram.members.folder import Folder
from trigram.members.part import Part
from trigram.members.reach import Reach

from meeting_case import SILENCE, Process, silent

PATIENCE = 20
HELD = {"leaving": False, "settled": [0, 3], "moments": [{"moment": [0, 3], "digests": ["", ""]}]}


class PartsCase(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.place, self.job = scratch.name, Folder(scratch.name)
        silence = contextlib.redirect_stderr(io.StringIO())
        silence.__enter__()
        self.addCleanup(silence.__exit__, None, None, None)

    def away(self, name, number):
        return {"name": name, "number": number, "address": silent(self)}

    def process(self, name, number, **rules):
        return Process(self.place, name, number, bears_absence=True, **rules)

    def decide(self, epoch, *members):
        self.job.decide(epoch, {"epoch": epoch, "begin": [0, 3] if epoch else None, "members": list(members), "next": 9})

    def meet(self, folder, epoch, *processes, is_over=lambda: False):
        """What is decided for that epoch, as each of them sees it."""
        seen = {}

        def run(one):
            seen[one.name] = one.meeting_in(folder).next(epoch, one.told | HELD, None, is_over)
        threads = [threading.Thread(target=run, args=(one,), daemon=True) for one in processes]
        for one in threads:
            one.start()
        for one in threads:
            one.join(PATIENCE)
            self.assertFalse(one.is_alive(), "still waits")
        return list(seen.values())

    def names(self, told):
        return [one["name"] for one in told["members"]]


class Parts(PartsCase):
    def setUp(self):
        """The job has gone on with a and b, whom nobody else reaches."""
        super().setUp()
        self.a, self.b = self.away("a", 0), self.away("b", 1)

    def begin(self, *others):
        self.decide(0, self.a, self.b, *(one.told if isinstance(one, Process) else one for one in others))
        self.decide(1, self.a, self.b)

    def test_those_left_out_who_reach_each_other_go_on_from_what_all_of_them_hold(self):
        c, d = self.process("c", 2), self.process("d", 3)
        self.begin(c, d)
        for told in self.meet(Part(self.job, 1), 1, c, d):
            self.assertEqual(self.names(told), ["c", "d"])
            self.assertEqual((told["begin"], told["were"], [one["number"] for one in told["members"]]), ([0, 3], [2, 3], [2, 3]))
        self.assertEqual(self.names(self.job.epoch(1)), ["a", "b"])

    def test_so_does_one_alone(self):
        c = self.process("c", 2)
        self.begin(c)
        self.assertEqual(self.names(self.meet(Part(self.job, 1), 1, c)[0]), ["c"])

    def test_who_reaches_none_of_them_is_a_part_of_the_part(self):
        c, d, e = self.process("c", 2), self.process("d", 3), self.process("e", 4)
        self.begin(c, d, e.told | {"address": silent(self)})
        part = Part(self.job, 1)
        told = self.meet(part, 1, c, d)[0]
        self.assertEqual(self.names(told), ["c", "d"])
        inner = Part(part, 1)
        self.assertEqual(self.names(self.meet(inner, 1, e)[0]), ["e"])
        self.assertEqual((inner.path.relative_to(self.job.path).as_posix(), inner.job.path), ("part-1/part-1", self.job.path))

    def test_who_is_back_with_the_others_is_not_waited_for(self):
        c, d = self.process("c", 2), self.process("d", 3)
        self.begin(c, d)
        part = Part(self.job, 1)
        self.meet(part, 1, c, d)
        self.decide(2, self.a, self.b, c.told)
        begun = time.monotonic()
        told = self.meet(part, 2, d)[0]
        self.assertEqual(self.names(told), ["d"])
        self.assertLess(time.monotonic() - begun, PATIENCE / 2)

    def test_too_few_wait_until_they_are_called_away(self):
        c = self.process("c", 2, at_least=2)
        self.begin(c)
        meeting = c.meeting_in(Part(self.job, 1))
        self.assertIsNone(meeting.next(1, c.told | HELD, None, lambda: meeting.is_short))

    def test_epochs_before_are_those_of_the_job(self):
        self.begin()
        part = Part(self.job, 1)
        part.decide(1, {"epoch": 1, "members": []})
        self.assertEqual((self.names(part.epoch(0)), part.epoch(1)["members"], part.secret), (["a", "b"], [], self.job.secret))
        self.assertFalse(part.finished())
        part.finish(3)
        self.assertFalse(self.job.finished())


class Reaches(PartsCase):
    def until(self, condition):
        end = time.monotonic() + PATIENCE
        while not condition() and time.monotonic() < end:
            time.sleep(0.01)
        return condition()

    def reach(self):
        reach = Reach(self.job, SILENCE)
        self.addCleanup(reach.stop)
        return reach

    def test_it_is_whole_once_all_have_answered(self):
        a, b = self.process("a", 0), self.process("b", 1)
        self.decide(0, a.told, b.told)
        reach = self.reach()
        self.assertFalse(reach.is_whole())
        self.assertTrue(self.until(reach.is_whole))
        self.decide(1, a.told, self.away("c", 2))
        self.assertFalse(reach.is_whole() or reach.is_broken())
        self.assertTrue(self.until(reach.is_broken))
        self.assertFalse(reach.is_whole())

    def test_who_seemed_to_be_gone_is_asked_anew(self):
        with socket.create_server(("127.0.0.1", 0)) as nobody:
            address = list(nobody.getsockname())
        self.decide(0, {"name": "a", "number": 0, "address": address})
        reach = self.reach()
        reach.wait(SILENCE)
        answers = Process(self.place, "a").answers
        with socket.create_server(tuple(address)) as again:
            threading.Thread(target=self.pass_on, args=(again, answers.address), daemon=True).start()
            self.assertTrue(self.until(reach.is_whole))

    def pass_on(self, listener, to):
        """What comes there, in both directions."""
        with contextlib.suppress(OSError):
            while True:
                ends = listener.accept()[0], socket.create_connection(to)
                for one, other in (ends, ends[::-1]):
                    threading.Thread(target=self.copy, args=(one, other), daemon=True).start()

    def copy(self, one, other):
        with contextlib.suppress(OSError):
            while content := one.recv(4096):
                other.sendall(content)

    def test_to_a_job_that_has_finished_or_that_all_have_left_nobody_goes_back(self):
        a = self.process("a", 0)
        self.decide(0, a.told)
        reach = self.reach()
        self.assertTrue(self.until(reach.is_whole))
        self.decide(1)
        self.assertFalse(reach.is_whole())
        self.decide(2, a.told)
        self.assertTrue(self.until(reach.is_whole))
        self.job.finish(3)
        self.assertFalse(reach.is_whole())


class Admissions(PartsCase):
    def back(self, name, number, steps):
        one = self.process(name, number)
        one.told["brings"] = {"moment": [APART, steps], "digests": ["", ""]}
        return one

    def test_who_is_cut_off_again_waits_no_more(self):
        c = self.back("c", 2, 5)
        self.decide(0, self.away("a", 0))
        begun = time.monotonic()
        self.assertIsNone(c.meeting.admission(c.told, lambda: time.monotonic() > begun + SILENCE))
        self.assertFalse(self.job.waits("c"))

    def test_who_was_taken_when_it_had_given_up_is_taken(self):
        c = self.back("c", 2, 5)
        self.decide(0, self.away("a", 0), c.told)
        self.assertEqual(c.meeting.admission(c.told)["epoch"], 0)

    def test_newcomers_to_a_job_that_all_have_left_begin_with_what_one_brings(self):
        c, new = self.back("c", 2, 5), self.process("n", 0)
        self.decide(0)
        c.folder.wait_here(c.told)
        told = new.meeting.admission(new.told)
        self.assertEqual((self.names(told), told["begin"], told["were"]), (["c", "n"], [APART, 5], [0, -1]))


if __name__ == "__main__":
    unittest.main()

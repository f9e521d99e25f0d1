"""What members do where the network or the disk fails them, one part at a time. Ends with 77 without torch."""

import contextlib
import ctypes
import datetime
import errno
import importlib.util
import io
import socket
import sys
import tempfile
import threading
import time
import types
import unittest
from unittest import mock

if importlib.util.find_spec("torch") is None:
    sys.exit(77)

from trigram import transport
from trigram.members import folder as folders
from trigram.members import store as stores
from trigram.members.connection import ByGloo
from trigram.members.decision import those_who_reach_each_other
from trigram.members.folder import Folder
from trigram.members.lines import Address, Answers, Sign, fetch
from trigram.members.meeting import Rules
from trigram.members.overseer import LATE, Overseer
from trigram.members.store import ASK_EVERY, EpochStore

from meeting_case import SILENCE, Process
from members_case import FORKS

SECRET = b"of these tests"


def group(ranks, **misses):
    """Of members named by letters, in the order of ranks; whom each misses."""
    came = {name: {"misses": list(misses.get(name, ""))} for name in ranks}
    return "".join(those_who_reach_each_other(came, [{"name": name} for name in ranks]))


class Reach(unittest.TestCase):
    def test_nobody_is_missed(self):
        self.assertEqual(group("abc"), "abc")

    def test_who_is_cut_off_is_left_out_whoever_says_so(self):
        self.assertEqual(group("abcd", a="bcd"), "bcd")
        self.assertEqual(group("abcd", b="a", c="a", d="a"), "bcd")

    def test_of_two_parts_the_greater_goes_on(self):
        self.assertEqual(group("abcde", a="cde", b="cde", c="ab", d="ab", e="ab"), "cde")

    def test_of_equal_parts_that_of_the_first(self):
        self.assertEqual(group("abcd", a="cd", b="cd", c="ab", d="ab"), "ab")

    def test_who_is_gone_counts_for_nothing(self):
        self.assertEqual(group("abc", a="z", b="z", c="z"), "abc")


class Disk(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Folder(scratch.name)

    def test_a_full_disk_is_waited_for(self):
        written, fails = folders.written, iter([errno.ENOSPC, errno.EDQUOT])

        def once_there_is_room(*words):
            for number in fails:
                raise OSError(number, "full")
            return written(*words)
        with mock.patch.object(folders, "written", once_there_is_room):
            self.folder.decide(0, {"epoch": 0})
        self.assertEqual(self.folder.decided(0), {"epoch": 0})

    def test_another_error_of_the_disk_is_told(self):
        with mock.patch.object(folders, "written", side_effect=OSError(errno.EROFS, "read-only")), self.assertRaises(OSError):
            self.folder.decide(0, {"epoch": 0})

    def test_what_does_not_fit_leaves_no_file(self):
        with mock.patch("os.fdopen", side_effect=OSError(errno.ENOSPC, "full")), self.assertRaises(OSError):
            folders.written(self.folder.path, "text")
        self.assertEqual([one.name for one in self.folder.path.iterdir() if one.name.startswith(".")], [])


class Lines(unittest.TestCase):
    """Of a giver that takes calls, and says nothing."""

    def setUp(self):
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        self.silent = Address("127.0.0.1", listener.getsockname()[1])

    def test_a_fetch_ends_where_the_giver_says_nothing(self):
        begun = time.monotonic()
        with self.assertRaises(OSError):
            fetch(self.silent, SECRET, SILENCE, "part")
        self.assertLess(time.monotonic() - begun, 10)

    def test_a_fetch_ends_where_the_giver_falls_silent_with_the_question(self):
        answers = Answers("127.0.0.1", SECRET, lambda *_: time.sleep(60))
        with self.assertRaisesRegex(OSError, "gives nothing"):
            fetch(answers.address, SECRET, SILENCE, "part")

    def test_a_fetch_may_take_longer_than_silence(self):
        answers = Answers("127.0.0.1", SECRET, lambda word: "me" if word == "name" else time.sleep(4 * SILENCE))
        self.assertIsNone(fetch(answers.address, SECRET, SILENCE, "part"))

    def test_who_is_silent_is_not_known_to_be_gone(self):
        sign = Sign("silent", self.silent, SECRET)
        self.addCleanup(sign.stop)
        time.sleep(2 * SILENCE)
        self.assertFalse(sign.gone or sign.has_answered)
        self.assertIn("silent for", sign.trouble(SILENCE))


class Group:
    """Which gives up all messages once one takes too long, and none where a connection was gone before."""

    def __init__(self, gone):
        self._gone, self.is_given_up = gone, False

    def recv(self, _, peer, __):
        if peer in self._gone:
            raise RuntimeError("the connection is closed")
        return self

    def wait(self, _):
        self.is_given_up = True
        raise RuntimeError("it takes too long")


class Ends(unittest.TestCase):
    def test_messages_of_who_is_cut_off_end_though_the_next_rank_is_gone(self):
        connections = object.__new__(transport.Connections)
        connections._rank, connections._ranks, connections.lanes = 1, 4, [Group({2, 3}), Group({2})]
        connections.end()
        self.assertEqual([one.is_given_up for one in connections.lanes], [True, True])


class Slow:
    """A group of which rank 1 answers, and rank 2 never."""

    def __init__(self):
        self.begun = []

    def recv(self, _, peer, __):
        self.begun.append(peer)
        return self if peer == 1 else Never()

    def wait(self, _):
        return True


class Never:
    def wait(self, limit):
        time.sleep(limit.total_seconds())
        raise RuntimeError("it takes too long")


class Each(unittest.TestCase):
    """Messages that are carried each by itself, as where absence is borne."""

    ABSENCE = 0.2

    def setUp(self):
        self.transport, self.group = transport.Transport(None), Slow()
        self.end = mock.Mock()
        self.connections = types.SimpleNamespace(lanes=[self.group], ended=False, end=self.end)
        self.transport._open[0] = self.connections
        patch = mock.patch.object(transport, "absence_may_take", self.ABSENCE)
        patch.start()
        self.addCleanup(patch.stop)

    def carried(self):
        """Which failed, and the seconds that it took."""
        messages, failed = (transport.Message * 2)(), (ctypes.c_int64 * 2)(7, 7)
        for one, peer in zip(messages, (1, 2)):
            one.receives, one.peer = 1, peer
        begun = time.monotonic()
        self.transport._carry_each(0, 0, messages, 2, 600.0, failed)
        return list(failed), time.monotonic() - begun

    def test_who_does_not_answer_is_waited_for_as_long_as_an_absence_may_take_and_then_twice_as_long(self):
        for times in (1, 2, 4):
            failed, seconds = self.carried()
            self.assertEqual(failed, [0, 1])
            self.assertGreaterEqual(seconds, times * self.ABSENCE)
            self.assertLess(seconds, times * self.ABSENCE + 10)
        self.assertEqual(self.end.call_count, 3, "nobody would connect the lanes that gloo has ended")

    def test_of_connections_that_were_ended_nothing_is_begun(self):
        self.connections.ended = True
        self.assertEqual((self.carried()[0], self.group.begun), ([1, 1], []))
        why = ctypes.create_string_buffer(100)
        self.assertEqual(self.transport._carry(0, 0, (transport.Message * 2)(), 2, 600.0, ctypes.addressof(why), len(why)), 0)
        self.assertIn(b"have ended", why.value)
        self.assertEqual(self.group.begun, [])


class Oversight(unittest.TestCase):
    def setUp(self):
        """The others have gone on to epoch 4."""
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        folder, self.given_up = Folder(scratch.name), threading.Event()
        self.overseer = Overseer(self.given_up.set)
        self.overseer.oversee(folder, 3)
        folder.come(4, {"name": "other"})

    def test_who_waits_for_others_that_have_gone_on_gives_up(self):
        self.assertFalse(self.given_up.wait(LATE / 2))
        self.assertTrue(self.given_up.wait(3 * LATE))

    def test_who_has_come_does_not(self):
        time.sleep(LATE / 2)
        self.overseer.rest()
        self.assertFalse(self.given_up.wait(1.5 * LATE))


class Stores(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.over = []
        self.folder = Folder(scratch.name)
        records = self.folder.records(3)
        self.store = EpochStore(records, lambda: self.over.pop() if self.over else None)
        self.other = EpochStore(records, lambda: "nobody waits for this one")

    def test_who_is_late_is_waited_for_longer_than_torch_would(self):
        threading.Timer(3 * ASK_EVERY, self.other.set, ("default/0//1", b"\x00here\xff")).start()
        self.store.wait(["default/0//1"], datetime.timedelta(seconds=ASK_EVERY / 10))
        self.assertEqual(self.store.get("default/0//1"), b"\x00here\xff")

    def test_sums_count_each_once(self):
        def add_often(store):
            for _ in range(50):
                store.add("barrier", 1)
        threads = [threading.Thread(target=add_often, args=(one,)) for one in (self.store, self.other, self.store)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        self.assertEqual((self.store.add("barrier", 0), self.other.add("barrier", -3)), (150, 147))

    def test_nobody_is_waited_for_for_ever(self):
        with mock.patch.object(stores, "LONGEST", 0.1), self.assertRaisesRegex(RuntimeError, "^others have not come within 0.1 s$"):
            self.store.wait(["address"])

    def test_those_of_epochs_that_are_over_are_gone(self):
        self.store.set("address", "here")
        self.folder.forget_records(3)
        self.assertEqual(self.store.get("address"), b"here")
        self.folder.forget_records(4)
        self.assertEqual([path.name for path in self.folder.path.glob("store-*")], [])
        with self.assertRaises(OSError):
            self.store.set("address", "of one who is late")

    def test_who_will_not_come_is_not(self):
        threading.Timer(3 * ASK_EVERY, self.over.append, ("member 1 is lost",)).start()
        with self.assertRaisesRegex(RuntimeError, "^member 1 is lost$"):
            self.store.wait(["address"], datetime.timedelta(seconds=600))


class Connecting(unittest.TestCase):
    def test_who_has_failed_to_connect_more_often_than_others_finds_them(self):
        with tempfile.TemporaryDirectory() as folder:
            ranks = [FORKS.Process(target=connect, args=(folder, rank, failures)) for rank, failures in enumerate((0, 2))]
            for one in ranks:
                one.start()
            for one in ranks:
                one.join()
            self.assertEqual([one.exitcode for one in ranks], [0, 0])


def connect(place, rank, failures):
    """A process of its own connects with another in epoch 9, after so many failures."""
    folder, connection = Folder(place), ByGloo(Rules())
    for epoch in range(failures):
        with contextlib.suppress(RuntimeError):
            connection.connect(EpochStore(folder.records(epoch), lambda: "the other one is lost"), rank, 2, "127.0.0.1", 3)
        connection.disconnect()
    with mock.patch.object(stores, "LONGEST", 10):
        connection.connect(EpochStore(folder.records(9), lambda: None), rank, 2, "127.0.0.1", 3)
    connection.disconnect()


class Meetings(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.place = scratch.name
        silence = contextlib.redirect_stderr(io.StringIO())
        silence.__enter__()
        self.addCleanup(silence.__exit__, None, None, None)

    def test_a_newcomer_that_was_struck_out_asks_again(self):
        one = Process(self.place, "a", begin_with=2)
        thread = threading.Thread(target=one.meeting.admission, args=(one.told,), daemon=True)
        thread.start()
        deadline = time.monotonic() + 20
        for _ in range(2):
            while not one.folder.waits("a") and time.monotonic() < deadline:
                time.sleep(0.01)
            self.assertTrue(one.folder.waits("a"))
            one.folder.wait_no_more("a")
        one.folder.finish(0)
        thread.join(20)
        self.assertFalse(thread.is_alive())

    def test_who_dies_before_an_epoch_begins_is_not_waited_for(self):
        one = Process(self.place, "a")
        with socket.create_server(("127.0.0.1", 0)) as gone:
            address = list(gone.getsockname())
        with self.assertRaisesRegex(RuntimeError, "member 1 is lost before epoch 3 begins: its process is gone"):
            one.meeting.gather({"epoch": 3, "members": [one.told, {"name": "b", "number": 1, "address": address}]})

    def test_an_epoch_without_which_others_go_on_is_not_waited_for(self):
        one, other = Process(self.place, "a"), Process(self.place, "b")
        one.folder.decide(4, {})
        with self.assertRaisesRegex(RuntimeError, "others go on without epoch 3"):
            one.meeting.gather({"epoch": 3, "members": [one.told, other.told]})

    def test_an_epoch_that_somebody_has_given_up_is_not_waited_for(self):
        """As one who did not reach all that it was to begin with; it lives, and waits for the others to come."""
        one, other = Process(self.place, "a"), Process(self.place, "b")
        one.folder.come(4, other.told)
        with self.assertRaisesRegex(RuntimeError, "others go on without epoch 3"):
            one.meeting.gather({"epoch": 3, "members": [one.told, other.told]})

    def test_the_smaller_part_waits_for_the_greater(self):
        """Which says for itself that it lives, and decides."""
        one = Process(self.place, "a")
        silent = [socket.create_server(("127.0.0.1", 0)) for _ in "bc"]
        for each in silent:
            self.addCleanup(each.close)
        others = [{"name": name, "number": 1 + index, "address": list(each.getsockname())} for index, (name, each) in enumerate(zip("bc", silent))]
        one.folder.decide(0, {"epoch": 0, "begin": None, "members": [one.told, *others], "next": 3})
        held = {"leaving": False, "settled": [0, 3], "moments": [{"moment": [0, 3], "digests": ["", ""]}]}
        decided = {"epoch": 1, "members": others}
        threading.Timer(1.7 * SILENCE, one.folder.decide, (1, decided)).start()
        self.assertEqual(one.meeting.next(1, one.told | held, None), decided)


if __name__ == "__main__":
    unittest.main()

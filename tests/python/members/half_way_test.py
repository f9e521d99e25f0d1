"""A message that is half way through when its receiver dies: gloo says nothing of it to the sender, who notices nevertheless. Ends with 77 without torch."""

import ctypes
import importlib.util
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

if importlib.util.find_spec("torch") is None:
    sys.exit(77)

import torch
import torch.distributed as dist

from trigram import transport

BYTES, TAG, PATIENCE = 1 << 26, 5, 60.0


def connections(store, rank):
    dist.init_process_group("gloo", store=dist.FileStore(store, 2), rank=rank, world_size=2, timeout=transport.limit(PATIENCE))
    return transport.Connections(PATIENCE, None)


def receive_and_stand_still(store):
    receives = connections(store, 1).lanes[0].recv([torch.empty(BYTES, dtype=torch.uint8)], 0, TAG)
    print("receives", flush=True)
    os.kill(os.getpid(), signal.SIGSTOP)
    receives.wait()


class HalfWay(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        store = os.path.join(scratch.name, "store")
        self.receiver = subprocess.Popen([sys.executable, "-B", __file__, store], stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.receiver.stdout.close)
        self.addCleanup(self.receiver.wait)
        self.addCleanup(self.receiver.kill)
        self.transport = transport.Transport(None)
        self.transport._open[0] = connections(store, 0)
        self.addCleanup(dist.destroy_process_group)
        self.assertEqual(self.receiver.stdout.readline(), "receives\n")

    def test_the_sender_notices_within_a_moment(self):
        data, why = torch.zeros(BYTES, dtype=torch.uint8), ctypes.create_string_buffer(200)
        message = (transport.Message * 1)(transport.Message(0, 1, TAG, data.data_ptr(), BYTES))
        begun = time.monotonic()
        with mock.patch.object(transport, "waits_can_be_left", True), mock.patch.object(transport, "begun", self.begun_and_broken):
            place = self.transport._carry(0, 0, message, 1, PATIENCE, ctypes.addressof(why), len(why))
        self.assertEqual((place, why.value), (0, b"RuntimeError: its connection broke while it was half way"))
        self.assertLess(time.monotonic() - begun, PATIENCE / 2)

    def begun_and_broken(self, group, message):
        """The receiver has taken what its socket holds by then."""
        work = group.send([transport.memory(message.address, message.bytes)], message.peer, message.tag)
        time.sleep(0.5)
        self.receiver.kill()
        return work


if __name__ == "__main__":
    receive_and_stand_still(sys.argv[1]) if len(sys.argv) == 2 and os.path.isabs(sys.argv[1]) else unittest.main()

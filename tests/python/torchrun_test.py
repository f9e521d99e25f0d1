"""Ranks that torchrun starts, and whatever else sets its variables, with torch.distributed as their network: the bits of mpirun's
ranks, collectives, and jobs that end. All jobs run at once, since torch takes seconds to start. Ends with 77 without torch, and with
one whose torchrun cannot start."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

from failing_job import VAIN, uneven, within_backward
from with_trigram_test import HERE, LAUNCHER, PATIENCE

# The last two are what torch 1.13 lacks below Python 3.11, which no longer lists its flag of value 0: streams of a rank 9.
TORCHRUN = [sys.executable, "-B", "-m", "torch.distributed.run", "--redirects", "9:1", "--tee", "9:1"]
CASES = ["weights_are_kept", "ranks_meet_as_they_were_started", "collectives", "begun_collectives_run_beside", "groups",
         "gradients_of_collectives", "ddp_momentum", "resumed_is_never_stopped", "every_other_algorithm_trains",
         "ranks_that_ask_keep_their_mean"]
SESSIONS = """
import time, torch, trigram
from trigram import comm
torch.set_num_threads(1)

def opened(timeout):
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return trigram.with_trigram(model, [optimizer], backend=f"torch:timeout={timeout}s"), optimizer

def step(model, optimizer):
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    return model.trigram.steps()["bytes_sent"].iloc[-1]

world = comm.join(backend="torch:timeout=200s")
try:
    torch.distributed.init_process_group("nccl")
except RuntimeError as error:
    print("late:", error)
torch.distributed.init_process_group("gloo")
assert torch.distributed.get_world_size() == 2
hasty, patient = opened(4), opened(100)
for one in hasty, patient:
    step(*one)
try:
    time.sleep(8 * world.rank)
    step(*hasty)
except RuntimeError as error:
    print("hasty:", error)
assert hasty[0].trigram.finished and not patient[0].trigram.finished
assert step(*patient) > 0 and step(*opened(50)) > 0 and world.all_reduce(torch.ones(1)) == 2
world.barrier()
begun = time.monotonic()
try:
    time.sleep(8 * world.rank)
    opened(4)
except RuntimeError as error:
    print(f"opens alone after {time.monotonic() - begun:.1f} s: {error}")
assert step(*patient) > 0
print("went on")
"""
FOLLOWING = """
import torch, trigram
torch.set_num_threads(1)
for _ in range(60):
    model = torch.nn.Linear(2, 2)
    trigram.with_trigram(model, [torch.optim.SGD(model.parameters(), lr=0.1)], backend="torch:timeout=60s").trigram.finish()
"""


class Job:
    """Processes that were started, and what they said."""

    def __init__(self, folder, commands):
        self._processes = [subprocess.Popen(command, cwd=folder, env=os.environ | more, text=True, stdin=subprocess.DEVNULL,
                                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT) for command, more in commands]

    def ended(self, process=0):
        """Its status, and what it said."""
        said, _ = self._processes[process].communicate(timeout=PATIENCE)
        return self._processes[process].returncode, said

    def end(self):
        for process in self._processes:
            process.kill()
            process.communicate()


class Torchrun(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def job(self, *commands):
        started = Job(self.folder, commands)
        self.addCleanup(started.end)
        return started

    def cases(self, start, store, names):
        (self.folder / store).mkdir()
        return self.job(([*start, HERE / "with_trigram_job.py", self.folder / store, *names], {}))

    def pair(self, name, text):
        """Two ranks that nobody looks after, so that each ends by itself."""
        (self.folder / name).write_text(text)
        store, meeting = stores.opened()
        self.addCleanup(lambda: store)  # which lives as long
        return self.job(*[([sys.executable, "-B", name], meeting | {"RANK": rank, "WORLD_SIZE": "2"}) for rank in "01"])

    def test_ranks_have_the_bits_of_mpiruns(self):
        for ranks, names in ((4, CASES), (2, [CASES[0], "hooks_of_ddp"])):
            by_torchrun = self.cases([*TORCHRUN, "--nproc_per_node", str(ranks)], f"torchrun{ranks}", names)
            by_mpirun = self.cases([*LAUNCHER, "-n", str(ranks), sys.executable, "-B"], f"mpirun{ranks}", CASES[:1])
            for job, held in ((by_torchrun, names), (by_mpirun, CASES[:1])):
                status, said = job.ended()
                self.assertEqual((status, [name for name in held if f"held {name}\n" not in said]), (0, []), said)
            for rank in range(ranks):
                ours, theirs = (torch.load(self.folder / f"{backend}-{ranks}-{rank}.pt") for backend in ("torch", "mpi"))
                self.assertGreater(len(ours), 10)
                for method, (weights, sent) in ours.items():
                    self.assertTrue(all(map(torch.equal, weights, theirs[method][0])), (method, rank))
                    self.assertEqual(sent, theirs[method][1], (method, rank))

    def failing(self, name, spoil, timeout="300s", **more):
        return self.pair(name, within_backward(f"torch:timeout={timeout}", spoil, **more))

    def test_jobs_end_and_say_why(self):
        thrown = "OverflowError: the flux of rank 1 is 7"
        throws = self.failing("throws.py", f"raise OverflowError('{thrown.split(': ')[1]}')")
        dies = self.failing("dies.py", "os.kill(os.getpid(), signal.SIGKILL)")
        dies_asking, dies_asked = (self.failing(f"dies{rank}.py", "os.kill(os.getpid(), signal.SIGKILL)", algorithm="ad_psgd", rank=rank)
                                   for rank in (0, 1))
        stops = self.failing("stops.py", "os.kill(os.getpid(), signal.SIGSTOP)")
        late = self.failing("late.py", "time.sleep(24)", timeout="12s")
        sessions = self.pair("sessions.py", SESSIONS)
        for job, text in ((throws, rf"RuntimeError: rank 0 ends since rank 1 failed: {thrown}"),
                          (dies, r"rank 0, .*a (receive|send) of \d+ bytes (from|to) rank 1: .*closed|rank 0 ends since rank 1 failed: its process"),
                          (stops, r"rank 0 ends since rank 1 failed: its process has given no sign of life for \d+ s"),
                          (late, r"rank 0, step [0-9]+, lane 1 .*, all ranks: exchange number \d+ \(in all_reduce of bucket 0\) has waited 12 s for a "
                                 r"(receive|send) of \d+ bytes (from|to) rank 1")):
            status, said = job.ended()
            self.assertNotEqual(status, 0)
            self.assertRegex(said, text)
        for job, rank, text in ((dies_asking, 1, "rank 1 ends since rank 0 failed: the ranks' meeting place is gone|rank 1: serve: .* from rank 0: "),
                                (dies_asked, 0, "rank 0 ends since rank 1 failed: its process|rank 0, lane 1 .*: ask: .* rank 1: ")):
            status, said = job.ended(rank)
            self.assertNotEqual(status, 0)
            self.assertRegex(said, text)
        status, said = throws.ended(1)
        self.assertIn(f"trigram: rank 1 fails: {thrown}", said)
        status, said = late.ended(1)
        self.assertRegex(said, "RuntimeError: rank 1 ends since rank 0 failed: rank 0, step [0-9]+, lane 1 .* has waited 12 s")
        self.sessions_ended_by_themselves(sessions)

    def sessions_ended_by_themselves(self, job):
        """Each waits as long as it was told to, and others in the process live on."""
        for rank, lost in enumerate(("rank 0, step [0-9]+, lane 1 .* has waited 4 s for a (receive|send)",
                                     "rank 1 ends since rank 0 failed: rank 0, step [0-9]+, lane 1 .* has waited 4 s")):
            status, said = job.ended(rank)
            self.assertEqual((status, said.count("went on")), (0, 1), said)
            self.assertIn("late: init_process_group('nccl') was called after Trigram had connected the processes by gloo; call it before", said)
            self.assertRegex(said, f"hasty: {lost}")
            self.assertRegex(said, r"opens alone after \d\d?\.\d s: torch.distributed could not connect this process with the others: .*; "
                                   "did all of them come within 4 s, and does none have an error of its own")

    def test_jobs_of_a_process_follow_each_other(self):
        """Of sixty on torch 2.2 and 2.7 one used to wait for a thread of torch, which waited for it."""
        job = self.pair("follow.py", FOLLOWING)
        for rank in (0, 1):
            status, said = job.ended(rank)
            self.assertEqual(status, 0, said)

    def test_who_ended_before_is_told(self):
        job = self.pair("uneven.py", uneven("torch:timeout=3600s"))
        status, said = job.ended()
        self.assertNotEqual(status, 0)
        told = r"rank 0, step 3, .*exchange number \d+ .* waits in vain for a (receive|send) of \d+ bytes (from|to) " + VAIN
        self.assertRegex(said, "RuntimeError: " + told)
        status, said = job.ended(1)
        self.assertNotEqual(status, 0)
        self.assertRegex(said, "since rank 0 failed: " + told)

    def test_ranks_may_take_other_numbers_of_steps_where_none_waits(self):
        """As in steps without an exchange, and where a method is asynchronous."""
        for algorithm in ("local_sgd:every=10", "async_average"):
            job = self.pair("uneven.py", uneven("torch:timeout=3600s", algorithm))
            status, said = job.ended()
            self.assertEqual(status, 0, said)

    def test_what_cannot_be_is_refused(self):
        model = torch.nn.Linear(1, 1)

        def refused(text):
            with self.assertRaisesRegex(ValueError, text):
                trigram.with_trigram(model, [torch.optim.SGD(model.parameters(), lr=1)], backend="torch")

        with unittest.mock.patch.dict(os.environ, RANK="0", WORLD_SIZE="2"):
            refused(r"^nobody has said where the processes meet: MASTER_ADDR, MASTER_PORT not in the environment; start the script with torchrun")
        with unittest.mock.patch("torch.distributed.is_available", lambda: False):
            refused("^this torch was built without torch.distributed, by which backend torch sends")


if __name__ == "__main__":
    if not all(importlib.util.find_spec(name) for name in ("pandas", "torch")):
        sys.exit(77)
    import torch

    import stores
    import trigram
    if not stores.torchrun_starts():
        print("skipped: this torch was built without libuv, which its torchrun asks for")
        sys.exit(77)
    unittest.main()

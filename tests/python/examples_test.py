"""The scripts of examples/, as jobs: each leaves the weights that DistributedDataParallel does with a hook of a few lines in
place of ours. One whose package this Python lacks is passed over. Ends with 77 without torch, and
with one whose stores ask for a libuv that it was built without."""

import importlib.util
import pathlib
import sys
import tempfile
import time
import unittest

import watched_job

HERE = pathlib.Path(__file__).resolve().parent
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", "2"]
TORCHRUN = [sys.executable, "-B", "-m", "torch.distributed.run", "--nproc_per_node", "2", "-r", "9:1", "-t", "9:1"]
PATIENCE = 240  # seconds of a job
HANGS = "import os, pathlib, time; pathlib.Path(os.environ['OMPI_COMM_WORLD_RANK']).touch(); time.sleep(1000)"


class Examples(unittest.TestCase):
    def trained(self, launcher, example, *before):
        """Weights of the first rank, and what was printed. `before`: words between the launcher and the script."""
        with tempfile.TemporaryDirectory() as folder:
            store, meeting = stores.opened()
            status, printed = watched_job.ended([*launcher, *before, HERE.parents[1] / "examples" / f"{example}.py"],
                                                meeting | {"OMP_NUM_THREADS": "1"}, folder, PATIENCE)
            del store
            self.assertEqual(status, 0, printed)
            return torch.load(f"{folder}/{example}.pt"), printed

    def differences(self, weights, others):
        self.assertEqual(list(weights), list(others))
        return float(torch.cat([(weights[name] - others[name]).abs().flatten() for name in weights]).max())  # of NaN too

    def holds(self, launcher, example, package):
        if not importlib.util.find_spec(package):
            self.skipTest(f"this Python has no package {package}")
        ours, printed = self.trained(launcher, example)
        self.assertRegex(printed, r"(?m)^.* bytes_sent +exposed_s\n(.*\n)*\d+ +29 ", "a row of the last of 30 steps, after two plain ones")
        plain, _ = self.trained(launcher, example, HERE / "plain_hook.py", "bytegrad")
        untouched, _ = self.trained(launcher, example, HERE / "plain_hook.py", "ddp")
        self.assertLess(self.differences(ours, plain), 1e-6)
        self.assertGreater(self.differences(ours, untouched), 1e-4, "nothing was rounded")

    def test_with_ddp(self):
        self.holds(TORCHRUN, "with_ddp", "torch")

    def test_with_lightning(self):
        self.holds(TORCHRUN, "with_lightning", "lightning")

    def test_with_accelerate(self):
        self.holds([*MPIRUN, sys.executable, "-B"], "with_accelerate", "accelerate")

    def test_one_that_hangs_says_where_each_rank_was(self):
        with tempfile.TemporaryDirectory() as folder, watched_job.start([*MPIRUN, sys.executable, "-c", HANGS], {}, folder) as job:
            while len(list(pathlib.Path(folder).iterdir())) < 2:
                self.assertIsNone(job.poll())
                time.sleep(0.05)
            said = watched_job.last_words(job)
        self.assertEqual(said.count("Fatal Python error: Aborted"), 2, said)
        self.assertEqual(said.count('File "<string>", line 1 in <module>'), 2, said)


if __name__ == "__main__":
    if not all(importlib.util.find_spec(name) for name in ("pandas", "torch")):
        sys.exit(77)
    import torch

    import stores
    if not stores.torchrun_starts():
        print("skipped: this torch was built without libuv, which its stores of torchrun ask for")
        sys.exit(77)
    unittest.main()

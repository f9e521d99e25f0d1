"""PyTorch models trained by with_trigram in jobs of mpirun: few jobs, each of many cases, since torch takes seconds to
start. Ends with 77 without torch."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parents[1]
LAUNCHER = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]
FAILS = """
import os, signal, torch, trigram
torch.set_num_threads(1)
model = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
job = trigram.with_trigram(model, [optimizer], backend="mpi:timeout=60s").trigram

def spoil(gradient):
    if job.rank == 1 and step == 2:
        {spoil}

model.weight.register_hook(spoil)
for step in range(1000):
    optimizer.zero_grad()
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
job.finish()
print("finished")
"""


class Jobs(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def job(self, ranks, *words):
        return subprocess.run([*LAUNCHER, "-n", str(ranks), sys.executable, "-B", *map(str, words)], cwd=self.folder, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def script(self, ranks, text):
        path = self.folder / "train.py"
        path.write_text(text)
        return self.job(ranks, path)

    def hold(self, ranks, *names):
        ended = self.job(ranks, HERE / "with_trigram_job.py", self.folder, *names)
        self.assertEqual(ended.returncode, 0, ended.stdout)
        held = re.findall(r"^held (\w+)$", ended.stdout, re.MULTILINE)
        self.assertEqual(held[:len(names)], list(names))
        return held

    def test_two_ranks_have_the_bits_of_ddp(self):
        self.assertIn("ddp_momentum", self.hold(2))

    def test_four_ranks(self):
        self.hold(4, "ddp_plain", "ddp_momentum", "ddp_accumulation", "ddp_branch_of_no_rank", "ddp_batch_norm", "rank_0_begins",
                  "local_sgd", "decentralized", "resumed_is_never_stopped", "every_other_algorithm_trains", "bytes_are_those_of_the_ring")

    def test_the_lines_of_the_readme_run(self):
        shown = re.search(r"```python\n(import torch, trigram\n.*?)```", (TREE / "README.md").read_text("utf-8"), re.DOTALL)
        ended = self.script(2, shown[1])
        self.assertEqual(ended.returncode, 0, ended.stdout)
        self.assertEqual(ended.stdout.count("bytes_sent"), 1, ended.stdout)

    def test_an_error_within_backward_ends_the_job(self):
        begun = time.monotonic()
        ended = self.script(2, FAILS.format(spoil="raise OverflowError('the flux of rank 1 is 7')"))
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("OverflowError: the flux of rank 1 is 7", ended.stdout)
        self.assertNotIn("finished", ended.stdout)
        self.assertLess(time.monotonic() - begun, 60, "as long as the others would wait")

    def test_a_killed_rank_ends_the_job(self):
        ended = self.script(2, FAILS.format(spoil="os.kill(os.getpid(), signal.SIGKILL)"))
        self.assertNotEqual(ended.returncode, 0)
        self.assertNotIn("finished", ended.stdout)

    def test_what_torchrun_starts_is_refused(self):
        model = torch.nn.Linear(1, 1)
        with unittest.mock.patch.dict(os.environ, TORCHELASTIC_RUN_ID="none", WORLD_SIZE="4"):
            with self.assertRaisesRegex(ValueError, r"torchrun started 4 processes \(WORLD_SIZE\), but MPI 1: .*; start it with: mpirun -n 4"):
                trigram.with_trigram(model, [torch.optim.SGD(model.parameters(), lr=1)])


if __name__ == "__main__":
    try:
        import pandas
        import torch
    except ImportError:
        sys.exit(77)
    import trigram
    unittest.main()

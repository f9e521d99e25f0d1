"""PyTorch models trained by with_trigram in jobs of mpirun: few jobs, each of many cases, since torch takes seconds to
start. Ends with 77 without torch."""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

from failing_job import VAIN, uneven, within_backward

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parents[1]
PATIENCE = 240  # seconds until a job that hangs is a failure; less than ranks wait for others in failing jobs
LAUNCHER = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]
ENDS = """
import sys, torch, trigram
torch.set_num_threads(1)
models = [torch.nn.Linear(2, 2) for _ in range({models})]
optimizers = [torch.optim.SGD(model.parameters(), lr=0.1) for model in models]
for model, optimizer in zip(models, optimizers):
    trigram.with_trigram(model, [optimizer], backend="mpi:timeout=15s")
rank = models[0].trigram.rank
for step in range(3):
    if step == 2:
        {spoil}
    for model, optimizer in zip(models, optimizers):
        model(torch.ones(1, 2)).sum().backward()
        optimizer.step()
print("stepped")
"""
GROUPS = """
import os, torch, torch.distributed as dist, trigram
rank, ranks = (int(os.environ["OMPI_COMM_WORLD_" + key]) for key in ("RANK", "SIZE"))
dist.init_process_group("gloo", init_method="file://" + os.getcwd() + "/store", rank=rank, world_size=ranks)
alone = [dist.new_group([each]) for each in range(ranks)][rank]
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1), process_group=alone)
hook = trigram.ddp_hook(model, "bytegrad", backend="mpi:timeout=15s")
for step in range(4):
    model.zero_grad()
    model(torch.full((1, 1), float(rank))).sum().backward()
    assert model.module.weight.grad.item() == rank, model.module.weight.grad
print("averaged")
"""
DIES = """
import torch, trigram
from trigram import rank
model = torch.nn.Linear(1, 1)
trigram.with_trigram(model, [torch.optim.SGD(model.parameters(), lr=0.1)])
model.trigram._session.fail("the network is gone")
try:
    model(torch.ones(1, 1))
except RuntimeError as error:
    print(error, model.trigram.finished, len(rank.live))
"""


class Jobs(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def job(self, ranks, *words):
        return subprocess.run([*LAUNCHER, "-n", str(ranks), sys.executable, "-B", *map(str, words)], cwd=self.folder, text=True,
                              timeout=PATIENCE, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=os.environ | {"OMP_NUM_THREADS": "1"})

    def script(self, ranks, text):
        path = self.folder / "train.py"
        path.write_text(text)
        return self.job(ranks, path)

    def hold(self, ranks, *names):
        ended = self.job(ranks, HERE / "with_trigram_job.py", self.folder, *names)
        self.assertEqual(ended.returncode, 0, ended.stdout)
        came = re.findall(r"^(held|skipped) (\w+)$", ended.stdout, re.MULTILINE)
        held = [name for how, name in came if how == "held"]
        print("skipped:", *(name for how, name in came if how == "skipped"))
        if names:
            self.assertEqual(held, list(names))
        return held

    def test_two_ranks_have_the_bits_of_ddp(self):
        held = self.hold(2)
        self.assertIn("ddp_momentum", held)
        self.assertIn("ddp_compiled" if hasattr(torch, "compile") else "ddp_tied", held)

    def test_four_ranks(self):
        self.hold(4, "ddp_plain", "ddp_momentum", "ddp_accumulation", "ddp_branch_of_no_rank", "ddp_batch_norm",
                  "ddp_scaled_losses", "an_overflow_leaves_no_trace", "rank_0_begins",
                  "local_sgd", "decentralized", "resumed_is_never_stopped", "every_other_algorithm_trains", "ranks_that_ask_keep_their_mean",
                  "bytes_are_those_of_the_ring", "mean_model", "mean_model_of_diloco", "frozen_weights_stay", "ddp_uneven_batches",
                  "collectives", "begun_collectives_run_beside", "groups", "gradients_of_collectives", "batch_norm_of_unequal_batches",
                  "batch_norm_trains_as_one_process", "experts_equal_dense_ones", "experts_stay_on_their_rank", "fused_optimizers_step_buckets",
                  "bf16_gradients_are_added_in_f32", "masters_keep_what_bf16_rounds_off", "averages_of_close_weights_are_not_lost",
                  "replicas_of_other_types_are_equal", "types_are_resumed_and_copied", "masters_that_others_move")

    def test_the_lines_of_the_readme_run(self):
        shown = re.search(r"```python\n(import torch, trigram\n.*?)```", (TREE / "docs/tutorials/pytorch_job.md").read_text("utf-8"), re.DOTALL)
        ended = self.script(2, shown[1])
        self.assertEqual(ended.returncode, 0, ended.stdout)
        self.assertEqual(ended.stdout.count("bytes_sent"), 1, ended.stdout)

    def test_an_error_within_backward_ends_the_job(self):
        ended = self.script(2, within_backward("mpi:timeout=300s", "raise OverflowError('the flux of rank 1 is 7')"))
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("trigram: rank 1 fails: OverflowError: the flux of rank 1 is 7", ended.stdout)
        self.assertNotIn("finished", ended.stdout)

    def test_a_killed_rank_ends_the_job(self):
        ended = self.script(2, within_backward("mpi:timeout=300s", "os.kill(os.getpid(), signal.SIGKILL)"))
        self.assertNotEqual(ended.returncode, 0)
        self.assertNotIn("finished", ended.stdout)

    def test_who_ended_before_is_told(self):
        """By a time-out the job would end after an hour; a collective of MPI waits for all, an exchange for one."""
        for collectives, awaited in (("own", r"exchange number \d+"), ("vendor", r"all_reduce of 24 bytes number \d+")):
            ended = self.script(2, uneven(f"mpi:timeout=3600s,collectives={collectives}"))
            self.assertNotEqual(ended.returncode, 0)
            self.assertRegex(ended.stdout, f"RuntimeError: rank 0, step 3, .*{awaited} .*waits in vain for {VAIN}")
            self.assertNotIn("finished", ended.stdout)

    def test_ranks_may_take_other_numbers_of_steps_where_none_waits(self):
        for algorithm in ("local_sgd:every=10", "async_average"):
            ended = self.script(2, uneven("mpi:timeout=3600s", algorithm))
            self.assertEqual((ended.returncode, ended.stdout.count("finished")), (0, 2), ended.stdout)

    def test_what_others_start_is_refused(self):
        model = torch.nn.Linear(1, 1)
        for variables, who in (({"TORCHELASTIC_RUN_ID": "none"}, "torchrun started"), ({}, "the environment says")):
            with unittest.mock.patch.dict(os.environ, variables, WORLD_SIZE="4"):
                with self.assertRaisesRegex(ValueError, rf"^{who} 4 processes \(WORLD_SIZE\), but MPI 1, .*; start it with: mpirun -n 4"):
                    trigram.with_trigram(model, [torch.optim.SGD(model.parameters(), lr=1)], backend="mpi")

    def test_a_group_of_fewer_is_refused(self):
        ended = self.script(2, GROUPS)
        self.assertNotEqual(ended.returncode, 0)
        self.assertRegex(ended.stdout, "DistributedDataParallel averages over 1 processes of its process group, and the job has 2")
        self.assertNotIn("averaged", ended.stdout)

    def test_a_session_that_died_has_ended(self):
        ended = self.script(1, DIES)
        self.assertIn("the session has ended; nothing can follow True 0", ended.stdout)

    def test_scripts_without_finish_end_well(self):
        ended = self.script(2, ENDS.format(models=4, spoil="pass"))
        self.assertEqual((ended.returncode, ended.stdout.count("stepped")), (0, 2), ended.stdout)

    def test_an_exit_with_a_code_ends_the_job(self):
        ended = self.script(2, ENDS.format(models=1, spoil="sys.exit('no more samples') if rank == 1 else None"))
        self.assertNotEqual(ended.returncode, 0)
        self.assertNotIn("stepped", ended.stdout)
        self.assertIn("trigram: rank 1 fails: sys.exit('no more samples') was called before job.finish()", ended.stdout)

    def test_an_end_within_a_step_is_one(self):
        """As DDP's scripts end, after a forward pass that nothing followed."""
        ended = self.script(2, ENDS.format(models=2, spoil="model(torch.ones(1, 2)); sys.exit()"))
        self.assertEqual(ended.returncode, 0, ended.stdout)


if __name__ == "__main__":
    if not all(importlib.util.find_spec(name) for name in ("pandas", "torch")):
        sys.exit(77)
    import torch

    import trigram
    unittest.main()

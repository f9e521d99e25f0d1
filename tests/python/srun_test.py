"""Ranks that srun starts on two nodes of a cluster of this machine: by MPI, by torchrun on each node, and, where TRIGRAM_ON_DOUBLES names a
program whose GPUs are doubles, by GPUs of the ranks of a node. Ends with 77 where there can be no cluster."""

import json
import os
import subprocess
import sys
import unittest

import case
import slurm_cluster
from torchrun_test import TORCHRUN

SKIPPED = 77
PATIENCE = 240  # seconds until a job that hangs is a failure
EXPERIMENT = ["run", "--algorithm", "bytegrad", "--workload", "mlp", "--steps", "3"]
TRAINS = """
import os, torch, trigram
torch.set_num_threads(1)
torch.manual_seed(1)
model = torch.nn.Linear(6, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
job = trigram.with_trigram(model, [optimizer], "bytegrad", backend="torch").trigram
for step in range(3):
    optimizer.zero_grad()
    model(torch.ones(5, 6) * (job.rank + step)).pow(2).mean().backward()
    optimizer.step()
job.finish()
print("rank", job.rank, "of", os.environ["WORLD_SIZE"], "has", [round(float(one.sum()), 6) for one in model.parameters()])
"""


class BySrun(case.Case):
    def setUp(self):
        super().setUp()
        cluster = slurm_cluster.Cluster()
        self.cluster = cluster.__enter__()
        self.addCleanup(cluster.__exit__)

    def started(self, *words, **environment):
        ended = subprocess.run(words, env=self.cluster.environment | environment, cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr + self.cluster.logs())
        return ended.stdout

    def run_of(self, name):
        return json.loads((self.folder / name / "run.json").read_text("utf-8"))

    def test_ranks_of_mpi_have_the_bits_of_threads(self):
        program = os.environ["TRIGRAM_PROGRAM"]
        self.started("srun", "--mpi=pmix", "-N2", "-n4", program, *EXPERIMENT, "--backend", "mpi", "--out", "mpi")
        self.started(program, *EXPERIMENT, "--backend", "threads", "--ranks", "4", "--ranks-per-node", "2", "--out", "threads")
        self.assertEqual(self.run_of("mpi")["weights"], self.run_of("threads")["weights"])
        self.assertEqual({key: self.run_of("mpi")["backend"][key] for key in ("launcher", "nodes")}, {"launcher": "srun", "nodes": 2})

    def test_torchrun_on_each_node(self):
        (self.folder / "train.py").write_text(TRAINS)
        said = self.started("srun", "-N2", "-n2", "--ntasks-per-node=1", *TORCHRUN, "--nnodes", "2", "--nproc_per_node", "2",
                            "--rdzv_backend", "c10d", "--rdzv_endpoint", "tn1:29411", "--rdzv_id", "job", "train.py",
                            TRIGRAM_SECRET="0123456789abcdef0123")
        lines = sorted(line[line.index("rank"):] for line in said.splitlines() if "rank" in line)
        self.assertEqual([line.split(" has ")[0] for line in lines], [f"rank {rank} of 4" for rank in range(4)], said)
        self.assertEqual(len({line.split(" has ")[1] for line in lines}), 1, said)

    def test_each_rank_of_a_node_takes_a_gpu_that_it_sees(self):
        program = os.environ.get("TRIGRAM_ON_DOUBLES")
        if not program:
            self.skipTest("TRIGRAM_ON_DOUBLES names no program")
        said = self.started("srun", "-N1", "-n2", program, *EXPERIMENT, "--backend", "gpu", "--rendezvous", "tcp:tn1:29411", "--out", "gpu",
                            TRIGRAM_SECRET="0123456789abcdef0123")
        self.assertIn("host double 0 for 2 ranks", said)
        self.assertEqual((self.run_of("gpu")["backend"]["launcher"], self.run_of("gpu")["weights"]["equal_on_all_ranks"]), ("srun", True))


if __name__ == "__main__":
    if reason := slurm_cluster.missing():
        print(reason)
        sys.exit(SKIPPED)
    unittest.main()

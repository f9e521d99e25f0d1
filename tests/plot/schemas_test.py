"""The schemas describe every field that the program and the Python package write, and no file of theirs is refused. Ends with 77 where
fastjsonschema is missing."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import described

PROGRAM = os.environ["TRIGRAM_PROGRAM"]
TREE = pathlib.Path(__file__).resolve().parent.parent.parent
STUDY = """
[study]
title = Two rows on two networks
[run]
workload = quadratic
lr = 0.001
steps = 4
evaluate-every = 2
cluster = two_by_four
[sweep]
cluster.nic_bandwidth = 1Gbps 10Gbps
cluster.nic_latency = 10us 50us
[row.sync]
algorithm = all_reduce
[row.lost]
algorithm = bytegrad
cluster.faults = 1ns/gpu/1
[measure]
value = summary.iteration_s
[map]
against = sync
"""


class Schemas(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def trigram(self, *words, code=0):
        ended = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True)
        self.assertEqual(ended.returncode, code, ended.stdout + ended.stderr)

    def require(self, path):
        return described.described(path)

    def test_runs(self):
        out = self.folder / "run"
        given = ["run", "--workload", "quadratic", "--lr", "0.001", "--steps", "4", "--evaluate-every", "2", "--out", out]
        self.trigram(*given, "--cluster", "two_by_four:gpu_price=2USD/h")
        self.assertIn("money_USD", self.require(out / "run.json")["curve"][0])
        self.trigram(*given, "--cluster", "two_by_four:nic=gpu", "--checkpoint", self.folder / "c", "--checkpoint-every", "2")
        self.assertIn("rank", self.require(out / "run.json")["summary"]["busiest_nic"])
        self.trigram(*given[:6], "8", *given[7:], "--cluster", "two_by_four:nic=gpu", "--resume", self.folder / "c")
        self.assertIn("resumed", self.require(out / "run.json"))
        self.trigram("run", "--profile", "vgg16", "--cluster", "bagua_v100", "--fidelity", "fluid", "--steps", "2", "--uncertainty", "16", "--out", out)
        self.assertTrue({"uncertainty", "error_bar"} <= self.require(out / "run.json").keys())
        (self.folder / "members.txt").write_text("at 2 lose 3\n")
        self.trigram(*given, "--membership", self.folder / "members.txt")
        self.assertIn("membership", self.require(out / "run.json"))
        self.trigram(*given[:6], "400", *given[7:], "--cluster", "two_by_four:faults=1ms/gpu/1", code=1)
        stopped = out / "stopped"
        self.assertIn("stopped", self.require((stopped if stopped.exists() else out) / "run.json"))

    def test_a_study(self):
        (self.folder / "s.study").write_text(STUDY)
        self.trigram("study", self.folder / "s.study", "--plot=off", "--out", self.folder / "s", code=1)
        study = self.require(self.folder / "s" / "study.json")
        self.assertTrue({"map", "failed"} <= study.keys() and study["failed"], study.keys())
        for path in (self.folder / "s" / "runs").glob("*/run.json"):
            self.require(path)

    def test_a_search(self):
        self.trigram("tune", "--workload", "quadratic", "--steps", "4", "--trials", "3", "--confirm", "1", "--for", "iteration_s", "--plot=off", "--out", self.folder)
        self.require(self.folder / "tune.json")

    def test_a_run_of_pytorch(self):
        row = {"step": 0, "rank": 0, "time_s": 1.0, "loss": 2.0, "bytes_sent": 3, "bytes_between_nodes": 2, "compute_s": 0.5, "encode_s": 0.0,
               "wire_s": 0.1, "decode_s": 0.0, "exposed_s": 0.1}
        scores = {"step": 1, "time_s": 1.0, "loss": float("nan"), "accuracy": None, "bytes_mean": 3.0}
        facts = {"description": "a model", "flags": {"algorithm": "bytegrad"}, "ranks": 2, "samples": 8, "stopped": "after 1 of 2 steps: so"}
        code = f"import pathlib; from trigram import record; record.write(pathlib.Path({str(self.folder)!r}), {facts!r}, [{row!r}], [{scores!r}])"
        python = subprocess.run(["/usr/bin/python3", "-B", "-c", code.replace("nan", "float('nan')")], capture_output=True, text=True,
                                env=os.environ | {"PYTHONPATH": str(TREE / "python")})
        self.assertEqual(python.returncode, 0, python.stderr)
        self.require(self.folder / "run.json")

    def test_a_field_that_no_schema_names_is_found(self):
        (self.folder / "tune.json").write_text(json.dumps({"plan": {"for": {"measure": "x"}, "choices": [{"key": "lr", "why": ""}]},
                                                           "trials": [{"trial": 0, "value": 1, "chosen": {}}], "verdict": {"best": 0}}))
        with self.assertRaisesRegex(AssertionError, r"choices\[0\] must not contain.*why"):
            self.require(self.folder / "tune.json")


if __name__ == "__main__":
    unittest.main()

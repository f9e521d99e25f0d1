"""Models that fully_shard has cut, in a job of torchrun of four ranks, which takes torch from 2.7 on. Ends with 77 where it is older, as
Debian 12's is, or not there; tests/python/with_torch 2.15.0 sharded brings one."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--redirects", "9:1", "--tee", "9:1", "--rdzv-backend", "c10d", "--rdzv-endpoint",
            "127.0.0.1:0", "--nproc-per-node", "4"]
PATIENCE = 600
CASES = ["sharded_all_reduce_is_hsdp", "sharded_loops_are_hsdps", "sharded_in_bf16", "sharded_and_compiled",
         "sharded_methods_are_those_of_whole_models", "sharded_bytegrad", "every_other_algorithm_trains_shards", "sharded_and_resumed",
         "sharded_scores", "shards_of_tensor_parallel_layers", "stages_have_replicas_of_their_own",
         "sums_in_place_of_means_are_told"]
HOOKS = ["fsdp_hook_is_hsdp", "fsdp_hook_in_bf16", "fsdp_hook_of_bytegrad", "shards_that_cannot_train_are_refused"]
CODECS = ["codecs_that_lose_nothing_are_fsdp", "codecs_within_islands_and_a_method_between", "shard_bytes_in_closed_form",
          "half_precision_between_shards", "eight_bits_keep_their_bound", "random_frames_are_the_same_in_both_passes",
          "a_transformer_learns_in_four_bits", "shard_codecs_that_cannot_be_are_refused"]
EXAMPLES = HERE.parents[1] / "examples"


class Sharded(unittest.TestCase):
    def job(self, *words, leaves=lambda folder: None):
        """What it printed. `leaves`: called with its folder at the end."""
        with tempfile.TemporaryDirectory() as folder:
            ended = subprocess.run([*TORCHRUN, *map(str, words)], cwd=folder, timeout=PATIENCE, text=True, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=os.environ | {"OMP_NUM_THREADS": "1"})
            self.assertEqual(ended.returncode, 0, ended.stdout[-6000:])
            leaves(pathlib.Path(folder))
        return ended.stdout

    def hold(self, cases):
        with tempfile.TemporaryDirectory() as store:
            said = self.job(HERE / "sharded_job.py", store, *cases)
        self.assertEqual([name for name in cases if f"held {name}\n" not in said], [], said)

    def test_shards(self):
        self.hold(CASES)

    def test_hooks_of_fsdp(self):
        self.hold(HOOKS)

    def test_codecs_between_shards(self):
        if not hasattr(torch.distributed.fsdp.FSDPModule, "set_custom_all_gather"):
            self.skipTest(f"torch {torch.__version__} has no FSDPModule.set_custom_all_gather")
        self.hold(CODECS)

    def test_the_example(self):
        self.assertRegex(self.job(EXAMPLES / "sharded_islands.py"), r"loss 0\.\d+ after 64 steps, of which 4 exchanged weights")

    def test_a_model_as_torchtitan_builds_it(self):
        """Has the weights of PyTorch's own HSDP."""
        script, weights = EXAMPLES / "titan_style.py", []
        for words in ([HERE / "hsdp_on_cpus.py", script], [HERE / "plain_hsdp.py", script]):
            said = self.job(*words, leaves=lambda folder: weights.append(torch.load(folder / "titan_style.pt")))
            self.assertRegex(said, r"loss 0\.\d+ after 40 steps")
        ours, theirs = weights
        self.assertEqual(list(ours), list(theirs))
        self.assertEqual(max(float((ours[name] - theirs[name]).abs().max()) for name in ours), 0)


if __name__ == "__main__":
    if not importlib.util.find_spec("torch"):
        sys.exit(77)
    import torch
    import torch.distributed.fsdp
    if not hasattr(getattr(torch.cpu, "Stream", None), "record_event"):
        print(f"FSDP2 of torch {torch.__version__} runs on no CPU: torch.cpu.Stream has no record_event, which came with 2.7")
        sys.exit(77)
    unittest.main()

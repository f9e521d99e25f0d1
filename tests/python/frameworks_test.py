"""The scripts of examples/ whose framework trains by with_trigram, beside the same with the framework's own DistributedDataParallel. One
whose package this Python lacks is passed over; ends with 77 where it lacks all."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
TORCHRUN = ["-m", "torch.distributed.run", "--nproc-per-node", "2", "--rdzv-backend", "c10d", "--rdzv-endpoint", "127.0.0.1:0"]
STARTS = {"lightning_strategy": ("lightning", []), "accelerate_loop": ("accelerate", TORCHRUN), "transformers_trainer": ("transformers", TORCHRUN)}
PATIENCE = 300


def transformers_takes_torch():
    from transformers.utils import is_torch_available
    return is_torch_available()


class Frameworks(unittest.TestCase):
    def trained(self, example, *words):
        """Weights that the script leaves. `words`: those of Python's command line behind its launcher's."""
        with tempfile.TemporaryDirectory() as folder:
            ended = subprocess.run([sys.executable, *STARTS[example][1], *map(str, words)], cwd=folder, timeout=PATIENCE, text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"})
            self.assertEqual(ended.returncode, 0, ended.stdout[-4000:])
            return torch.load(f"{folder}/{example}.pt")

    def beside_ddp(self, example):
        package = STARTS[example][0]
        if not importlib.util.find_spec(package):
            self.skipTest(f"this Python has no package {package}")
        if package == "transformers" and not transformers_takes_torch():
            self.skipTest("transformers takes no torch this old")
        script = HERE.parents[1] / "examples" / f"{example}.py"
        theirs = self.trained(example, HERE / "plain_ddp.py", script)
        self.assertEqual(self.differences(self.trained(example, script, "all_reduce"), theirs), 0, "two ranks have the bits of DDP")
        alone = self.differences(self.trained(example, script, "local_sgd:every=4"), theirs)
        self.assertTrue(1e-4 < alone < 0.3, f"ranks that train alone in between come near, and not to the same: {alone}")

    def differences(self, weights, others):
        self.assertEqual(list(weights), list(others))
        return float(torch.cat([(weights[name] - others[name]).abs().flatten() for name in weights]).max())

    def test_lightning(self):
        self.beside_ddp("lightning_strategy")

    def test_accelerate(self):
        self.beside_ddp("accelerate_loop")

    def test_transformers(self):
        self.beside_ddp("transformers_trainer")


if __name__ == "__main__":
    if not importlib.util.find_spec("torch") or not any(importlib.util.find_spec(package) for package, _ in STARTS.values()):
        sys.exit(77)
    import torch
    unittest.main()

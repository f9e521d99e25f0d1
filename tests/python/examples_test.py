"""The scripts of examples/, as jobs of mpirun: each leaves the weights that DistributedDataParallel does with a hook of a few lines in
place of ours. One whose package this Python lacks is passed over. Ends with 77 without torch."""

import importlib.util
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
LAUNCHER = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", "2"]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return str(server.getsockname()[1])


class Examples(unittest.TestCase):
    def trained(self, example, *before):
        """Weights of the first rank, and what was printed. `before`: words between python and the script."""
        with tempfile.TemporaryDirectory() as folder:
            ended = subprocess.run([*LAUNCHER, sys.executable, "-B", *before, HERE.parents[1] / "examples" / f"{example}.py"], cwd=folder,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=240,
                                   env=os.environ | {"MASTER_PORT": free_port(), "OMP_NUM_THREADS": "1"})
            self.assertEqual(ended.returncode, 0, ended.stdout)
            return torch.load(f"{folder}/{example}.pt"), ended.stdout

    def differences(self, weights, others):
        self.assertEqual(list(weights), list(others))
        return float(torch.cat([(weights[name] - others[name]).abs().flatten() for name in weights]).max())  # of NaN too

    def holds(self, example, package):
        if not importlib.util.find_spec(package):
            self.skipTest(f"this Python has no package {package}")
        ours, printed = self.trained(example)
        self.assertRegex(printed, r"(?m)^.* bytes_sent +exposed_s\n(.*\n)*\d+ +29 ", "a row of the last of 30 steps, after two plain ones")
        plain, _ = self.trained(example, HERE / "plain_hook.py", "bytegrad")
        untouched, _ = self.trained(example, HERE / "plain_hook.py", "ddp")
        self.assertLess(self.differences(ours, plain), 1e-6)
        self.assertGreater(self.differences(ours, untouched), 1e-4, "nothing was rounded")

    def test_with_ddp(self):
        self.holds("with_ddp", "torch")

    def test_with_lightning(self):
        self.holds("with_lightning", "lightning")

    def test_with_accelerate(self):
        self.holds("with_accelerate", "accelerate")


if __name__ == "__main__":
    if not all(importlib.util.find_spec(name) for name in ("pandas", "torch")):
        sys.exit(77)
    import torch
    unittest.main()

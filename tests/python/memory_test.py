"""How much memory a process of a job takes, in copies of the model: at most one more than the mathematics of its method needs, and two where ranks
mix weights with neighbours', beyond what a process takes that trains alone. Ends with 77 without torch."""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import unittest

BENCHMARK = pathlib.Path(__file__).resolve().parents[1] / "benchmarks" / "memory.py"
MEBIBYTES, PATIENCE = 32, 300
BY_CHANCE = 0.25
"""Copies by which peaks differ from run to run, with what is under way at once."""
METHODS = ["all_reduce", "bytegrad", "local_sgd:every=4", "diloco:every=4", "decentralized", "all_reduce in bf16", "local_sgd:every=4 in bf16"]


def needs():
    """Copies, by method, as the benchmark counts them."""
    spec = importlib.util.spec_from_file_location("memory", BENCHMARK)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {method: sum(copies.values()) for method, copies in module.NEEDS.items()}


class Memory(unittest.TestCase):
    def copies(self, method):
        ended = subprocess.run([sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "2", "-r", "9:1", "-t", "9:1", str(BENCHMARK), method,
                                str(MEBIBYTES)], timeout=PATIENCE, capture_output=True, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"})
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return float(re.search(r"copies (\S+),", ended.stdout)[1])

    def test_methods_keep_what_they_need(self):
        needed = needs()
        beside = self.copies("alone") - needed["alone"]
        for method in METHODS:
            with self.subTest(method):
                more = (2 if method == "decentralized" else 1) + BY_CHANCE
                self.assertLessEqual(self.copies(method), needed[method] + beside + more)


if __name__ == "__main__":
    if not importlib.util.find_spec("torch"):
        sys.exit(77)
    unittest.main()

"""The file of metrics of the plugin for NCCL, beside what an all-reduce on a ring must send."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["TRIGRAM_PROGRAM"]
LARGEST = 1 << 20
SIZES = (1 << 18, 1 << 19, LARGEST)
ROUNDS = 2  # bench measures each size once, after a turn that is not counted


class Metrics(unittest.TestCase):
    def test_bytes_are_those_of_a_ring(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([PROGRAM, "bench", "--backend", "net", "--ranks", "2", "--min-size", "256KiB", "--max-size", "1MiB"], check=True,
                           stdout=subprocess.DEVNULL, env={**os.environ, "TRIGRAM_NET_INTERFACES": "lo", "TRIGRAM_NET_METRICS": f"{folder}/%p.prom"})
            files = sorted(pathlib.Path(folder).iterdir())
            self.assertEqual(len(files), 2, files)
            for text in (file.read_text() for file in files):
                for figure in ("sent_bytes", "received_bytes"):
                    self.assertEqual(text.count(f"# TYPE trigram_net_{figure}_total counter\n"), 1)
                    counted = sum(int(one) for one in re.findall(rf'^trigram_net_{figure}_total\{{path="[^"]+"\}} (\d+)$', text, re.MULTILINE))
                    # Two ranks send each other half of a buffer, twice.
                    self.assertEqual(counted, ROUNDS * sum(SIZES), text)
                self.assertRegex(text, r'trigram_net_round_trip_seconds\{path="lo [^"]+"\} [\d.e-]+\n')
                self.assertNotIn("nan", text)


if __name__ == "__main__":
    unittest.main()

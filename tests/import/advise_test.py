"""Advice where the answer is known: training that only computes, a network that only carries bytes, and what is asked to be left out."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["TRIGRAM_PROGRAM"]
PROFILE = "# batch: 1\n# rest: 1ms\nlayer,tensor,parameters,dimensions,decays,forward_ms,backward_ms\none,weight,1000000,1000x1000,1,{0},{0}\n"
TWO_HOSTS = "two_by_four:nodes=2,gpus_per_node=1,nic_latency=1us,kernel_launch=0s,nic_bandwidth="


class Advice(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def advise(self, milliseconds, bandwidth, *flags):
        profile = self.folder / "mine.csv"
        profile.write_text(PROFILE.format(milliseconds))
        return subprocess.run([PROGRAM, "advise", "--profile", profile, "--cluster", TWO_HOSTS + bandwidth, *flags], capture_output=True, text=True)

    def rows(self, ended):
        self.assertEqual(ended.returncode, 0, ended.stderr)
        table = ended.stdout.split("\n\n")[1].splitlines()[2:]
        return {words[0]: float(words[1]) for words in map(str.split, table)}

    def test_nothing_helps_a_training_that_computes(self):
        ended = self.advise(100, "1Tbps", "--methods", "bytegrad,local_sgd")
        self.assertRegex(ended.stdout, r"^nothing will help: (99\.\d+|100) % of a step is computing")

    def test_without_flags_it_is_about_the_default_run(self):
        ended = subprocess.run([PROGRAM, "advise", "--methods", "local_sgd"], capture_output=True, text=True)
        self.assertEqual(set(self.rows(ended)), {"all_reduce", "local_sgd"})
        self.assertIn("all_reduce today: 68 % of 16 draws", ended.stdout)

    def test_a_slow_network_is_bound_by_bytes(self):
        # Forward 1, rest 1, backward 1 ms; 4 MB of two ranks cross a NIC once, in 40 ms at 0.8 Gbps; every fourth step for local_sgd.
        rows = self.rows(self.advise(1, "0.8Gbps", "--methods", "local_sgd"))
        self.assertAlmostEqual(rows["all_reduce"] / (3 + 40), 1, 2)
        self.assertAlmostEqual(rows["local_sgd"] / (3 + 10), 1, 2)

    def test_weights_travel_when_backward_is_over(self):
        # A layer of 4 MB, 10 ms on the wire, whose backward comes first, and one of 4 kB whose backward takes 20 ms. Weights go every fourth step.
        profile = self.folder / "mine.csv"
        profile.write_text("# batch: 1\nlayer,tensor,parameters,dimensions,decays,forward_ms,backward_ms\n"
                           "one,weight,1000,1000,1,1,20\ntwo,weight,1000000,1000x1000,1,1,1\n")

        def rows(*flags):
            return self.rows(subprocess.run([PROGRAM, "advise", "--profile", profile, "--cluster", TWO_HOSTS + "3.2Gbps", "--methods", "local_sgd",
                                             "--bucket-size", "1MiB", *flags], capture_output=True, text=True))
        self.assertAlmostEqual(rows()["local_sgd"] / (23 + 10 / 4), 1, 2)
        self.assertAlmostEqual(rows("--optimizer-in-backward", "on")["local_sgd"] / 23, 1, 2)
        self.assertAlmostEqual(rows()["all_reduce"] / 23, 1, 2)

    def test_a_gain_is_as_probable_as_the_ranges_leave_it(self):
        # Half or twice the bandwidth move both by the same share, so that the gain is sure; 40 ms become 20 to 80, half of them 28 to 57.
        cluster = self.folder / "mine.cfg"
        cluster.write_text("nodes = 2\ngpus_per_node = 1\nnic_latency = 1us\nkernel_launch = 0s\n# a guess\nnic_bandwidth = 0.8Gbps in 0.4Gbps..1.6Gbps\n"
                           "calibration_error = all/9/0% compute/9/0% bandwidth/9/0% latency/9/0%\n")
        profile = self.folder / "mine.csv"
        profile.write_text(PROFILE.format(1))
        ended = subprocess.run([PROGRAM, "advise", "--profile", profile, "--cluster", cluster, "--methods", "local_sgd", "--uncertainty", "64"],
                               capture_output=True, text=True)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertRegex(ended.stdout, r"^local_sgd would make .* and be faster with a probability of 100 %")
        least, most = map(float, re.search(r"all_reduce today: 68 % of 64 draws from ([\d.]+) to ([\d.]+) ms", ended.stdout).groups())
        self.assertAlmostEqual(least / (3 + 40 * 2 ** -0.68), 1, 1)
        self.assertAlmostEqual(most / (3 + 40 * 2 ** 0.68), 1, 1)
        self.assertIn("decided by cluster.nic_bandwidth", ended.stdout)

    def test_ranges_of_a_profile_are_drawn(self):
        # 4 ms in 2 to 8 ms, half of them between 2.8 and 5.7 ms; nothing else is uncertain, and the network takes next to nothing.
        profile, cluster = self.folder / "mine.csv", self.folder / "mine.cfg"
        profile.write_text("# compute: 4ms in 2ms..8ms\n" + PROFILE.format(1).replace("# rest: 1ms\n", ""))
        cluster.write_text("nodes = 2\ngpus_per_node = 1\nnic_latency = 1us\nkernel_launch = 0s\nnic_bandwidth = 1Tbps\n"
                           "calibration_error = all/9/0% compute/9/0% bandwidth/9/0% latency/9/0%\n")

        def drawn(*flags, table=profile):
            ended = subprocess.run([PROGRAM, "advise", "--profile", table, "--cluster", cluster, "--methods", "local_sgd", "--uncertainty", "64", *flags],
                                   capture_output=True, text=True)
            self.assertEqual(ended.returncode, 0, ended.stderr)
            return ended.stdout

        said = drawn()
        least, most = map(float, re.search(r"all_reduce today: 68 % of 64 draws from ([\d.]+) to ([\d.]+) ms", said).groups())
        self.assertAlmostEqual(least / (4 * 2 ** -0.68), 1, 1)
        self.assertAlmostEqual(most / (4 * 2 ** 0.68), 1, 1)
        self.assertIn("decided by profile.compute", said)
        least, most = map(float, re.search(r"draws from ([\d.]+) to ([\d.]+) ms", drawn(table=f"{profile}:batch=2")).groups())
        self.assertAlmostEqual(most / (8 * 2 ** 0.68), 1, 1)  # the table's time is of a batch of 1
        self.assertNotIn("profile.compute", drawn(table=f"{profile}:compute=4ms"))  # who gives a value knows it

    def test_what_does_not_fit_is_left_out(self):
        self.assertEqual(set(self.rows(self.advise(1, "1Gbps", "--keep-accuracy", "--methods", "local_sgd,bytegrad,delayed_sgd"))), {"all_reduce"})
        self.assertEqual(set(self.rows(self.advise(1, "1Gbps", "--max-staleness", "0", "--methods", "bytegrad,async_average"))),
                         {"all_reduce", "bytegrad"})

    def test_an_unknown_method_is_refused(self):
        ended = self.advise(1, "1Gbps", "--methods", "bytegard")
        self.assertEqual(ended.returncode, 2)
        self.assertIn("unknown algorithm 'bytegard' (did you mean 'bytegrad'?)", ended.stderr)


if __name__ == "__main__":
    unittest.main()

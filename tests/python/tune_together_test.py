"""trigram tune --together: several searches in one folder are one, and one that is killed costs its own trials alone."""

import csv
import importlib.util
import json
import signal
import subprocess
import sys
import time
import unittest

import case
import study_case

SKIPPED = 77


class Together(case.Case):
    def setUp(self):
        super().setUp()
        self.out, self.space = self.folder / "t", self.folder / "space.cfg"
        self.space.write_text("bucket-size = 1MiB..100MiB log\noverlap = on off\nhierarchy = none leader\n")

    def start(self, trials):
        words = ["tune", "--workload=vgg16", "--cluster=two_by_four:nic_bandwidth=1Gbps", "--steps=2", f"--space={self.space}", "--together=on",
                 f"--trials={trials}", "--confirm=1", "--jobs=1", "--plot=off", f"--out={self.out}"]
        process = subprocess.Popen([study_case.PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def trials(self):
        with open(self.out / "trials.csv", newline="") as table:
            return list(csv.DictReader(table))

    def made(self):
        return len(list(self.out.glob("trials/*/run.json")))

    def test_two_searches_are_one(self):
        both = [self.start(12) for _ in range(2)]
        for process in both:
            said = process.communicate(timeout=600)
            self.assertEqual(process.returncode, 0, said)
        trials = self.trials()
        self.assertGreaterEqual(len(trials), 12)
        self.assertLessEqual(len(trials), 13, "each stops when all have made enough")
        self.assertEqual(len({trial["folder"] for trial in trials}), len(trials), "no configuration twice")
        for trial in trials:
            run = json.loads((self.out / trial["folder"] / "run.json").read_text())
            self.assertEqual(float(trial["value"]), run["summary"]["iteration_s"])
        found = json.loads((self.out / "tune.json").read_text())
        self.assertEqual(found["verdict"]["value"], min(float(trial["value"]) for trial in trials))

    def test_one_that_is_killed_costs_its_own_trials_alone(self):
        killed, other = self.start(10), self.start(10)
        while self.made() < 3:
            self.assertIsNone(other.poll(), other.stderr)
            time.sleep(0.02)
        killed.send_signal(signal.SIGKILL)
        said = other.communicate(timeout=600)
        self.assertEqual(other.returncode, 0, said)
        self.assertGreaterEqual(len(self.trials()), 10)


if __name__ == "__main__":
    if importlib.util.find_spec("optuna") is None:
        print("skipped: optuna is missing; install python3-optuna")
        sys.exit(SKIPPED)
    unittest.main()

"""trigram tune --together: several searches in one folder are one, and one that is killed costs its own trials alone."""

import csv
import importlib.util
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import unittest
import unittest.mock

import case
import study_case

sys.path.insert(0, os.fspath(pathlib.Path(__file__).resolve().parents[2] / "experiments" / "tune"))
import journal_lock

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


class Lock(case.Case):
    def setUp(self):
        super().setUp()
        self.path = self.folder / "journal.log.lock"

    @unittest.mock.patch.object(journal_lock, "PATIENCE", 0.2)
    def test_one_that_was_killed_with_it_holds_nobody_up(self):
        self.path.touch()
        lock = journal_lock.JournalLock(self.path)
        lock.acquire()
        self.assertTrue(self.path.exists())
        lock.release()
        self.assertEqual(list(self.folder.iterdir()), [])

    @unittest.mock.patch.object(journal_lock, "PATIENCE", 0.2)
    def test_of_many_one_has_it_at_a_time(self):
        """Each for less than patience, all together for longer; they begin with one that was killed."""
        self.path.touch()
        inside, most, ended = [], [], []

        def write():
            lock = journal_lock.JournalLock(self.path)
            for _ in range(5):
                lock.acquire()
                inside.append(lock)
                most.append(len(inside))
                time.sleep(0.02)
                inside.remove(lock)
                lock.release()
            ended.append(lock)

        writers = [threading.Thread(target=write) for _ in range(6)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        self.assertEqual((len(ended), max(most)), (6, 1))
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_who_comes_late_leaves_that_of_another(self):
        late, other = journal_lock.JournalLock(self.path), journal_lock.JournalLock(self.path)
        late.acquire()
        other.take_away(journal_lock.version_of(self.path))
        other.acquire()
        late.release()
        self.assertTrue(self.path.exists(), "the other has it")
        late.take_away((0, 0))
        self.assertTrue(self.path.exists(), "what is of another version is put back")
        other.release()
        self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    if importlib.util.find_spec("optuna") is None:
        print("skipped: optuna is missing; install python3-optuna")
        sys.exit(SKIPPED)
    unittest.main()

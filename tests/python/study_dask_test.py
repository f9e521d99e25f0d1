"""trigram study --executor dask: Dask's own scheduler and workers, which the tests start and kill; the folder is that of one machine."""

import importlib.util
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

import case
import study_case

EXECUTORS = pathlib.Path(__file__).resolve().parents[2] / "experiments" / "executors"
SKIPPED = 77
PATIENCE = 300  # seconds; for what hangs
PYTHON = os.environ.get("TRIGRAM_PYTHON", "/usr/bin/python3")  # whose Dask is tried


class ByDask(case.Case):
    def setUp(self):
        super().setUp()
        self.file, self.out, self.scheduler_file = study_case.study_file(self.folder), self.folder / "s", self.folder / "scheduler.json"
        self.environment = dict(os.environ)

    def start(self, *words, **how):
        process = subprocess.Popen(list(map(str, words)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   start_new_session=True, **how)
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()

    def start_scheduler(self):
        return self.start(PYTHON, "-m", "distributed.cli.dask_scheduler", "--scheduler-file", self.scheduler_file, "--port", 0, "--no-dashboard")

    def start_worker(self, **how):
        return self.start(PYTHON, "-m", "distributed.cli.dask_worker", "--scheduler-file", self.scheduler_file, "--nthreads", 1, "--no-nanny",
                          "--no-dashboard", "--local-directory", self.folder, **how)

    def start_cluster(self, workers):
        scheduler = self.start_scheduler()
        self.wait_for(self.scheduler_file.exists)
        return scheduler, [self.start_worker() for _ in range(workers)]

    def words(self, place, *flags):
        return [study_case.PROGRAM, "study", self.file, "--executor", f"dask{place}", "--plot=off", f"--out={self.out}", *flags]

    def wait_for(self, is_so):
        begin = time.monotonic()
        while not is_so():
            self.assertLess(time.monotonic() - begin, PATIENCE)
            time.sleep(0.02)

    def wait_for_runs(self, count):
        self.wait_for(lambda: len(study_case.runs_of(self.out)) >= count)

    def ended(self, process, code=0):
        text = process.communicate(timeout=PATIENCE)[0]
        self.assertEqual(process.returncode, code, text)
        return text

    def assert_as_by_one_machine(self):
        one = study_case.whole(self.file, self.folder / "one")
        there = study_case.contents(self.out)
        self.assertEqual(sorted(there), sorted(one))
        self.assertEqual(there, one)

    def test_workers_of_its_own_make_a_study(self):
        text = self.ended(self.start(*self.words("", "--jobs=2")))
        self.assertIn("36/36 runs", text)
        self.assert_as_by_one_machine()

    def test_dask_spends_nothing_on_a_dashboard_that_nobody_has(self):
        sys.path.insert(0, os.fspath(EXECUTORS))
        import distributed
        import on_dask
        with on_dask.client_of(distributed, "", 1) as client:
            client.get_executor(pure=False).submit(os.getpid).result()
            shown = client.run_on_scheduler(lambda dask_scheduler: [str(computation.code) for computation in dask_scheduler.computations])
            sampled = client.run(lambda: __import__("dask").config.get("distributed.worker.profile.enabled"))
        self.assertEqual(len(shown), 1)
        self.assertNotIn("submit(os.getpid)", shown[0], "our source is parsed for each task")
        self.assertEqual(set(sampled.values()), {False}, "workers look every 10 ms where their threads are")

    def test_a_worker_that_is_killed_costs_its_task_alone(self):
        self.file = study_case.study_file(self.folder, runs=30, steps=60)
        _, workers = self.start_cluster(4)
        study = self.start(*self.words(f":{self.scheduler_file}", "--task-seconds=0.2"))
        self.wait_for_runs(20)
        os.killpg(workers[0].pid, signal.SIGKILL)
        self.wait_for_runs(40)
        os.killpg(workers[1].pid, signal.SIGKILL)
        self.ended(study)
        self.assert_as_by_one_machine()

    def test_a_scheduler_that_is_killed_loses_nothing(self):
        self.file = study_case.study_file(self.folder, runs=30, steps=60)
        scheduler, workers = self.start_cluster(4)
        study = self.start(*self.words(f":{self.scheduler_file}", "--task-seconds=0.2"))
        self.wait_for_runs(20)
        os.killpg(scheduler.pid, signal.SIGKILL)
        text = self.ended(study, 75)
        self.assertIn("finished runs are kept, and the same command continues", text)
        for worker in workers:
            self.end(worker)
        made = {name: (self.out / "runs" / name / "run.json").stat().st_mtime_ns for name in study_case.runs_of(self.out)}
        self.assertGreaterEqual(len(made), 20)
        self.scheduler_file.unlink()
        self.start_cluster(2)
        self.ended(self.start(*self.words(f":{self.scheduler_file}")))
        for name, at in made.items():
            self.assertEqual((self.out / "runs" / name / "run.json").stat().st_mtime_ns, at, "what was finished was made again")
        self.assert_as_by_one_machine()

    def test_ctrl_c_cancels_and_leaves_what_is_done(self):
        self.file = study_case.study_file(self.folder, runs=30, steps=60)
        study = self.start(*self.words("", "--jobs=2", "--task-seconds=0.2"))
        self.wait_for_runs(10)
        os.killpg(study.pid, signal.SIGINT)
        text = self.ended(study, 130)
        self.assertIn(f"trigram: interrupted; finished runs are kept in {self.out}, the same command continues", text)
        self.assertNotIn("Traceback", text)
        self.assertLess(len(study_case.runs_of(self.out)), 90)
        self.assert_gone(self.out)
        self.assertEqual(study_case.trigram("study", self.file, "--plot=off", f"--out={self.out}").returncode, 0)
        self.assert_as_by_one_machine()

    def test_a_worker_whose_program_is_another_build_is_refused(self):
        other = self.folder / "trigram"
        other.write_bytes(open(study_case.PROGRAM, "rb").read() + b"another")
        other.chmod(0o755)
        self.start_cluster(1)
        subprocess.run([study_case.PROGRAM, "study", self.file, f"--out={self.out}", "--plan"], check=True, capture_output=True)
        ended = subprocess.run([other, "study", self.file, f"--out={self.out}", f"--cells={self.out}/plan.jsonl"], capture_output=True, text=True)
        self.assertEqual(ended.returncode, 2)
        self.assertRegex(ended.stderr, "plan.jsonl:1: it is of another build of the program \\(digest [0-9a-f]{16}; this one has [0-9a-f]{16}\\)")

    def test_a_full_disk_ends_the_study_and_loses_nothing(self):
        """On a file system of its own that has room for some of the runs."""
        if os.getuid() != 0 or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0:
            self.skipTest("a disk of a test takes root")
        disk = self.folder / "disk"
        disk.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", disk], capture_output=True).returncode != 0:
            self.skipTest("this machine mounts nothing")
        self.addCleanup(subprocess.run, ["umount", "-l", disk])
        self.out = disk / "s"
        text = self.ended(self.start(*self.words("", "--jobs=2", "--task-seconds=0.2")), 2)
        self.assertRegex(text, "No space left on device|is the disk full")
        made = study_case.contents(self.out)
        self.assertTrue(made)
        subprocess.run(["mount", "-o", "remount,size=64m", disk], check=True)
        self.ended(self.start(*self.words("", "--jobs=2")))
        self.assert_as_by_one_machine()

    def test_where_nobody_answers_it_says_what_to_start(self):
        ended = subprocess.run(list(map(str, self.words(":tcp://127.0.0.1:9"))), capture_output=True, text=True)
        self.assertEqual(ended.returncode, 2, ended.stderr)
        self.assertIn("no scheduler of Dask answers at 'tcp://127.0.0.1:9'", ended.stderr)


if __name__ == "__main__":
    if importlib.util.find_spec("distributed") is None:
        print("skipped: Dask's distributed is missing; install the packages of cmake/debian-packages-studies.txt")
        sys.exit(SKIPPED)
    unittest.main()

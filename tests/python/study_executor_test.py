"""trigram.study by an executor of the standard library: the folder is that of one machine, whatever ends on the way."""

import concurrent.futures
import os
import signal
import subprocess
import threading
import time
import unittest

import case
import study_case
import trigram


class ByAnExecutor(case.Case):
    def setUp(self):
        super().setUp()
        self.study = study_case.study_file(self.folder)
        self.one = study_case.whole(self.study, self.folder / "one")

    def make(self, executor, **how):
        return trigram.study(self.study, out=self.folder / "s", executor=executor, **how)

    def test_the_folder_is_that_of_one_machine(self):
        with concurrent.futures.ThreadPoolExecutor(2) as executor:
            made = self.make(executor, task_seconds=0.2)
        self.assertEqual(study_case.contents(self.folder / "s"), self.one)
        self.assertEqual(len(made), 36)
        self.assertTrue(study_case.is_progress(self.shown.getvalue().splitlines()[-1]), self.shown.getvalue())
        self.assertIn("36/36 runs", self.shown.getvalue())

    def test_cells_are_grouped_once_it_is_known_what_they_take(self):
        tasks = []

        class Counting(concurrent.futures.ThreadPoolExecutor):
            def submit(self, fn, *args, **kwargs):
                tasks.append(kwargs["input"].count("\n"))
                return super().submit(fn, *args, **kwargs)

        with Counting(1) as executor:
            self.make(executor, task_seconds=1000)
        self.assertEqual(sum(tasks), 36)
        self.assertEqual(tasks[:2], [1, 1], "nobody knows what they take")
        self.assertEqual(len(tasks), 3, tasks)

    def test_a_worker_that_dies_with_a_task_costs_this_task_alone(self):
        died = []

        class Dying(concurrent.futures.ThreadPoolExecutor):
            """Ends the program of its first large task after one cell, as a worker's machine would."""
            def submit(self, fn, *args, **kwargs):
                large = kwargs["input"].count("\n") > 1
                return super().submit(killed if large and not died else fn, *args, **kwargs)

        def killed(command, **how):
            died.append(how["input"].splitlines(keepends=True))
            subprocess.run(command, **{**how, "input": died[0][0]})
            return subprocess.CompletedProcess(command, -signal.SIGKILL, "", "")

        with Dying(1) as executor:
            self.make(executor, task_seconds=1000)
        self.assertGreater(len(died[0]), 1)
        self.assertEqual(study_case.contents(self.folder / "s"), self.one)

    def test_an_executor_that_is_gone_is_an_error_and_nothing_is_lost(self):
        class Breaking(concurrent.futures.ThreadPoolExecutor):
            def submit(self, fn, *args, **kwargs):
                if len(study_case.runs_of(folder)) >= 3:
                    raise concurrent.futures.BrokenExecutor("a process in the pool was ended")
                return super().submit(fn, *args, **kwargs)

        folder = self.folder / "s"
        with Breaking(2) as executor, self.assertRaisesRegex(RuntimeError, "takes no more tasks: a process in the pool was ended"):
            self.make(executor, task_seconds=0)
        self.assertGreaterEqual(len(study_case.runs_of(folder)), 3)
        before = {name: (folder / "runs" / name / "run.json").stat().st_mtime_ns for name in study_case.runs_of(folder)}
        with concurrent.futures.ThreadPoolExecutor(2) as executor:
            self.make(executor)
        for name, made_at in before.items():
            self.assertEqual((folder / "runs" / name / "run.json").stat().st_mtime_ns, made_at, "a finished run is made again")
        self.assertEqual(study_case.contents(folder), self.one)

    def test_what_the_program_refuses_ends_the_study(self):
        self.study.write_text(self.study.read_text() + "[row.d]\nworkload = nothing\n")
        with concurrent.futures.ThreadPoolExecutor(2) as executor, self.assertRaisesRegex(ValueError, "s.cfg:12: row 'd': .*nothing"):
            self.make(executor)

    def test_ctrl_c_cancels_and_leaves_what_is_done(self):
        class Counting(concurrent.futures.ThreadPoolExecutor):
            def submit(self, fn, *args, **kwargs):
                futures.append(super().submit(held, fn, *args, **kwargs))
                return futures[-1]

        def held(fn, *args, **kwargs):
            """Once two runs are made, a task waits, and another behind it, until Ctrl-C has come."""
            if len(study_case.runs_of(self.folder / "s")) >= 2:
                interrupted.wait()
            return fn(*args, **kwargs)

        def interrupt_after_some():
            while len(study_case.runs_of(self.folder / "s")) < 2 or sum(not future.done() for future in futures) < 2:
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGINT)
            given_up = time.monotonic() + 60
            while not any(future.cancelled() for future in futures) and time.monotonic() < given_up:
                time.sleep(0.01)
            interrupted.set()

        futures, interrupted = [], threading.Event()
        threading.Thread(target=interrupt_after_some, daemon=True).start()
        with Counting(1) as executor, self.assertRaises(KeyboardInterrupt):
            self.make(executor, task_seconds=0)
        self.assertTrue(any(future.cancelled() for future in futures))
        self.assertLess(len(study_case.runs_of(self.folder / "s")), 36)
        with concurrent.futures.ThreadPoolExecutor(2) as executor:
            self.make(executor)
        self.assertEqual(study_case.contents(self.folder / "s"), self.one)


if __name__ == "__main__":
    unittest.main()

"""Fits and draws whose simulations an executor makes: to the last bit what one machine makes, by threads of the standard library and by Dask,
whose workers the tests start and end."""

import concurrent.futures
import importlib.util
import signal
import subprocess
import unittest

import case
import study_case
import trigram

HAS_DASK = importlib.util.find_spec("distributed") is not None


class OfAFit(case.Case):
    def setUp(self):
        super().setUp()
        (self.folder / "times.csv").write_text(study_case.TIMES)
        self.flags = {"from": self.folder / "times.csv", "cluster": "two_by_four:gpus_per_node=1", "fit": "nic_efficiency"}
        self.one = trigram.calibrate(out=self.folder / "one.cfg", **self.flags)

    def simulated(self):
        return {path.name: path.stat().st_mtime_ns for path in (self.folder / "w/predictions").glob("*.json")}

    def calibrate(self, executor, name="two.cfg", **how):
        return trigram.calibrate(out=self.folder / name, work=self.folder / "w", executor=executor, **how, **self.flags)

    def assert_as_by_one_machine(self, found):
        self.assertEqual(found.text, self.one.text)
        self.assertEqual(found.path.read_text(), self.one.path.read_text())

    def words(self, *flags):
        return ["calibrate", *(f"--{key}={value}" for key, value in self.flags.items()), f"--work={self.folder / 'w'}", *flags]

    def test_threads_simulate_and_nothing_is_simulated_twice(self):
        tasks = []

        class Counting(concurrent.futures.ThreadPoolExecutor):
            def submit(self, fn, *args, **kwargs):
                tasks.append(kwargs["input"].count("\n"))
                return super().submit(fn, *args, **kwargs)

        with Counting(2) as executor:
            self.assert_as_by_one_machine(self.calibrate(executor))
        self.assertEqual(sum(tasks), len(self.simulated()), "each simulation is made once, and by the executor")
        there = self.simulated()
        with Counting(2) as executor:
            self.assert_as_by_one_machine(self.calibrate(executor, "three.cfg"))
        self.assertEqual(self.simulated(), there)

    @unittest.skipUnless(HAS_DASK, "Dask's distributed is missing")
    def test_workers_of_dask_simulate(self):
        ended = study_case.trigram(*self.words("--executor=dask", "--jobs=2", f"--out={self.folder / 'two.cfg'}"))
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(ended.stdout, self.one.text)
        self.assertEqual((self.folder / "two.cfg").read_text(), self.one.path.read_text())

    def test_what_a_worker_has_simulated_before_it_dies_is_kept(self):
        died = []

        class Dying(concurrent.futures.ThreadPoolExecutor):
            """Ends the program of its first large task after one simulation, as a worker's machine would."""
            def submit(self, fn, *args, **kwargs):
                large = kwargs["input"].count("\n") > 1
                return super().submit(killed if large and not died else fn, *args, **kwargs)

        def killed(command, **how):
            died.append(how["input"].splitlines(keepends=True))
            subprocess.run(command, **{**how, "input": died[0][0]})
            return subprocess.CompletedProcess(command, -signal.SIGKILL, "", "")

        with Dying(1) as executor:
            self.assert_as_by_one_machine(self.calibrate(executor, task_seconds=1000))
        self.assertGreater(len(died[0]), 1)

    def test_an_executor_that_is_gone_loses_nothing(self):
        class Breaking(concurrent.futures.ThreadPoolExecutor):
            def submit(self, fn, *args, **kwargs):
                if len(simulated()) >= 20:
                    raise concurrent.futures.BrokenExecutor("a process in the pool was ended")
                return super().submit(fn, *args, **kwargs)

        simulated = self.simulated
        with Breaking(2) as executor, self.assertRaisesRegex(RuntimeError, "takes no more tasks: a process in the pool was ended"):
            self.calibrate(executor)
        before = self.simulated()
        self.assertGreaterEqual(len(before), 20)
        with concurrent.futures.ThreadPoolExecutor(2) as executor:
            self.assert_as_by_one_machine(self.calibrate(executor))
        self.assertEqual({name: self.simulated()[name] for name in before}, before)

    def test_simulations_of_another_build_and_flags_that_lack_a_folder_are_refused(self):
        self.assertEqual(study_case.trigram(*self.words("--plan")).returncode, 0)
        plan = self.folder / "w/plan.jsonl"
        self.assertEqual(len(plan.read_text().splitlines()), 4)
        other = self.folder / "trigram"
        other.write_bytes(open(study_case.PROGRAM, "rb").read() + b"another")
        other.chmod(0o755)
        ended = subprocess.run([other, "calibrate", f"--work={self.folder / 'w'}", f"--cells={plan}"], capture_output=True, text=True)
        self.assertEqual(ended.returncode, 2)
        self.assertRegex(ended.stderr, "it is of another build of the program \\(digest [0-9a-f]{16}; this one has [0-9a-f]{16}\\)")
        self.assertEqual(self.simulated(), {})
        with self.assertRaisesRegex(ValueError, "give work=FOLDER"), concurrent.futures.ThreadPoolExecutor(1) as executor:
            trigram.calibrate(executor=executor, **self.flags)
        ended = study_case.trigram(*[word for word in self.words("--executor=dask") if not word.startswith("--work")])
        self.assertIn("need --work FOLDER, on a disk that all machines share", ended.stderr)


class OfDraws(case.Case):
    def setUp(self):
        super().setUp()
        self.study = self.folder / "s.cfg"
        self.study.write_text("[run]\nworkload = vgg16\nfidelity = fluid\nsteps = 2\ncluster = p3_16xlarge\n[sweep]\nseed = 1 2\n"
                              "[row.a]\nalgorithm = all_reduce\n[row.b]\nalgorithm = bytegrad\n")
        ended = study_case.trigram("study", self.study, "--plot=off", "--uncertainty=8", f"--out={self.folder / 'one'}")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.one = study_case.contents(self.folder / "one")

    def test_threads_make_them(self):
        made = []

        class Counting(concurrent.futures.ThreadPoolExecutor):
            def submit(self, fn, *args, **kwargs):
                made.extend(line for line in kwargs["input"].splitlines() if '"predict"' in line)
                return super().submit(fn, *args, **kwargs)

        with Counting(2) as executor:
            trigram.study(self.study, out=self.folder / "s", executor=executor, uncertainty=8)
        self.assertEqual(len(made), 2 * 8, "of one seed each, since seeds change no time")
        self.assertEqual(study_case.contents(self.folder / "s"), self.one)

    @unittest.skipUnless(HAS_DASK, "Dask's distributed is missing")
    def test_workers_of_dask_make_them(self):
        ended = study_case.trigram("study", self.study, "--plot=off", "--uncertainty=8", f"--out={self.folder / 's'}", "--executor=dask", "--jobs=2")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(study_case.contents(self.folder / "s"), self.one)


if __name__ == "__main__":
    unittest.main()

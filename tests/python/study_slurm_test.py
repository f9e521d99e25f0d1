"""trigram study and trigram calibrate --executor slurm on two nodes of a cluster of this machine: one job makes a study or a fit, and what is
killed costs time alone."""

import os
import re
import subprocess
import sys
import unittest

import case
import slurm_cluster
import study_case

SKIPPED = 77


class BySlurm(case.Case):
    def setUp(self):
        super().setUp()
        self.out = self.folder / "s"
        cluster = slurm_cluster.Cluster()
        self.cluster = cluster.__enter__()
        self.addCleanup(cluster.__exit__)

    def study(self, runs, steps=2):
        self.file = study_case.study_file(self.folder, runs, steps=steps)

    def submit(self, *flags):
        ended = self.trigram("--executor=slurm", "--slurm-nodes=2", "--slurm-exclusive", *flags)
        return self.job_of(ended)

    def job_of(self, ended):
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return re.search(r"job (\d+) makes", ended.stdout)[1]

    def trigram(self, *flags):
        return study_case.trigram("study", self.file, f"--out={self.out}", "--plot=off", *flags, env=self.cluster.environment, cwd=self.folder)

    def made(self):
        return len(study_case.runs_of(self.out))

    def wait_for_runs(self, count):
        self.cluster.wait_for(lambda: self.made() >= count, "runs are not made" + self.messages())

    def messages(self):
        return "".join(f"\n{path.name}:\n{path.read_text(errors='replace')[-3000:]}" for path in sorted(self.out.glob("slurm/*.txt")))

    def wait_for_restarts(self, job, count):
        def has_come_back():
            self.cluster.hasten(job)
            return self.cluster.job(job) == ("RUNNING", count)

        self.cluster.wait_for(has_come_back, "the job does not come back", 900)

    def wait_for_end(self, job):
        def has_ended():
            self.cluster.hasten(job)
            return self.cluster.job(job)[0] in ("COMPLETED", "FAILED", "CANCELLED", "NODE_FAIL", "TIMEOUT")

        self.cluster.wait_for(has_ended, "the job does not end", 900)
        self.assertEqual(self.cluster.job(job)[0], "COMPLETED", self.messages() + self.cluster.logs())

    def assert_as_by_one_machine(self):
        one = study_case.whole(self.file, self.folder / "one")
        there = {name: text for name, text in study_case.contents(self.out).items() if not name.startswith("slurm/")}
        self.assertEqual(sorted(there), sorted(one), self.messages())
        self.assertEqual(there, one)

    def test_one_job_makes_a_study_on_both_nodes(self):
        self.study(40)
        self.wait_for_end(self.submit())
        self.assert_as_by_one_machine()

    def test_one_job_makes_a_fit(self):
        (self.folder / "times.csv").write_text(study_case.TIMES)
        words = ["calibrate", f"--from={self.folder}/times.csv", "--cluster=two_by_four:gpus_per_node=1", "--fit=nic_efficiency"]
        one = study_case.trigram(*words, f"--out={self.folder}/one.cfg")
        self.assertEqual(one.returncode, 0, one.stderr)
        self.wait_for_end(self.job_of(study_case.trigram(*words, f"--out={self.folder}/two.cfg", f"--work={self.out}", "--executor=slurm", "--slurm-nodes=2",
                                                         "--slurm-exclusive", env=self.cluster.environment, cwd=self.folder)))
        self.assertEqual((self.folder / "two.cfg").read_text(), (self.folder / "one.cfg").read_text(), self.messages())

    def test_a_node_that_is_lost_costs_what_it_was_at(self):
        self.study(20, steps=200)
        job = self.submit()
        self.wait_for_runs(10)
        self.cluster.kill_node("tn2")
        self.wait_for_end(job)
        self.assert_as_by_one_machine()

    def test_a_scheduler_that_is_killed_brings_the_job_back(self):
        self.study(20, steps=200)
        job = self.submit()
        self.wait_for_runs(10)
        self.cluster.kill_process("dask_scheduler")
        self.wait_for_end(job)
        self.assertGreaterEqual(self.cluster.job(job)[1], 1, "it came back")
        self.assert_as_by_one_machine()

    def test_a_job_of_higher_priority_and_the_end_of_its_time_bring_it_back(self):
        self.study(30, steps=400)
        job = self.submit("--slurm-time=60")
        self.wait_for_runs(3)
        urgent = subprocess.run(["srun", "--partition=urgent", "--nodes=2", "--exclusive", "true"], env=self.cluster.environment, capture_output=True,
                                text=True)
        self.assertEqual(urgent.returncode, 0, urgent.stderr)
        self.wait_for_restarts(job, 1)
        self.wait_for_runs(self.made() + 3)
        self.cluster.end_soon(job)
        self.wait_for_restarts(job, 2)
        self.wait_for_end(job)
        self.assert_as_by_one_machine()


class WithoutACluster(case.Case):
    def test_dry_run_prints_the_job(self):
        study = study_case.study_file(self.folder)
        ended = study_case.trigram("study", study, f"--out={self.folder / 's'}", "--executor=slurm", "--slurm-partition=long",
                                   "--slurm-time=10:00", "--slurm-signal=B:USR1@300", "--steps=3", "--dry-run")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        lines = ended.stdout.splitlines()
        self.assertEqual(lines[0], "#!/bin/bash")
        directives = [line.removeprefix("#SBATCH ") for line in lines if line.startswith("#SBATCH ")]
        self.assertEqual(directives, ["--job-name=trigram-s", f"--output={self.folder / 's'}/slurm/job-%j.txt", "--open-mode=append", "--requeue", "--no-kill",
                                      "--partition=long", "--time=10:00", "--signal=B:USR1@300"])
        self.assertIn(f"words=(study {study} --steps=3 --out={self.folder / 's'} --task-seconds=1)", lines)
        self.assertEqual(subprocess.run(["bash", "-n"], input=ended.stdout, text=True).returncode, 0)
        self.assertFalse((self.folder / "s").exists(), "nothing is written")

    def test_where_there_is_no_slurm_it_says_what_to_install(self):
        ended = study_case.trigram("study", study_case.study_file(self.folder), "--executor=slurm", env={**os.environ, "PATH": "/nowhere"})
        self.assertEqual((ended.returncode, ended.stderr[:26]), (2, "trigram: sbatch is missing"))

    def test_flags_of_slurm_are_for_slurm(self):
        ended = study_case.trigram("study", study_case.study_file(self.folder), "--slurm-time=10:00")
        self.assertEqual(ended.returncode, 2)
        self.assertIn("--slurm-time=10:00 is for sbatch; give --executor slurm", ended.stderr)
        ended = study_case.trigram("study", study_case.study_file(self.folder), "--dry-run")
        self.assertEqual(ended.returncode, 2, "no run is made")
        self.assertIn("--dry-run shows the job of --executor slurm", ended.stderr)


if __name__ == "__main__":
    if sys.argv[1:] != ["WithoutACluster"] and (reason := slurm_cluster.missing()):
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
    unittest.main()

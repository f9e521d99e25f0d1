"""What the page of executors shows of GNU parallel, make, Snakemake and arrays of Slurm, as it is written, makes the study of one machine."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import case
import slurm_cluster
import study_case

PAGE = pathlib.Path(__file__).resolve().parents[2] / "experiments" / "executors" / "README.md"


def shown(heading):
    """The first block of code below a heading."""
    return re.search(rf"^### {heading}$.*?^```\w*\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)[1]


class AsThePageShows(case.Case):
    def setUp(self):
        super().setUp()
        study_case.study_file(self.folder).rename(self.folder / "mine.cfg")
        (self.folder / "bin").mkdir()
        (self.folder / "bin" / "trigram").symlink_to(study_case.PROGRAM)
        self.environment = {**os.environ, "PATH": f"{self.folder}/bin:{os.environ['PATH']}:/usr/sbin"}

    def run_shell(self, *words, environment=None):
        ended = subprocess.run(words, cwd=self.folder, env=environment or self.environment, capture_output=True, text=True)
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)

    def write(self, name, text):
        (self.folder / name).write_text(text.replace("64", "6").replace("65", "7"))

    def assert_as_by_one_machine(self):
        one = study_case.whole(self.folder / "mine.cfg", self.folder / "one")
        there = study_case.contents(self.folder / "results" / "mine")
        self.assertEqual({name: text for name, text in there.items() if not name.endswith((".png", ".svg"))}, one)

    def need(self, program):
        if not shutil.which(program):
            self.skipTest(f"{program} is missing")

    def test_gnu_parallel(self):
        self.need("parallel")
        self.run_shell("sh", "-e", "-c", shown("GNU parallel").replace("-j 16", "-j 2"))
        self.assert_as_by_one_machine()

    def test_make(self):
        self.need("make")
        self.write("Makefile", shown("make"))
        self.run_shell("make", "-j", "2")
        self.assert_as_by_one_machine()

    def test_snakemake(self):
        self.need("snakemake")
        self.write("Snakefile", shown("Snakemake"))
        self.run_shell("snakemake", "--cores", "2")
        self.assert_as_by_one_machine()

    def test_an_array_of_slurm(self):
        if reason := slurm_cluster.missing():
            self.skipTest(reason)
        self.write("array.sh", shown("A Slurm array"))
        with slurm_cluster.Cluster() as cluster:
            environment = {**cluster.environment, "PATH": f"{self.folder}/bin:{cluster.environment['PATH']}"}
            self.run_shell("sbatch", "--wait", "array.sh", environment=environment)
        self.run_shell("trigram", "study", "mine.cfg", "--collect")
        self.assert_as_by_one_machine()


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""CONTRIBUTING's recipe for a backend, followed: the skeleton runs as processes, with the bits of threads; and a tree that has it as a
folder more, and no edit elsewhere, links it into the program and hands it on in the package. backend_test.py TREE PROGRAM_WITH_RECIPES."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TREE, PROGRAM = (Path(word).resolve() for word in sys.argv[1:])
SKELETON = TREE / "experiments" / "skeletons" / "backend" / "backends"
RANKS = 2


class Backend(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def start(self, rank, backend, *words):
        command = [PROGRAM, "run", "--backend", backend, "--ranks", str(RANKS), "--progress", "off", *map(str, words)]
        return subprocess.Popen(command, cwd=self.folder, env={**os.environ, "RANK": str(rank), "WORLD_SIZE": str(RANKS)}, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def ended(self, process):
        """Its exit status and what it said."""
        said, _ = process.communicate(timeout=300)
        return process.returncode, said

    def job(self, name, *words, of_rank=()):
        """How the ranks of a job end; of_rank has words for each."""
        ranks = [self.start(rank, f"shared_folder:folder={name}", *words, *(of_rank[rank] if of_rank else ()), "--out", name + "_out")
                 for rank in range(RANKS)]
        return [self.ended(rank) for rank in ranks]

    def summary(self, out):
        return json.loads((self.folder / out / "run.json").read_text())["summary"]

    def assertSameAsThreads(self, *words):
        for status, said in self.job("files", *words):
            self.assertEqual(status, 0, said)
        status, said = self.ended(self.start(0, "threads", *words, "--out", "threads_out"))
        self.assertEqual(status, 0, said)
        ours, theirs = self.summary("files_out"), self.summary("threads_out")
        for key in ("loss", "accuracy", "bytes_per_step"):
            self.assertEqual(ours.get(key), theirs.get(key), key)

    def test_ranks_have_the_bits_of_threads(self):
        self.assertSameAsThreads("--algorithm", "bytegrad", "--workload", "mlp", "--steps", 6)

    def test_lanes_and_groups_of_ranks_are_told_apart(self):
        self.assertSameAsThreads("--algorithm", "bytegrad", "--hierarchy", "all_nics", "--ranks-per-node", 2, "--lanes", 3, "--bucket-size", "4KiB",
                                 "--workload", "mlp", "--steps", 4)

    def test_rpc_reaches_servers(self):
        for status, said in self.job("files", "--algorithm", "ad_psgd", "--workload", "mlp", "--steps", 6):
            self.assertEqual(status, 0, said)

    def test_ranks_that_were_told_otherwise_say_so(self):
        for status, said in self.job("files", "--workload", "quadratic", "--steps", 2, of_rank=[("--lr", 0.1), ("--lr", 0.2)]):
            self.assertEqual(status, 2, said)
            self.assertIn("lr", said)

    def test_a_rank_that_waits_in_vain_says_for_whom(self):
        status, said = self.ended(self.start(0, "shared_folder:folder=files,timeout=10ms", "--workload", "quadratic", "--steps", 1, "--out", "out"))
        self.assertEqual(status, 1, said)
        self.assertRegex(said, r"rank 0 has waited \S+ s for rank 1")

    def test_a_rank_that_ends_tells_the_other_why(self):
        ranks = [self.start(rank, "shared_folder:folder=files", "--workload", "quadratic", "--steps", 10**6, "--out", "out") for rank in range(RANKS)]
        while not (self.folder / "files" / "0" / "from_1").is_dir():
            self.assertIsNone(ranks[1].poll())
        ranks[1].terminate()
        self.ended(ranks[1])
        status, said = self.ended(ranks[0])
        self.assertEqual(status, 1, said)
        self.assertRegex(said, r"ends: rank 1 failed: .*signal")

    def test_a_rank_that_is_ended_while_it_waits_for_the_others_tells_them(self):
        words = "shared_folder:folder=files", "--workload", "quadratic", "--steps", 1, "--out", "out"
        first, sent = self.start(1, *words), self.folder / "files" / "0" / "from_1"
        while not (sent.is_dir() and any(sent.iterdir())):
            self.assertIsNone(first.poll())
        first.terminate()
        self.ended(first)
        status, said = self.ended(self.start(0, *words))
        self.assertEqual(status, 1, said)
        self.assertRegex(said, r"ends: rank 1 failed: .*signal")

    def test_a_folder_of_another_job_is_refused(self):
        (self.folder / "used" / "0" / "from_0").mkdir(parents=True)
        status, said = self.ended(self.start(0, "shared_folder:folder=used", "--workload", "quadratic", "--steps", 1, "--out", "out"))
        self.assertEqual(status, 2, said)
        self.assertIn("holds messages of another job; name a folder that is not there yet", said)

    def test_a_folder_is_all_that_a_tree_needs(self):
        tree, build = self.folder / "tree", self.folder / "build"
        tree.mkdir()
        for entry in TREE.iterdir():
            if entry.name not in ("backends", "build", ".git"):
                (tree / entry.name).symlink_to(entry)
        shutil.copytree(TREE / "backends", tree / "backends")
        shutil.copytree(SKELETON, tree / "backends", dirs_exist_ok=True)
        subprocess.run(["cmake", "-S", tree, "-B", build, "-G", "Ninja", "-DBUILD_TESTING=OFF", "-DTRIGRAM_GPU=OFF"], check=True, capture_output=True)
        linked = subprocess.run(["ninja", "-C", build, "-t", "query", "experiments/trigram"], check=True, capture_output=True, text=True).stdout
        self.assertRegex(linked, r"libtrigram_shared_folder\.a")
        self.assertRegex((build / "trigram-config.cmake").read_text(), r'_trigram_load_where\("" +shared_folder\)')


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

#!/usr/bin/env python3
"""CONTRIBUTING's recipes, followed: the files that it links are compiled into a program, which lists, checks and runs them; and
`trigram new`, built and not, writes the same files under other names. recipes_test.py TREE BUILD PROGRAM PROGRAM_WITH_RECIPES."""

import csv
import itertools
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TREE, BUILD, PROGRAM, WITH_RECIPES = (Path(word).resolve() for word in sys.argv[1:])
SKELETONS = TREE / "experiments" / "skeletons"
SCRIPT = TREE / "trigram"  # begins products too, without a build


def homes():
    """Where each kind's one file belongs."""
    found = {}
    for folder in sorted(SKELETONS.iterdir()):
        [found[folder.name]] = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    return found


def class_name(name):
    return "".join(part.capitalize() for part in name.split("_"))


class Recipes(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def said(self, *words, program=WITH_RECIPES, status=0):
        """What the program says, here on both streams."""
        words = [str(word) for word in words]
        ended = subprocess.run([program, *words], cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(ended.returncode, status, f"trigram {' '.join(words)}\n{ended.stdout}")
        return ended.stdout

    def loss(self, *words):
        self.said("run", *words, "--out", "out", "--progress", "off")
        return json.loads((self.folder / "out" / "run.json").read_text())["summary"]["loss"]

    def distance(self, *words):
        """How far ranks are from their mean, halfway."""
        self.loss(*words)
        with open(self.folder / "out" / "evals.csv") as table:
            rows = list(csv.DictReader(table))
        return float(rows[len(rows) // 2]["consensus_distance"])

    def products(self, kind):
        return re.findall(r"^\S?  (?:cpu/)?(\w+)  ", self.said("list", kind), re.MULTILINE)

    def test_the_build_finds_files_where_recipes_put_them(self):
        commands = json.loads((BUILD / "compile_commands.json").read_text())
        compiled = {Path(command["file"]).parent for command in commands}
        for file in BUILD.rglob("products_of_*.cpp"):  # products that are compiled together
            compiled |= {(TREE / path).parent for path in re.findall(r'^#include "(.*\.cpp)"$', file.read_text(), re.MULTILINE)}
        for kind, home in homes().items():
            if home.suffix == ".cpp" and kind != "backend":  # backend_test.py
                self.assertIn(TREE / home.parent, compiled, kind)

    def test_list_shows_what_was_added(self):
        plural = {"topology": "topologies"}
        for kind, home in homes().items():
            if home.suffix == ".cpp":
                self.assertIn(home.stem, self.products(plural.get(kind, kind + "s")))

    def test_files_of_settings_are_found_by_their_folders(self):
        for kind, plural in (("cluster", "clusters"), ("study", "studies")):
            there = sorted(path.stem for path in (TREE / "experiments" / plural).glob("*.cfg"))
            self.assertEqual(self.products(plural), there)
            self.assertEqual(homes()[kind].parent, Path("experiments") / plural)

    def test_the_algorithm_holds_what_it_declares(self):
        said = self.said("check", "damped_average")
        self.assertIn("damped_average:damping=0.5", said)
        self.assertIn("algorithm damped_average holds what it declares", said)
        common = ["--workload", "quadratic", "--ranks", 4, "--steps", 5]
        half = self.loss(*common, "--algorithm", "damped_average:damping=0.5", "--lr", 0.125)
        self.assertEqual(half, self.loss(*common, "--algorithm", "all_reduce", "--lr", 0.0625))

    def test_the_codec_holds_what_it_declares(self):
        said = self.said("check", "upper_half")
        self.assertRegex(said, r"upper_half +1000 +2000 ")
        self.assertIn("codec upper_half holds what it declares", said)

    def test_the_codec_is_tried_on_a_device_by_itself(self):
        said = self.said("check", "upper_half", "--device", "cpu")
        self.assertRegex(said, r"upper_half +4097 elements +the same bits +holds")
        self.assertIn("codec upper_half on cpu does what it does on cpu, and holds what it declares", said)
        self.assertIn("leave out --ranks", self.said("check", "upper_half", "--device", "cpu", "--ranks", 2, status=2))
        self.assertIn("unknown device 'cpus' (did you mean 'cpu'?)", self.said("check", "upper_half", "--device", "cpus", status=2))

    def test_kernels_for_gpus_need_nvcc(self):
        self.assertIn("this program has no device 'ptx', whose kernels nvcc compiles; in Trigram's tree, ./trigram check NAME --device ptx builds",
                      self.said("check", "upper_half", "--device", "ptx", status=2))
        for words in (("--device", "ptx"), ("--device=ptx",)):
            ended = subprocess.run([SCRIPT, "check", "upper_half", *words], env={**os.environ, "CUDACXX": "no-such-nvcc"}, text=True,
                                   cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual(ended.returncode, 1, ended.stdout)
            self.assertIn("no nvcc here, which compiles kernels for --device ptx: install the CUDA toolkit", ended.stdout)
            self.assertEqual(ended.stdout.count("\n"), 1, ended.stdout)

    def test_the_operation_holds_what_it_declares(self):
        said = self.said("check", "leaky_relu:slope=0.5")
        self.assertRegex(said, r"leaky_relu:slope=0.5 +\[37, 7\] +259 +2072 ")
        self.assertIn("operation leaky_relu:slope=0.5 holds what it declares", said)

    def test_the_topology_holds_what_it_declares(self):
        said = self.said("check", "lazy_ring")
        self.assertIn("topology lazy_ring holds what it declares", said)
        for size in (3, 4, 6, 16):
            gap = float(re.search(rf"^lazy_ring +{size} +(\S+)", said, re.MULTILINE).group(1))
            self.assertAlmostEqual(gap, (1 - math.cos(2 * math.pi / size)) / 2, places=4)

    def test_a_run_of_all_of_them_meets_its_closed_form(self):
        rate, steps, ranks, dimension = 0.1, 12, 4, 8
        left = math.prod(1 - rate / math.sqrt(1 + step / 5) for step in range(steps))
        mean = (ranks - 1) / 2
        expected = sum(dimension * (mean * (1 - left) - rank) ** 2 / 2 for rank in range(ranks)) / ranks
        found = self.loss("--algorithm", "damped_average", "--workload", f"tug_of_war:dimension={dimension}", "--steps", steps,
                          "--lr", rate, "--schedule", "inverse_root:every=5", "--optimizer", "smoothed:kept=0",
                          "--all-reduce", "one_round", "--cluster", SKELETONS / "cluster" / homes()["cluster"])
        self.assertAlmostEqual(found, expected, delta=1e-5 * expected)
        settings = json.loads((self.folder / "out" / "run.json").read_text())["configuration"]
        self.assertEqual(str(settings["ranks"]), str(ranks))

    def test_what_the_optimizer_keeps_smooths(self):
        rate, kept, steps = 0.1, 0.5, 6
        x = direction = 0.0
        for _ in range(steps):
            direction = kept * direction + (1 - kept) * (x - 0.5)
            x -= rate * direction
        expected = (x**2 + (x - 1) ** 2) / 4
        found = self.loss("--workload", "tug_of_war:dimension=1", "--ranks", 2, "--steps", steps, "--lr", rate,
                          "--optimizer", f"smoothed:kept={kept}")
        self.assertAlmostEqual(found, expected, delta=1e-5 * expected)

    def test_a_method_takes_codec_and_topology_by_name(self):
        common = ["--workload", "quadratic", "--ranks", 4, "--steps", 80, "--lr", 0.05, "--evaluate-every", 40]
        apart = self.distance(*common, "--algorithm", "local_sgd:every=1000")
        mixed = self.distance(*common, "--algorithm", "decentralized:topology=lazy_ring")
        rounded = self.distance(*common, "--algorithm", "low_precision_decentralized:codec=upper_half,topology=lazy_ring")
        self.assertLess(mixed, apart / 2)
        self.assertLess(rounded, apart / 2)
        self.assertNotEqual(mixed, rounded)

    def test_the_study_runs(self):
        said = self.said("study", SKELETONS / "study" / homes()["study"], "--plot", "off")
        once, often, rarely = (float(value) for value in re.search(r"^all" + r" +(\S+) \[\S+, \S+\]" * 3 + "$", said, re.MULTILINE).groups())
        self.assertLess(once, often)
        self.assertLess(often, rarely)

    def test_new_writes_what_is_linked(self):
        for begins, (kind, home) in itertools.product((PROGRAM, SCRIPT), homes().items()):
            shown = (SKELETONS / kind / home).read_text()
            own_folder = home.parent.name == home.stem
            file = Path("my_own_2" if own_folder else "") / ("my_own_2" + home.suffix)
            self.assertIn(str(file), self.said("new", kind, "my_own_2", program=begins))
            written = shown.replace(home.stem, "my_own_2").replace(class_name(home.stem), "MyOwn2")
            self.assertEqual((self.folder / file).read_text(), written)
            self.assertNotIn(home.stem, written)
            self.assertIn("Change:", written)
            (self.folder / file).unlink()
            (self.folder / home.parent).mkdir(parents=True)
            self.said("new", kind, home.stem, program=begins)
            self.assertEqual((self.folder / home).read_text(), shown)
            shutil.rmtree(self.folder / home.parts[0])

    def test_new_needs_no_build(self):
        tree = self.folder / "tree"
        for part in ("trigram", "experiments/new", "experiments/skeletons"):
            (tree / part).parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if (TREE / part).is_dir() else shutil.copy2)(TREE / part, tree / part)
        self.assertIn("my_average.cpp: begun", self.said("new", "algorithm", "my_average", program=tree / "trigram"))
        self.assertFalse((tree / "build").exists())
        self.assertIn("usage: trigram new KIND NAME", self.said("new", "--help", program=tree / "trigram"))

    def test_new_refuses_what_is_there(self):
        for begins in (PROGRAM, SCRIPT):
            (self.folder / "mine.cpp").write_text("mine")
            said = self.said("new", "schedule", "mine", program=begins, status=2)
            self.assertIn("mine.cpp is there already; choose another name", said)
            self.assertEqual((self.folder / "mine.cpp").read_text(), "mine")
            (self.folder / "ours.cpp").unlink(missing_ok=True)
            os.symlink("nowhere", self.folder / "ours.cpp")
            self.said("new", "schedule", "ours", program=begins, status=2)
            self.assertFalse((self.folder / "nowhere").exists())

    def test_new_says_what_is_right(self):
        refused = {("algoritm", "mine"): "unknown kind 'algoritm' (did you mean 'algorithm'?); this build has: algorithm, all-reduce, ",
                   ("algorithm", "worker"): "the class of 'worker' would be Worker, a name that its file needs",
                   ("algorithm",): "say KIND and NAME, as in: trigram new algorithm my_average",
                   ("algorithm", "slow_mo"): "there is algorithm 'slow_mo' already; choose another name",
                   ("workload", "vgg16"): "there is workload 'vgg16' already", ("cluster", "p4de"): "there is cluster 'p4de' already"}
        for name in ("MyAverage", "2_average", "my__average", "average_", "../average", "my-average", "a" * 65):
            refused["algorithm", name] = "cannot be a name; write at most 64 lower-case letters and digits, a letter first"
        for begins, (words, reason) in itertools.product((PROGRAM, SCRIPT), refused.items()):
            self.assertIn(reason, self.said("new", *words, program=begins, status=2))
        self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

"""The package as pip installs it, from a folder outside of the tree: what it needs lies in it, and nobody says where. The test of the
build lays it out as a wheel does, in TRIGRAM_BUILD's scratch; with_wheel runs this file with each Python that has the wheel."""

import importlib.metadata
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TREE = pathlib.Path(__file__).resolve().parents[2]
LAUNCHER = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]
USES = """
import pathlib, trigram
from trigram import library, program
package = pathlib.Path(trigram.__file__).parent
assert not package.is_relative_to({tree!r}), package
for place in (program.path(), library.path(), program.shipped("data")):
    assert place.is_relative_to(package), place
clusters = package / "share" / "trigram" / "clusters"
own = clusters / "of_this_package.cfg"
try:  # the program finds its files there too, though its tree is still where it was built
    own.write_bytes((clusters / "two_by_four.cfg").read_bytes())
    assert own.stem in trigram.products("clusters")
finally:
    own.unlink()

for kind in ("algorithms", "clusters", "profiles", "studies", "systems", "workloads"):
    assert trigram.products(kind), kind
run = trigram.run(algorithm="bytegrad", cluster="two_by_four", system="horovod", profile="vgg16", steps=4, evaluate_every=2, out="run")
assert trigram.load("run").summary == run.summary
pathlib.Path("mine.cfg").write_text({study!r})
study = trigram.study("mine.cfg", out="study")
assert study.finished and len(study) == 2, study
print(run)
"""
STUDY = """# Two ways to average gradients.
[study]
title = Two ways
[run]
cluster = bagua_v100
workload = bert_large
ranks = 8
steps = 2
[row.full]
algorithm = all_reduce
[row.bits]
algorithm = bytegrad
[measure]
value = summary.iteration_s
"""
DRAWS = """
import trigram
run = trigram.run(steps=4, evaluate_every=2)
assert list(run.steps["step"]) == [0, 1, 2, 3]
assert [path.stem for path in run.plot_curves()] == ["curves"]
"""


def has(*packages):
    return all(map(importlib.util.find_spec, packages))


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        cls.environment = {key: value for key, value in os.environ.items() if not key.startswith(("TRIGRAM_", "PYTHON"))}
        if build := os.environ.get("TRIGRAM_BUILD"):
            cls.lay_out(build, cls.folder / "site")
            cls.environment["PYTHONPATH"] = str(cls.folder / "site")

    @classmethod
    def lay_out(cls, build, site):
        shutil.copytree(TREE / "python" / "trigram", site / "trigram", ignore=shutil.ignore_patterns("__pycache__"))
        subprocess.run(["cmake", "--install", build, "--component", "program", "--prefix", site / "trigram"], check=True, stdout=subprocess.DEVNULL)

    def python(self, *words, before=()):
        ended = subprocess.run([*before, sys.executable, "-B", *words], cwd=self.folder, env=self.environment, text=True, timeout=240,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(ended.returncode, 0, ended.stdout)
        return ended.stdout

    def test_what_it_needs_lies_in_it(self):
        self.assertIn("its loss on vgg16's clock, bytegrad", self.python("-c", USES.format(tree=str(TREE / "python"), study=STUDY)))

    def test_its_command_is_the_program(self):
        self.assertIn("trigram run", self.python("-c", "from trigram import program; program.main()", "--help"))
        self.assertIn("trigram run", self.python("-m", "trigram", "--help"))

    def test_its_version_is_the_programs(self):
        told = self.python("-c", "import trigram; print(trigram.__version__)").strip()
        self.assertIn(told, self.python("-m", "trigram", "--version").split())
        self.assertIn(f"version: {told}\n", (TREE / "CITATION.cff").read_text("utf-8"))

    @unittest.skipIf("TRIGRAM_BUILD" in os.environ, "the files of a build, which pip has not installed")
    def test_what_pip_knows_of_it(self):
        told = importlib.metadata.metadata("trigram")
        self.assertRegex(told["License-Expression"], "^MIT( AND|$)")
        self.assertIn("LICENSE", told.get_all("License-File"))
        self.assertTrue(told["Author"] and told.get_all("Project-URL") and "Typing :: Typed" in told.get_all("Classifier"), told)
        self.assertEqual(re.findall(r"\]\((?!http)[\w./#-]+\)", str(told.get_payload())), [], "links that lead nowhere from there")

    def test_what_is_missing_is_named_with_its_extra(self):
        for package, extra, use in (("torch", "training", "from trigram import comm"), ("torch", "training", "from trigram import nn"),
                                    ("torch", "training", "import trigram; trigram.simulate(None, None, None)"),
                                    ("pandas", "tables", "import trigram; trigram.run(steps=2).steps")):
            hidden = f"import sys; sys.modules[{package!r}] = None\ntry:\n    {use}\nexcept ImportError as error:\n    print(error)"
            said = self.python("-c", hidden)
            self.assertRegex(said, rf"{package}.* missing.*pip install 'trigram\[{extra}\]'", use)

    @unittest.skipUnless(has("pandas", "matplotlib", "fastjsonschema"), "this Python has no pandas, or draws no pictures")
    def test_tables_and_pictures(self):
        self.python("-c", DRAWS)

    @unittest.skipUnless(has("pandas", "torch"), "this Python has no pandas, or no torch")
    def test_the_readmes_training(self):
        shown = re.search(r"```python\n(import torch, trigram\n.*?)```", (TREE / "docs/tutorials/pytorch_job.md").read_text("utf-8"), re.DOTALL)
        (self.folder / "train.py").write_text(shown[1])
        self.assertEqual(self.python("train.py", before=[*LAUNCHER, "-n", "2"]).count("bytes_sent"), 1)


if __name__ == "__main__":
    unittest.main()

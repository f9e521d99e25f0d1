"""What the package makes of the program's files: the same numbers, and texts and pictures of them."""

import contextlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import trigram
from trigram import bounds, pictures, program, tables

TREE = pathlib.Path(__file__).resolve().parents[2]
STUDY = """# Two ways to average gradients.
[study]
title = Bytes & bits
[run]
steps = 12
evaluate-every = 4
[sweep]
cluster.nic_bandwidth = 1Gbps 10Gbps
[row.full]
algorithm = all_reduce
[row.bits]
algorithm = bytegrad
[measure]
value = summary.iteration_s
label = seconds
"""


class Results(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        (cls.folder / "mine.cfg").write_text(STUDY)
        silence = contextlib.redirect_stderr(io.StringIO())
        silence.__enter__()
        cls.addClassCleanup(silence.__exit__, None, None, None)
        cls.run_ = trigram.run(algorithm="async_average", steps=20, evaluate_every=5, trace=True, out=cls.folder / "run")
        cls.study = trigram.study(cls.folder / "mine.cfg", out=cls.folder / "study", jobs=2)

    def test_a_run_is_the_programs(self):
        by_hand = [str(program.path()), "run", "--algorithm", "async_average", "--steps", "20", "--evaluate-every", "5", "--out", "by_hand"]
        subprocess.run(by_hand, cwd=self.folder, check=True, stdout=subprocess.DEVNULL)
        for name in ("steps.csv", "evals.csv"):
            self.assertEqual((self.folder / "run" / name).read_bytes(), (self.folder / "by_hand" / name).read_bytes())
        facts = json.loads((self.folder / "by_hand" / "run.json").read_text())
        self.assertEqual(self.run_.summary["loss"], facts["summary"]["loss"])
        self.assertEqual(self.run_.flags["lr"], "0.1")
        steps, evals = self.run_.steps, self.run_.evals
        self.assertEqual(list(steps["step"]), list(range(20)))
        self.assertEqual(list(evals["step"]), [0, 5, 10, 15, 20])
        self.assertEqual(evals["loss"].iloc[-1], facts["summary"]["loss"])
        self.assertIn("staleness", steps)
        # Everything that rank 0 computed is a span of its main lane, which a row of steps.csv adds up.
        spans = self.run_.trace.query("rank == 0 and lane == 0 and activity == 'compute'")
        self.assertAlmostEqual(spans["seconds"].sum(), steps["compute_s"].sum(), delta=1e-7)

    def test_a_run_says_what_it_is(self):
        text = repr(self.run_)
        self.assertEqual(text.splitlines()[0], "mlp 64-32-10 on digits, async_average")
        self.assertRegex(text, r"\n  accuracy +0\.\d+\n")
        self.assertIn("<td>accuracy</td>", self.run_._repr_html_())

    def test_a_run_says_what_bounds_it(self):
        """Of tables whose bound is plain."""
        self.assertRegex(repr(self.run_), r"\n  bound +(compute|communication) bounds a step: ")
        self.assertIn("bounds a step", self.run_._repr_html_())
        table = self.folder / "steps.csv"
        for rows, said in ((["3,1,0,4,0", "3,1,0,4,0"], "compute bounds a step: it takes 75% of it, and 25% is waited for other ranks"),
                           (["1,3,0.5,2,0.5"], "communication bounds a step: 75% of it is waited for other ranks, .* is on the network"),
                           (["1,3,2,1,0.5"], "communication bounds a step: 75% .* is in the codec"), ([], "^$"), (["0,0,0,0,0"], "^$")):
            table.write_text("\n".join(["compute_s,exposed_s,encode_s,wire_s,decode_s", *rows]))
            self.assertRegex(bounds.what_bounds(table), said)
        table.write_text("step\n1\n")
        with self.assertRaisesRegex(ValueError, "cannot read '.*steps.csv': KeyError: 'compute_s'"):
            bounds.what_bounds(table)

    def test_files_without_a_name_go_with_their_object(self):
        run = trigram.run(steps=2)
        folder = run.folder
        self.assertTrue((folder / "run.json").is_file())
        del run
        self.assertFalse(folder.exists())

    def test_a_study_is_a_mapping_of_runs(self):
        study = trigram.load(self.folder / "study")
        self.assertEqual((study.finished, len(study)), (True, 4))
        self.assertEqual(sorted(study.runs["row"]), ["bits", "bits", "full", "full"])
        for _, row in study.runs.iterrows():
            run = study[row["folder"]]
            self.assertEqual(run.flags["algorithm"], {"full": "all_reduce", "bits": "bytegrad"}[row["row"]])
            self.assertAlmostEqual(run.summary["iteration_s"], row["measure"], delta=1e-5 * row["measure"])
        self.assertTrue(repr(study).startswith("Bytes & bits\n"))
        self.assertIn("Bytes &amp; bits", study._repr_html_())
        with self.assertRaises(KeyError):
            study["../run"]

    def test_an_unfinished_study_is_readable_and_goes_on(self):
        part = self.folder / "part"
        shutil.copytree(self.folder / "study", part)
        for name in ("study.json", "runs.csv", "table.txt"):
            (part / name).unlink()
        gone = next(iter(trigram.load(part)))
        shutil.rmtree(part / gone)
        study = trigram.load(part)
        self.assertEqual((study.finished, len(study), gone in study), (False, 3, False))
        self.assertEqual(set(study.runs["folder"]), set(study))
        self.assertIn("unfinished study with 3 runs", repr(study))
        again = trigram.study(self.folder / "mine.cfg", out=part)
        self.assertEqual(again.table, self.study.table)

    def test_pictures_are_those_of_plot(self):
        drawn = self.run_.plot_curves()
        self.assertEqual([path.name for path in drawn], ["curves.png"])
        self.assertTrue(drawn._repr_html_().startswith('<img alt="curves"'))
        before = {path.name: path.read_bytes() for path in (self.folder / "run").glob("*.svg")}
        program.start(["plot", str(self.folder / "run")])
        self.assertEqual(before, {path.name: path.read_bytes() for path in (self.folder / "run").glob("*.svg")})
        self.assertEqual(sorted(before), ["breakdown.svg", "curves.svg", "steps.svg"])
        with self.assertRaisesRegex(ValueError, "nothing to draw for 'x'; drawn were: "):
            drawn.named("x")

    def test_pictures_are_drawn_by_the_packages_of_this_python(self):
        mine = self.folder / "packages" / "matplotlib"
        mine.mkdir(parents=True)
        (mine / "__init__.py").write_text("raise ImportError('that of this Python')")
        with unittest.mock.patch.dict(os.environ, PYTHONPATH=str(mine.parent)), self.assertRaisesRegex(ImportError, "that of this Python"):
            self.run_.plot()

    def test_pictures_are_found_by_what_they_show(self):
        drawn = [pathlib.Path(name) for name in ("mine.png", "curves_1Gbps.png", "curves_10Gbps.png", "breakdown.png")]
        with unittest.mock.patch.object(pictures, "draw", lambda folder: pictures.Pictures(drawn)):
            self.assertEqual(list(self.study.plot_sweep()), drawn[:1])
            self.assertEqual(list(self.study.plot_curves()), drawn[1:3])
            self.assertEqual(list(self.study.plot_breakdown()), drawn[3:])

    def test_folders_that_are_none_are_refused(self):
        with self.assertRaisesRegex(ValueError, "holds neither run.json nor study.json"):
            trigram.load(self.folder)
        for text, message in (("{", "Expecting"), ("[]", "no JSON object"), ("{}", "no summary.iteration_s")):
            broken = self.folder / "broken"
            broken.mkdir(exist_ok=True)
            (broken / "run.json").write_text(text)
            with self.assertRaisesRegex(ValueError, f"broken/run.json.*{message}"):
                trigram.load(broken)
        with self.assertRaisesRegex(ValueError, "trace.json"):
            self.study[next(iter(self.study))].trace

    def test_bench_and_calibrate(self):
        bench = trigram.bench(op="all_gather", max_size="16KiB")
        self.assertEqual(list(bench.rows["size (B)"]), [4096, 8192, 16384])
        self.assertIn("algbw (GB/s)", repr(bench))
        measured = trigram.calibrate(max_size="96KiB", rounds=1)
        self.assertIn("alpha", repr(measured))
        self.assertGreater(trigram.run(cluster=measured.path, steps=2).summary["iteration_s"], 0)

    def test_products(self):
        algorithms = trigram.products("algorithms")
        bytegrad = algorithms["bytegrad"]
        self.assertEqual((bytegrad.trigram, bytegrad.parameters[0]["key"]), ("☲", "codec"))
        self.assertEqual(list(algorithms.rows["name"]), list(algorithms))
        self.assertIn("☲bytegrad", repr(algorithms))
        for kind in re.findall(r"^(\S+)$", program.start(["list"]), re.MULTILINE):
            self.assertGreater(len(trigram.products(kind)), 0, kind)


class Package(unittest.TestCase):
    def test_nothing_is_imported_before_it_is_used(self):
        code = "import sys, trigram; print(*{'pandas', 'matplotlib', 'torch', 'numpy'} & set(sys.modules))"
        self.assertEqual(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout, "\n")

    def test_everything_public_says_what_it_is(self):
        for name in trigram.__all__:
            thing = getattr(trigram, name)
            self.assertTrue(thing.__doc__ and thing.__doc__.strip(), name)
            for key, inside in vars(thing).items():
                if isinstance(thing, type) and not key.startswith("_") and (callable(inside) or isinstance(inside, property)):
                    self.assertTrue(inside.__doc__, f"{name}.{key}")

    def test_the_lines_of_the_readme_run(self):
        shown = re.search(r"```python\n(import trigram\n.*?)```", (TREE / "README.md").read_text("utf-8"), re.DOTALL)
        with tempfile.TemporaryDirectory() as scratch:
            ended = subprocess.run([sys.executable, "-c", shown[1]], cwd=scratch, capture_output=True, text=True)
            self.assertEqual(ended.returncode, 0, ended.stderr)
            self.assertIn("bytegrad", ended.stdout)


if __name__ == "__main__":
    try:
        tables.pandas_module()
        import matplotlib
    except ImportError:
        sys.exit(77)
    unittest.main()

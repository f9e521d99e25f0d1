"""Pages of `trigram report`: whole HTML that needs no other file, shows what the folder holds, and says how to make it again. Ends
with 77 where jinja2, matplotlib or plotly is missing."""

import csv
import html.parser
import importlib.util
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

PROGRAM = os.environ["TRIGRAM_PROGRAM"]
STUDY = """
[study]
title = Two <methods> & a network
[run]
workload = softmax
steps = 3
evaluate-every = 3
fidelity = fluid
[sweep]
cluster.nic_bandwidth = 1Gbps 10Gbps
[row.all_reduce]
algorithm = all_reduce
[row.bytegrad]
algorithm = bytegrad
[measure]
value = summary.iteration_s
label = seconds an iteration
"""
EMPTY = {"meta", "img", "br", "link"}


class Page(html.parser.HTMLParser):
    """Texts and addresses of a page, every element of which has to end where HTML says."""

    def __init__(self, text):
        super().__init__()
        self.open, self.texts, self.addresses = [], [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        self.addresses += [value for name, value in attributes if name in ("src", "href", "srcset", "action", "data")]
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        last = self.open.pop()
        assert last == tag, f"</{tag}> ends <{last}>"

    def handle_data(self, text):
        self.texts.append(text.strip())


class Report(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def trigram(self, *words, code=0):
        ended = subprocess.run([PROGRAM, *words], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(ended.returncode, code, ended.stderr)
        return ended.stdout + ended.stderr

    def page(self, folder):
        self.assertIn(f"{folder}/report.html", self.trigram("report", folder))
        text = (self.folder / folder / "report.html").read_text()
        page = Page(text)
        self.assertTrue(page.addresses)
        for address in page.addresses:
            self.assertRegex(urllib.parse.unquote(address), r"^data:image/svg\+xml,<\?xml ")
        self.assertIn("default-src 'none'", text, "a browser lets it ask nobody")
        return page

    def test_a_run_shows_its_figures_and_makes_itself_again(self):
        self.trigram("run", "--workload", "softmax", "--algorithm", "bytegrad", "--steps=6", "--evaluate-every=3", "--lr=0.25", "--out=run")
        page = self.page("run")
        with open(self.folder / "run" / "evals.csv", newline="") as file:
            for row in csv.DictReader(file):
                self.assertIn(f"{float(row['loss']):.4g}", page.texts)
        for text in page.texts:
            self.assertNotRegex(text, r"^-?[0-9]*\.[0-9]*[1-9][0-9]{5}$", "no table shows more digits than the program prints")
        self.assertIn("6", page.texts)  # whole numbers as they are: steps
        command = next(shlex.split(text) for text in page.texts if text.startswith("trigram run "))
        self.trigram(*command[1:], "--out", "again")
        losses = [json.loads((self.folder / name / "run.json").read_text())["summary"]["loss"] for name in ("run", "again")]
        self.assertEqual(*losses)

    def test_a_study_shows_its_table_and_every_run(self):
        (self.folder / "two.cfg").write_text(STUDY)
        self.trigram("study", "two.cfg", "--out=study")
        page = self.page("study")
        self.assertIn("Two <methods> & a network", page.texts)
        self.assertIn((self.folder / "study" / "table.txt").read_text().strip(), page.texts)
        with open(self.folder / "study" / "runs.csv", newline="") as file:
            for row in csv.DictReader(file):
                self.assertIn(f"{float(row['measure']):.4g}", page.texts)

    def test_what_is_no_result_is_refused(self):
        self.assertIn("holds neither run.json nor study.json nor tune.json", self.trigram("report", ".", code=2))
        self.trigram("run", "--workload=softmax", "--steps=2", "--out=run")
        path = self.folder / "run" / "run.json"
        whole = json.loads(path.read_text())
        for key in ("configuration", "summary", "workload"):
            path.write_text(json.dumps({name: value for name, value in whole.items() if name != key}))
            said = self.trigram("report", "run", code=2)
            self.assertIn(key, said)
            self.assertNotIn("Traceback", said)
        self.assertFalse((self.folder / "run" / "report.html").exists())


if __name__ == "__main__":
    if any(importlib.util.find_spec(module) is None for module in ("jinja2", "matplotlib", "plotly")):
        sys.exit(77)
    unittest.main()

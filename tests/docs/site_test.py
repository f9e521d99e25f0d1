"""The site builds offline without a warning, has every page, and its index finds words without a server."""

import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

TREE = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ["TRIGRAM_PROGRAM"]
FOLDER = pathlib.Path("site")


def program(*words):
    return subprocess.run([PROGRAM, *words], check=True, capture_output=True, text=True).stdout


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        built = subprocess.run([sys.executable, "-B", TREE / "docs/site/build.py", PROGRAM, FOLDER], capture_output=True, text=True)
        if built.returncode:
            raise AssertionError(built.stdout + built.stderr)
        cls.html = FOLDER / "html"

    def text(self, page):
        return re.sub(r"<[^>]+>", "", (self.html / page).read_text("utf-8"))

    def test_every_flag_of_every_subcommand_is_on_its_page(self):
        for name in re.findall(r"^  (\w+) ", program("--help").split("flags:")[0], re.MULTILINE):
            text = self.text(f"docs/reference/{name}.html")
            for flag in re.findall(r"^  --([\w-]+) ", program(name, "--help"), re.MULTILINE):
                self.assertIn("--" + flag, text, name)

    def test_every_product_and_its_parameters_are_listed(self):
        text = self.text("docs/reference/products.html")
        for kind, products in json.loads(program("list", "--json")).items():
            for product in products:
                self.assertIn(product["name"], text, kind)
        clusters = self.text("docs/reference/cluster_files.html")
        for one in json.loads(program("list", "backends", "sim", "--json"))["backends"][0]["parameters"]:
            self.assertIn(one["key"], clusters)

    def test_every_decision_has_a_place(self):
        count = len(re.findall(r"^## \d+\. ", (TREE / "DECISIONS.md").read_text("utf-8"), re.MULTILINE))
        pages = (self.html / "docs/explanation/decisions").glob("*.html")
        self.assertEqual(sum(len(re.findall(r"<h2>\d+\. ", page.read_text("utf-8"))) for page in pages), count)

    def test_every_study_with_notes_is_in_the_gallery(self):
        gallery = (TREE / "docs/gallery.md").read_text("utf-8")
        for page in (TREE / "experiments/studies").glob("*.md"):
            if page.name != "README.md":
                self.assertIn(f"experiments/studies/{page.name})", gallery)
        for study in json.loads(program("list", "studies", "--json"))["studies"]:
            self.assertIn(study["name"], gallery)

    def test_the_index_of_the_search_is_a_script_and_knows_words_of_pages(self):
        index = (self.html / "searchindex.js").read_text("utf-8")
        self.assertRegex(index, r"^Search\.setIndex\(")
        for word in ("hierarchi", "glossari", "bytegrad"):
            self.assertRegex(index, rf'"?{word}"?:')

    def test_no_page_asks_for_anything_that_is_not_beside_it(self):
        for page in self.html.rglob("*.html"):
            for source in re.findall(r'<(?:script|img|link|iframe)[^>]*?(?:src|href)="(\w+://[^"]*|//[^"]*)"', page.read_text("utf-8")):
                self.fail(f"{page}: asks for {source}")


if __name__ == "__main__":
    missing = [name for name in ("sphinx", "myst_parser", "breathe", "furo")
               if subprocess.run([sys.executable, "-c", f"import {name}"], capture_output=True).returncode]
    if missing:
        print(f"skipped: there is no {', '.join(missing)} (cmake/debian-packages-docs.txt)")
        sys.exit(77)
    FOLDER = pathlib.Path(sys.argv.pop(1)) / "site"
    unittest.main()

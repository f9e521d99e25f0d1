"""Notebooks run anew, in folders of their own: what their cells assert holds, and what is committed reads well. Ends with 77
without nbclient. notebooks_test.py --write [NAME…] writes what came out into notebooks/."""

import importlib.util
import os
import pathlib
import re
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "notebooks"
NAMES = sorted(path.stem for path in FOLDER.glob("*.ipynb"))
PLACES = re.compile(r"/(?:tmp|home|root|work|usr|var|mnt|builds?)/[\w.-]+")  # of one machine


def executed(name, folder):
    """The notebook with new outputs."""
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(folder)}}).execute()
    return notebook


def outputs(notebook):
    return [one for cell in notebook.cells if cell.cell_type == "code" for one in cell.outputs]


def write(names):
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            notebook = executed(name, folder)
        for cell in notebook.cells:
            cell.metadata = {}  # when it ran
            if cell.cell_type == "code":
                cell.outputs = [one for one in cell.outputs if one.get("name") != "stderr"]  # how far it was
        notebook.metadata.pop("widgets", None)
        notebook.metadata["language_info"] = {"name": "python"}
        nbformat.write(notebook, FOLDER / f"{name}.ipynb")


class Notebooks(unittest.TestCase):
    def test_run_without_an_error(self):
        for name in NAMES:
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                self.assertTrue(outputs(executed(name, folder)))

    def test_are_committed_with_what_came_out(self):
        self.assertGreaterEqual(len(NAMES), 5)
        for name in NAMES:
            with self.subTest(name):
                text = (FOLDER / f"{name}.ipynb").read_text("utf-8")
                self.assertLess(len(text), 1_000_000)
                self.assertIsNone(PLACES.search(text), PLACES.findall(text))
                notebook = nbformat.reads(text, as_version=4)
                self.assertTrue(any("image/png" in one.get("data", {}) for one in outputs(notebook)), "no picture")
                self.assertFalse([one for one in outputs(notebook) if one.output_type == "error" or one.get("name") == "stderr"])
                numbers = [cell.execution_count for cell in notebook.cells if cell.cell_type == "code"]
                self.assertEqual(numbers, list(range(1, len(numbers) + 1)), "run them in their order: notebooks_test.py --write")


if __name__ == "__main__":
    if not all(importlib.util.find_spec(name) for name in ("nbclient", "ipykernel", "matplotlib", "pandas", "torch")):
        sys.exit(77)
    import nbclient
    import nbformat
    os.environ.update(OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1")
    if sys.argv[1:2] == ["--write"]:
        write(sys.argv[2:] or NAMES)
    else:
        unittest.main()

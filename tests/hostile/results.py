"""Mangled folders of results for plot: values of JSON, cells of CSV, bytes, links that lead elsewhere, foreign modules."""

import json
import os
import shutil

from attempt import Attempt
from mutate import mutated
from settings_files import STUDY
from special import special
import start

VALUES = [None, True, -1, 0, 1e308, float("nan"), float("inf"), 10**40, "", "x", "../x", "/abs/x", "\x1b[2J", "\ud800", "$x^{", [], {}, [[]],
          {"a": 1}, "n" * 5000]
PICTURES = ["curves.png", "curves.svg", "breakdown.png", "steps.svg", "mine.png", "mine.svg"]
MODULE = 'import pathlib\n(pathlib.Path(__file__).parent.parent / "canary" / "ran").write_text("foreign code ran")\n'


def make_originals(program, scratch):
    """A run's and a study's folder, made once, which attempts copy."""
    scratch.empty()
    (scratch.place / "mine.cfg").write_bytes(STUDY)
    run = "run --steps 4 --evaluate-every 1 --workload quadratic:dimension=16 --ranks 2 --trace on --out out/run"
    for words in (run.split(), "study mine.cfg --plot off --out out/study".split()):
        ending = start.run([program, *words], scratch, 120)
        if ending.status:
            raise SystemExit(f"{' '.join(words)}: {ending.complained.decode(errors='replace')}")
    shutil.copytree(scratch.place / "out", scratch.root / "said" / "originals", dirs_exist_ok=True)


def attempt(random, index, catalogue, scratch):
    originals = scratch.root / "said" / "originals"
    if not originals.exists():
        make_originals(catalogue.program, scratch)
        scratch.empty()
    kind = random.choice(["run", "study"])
    folder = scratch.place / "out" / kind
    shutil.copytree(originals / kind, folder)
    environment = {}
    action = random.random()
    if action < 0.1:
        link_pictures(random, folder)
    elif action < 0.16:
        environment = foreign_modules(random, scratch.place)
    elif action < 0.6:
        spoil_json(random, folder / f"{kind}.json")
    else:
        files = sorted(path for path in folder.iterdir() if path.is_file() and path.suffix in (".json", ".csv"))
        spoil_bytes(random, random.choice(files))
    return Attempt(["plot", f"out/{kind}"], [], [f"out/{kind}", ".json", ".csv"], environment=environment,
                   allowed=(f"place/out/{kind}",))


def link_pictures(random, folder):
    """Pictures that are links to what is not theirs."""
    for name in PICTURES:
        os.symlink("../../../canary/notes.txt", folder / name)


def foreign_modules(random, place):
    for name in random.sample(["json.py", "csv.py", "matplotlib.py", "math.py", "style.py", "tables.py", "usercustomize.py"], 3):
        (place / name).write_text(MODULE)
    (place / "matplotlibrc").write_text("no such setting\nbackend: nothing\n")
    return {"PYTHONPATH": str(place), "PYTHONSTARTUP": "json.py"} if random.random() < 0.7 else {"MATPLOTLIBRC": str(place)}


def spoil_json(random, path):
    tree = json.loads(path.read_text())
    for _ in range(random.choice([1, 1, 2])):
        holders = [one for one in holders_of(tree) if one]
        holder = random.choice(holders)
        key = random.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        if random.random() < 0.3:
            del holder[key]
        else:
            holder[key] = random.choice(VALUES)
    path.write_text(json.dumps(tree))


def holders_of(tree):
    if isinstance(tree, (dict, list)):
        yield tree
        for value in (tree.values() if isinstance(tree, dict) else tree):
            yield from holders_of(value)


def spoil_bytes(random, path):
    if random.random() < 0.08:
        path.unlink()
        special(random, path)
    else:
        path.write_bytes(mutated(random, path.read_bytes()))

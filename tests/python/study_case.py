"""What tests of studies share: small ones, and folders that are compared to the last byte but for times of running."""

import json
import os
import pathlib
import re
import subprocess

PROGRAM = os.environ.get("TRIGRAM_PROGRAM", "")

# What a fit is made to.
TIMES = "source,op,size,seconds\na,all_reduce,64MiB,0.065\na,exchange,256MiB,0.125\nb,all_gather,128MiB,0.062\nb,all_reduce,256MiB,0.25\n"

ROWS = "[row.a]\nalgorithm = all_reduce\n[row.b]\nalgorithm = decentralized\n[row.c]\nalgorithm = bytegrad\n"


def study_file(folder, runs=12, more="", steps=2):
    """A study of three rows, `runs` runs each, that take no time."""
    path = pathlib.Path(folder) / "s.cfg"
    path.write_text(f"[run]\nworkload = quadratic\nsteps = {steps}\n[sweep]\nseed = 1:{runs}:1\n{more}{ROWS}")
    return path


def trigram(*words, **how):
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, **how)


def contents(folder):
    """Every file below a folder: its text, without what says how long something ran, and where."""
    folder, found = pathlib.Path(folder), {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = str(path.relative_to(folder))
        text = path.read_bytes().decode("utf-8", "backslashreplace")
        if name.endswith("run.json"):
            facts = json.loads(text)
            del facts["summary"]["wall_s"]
            text = json.dumps(facts)
        found[name] = text
    return found


def whole(study, out):
    """What one machine makes of it."""
    ended = trigram("study", study, "--plot=off", f"--out={out}")
    assert ended.returncode == 0, ended.stderr
    return contents(out)


def runs_of(folder):
    return sorted(path.parent.name for path in pathlib.Path(folder).glob("runs/*/run.json"))


def is_progress(line):
    return re.fullmatch(r"\d+/\d+ runs.*", line) is not None

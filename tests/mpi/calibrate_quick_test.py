"""A quick calibration of real ranks: calibrate_quick_test.py MPIRUN FLAGS... leaves a cluster that runs, whatever the machine is busy with."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

PROGRAM = os.environ["TRIGRAM_PROGRAM"]
RANKS = 2


def ran(*words):
    ended = subprocess.run([*map(str, words)], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def main():
    with tempfile.TemporaryDirectory() as scratch:
        file = pathlib.Path(scratch) / "quick.cfg"
        said = ran(*sys.argv[1:], "-n", RANKS, PROGRAM, "calibrate", "--backend", "mpi", "--quick", "--seconds", 8, "--out", file)
        text = file.read_text()
        keys = dict(line.split(" = ", 1) for line in text.splitlines() if not line.startswith("#") and " = " in line)
        assert keys["nodes"] == "1" and keys["gpus_per_node"] == str(RANKS), text
        sets = int(re.search(r"the most of (\d+) sets of probes", text)[1])
        assert 1 <= sets <= 12, text
        assert sets == 1 or " in " in keys["node_bandwidth"], "two sets never agree in four digits"
        table = re.search(r"second probe .*?\n\n?this file predicts 7 collectives that it was not fitted to", said, re.DOTALL)
        assert table and len(re.findall(r"^(?:all_|reduce_|broadcast)", table[0], re.MULTILINE)) == 7, said
        assert keys["calibration_error"].startswith("all/7/"), text
        assert "error bar (%)" in ran(PROGRAM, "bench", "--cluster", file, "--max-size", "64KiB", "--uncertainty", "4")


main()

#!/usr/bin/env python3
"""The judge notices what it is there for: programs that misbehave in one way each, and one that behaves."""

import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import judge
import scratch as listings
import start
from attempt import Attempt
from catalogue import Flag, parse_products
from values import is_long_work

REFUSES = "import sys; print('trigram: lr=-1x is not a number', file=sys.stderr); sys.exit(2)"
CASES = {  # what a program does to the one fault that must be found; "" where nothing is wrong
    REFUSES: "",
    "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)": "crash",
    "import sys; print('trigram: the simulation was ended by signal 6, lr -1x', file=sys.stderr); sys.exit(1)": "crash",
    "import time; time.sleep(60)": "hang",
    "raise KeyError('lr')": "traceback",
    "import sys; print('trigram: lr -1x: [json.exception.type_error.302] type', file=sys.stderr); sys.exit(2)": "raw exception",
    "import sys; print('trigram: std::bad_alloc -1x lr', file=sys.stderr); sys.exit(2)": "raw exception",
    "open('../canary/notes.txt', 'a').write('mine');" + REFUSES: "touched outside",
    "import os; os.remove('../canary/run.json');" + REFUSES: "touched outside",
    "open('new', 'w');" + REFUSES: "touched outside",
    "import sys; sys.exit(2)": "bad refusal",
    "import sys; print('trigram: lr: no -1x', file=sys.stderr); sys.exit(1)": "bad refusal",
    "import sys; print('trigram: lr is no number', file=sys.stderr); sys.exit(2)": "bad refusal",
    "import sys; print('trigram: -1x is no number', file=sys.stderr); sys.exit(2)": "bad refusal",
    "import sys; print('trigram: lr=-1x\\x1b[2J', file=sys.stderr); sys.exit(2)": "bad refusal",
    "import sys; print('trigram: lr=-1x\\nis no number', file=sys.stderr); sys.exit(2)": "bad refusal",
    "import sys; print('trigram: lr=-1x ' + 'x' * 5000, file=sys.stderr); sys.exit(2)": "bad refusal",
    "import os; os.makedirs('out/made');" + REFUSES: "bad refusal",
    "print('trained')": "wrong success",
    "x = bytearray(1100 << 20);" + REFUSES: "memory",
    "import os, time\nif os.fork() == 0: time.sleep(60)\n" + REFUSES: "orphans",
}
# As on a busy machine: it takes longer than its patience, and works for less.
SLOW = """import time
for _ in range(12):
    begun = time.process_time()
    while time.process_time() - begun < 0.1: pass
    time.sleep(0.3)
""" + REFUSES
LISTED = """{"algorithms": [{"name": "all_reduce", "paper": "somebody", "parameters": []},
  {"name": "qsgd", "parameters": [{"key": "levels", "default": "255", "type": "integer"}, {"key": "codec", "default": "", "type": "text"}]}],
 "codecs": [{"name": "cpu/bf16", "parameters": []}], "clusters": [{"name": "p4de"}]}"""


def found_in(program, scratch, patience):
    scratch.empty()
    attempt = Attempt(["run", "--lr=-1x"], ["-1x"], ["lr"], must_refuse=True, writes="out/made/run.json")
    before = scratch.listing()
    ending = start.run([sys.executable, "-c", program], scratch, patience)
    return {name for name, _ in judge.faults_of(attempt, ending, listings.touched(before, scratch.listing()), scratch.place)}


def main():
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        scratch = listings.Scratch(folder)
        for program, fault in CASES.items():
            found = found_in(program, scratch, 3 if fault == "hang" else 60)
            if not ({fault} <= found if fault else not found):
                wrong.append(f"{program!r}: found {sorted(found)}, not '{fault}'")
        if found := found_in(SLOW, scratch, 2):
            wrong.append(f"a slow program: found {sorted(found)}")
    for name, value, long in (("rounds", "1e3", True), ("steps", "65536", True), ("rounds", "7", False), ("lr", "1e3", False), ("rounds", "x", False)):
        if is_long_work(name, value) != long:
            wrong.append(f"{name}={value} is {'' if long else 'no '}long work")
    products = parse_products(LISTED)
    if [product.name for product in products] != ["all_reduce", "qsgd", "cpu/bf16", "p4de"] or \
            products[1].parameters != (Flag("levels", "integer", "255"), Flag("codec", "text", "")):
        wrong.append(f"list is read as {products}")
    tab = "\t"
    if not judge.is_named(tab, r"trigram: '\t' is no folder") or judge.is_named(tab, "trigram: that is no folder"):
        wrong.append("a value that cannot be printed is named by its escape, and only so")
    print("\n".join(wrong) or f"{len(CASES)} ways to behave are judged rightly")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

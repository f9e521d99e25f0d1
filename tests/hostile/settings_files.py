"""Mutations of cluster files, files of flags and studies."""

import pathlib

from attempt import Attempt
from mutate import mutated
from special import special

TREE = pathlib.Path(__file__).resolve().parents[2]
HONEST = (b"steps", b"iterations", b"rounds", b"global-batch", b"accumulate")
FLAGS = b"""# flags of a run
algorithm = bytegrad
cluster = two_by_four
cluster.nic_bandwidth = 1Gbps
workload = quadratic:dimension=16
ranks = 4
steps = 2
lr = 0.1
bucket-size = 4KiB
overlap = on
seed = 3
"""
STUDY = b"""# A study of four small runs.
[study]
title = small study

[run]
cluster = two_by_four
workload = quadratic:dimension=16
steps = 2
ranks = 2

[sweep]
cluster.nic_bandwidth = 1Gbps 2Gbps

[row.first]
algorithm = all_reduce

[row.second]
algorithm = local_sgd:every=2
series = other

[variant.slow]
rows = first
lr = 0.01

[measure]
value = summary.iteration_s
scale = 2
label = time
x_label = bandwidth
"""
NAMES = [b"../../escaped/x", b"..", b".", b"", b"a/b", b"/abs", b"\x1b[2J", b"\xff", b"first", b"a b", b"n" * 300, b"-", b"\xc3\xa9"]
UNFIT = NAMES[:7]
# Lines that go below a section's title, and whole sections, which go to the end.
LINES = {
    b"[study]": [b"title = \xff\xfe", b"title = \x1b[2J", b"title = " + b"t" * 100_000, b"notes = ../../x", b"title ="],
    b"[run]": [b"out = elsewhere", b"out = ../canary", b"config = flags.cfg", b"backend = mpi", b"trace = on", b"no-such-flag = 1",
               b"lr = nan", b"cluster.no_such_key = 1", b"no-such.key = 1", b"ranks = 1000000", b"workload = quadratic:dimension=99999999999"],
    b"[sweep]": [b"seed = 0:1:1e-16", b"seed = 1:1e16:1", b"seed = 1:2:0", b"seed = 5:1:1", b"lr = 0.1:0.3:0.1", b"lr = nan", b"lr =",
                 b"no-such-flag = 1 2", b"seed = 1 1", b"steps = x", b"cluster.nic_bandwidth = 3Gbps"],
    b"[row.second]": [b"algorithm = nothing", b"lr = nan", b"series = first", b"series =", b"series = ../x", b"series = \xff"],
    b"[variant.slow]": [b"rows = nobody", b"rows =", b"lr = x"],
    b"[measure]": [b"value = summary.foo", b"value = ..", b"value =", b"scale = inf", b"scale = 0", b"scale = x", b"value = configuration",
                   b"label = \x1b[2J"],
    b"": [b"[sweep]\nseed = 3 4", b"[nothing]\nkey = 1", b"[row.same]\nseries = other", b"[row.first]\nlr = 0.2", b"[goal]\nloss = nan",
          b"[goal]\nloss = 0.5", b"[target]\nfile = ../x", b"[target]\nfile = .\nx = x\nseries = s\nvalue = v\naxis = cluster.nic_bandwidth",
          b"[calibrate]\nrows = first", b"[selection]\nchoose = nothing\nfrom = 1\nseeds = 1",
          b"[selection]\nchoose = lr\nfrom = 0.1 0.2\nseeds = 1 2", b"[selection]\nchoose = seed\nfrom = 1\nby = summary.foo\nseeds = 1"],
}


def spoiled_study(random):
    """(the study with one line or one name that does harm, whether it must be refused)"""
    if random.random() < 0.3:
        old, name = random.choice([b"[row.second]", b"[variant.slow]", b"[row.first]"]), random.choice(NAMES)
        return STUDY.replace(old, old.split(b".")[0] + b"." + name + b"]"), name in UNFIT
    title = random.choice(list(LINES))
    line = random.choice(LINES[title])
    return (STUDY.replace(title, title + b"\n" + line) if title else STUDY + line + b"\n"), False


def cluster(random, index, catalogue, scratch):
    shipped = TREE / "experiments" / "clusters" / (random.choice(catalogue.of_kind("clusters")).name + ".cfg")
    write(random, scratch.place / "mine.cfg", lambda: mutated(random, shipped.read_bytes()))
    words = ["run", "--cluster=./mine.cfg", "--ranks=2", "--steps=2", "--workload=quadratic:dimension=16", "--out=out/made"]
    return Attempt(words, [], ["mine.cfg"], may_fail=False, writes="out/made/run.json")


def flags(random, index, catalogue, scratch):
    write(random, scratch.place / "flags.cfg", lambda: mutated(random, FLAGS, HONEST))
    words = ["run", "--config=flags.cfg", "--out=out/made"]
    keys = [line.split(b" =")[0].split(b".")[-1].decode() for line in FLAGS.splitlines() if b"=" in line]
    return Attempt(words, [], ["flags.cfg", *keys], writes="out/made/run.json")


def study(random, index, catalogue, scratch):
    text, must_refuse = (mutated(random, STUDY, HONEST), False) if random.random() < 0.5 else spoiled_study(random)
    if not write(random, scratch.place / "mine.cfg", lambda: text):
        must_refuse = False
    return Attempt(["study", "mine.cfg", "--jobs=1", "--plot=off", "--out=out/made"], [], ["mine.cfg", "row", "run"],
                   must_refuse, writes="out/made/study.json")


def write(random, path, text):
    """Writes the text and says true, or now and then puts what is no file of text at all there."""
    if random.random() < 0.04:
        special(random, path)
        return False
    path.write_bytes(text())
    return True

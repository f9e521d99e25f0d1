"""Mutations of cluster files, files of flags and studies."""

import pathlib

from attempt import Attempt
from mutate import mutated
from special import special

TREE = pathlib.Path(__file__).resolve().parents[2]
HONEST = (b"steps", b"iterations", b"rounds", b"global-batch")
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
STUDY_LINES = [b"[row.../../escaped/x]", b"[row.]", b"[row.a/b]", b"[row./abs]", b"[row.\x1b[2J]", b"[row.\xff]", b"[row.first]",
               b"[variant.first]", b"[variant...]", b"[sweep]", b"[nothing]", b"[selection]\nchoose = lr\nfrom = 0.1 0.2\nseeds = 1 2",
               b"[selection]\nchoose = nothing", b"[goal]\nloss = nan", b"[goal]\nloss = 0.5", b"[target]\nfile = ../x",
               b"[calibrate]\nrows = first", b"seed = 0:1:1e-16", b"seed = 1:1e16:1", b"seed = 1:2:0", b"seed = 5:1:1", b"lr = 0.1:0.3:0.1",
               b"out = elsewhere", b"out = ../canary", b"config = flags.cfg", b"backend = mpi", b"trace = on", b"no-such-flag = 1",
               b"[row.bad]\nalgorithm = nothing", b"[row.bad]\nlr = nan", b"[row.same]\nseries = other", b"title = \xff\xfe",
               b"value = summary.foo", b"value = ..", b"value =", b"scale = inf", b"title = " + b"t" * 100_000]


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
    def text():
        if random.random() < 0.5:
            return mutated(random, STUDY, HONEST)
        lines = STUDY.split(b"\n")
        lines.insert(random.randrange(len(lines)), random.choice(STUDY_LINES))
        return b"\n".join(lines)
    write(random, scratch.place / "mine.cfg", text)
    return Attempt(["study", "mine.cfg", "--jobs=1", "--plot=off", "--out=out/made"], [], ["mine.cfg", "row", "run"],
                   writes="out/made/study.json")


def write(random, path, text):
    """The text, or now and then what is no file of text at all."""
    if random.random() < 0.04:
        special(random, path)
    else:
        path.write_bytes(text())

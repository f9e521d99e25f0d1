"""Random schedules of faults, stragglers, changes and foreign traffic on random clusters under random runs. Each runs
twice: it ends, by itself and soon, with results or with a message about a rank, and both times with the same bytes."""

import json
import re

import judge
import start
from attempt import Attempt
from scratch import touched

WORKLOADS = ["quadratic:dimension=16", "quadratic:dimension=64,layers=3", "quadratic:dimension=4096", "mlp:hidden=8", "vgg16",
             "bert_large:compute=10ms"]
NEVER_SAME = ("wall_s",)  # of run.json's summary


def trial(random, index, catalogue, scratch, patience):
    """(the command, what is wrong with it, how it ended)"""
    words = words_of(random, catalogue)
    attempt = Attempt(words, [], [], may_fail=True, writes="out/made/run.json")
    faults, results = [], []
    for _ in range(2):
        scratch.empty()
        before = scratch.listing()
        ending = start.run([catalogue.program, *words], scratch, patience, attempt.environment)
        faults = judge.faults_of(attempt, ending, touched(before, scratch.listing()), scratch.place) + failed_run(ending)
        if faults:
            break
        results.append((ending.status, without_wall_time(ending.said), without_wall_time(ending.complained), files(scratch.place / "out" / "made")))
    if len(results) == 2 and results[0] != results[1]:
        faults.append(("differs", f"the second time: {difference(*results)}"))
    return attempt.command("trigram"), faults, ending


def failed_run(ending):
    """A run that a fault has ended says which rank, in a few lines; one that became too long for its evaluations, that."""
    if ending.status == 1 and not re.search(rb"rank|evaluations every \S+ would be more than", ending.complained):
        return [("bad refusal", "a failed run names no rank")]
    if ending.status == 1 and len(ending.complained.splitlines()) > 40:
        return [("bad refusal", "a message of more than 40 lines")]
    return []


def words_of(random, catalogue):
    nodes, gpus = random.choice([(1, 2), (1, 4), (2, 1), (2, 2), (2, 4), (3, 1), (4, 1), (4, 2), (3, 3)])
    ranks = nodes * gpus
    algorithm = random.choice(catalogue.of_kind("algorithms"))
    keys = {"nodes": nodes, "gpus_per_node": gpus, "nic_bandwidth": random.choice(["25Gbps", "1Gbps", "100Mbps"])}
    for key, entry in (("faults", fault), ("slow", slow), ("changes", change), ("background", background)):
        count = random.choice([0, 0, 1, 1, 2, 4]) if key != "background" or nodes > 1 else 0
        if key == "faults" and random.random() < 0.5:
            count = 1
        if count:
            keys[key] = " ".join(entry(random, nodes, ranks) for _ in range(count))
    if random.random() < 0.3:
        keys["nic"] = "gpu"
    cluster = "two_by_four:" + ",".join(f"{key}={value}" for key, value in keys.items())
    words = ["run", f"--cluster={cluster}", f"--algorithm={with_parameters(random, algorithm)}",
             f"--workload={random.choice(WORKLOADS)}", f"--steps={random.choice([1, 2, 3, 5, 8])}", f"--seed={random.randrange(1, 100)}",
             "--out=out/made"]
    often = "100s" if "slow" in keys or "changes" in keys else "1ms"  # a slowed run is evaluated honestly often
    options = [f"--fidelity={random.choice(['exact', 'fluid'])}", "--overlap=off", f"--lanes={random.choice([1, 2, 3])}",
               f"--hierarchy={random.choice(['leader', 'all_nics'])}", f"--bucket-size={random.choice(['0', '64B', '1KiB', '20MB'])}",
               "--trace=on", "--record=all", f"--evaluate-every={random.choice([1, 2])}", f"--evaluate-seconds={often}",
               f"--all-reduce={random.choice(catalogue.of_kind('all-reduces')).name}", "--optimizer=momentum"]
    return words + [option for option in options if random.random() < 0.2]


def with_parameters(random, algorithm):
    """The algorithm with another period or kind now and then."""
    names = {one.name for one in algorithm.parameters}
    choices = {"every": ["1", "2", "3", "1000"], "warmup": ["0", "1", "2"], "topology": ["ring", "exponential", "star"],
               "error_feedback": ["on", "off"], "codec": ["minmax_uint8", "one_bit", "qsgd"], "mix": ["before", "after"]}
    given = [f"{name}={random.choice(values)}" for name, values in choices.items() if name in names and random.random() < 0.4]
    return algorithm.name + (":" + ",".join(given) if given else "")


def moment(random):
    """Mostly while something is under way: from 1 ns to 3 s."""
    if random.random() < 0.1:
        return "0s"
    return f"{10 ** random.uniform(0, 9.5):.4g}ns"


def fault(random, nodes, ranks):
    part = random.choice(["nic", "gpu", "node"])
    return f"{moment(random)}/{part}/{random.randrange(ranks if part == 'gpu' else nodes)}"


def slow(random, nodes, ranks):
    return f"{random.randrange(ranks)}:{random.choice([0.5, 1, 2, 7.25, 1000, 3e5, 2e6])}"


def change(random, nodes, ranks):
    quantity = random.choice(["nic_bandwidth", "nic_latency", "node_bandwidth", "node_latency", "slow"])
    values = {"bandwidth": ["1Gbps", "1kbps", "100GB/s"], "latency": ["0s", "1us", "1s"], "slow": ["2", "0.5", "2e6"]}
    value = random.choice(values[quantity.split("_")[-1]])
    return f"{moment(random)}/{quantity}/{random.randrange(ranks if quantity == 'slow' else nodes)}/{value}"


def background(random, nodes, ranks):
    source, target = random.sample(range(nodes), 2)
    return f"{source}>{target}" + random.choice(["", "/1Gbps", "/100GB/s"])


def files(folder):
    found = {}
    for path in sorted(folder.glob("*")):
        content = path.read_bytes()
        if path.name == "run.json":
            run = json.loads(content)
            for key in NEVER_SAME:
                run["summary"].pop(key, None)
            content = json.dumps(run).encode()
        found[path.name] = content
    return found


def without_wall_time(said):
    """What a run took, and how far a long one is, differ by how busy the machine is."""
    return b"\n".join(line for line in said.splitlines() if not re.match(rb"  took |\d+/\d+ steps", line))


def difference(first, second):
    names = ("exit status", "standard output", "standard error")
    for name, a, b in zip(names, first, second):
        if a != b:
            return name
    return ", ".join(name for name in first[3].keys() | second[3].keys() if first[3].get(name) != second[3].get(name))

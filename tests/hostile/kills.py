"""Studies that are ended at random moments and started again, two studies in one folder, and finished runs whose files
were emptied, cut or replaced: what was finished stays as it was, nothing is half-written, and the last one ends with the
table of a study that nobody has disturbed."""

import json
import os
import signal
import time

import judge
import sessions
import start
from attempt import Attempt

STUDY = """[run]
cluster = two_by_four
workload = mlp:hidden=8
steps = 40
ranks = 4

[sweep]
cluster.nic_bandwidth = 1Gbps 2Gbps 4Gbps

[row.first]
algorithm = all_reduce

[row.second]
algorithm = local_sgd:every=2
"""
WORDS = ["study", "mine.cfg", "--plot=off", "--jobs=2"]
ENDS = [signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP]


def trial(random, index, catalogue, scratch, patience):
    scratch.empty()
    (scratch.place / "mine.cfg").write_text(STUDY)
    wanted = table(catalogue, scratch, "out/undisturbed", patience)
    disturbance = [killed, paired, killed, spoiled][index % 4]
    faults = disturbance(random, catalogue, scratch, patience)
    if not faults:
        faults = last_one(catalogue, scratch, patience, wanted)
    return "trigram " + " ".join(WORDS) + " --out=out/made, disturbed", faults, None


def table(catalogue, scratch, out, patience):
    ending = start.run([catalogue.program, *WORDS, f"--out={out}"], scratch, patience)
    if ending.status:
        raise RuntimeError(f"an undisturbed study: exit {ending.status}, {ending.complained.decode(errors='replace')}")
    return (scratch.place / out / "table.txt").read_text()


def killed(random, catalogue, scratch, patience):
    """Up to three times; a study that was ended by a signal leaves whole files only."""
    faults = []
    for _ in range(random.choice([1, 2, 3])):
        before = finished(scratch.place)
        process = start.begin([catalogue.program, *WORDS, "--out=out/made"], scratch)
        time.sleep(random.uniform(0, 1.2))
        number, alone = random.choice(ENDS), random.random() < 0.5
        if alone:
            sessions.send(process.pid, number)
        else:
            signal_group(process.pid, number)
        start.finish(process, scratch, patience, time.monotonic())
        faults += half_written(scratch.place) + changed(before, finished(scratch.place))
    return faults


def paired(random, catalogue, scratch, patience):
    """Two at once; each does its work or says that the other is there."""
    faults = []
    first = start.begin([catalogue.program, *WORDS, "--out=out/made"], scratch)
    time.sleep(random.choice([0, 0.02, 0.1, 0.5]))
    second = start.run([catalogue.program, *WORDS, "--out=out/made"], Beside(scratch), patience)
    ended = start.finish(first, scratch, patience, time.monotonic())
    for ending in (ended, second):
        if ending.hung:
            faults.append(("hang", "two studies in one folder"))
        elif ending.status not in (0, 2):
            faults.append(("bad refusal", f"one of two studies: exit {ending.status}, {judge.last_line(ending.complained)}"))
        elif raw := judge.RAW.search(ending.complained):
            faults.append(("raw exception", f"one of two studies says '{raw.group(0).decode()}'"))
        elif ending.status == 2 and b"out/made" not in ending.complained:
            faults.append(("bad refusal", f"one of two studies: {judge.last_line(ending.complained)}"))
    return faults + half_written(scratch.place)


FOREIGN = [b"", b"{}", b"null", b"[]", b"3", b"\xff\xfe", b"{\"summary\": 3}", b"{\"summary\": {}}", b"{\"summary\": {\"iteration_s\": \"x\"}}",
           b"{\"configuration\": {}}", b"not yours\n", b"[" * 100_000]


def spoiled(random, catalogue, scratch, patience):
    """A study whose runs are finished, one of which then holds something else."""
    table(catalogue, scratch, "out/made", patience)
    path = random.choice(sorted(finished(scratch.place)))
    whole = path.read_bytes()
    path.write_bytes(random.choice([*FOREIGN, whole[:random.randrange(len(whole))], whole[:-2]]))
    if random.random() < 0.3:
        (path.parent / "steps.csv").unlink()
    return []


class Beside:
    """The same place, with other files for what is said."""

    def __init__(self, scratch):
        self.place, self.environment, self.root = scratch.place, scratch.environment, scratch.root / "second"
        (self.root / "said").mkdir(parents=True, exist_ok=True)


def last_one(catalogue, scratch, patience, wanted):
    before = {path: run for path, run in finished(scratch.place).items() if is_whole(run[1])}
    ending = start.run([catalogue.program, *WORDS, "--out=out/made"], scratch, patience)
    faults = judge.faults_of(Attempt(WORDS, writes="out/made/study.json"), ending, [], scratch.place)
    faults += changed(before, finished(scratch.place))
    if not faults and (scratch.place / "out/made/table.txt").read_text() != wanted:
        faults.append(("differs", "the table of a study that was ended and started again"))
    leftovers = [path.name for path in (scratch.place / "out/made").rglob("*.part*")]
    return faults + ([("touched outside", f"left: {leftovers}")] if leftovers else [])


def finished(place):
    """Path to time and content of every finished run."""
    return {path: (os.stat(path).st_mtime_ns, path.read_bytes()) for path in sorted((place / "out/made").rglob("run.json"))}


def is_whole(content):
    try:
        return "configuration" in json.loads(content) and b"samples_per_s" in content
    except (ValueError, TypeError, RecursionError):
        return False


def changed(before, after):
    return [("differs", f"a finished run was lost or made again: {path.parent.name}") for path in before if before[path] != after.get(path)]


def half_written(place):
    faults = []
    for path in (place / "out/made").rglob("*.json"):
        try:
            json.loads(path.read_bytes())
        except FileNotFoundError:
            pass
        except ValueError:
            faults.append(("wrong success", f"{path.name} is half written"))
    return faults


def signal_group(group, number):
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        pass

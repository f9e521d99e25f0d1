"""Jobs of MPI with one rank killed, stopped or given another flag, and commands of one process under mpirun. A job ends
by itself, soon, with a message, and leaves no process behind."""

import os
import pathlib
import shutil
import signal
import time

import judge
import sessions
import start

BY_RANK = str(pathlib.Path(__file__).resolve().parents[1] / "support/by_rank")
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]
RUN = {"backend": "mpi:timeout=60s", "algorithm": "all_reduce", "workload": "quadratic:dimension=64", "steps": "3", "out": "out/made"}
# Two right values; ranks that differ in one of them must not train together.
DIFFERENT = {"seed": "2", "lr": "0.2", "overlap": "off", "bucket-size": "64B", "workload": "quadratic:dimension=32", "lanes": "2",
             "algorithm": "local_sgd", "steps": "4", "optimizer": "adam", "bucket-alignment": "8", "evaluate-every": "1",
             "all-reduce": "recursive_doubling", "hierarchy": "leader", "ranks-per-node": "1"}


def is_possible(catalogue):
    return bool(shutil.which("mpirun")) and any(product.name == "mpi" for product in catalogue.of_kind("backends"))


def trial(random, index, catalogue, scratch, patience):
    scratch.empty()
    attacks = [other_flag, other_flag, killed_rank, stopped_rank, lonely_command]
    words, sabotage, check = attacks[index % len(attacks)](random, catalogue.program)
    begun = time.monotonic()
    process = start.begin(words, scratch)
    try:
        sabotage(process.pid)
        ending = start.finish(process, scratch, patience, begun)
        faults = judged(ending) + check(ending)
    finally:
        sessions.kill_all(process.pid)
    return " ".join(words).replace(catalogue.program, "trigram"), faults, None


def is_mpiruns_own(ending):
    """Whether all ranks have ended and mpirun has said so: Open MPI 4.1's sometimes waits for a lock in PMIx_server_finalize
    then, or reads address 0 there, where a rank was killed or stopped while it connected."""
    return (b"mpirun noticed that process rank" in ending.complained or b"mpirun detected" in ending.complained) and (
        ending.stuck == ["mpirun"] or not ending.hung and b"PMIx_server_finalize" in ending.complained)


def judged(ending):
    faults = [("hang", f"no end after {ending.seconds:.0f} s")] if ending.hung and not is_mpiruns_own(ending) else []
    if ending.orphans:
        faults.append(("orphans", ", ".join(ending.orphans)))
    signalled = any(word in ending.complained for word in (b"Segmentation fault", b"signal 11", b"signal 6"))
    if signalled and not is_mpiruns_own(ending):
        faults.append(("crash", "a rank was ended by a signal"))
    if raw := judge.RAW.search(ending.complained):
        faults.append(("raw exception", f"says '{raw.group(0).decode()}'"))
    return faults


def flags(given):
    return [f"--{name}={value}" for name, value in given.items()]


def other_flag(random, program):
    name, value = random.choice(sorted(DIFFERENT.items()))
    usual, odd = [program, "run", *flags(RUN)], [program, "run", *flags({**RUN, name: value})]
    ranks = random.choice([[usual, odd], [odd, usual], [usual, usual, odd]])
    words = [*MPIRUN, "-n", str(len(ranks)), BY_RANK]
    for rank in ranks:
        words += [*rank, "//"]

    def check(ending):
        if ending.status == 0:
            return [("wrong success", f"ranks with different --{name} trained together")]
        if name.encode() not in ending.complained and not ending.hung:
            return [("bad refusal", f"names no '{name}', which differs")]
        return []
    return words[:-1], lambda session: None, check


def long_run(random, program):
    endless = {**RUN, "backend": "mpi:timeout=3s", "steps": "100000000", "algorithm": random.choice(["all_reduce", "local_sgd", "decentralized", "async_average"])}
    return [*MPIRUN, "-n", str(random.choice([2, 3])), program, "run", *flags(endless)]


def signalled(random, program, number):
    """Sends a signal to one rank, somewhere between its start and the midst of its training."""
    name_of_ranks = os.path.basename(program)[:15]

    def sabotage(session):
        end = time.monotonic() + 120  # of ranks that have not begun
        while time.monotonic() < end:
            ranks = [pid for pid, name in sessions.members(session) if name == name_of_ranks]
            if ranks:
                time.sleep(random.choice([0, random.uniform(0, 0.3), random.uniform(0.3, 1.5)]))
                sessions.send(random.choice(sorted(ranks)), number)
                return
            time.sleep(0.01)
    return sabotage


def must_fail(ending):
    return [("wrong success", "exit 0 though a rank was lost")] if ending.status == 0 else []


def killed_rank(random, program):
    return long_run(random, program), signalled(random, program, signal.SIGKILL), must_fail


def stopped_rank(random, program):
    return long_run(random, program), signalled(random, program, signal.SIGSTOP), must_fail


def lonely_command(random, program):
    """A simulation under mpirun: refused, or done once."""
    words = random.choice([["run", "--steps=2", "--workload=quadratic:dimension=16", "--out=out/made"], ["bench", "--max-size=8KiB"]])

    def check(ending):
        done = max(ending.said.count(b"  loss "), ending.said.count(b"# closed form"))
        return [("wrong success", f"the same simulation {done} times")] if done > 1 else []
    return [*MPIRUN, "-n", "3", program, *words], lambda session: None, check

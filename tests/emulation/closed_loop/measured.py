"""What runs on emulated hosts: the traced job, the quick calibration and jobs of each method. What an earlier call has left stays."""

import json
import statistics
import sys
from pathlib import Path

from closed_loop.command import run
from closed_loop.networks import METHODS, TRACED

EMULATION = Path(__file__).resolve().parents[1]
JOB = Path(__file__).resolve().parent / "job.py"
PASSED = {"MASTER_ADDR": "10.77.0.1", "MASTER_PORT": "29533", "GLOO_SOCKET_IFNAME": "eth0", "OMP_NUM_THREADS": "1"}


class Hosts:
    """Two hosts that are made anew for each command, one process on each."""

    def __init__(self, program, session, python, environment):
        self._program, self._python = program, python
        self._environment = PASSED | {"TRIGRAM_PROGRAM": str(program), "TRIGRAM_SESSION": str(session)} | environment

    def job(self, network, model, method, steps, folder):
        if not (folder / "rank1.json").exists():
            self._run(network, self._python, JOB, model, method, steps, folder)

    def calibrate(self, network, seconds, file):
        if not file.exists():
            self._run(network, self._program, "calibrate", "--backend", "mpi", "--quick", "--seconds", seconds, "--out", file)

    def _run(self, network, *words):
        passed = [word for name in self._environment for word in ("-x", name)]
        run(EMULATION / "ahead", EMULATION / "emulate", *network.emulation(), "mpirun", "-n", "2", *passed, *words, environment=self._environment)


def measure(hosts, models, networks, steps, seconds, out):
    """Traces each model on one network, then trains it by each method on all."""
    for network in dict.fromkeys((TRACED, *networks)):
        say(f"calibrating at {network.about}")
        hosts.calibrate(network, seconds, out / f"{network.name}.cfg")
    for model in models:
        say(f"tracing {model} at {TRACED.about}")
        hosts.job(TRACED, model, "ddp", steps, out / model / "traced")
        for network in networks:
            for method in METHODS:
                say(f"{model} by {method} at {network.about}")
                hosts.job(network, model, method, steps, out / model / network.name / method)


def say(line):
    print(line, file=sys.stderr, flush=True)


def seconds_of(folder):
    """The mean time of a step, on the rank on which it was longer."""
    return max(statistics.mean(json.loads(file.read_text())) for file in folder.glob("rank*.json"))

"""Libraries and programs that Trigram uses where they are."""

import os
import shutil

from ask import program

TITLE = "software"
PLACE = 3
PACKAGES = ("torch", "numpy", "pandas", "matplotlib", "fastjsonschema", "optuna", "dask", "nvidia-nccl-cu12", "nvidia-nccl-cu13")
ASK = ("import importlib.metadata as m, sys\nprint(sys.version.split()[0])\nfor name in sys.argv[1:]:\n try: print(name, m.version(name))\n"
       " except m.PackageNotFoundError: pass\n")


def version(name, line=0):
    """That line of what the program says of its version."""
    said = program(name, "--version")
    lines = (said.out.strip() or said.err.strip()).splitlines() if said else []
    return f"{name}: {lines[line].removeprefix(name + ':').strip() if lines else 'none'}"


def python():
    """The user's, with what pip has installed there."""
    command = os.environ.get("TRIGRAM_PYTHON") or "python3"
    said = program(command, "-c", ASK, *PACKAGES, seconds=30)
    lines = said.out.splitlines() if said else []
    return [f"{shutil.which(command)}: Python {', '.join(lines)}"] if lines else [f"{command} does not start"]


def found(_trigram):
    return [*python(), version("mpirun"), version("srun"), version("nvcc", -1)]

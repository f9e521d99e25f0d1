"""GPUs, their driver, and NCCL."""

import ctypes
import glob
import os
import re

from ask import program, text_of

TITLE = "GPUs"
PLACE = 5
FIELDS = "name,driver_version,memory.total,compute_mode,compute_cap"
WHERE = "import nvidia.nccl, os\nprint(os.path.join(list(nvidia.nccl.__path__)[0], 'lib'))"


def gpus():
    said = program("nvidia-smi", f"--query-gpu={FIELDS}", "--format=csv,noheader", seconds=30)
    if said is None:
        return ["none: there is no nvidia-smi" + (", though /dev has nvidia devices" if glob.glob("/dev/nvidia[0-9]*") else "")]
    if said.code != 0:
        return [f"none: nvidia-smi says: {said.last_line}"]
    return [f"{number}: {line}" for number, line in enumerate(said.out.strip().splitlines())]


def driver():
    version = re.search(r"Kernel Module\s+(?:for \S+\s+)?([\d.]+)", text_of("/proc/driver/nvidia/version"))
    return [f"driver {version[1]}"] if version else []


def version_of(library):
    number = ctypes.c_int()
    ctypes.CDLL(library).ncclGetVersion(ctypes.byref(number))
    return f"{number.value // 10000}.{number.value // 100 % 100}.{number.value % 100}"


def nccl():
    """The loader's, else the one that pip has brought, as the backend looks for it."""
    said = program(os.environ.get("TRIGRAM_PYTHON") or "python3", "-c", WHERE)
    places = ["libnccl.so.2"] + ([os.path.join(said.out.strip(), "libnccl.so.2")] if said and said.code == 0 else [])
    for place in places:
        try:
            return f"NCCL {version_of(place)}: {place}"
        except (OSError, AttributeError):
            continue
    return "NCCL: neither the loader nor Python's nvidia.nccl has libnccl.so.2"


def found(_trigram):
    return [*gpus(), *driver(), nccl()]

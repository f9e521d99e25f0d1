"""Processors, memory, and the system."""

import os
import platform
import re

from ask import text_of

TITLE = "machine"
PLACE = 1


def named(text, key):
    line = re.search(rf"^{key}\s*[:=]\s*(.+)$", text, re.MULTILINE)
    return line[1].strip('"') if line else "unknown"


def gibibytes(kibibytes):
    return f"{int(kibibytes.split()[0]) / 2**20:.1f} GiB" if kibibytes[:1].isdigit() else kibibytes


def of_this_group():
    """What a container or a job allows less than the machine has."""
    limits = []
    cores = text_of("/sys/fs/cgroup/cpu.max").split()
    if cores and cores[0].isdigit():
        limits.append(f"processors for {int(cores[0]) / int(cores[1]):.1f} cores")
    memory = text_of("/sys/fs/cgroup/memory.max")
    if memory.isdigit():
        limits.append(f"memory of {int(memory) / 2**30:.1f} GiB")
    return ["its group may use " + " and ".join(limits)] if limits else []


def found(_trigram):
    memory = text_of("/proc/meminfo")
    return [f"{named(text_of('/etc/os-release'), 'PRETTY_NAME')}, Linux {platform.release()}, {platform.machine()}",
            f"{named(text_of('/proc/cpuinfo'), 'model name')}, {len(os.sched_getaffinity(0))} of {os.cpu_count()} processors",
            f"{gibibytes(named(memory, 'MemTotal'))} of memory, {gibibytes(named(memory, 'MemAvailable'))} free; "
            f"load {text_of('/proc/loadavg').split(' ')[0]}", *of_this_group()]

"""Limits that ranks meet first: descriptors, processes, locked and shared memory, buffers of sockets."""

import os
import resource

from ask import text_of

TITLE = "limits"
PLACE = 2
LIMITS = {"open files": resource.RLIMIT_NOFILE, "processes": resource.RLIMIT_NPROC, "bytes of locked memory": resource.RLIMIT_MEMLOCK}


def shown(limit):
    return "unlimited" if limit == resource.RLIM_INFINITY else str(limit)


def shared_memory():
    try:
        there = os.statvfs("/dev/shm")
    except OSError:
        return "no /dev/shm"
    return f"/dev/shm {there.f_bavail * there.f_frsize / 2**30:.1f} of {there.f_blocks * there.f_frsize / 2**30:.1f} GiB free"


def found(_trigram):
    words = [f"{name} {shown(resource.getrlimit(number)[0])}" for name, number in LIMITS.items()]
    buffers = [f"{name} {' '.join(text_of('/proc/sys/net/' + name.replace('.', '/'), 'unknown').split())}"
               for name in ("ipv4.tcp_rmem", "ipv4.tcp_wmem", "core.somaxconn")]
    return [", ".join(words), shared_memory(), ", ".join(buffers)]

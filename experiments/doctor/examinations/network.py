"""Network interfaces as the kernel has them. Addresses stay out of a page that others read."""

import os

from ask import text_of, without_addresses

TITLE = "network"
PLACE = 4
INTERFACES = "/sys/class/net"
VARIABLES = ("NCCL_", "TRIGRAM_", "UCX_", "OMPI_MCA_btl", "GLOO_")


def speed(name):
    number = text_of(f"{INTERFACES}/{name}/speed", "-1")
    return f"{number} Mbit/s" if number.isdigit() else "its driver says no speed"


def driver(name):
    try:
        return os.path.basename(os.readlink(f"{INTERFACES}/{name}/device/driver"))
    except OSError:
        return "no device"


def described(name):
    folder = f"{INTERFACES}/{name}"
    node = text_of(f"{folder}/device/numa_node", "-1")
    return (f"{name}: {text_of(folder + '/operstate', 'unknown')}, {speed(name)}, MTU {text_of(folder + '/mtu', 'unknown')}, {driver(name)}"
            + (f", NUMA node {node}" if node.isdigit() else ""))


def variables():
    """What steers them; a job's secret is nobody's business."""
    return without_addresses(f"{name}={value}" for name, value in sorted(os.environ.items()) if name.startswith(VARIABLES) and "SECRET" not in name)


def found(_trigram):
    names = sorted(os.listdir(INTERFACES)) if os.path.isdir(INTERFACES) else []
    rdma = sorted(os.listdir("/sys/class/infiniband")) if os.path.isdir("/sys/class/infiniband") else []
    return [*(described(name) for name in names), f"RDMA: {', '.join(rdma) or 'none'}", *variables()]

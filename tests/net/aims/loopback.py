"""What loopback gives without shaping: rates and processor time beside NCCL's socket design at its best numbers of threads and sockets,
the way of eight bytes beside a bare socket's, and the memory of a communicator."""

import json
import os
import statistics
import subprocess

NCCL = [f"nccl:{threads}x{sockets}" for threads, sockets in ((0, 1), (1, 1), (1, 2), (1, 4), (2, 1), (2, 2), (2, 4), (4, 1), (4, 2))]


def bench(build, plugin, *more):
    what = str(build / "net/libnccl-net-trigram.so") if plugin == "ours" else plugin
    said = subprocess.run([str(build / "tests/net/net_bench"), "--plugin", what, *more], capture_output=True, text=True, check=True, timeout=600,
                          env={**os.environ, "TRIGRAM_NET_INTERFACES": "lo"})
    return json.loads(said.stdout)


def rates(build, repeats, seconds):
    """By design, turn by turn: Mbit/s, and cores of the busier end for each 10 Gbit/s."""
    runs = {name: [] for name in ("ours", *NCCL, "bagua:2")}
    for _ in range(repeats):
        for name, all_of in runs.items():
            all_of.append(bench(build, name, "--seconds", str(seconds)))
    return {name: {"mbps": statistics.median(one["mbps"] for one in all_of),
                   "cores_per_10_gbps": statistics.median(1.25 * max(one["sender_core_s_per_GB"], one["receiver_core_s_per_GB"])
                                                          for one in all_of)}
            for name, all_of in runs.items()}


def latencies(build, repeats):
    """Microseconds of eight bytes one way, turn by turn; `bare_each_way` is a socket for each direction, as NCCL has communicators."""
    runs = {name: [] for name in ("ours", "bare", "bare_each_way", "nccl:0x1")}
    for _ in range(repeats):
        for name, all_of in runs.items():
            all_of.append(bench(build, name, "--round-trips", "2000")["half_round_trip_us"])
    return {name: statistics.median(all_of) for name, all_of in runs.items()}


def memory(build):
    """KiB of a communicator, after messages have gone over it."""
    return bench(build, "ours", "--communicators", "32")["kib_a_communicator"]
